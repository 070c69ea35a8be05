// SPDX-License-Identifier: Apache-2.0

/// Closures of one call of which another one runs if this one does not.
extension CompletionPaths {
    /// The labels of such closures: those of AFNetworking, RxSwift and Combine.
    private static let alternatives: [String: Set<String>] = [
        "success": ["failure"], "failure": ["success"],
        "onSuccess": ["onFailure", "onError"], "onFailure": ["onSuccess"],
        "onNext": ["onError"], "receiveValue": ["receiveCompletion"],
    ]

    /// The closure that runs instead of one with the call, and does not make it.
    func silentAlternative(to open: Int) -> Int? {
        guard let label = label(ofClosure: open), let others = Self.alternatives[label],
            let bracket = (max(0, open - AuditLimits.headWords)..<open).last(where: {
                text.partners[$0] > open
            }), !text.tokens[bracket].isMark("{")
        else { return nil }
        let arguments = text.content(ofBracket: bracket)
        var silent: Int?
        var index = arguments.lowerBound
        while index < arguments.upperBound {
            if text.tokens[index].isMark("{"), let other = self.label(ofClosure: index) {
                let content = text.content(ofBracket: index)
                let settles = mentions(content) || content.contains(where: endsProgram)
                // It runs in the end, whatever happened.
                if settles, other == "onDisposed" { return nil }
                if !settles, others.contains(other) { silent = index }
            }
            index = text.skipBracket(index, arguments)
        }
        return silent
    }

    private func endsProgram(_ index: Int) -> Bool {
        ["fatalError", "preconditionFailure"].contains { text.tokens[index].isName($0) }
    }

    /// The label of a closure: `success: {`, `success:^(id value) {`.
    private func label(ofClosure open: Int) -> String? {
        var index = open - 1
        if text.sees(")", at: index), text.partners[index] >= 0 { index = text.partners[index] - 1 }
        if text.sees("^", at: index) { index -= 1 }
        guard text.sees(":", at: index), let label = text[index - 1], label.isName else {
            return nil
        }
        return label.text
    }
}
