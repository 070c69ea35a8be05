// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads tasks of continued processing.
extension SourceReader {
    /// Reads `task.progress`, and `request.requiredResources = .gpu`.
    mutating func readContinuedProcessing(_ name: String, _ index: Int) {
        switch name {
        case "progress"
        where text.sees(".", at: index - 1) || text.sees(".", at: index + 1) || text.isObjectiveC:
            // One use is enough, and other progress is often named.
            guard !notes.showsProgress else { return }
            notes.showsProgress = true
            see(.taskProgress, at: index)
        case "requiredResources" where text.sees("=", at: index + 1):
            let value = index + 2..<max(index + 2, text.expressionEnd(index + 2))
            let names = ["gpu", "BGContinuedProcessingTaskRequestResourcesGPU"]
            if value.contains(where: { names.contains(text.tokens[$0].text) }) {
                see(.gpuRequest, at: index)
            }
        default: return
        }
    }

    /// Reads a request for continued processing in a function or a block that runs when the app
    /// leaves the foreground.
    mutating func readContinuedRequest(_ index: Int) {
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .control:
                // `if old == .background` is the way back.
                let isOfEarlier = (scope.head..<scope.open).contains { word in
                    ["old", "previous", "last", "was"]
                        .contains(where: text.tokens[word].text.lowercased().hasPrefix)
                }
                if !isOfEarlier, scenePhase(in: scope, around: index) == "background" { break }
                continue
            case .function(let head):
                guard
                    ["applicationDidEnterBackground", "sceneDidEnterBackground"]
                        .contains(head.name)
                else { return }
            case .closure(let callee):
                // One that is only kept runs later.
                if callee == nil, !text.isObjectiveC { return }
                continue
            case .type: return
            }
            see(.fault(.continuedInBackground), at: index)
            return
        }
    }
}
