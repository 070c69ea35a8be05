// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads the registries that apps register for VoIP pushes with, and the providers of their calls.
extension SourceReader {
    /// Reads `registry.desiredPushTypes = [.voIP]`, `[registry setDesiredPushTypes:types]`.
    mutating func readPushTypes(_ index: Int) {
        guard text.sees("=", at: index + 1) || text.sees(":", at: index + 1) else {
            see(.otherPushTypes, at: index)
            return
        }
        let line = text.tokens[index].position.line
        let value = text.tokens[(index + 2)...].prefix(AuditLimits.headWords)
            .prefix { $0.position.line <= line + 3 && !$0.isMark("}") }
        guard value.contains(where: { $0.isName("voIP") || $0.isName("PKPushTypeVoIP") }) else {
            see(.otherPushTypes, at: index)
            return
        }
        var occasion = lateOccasion(of: index)
        let function = occasion == .unknown ? calledFunction(around: index) : nil
        // A controller of the first view loads it at each launch of an app without scenes.
        if occasion == .viewController { occasion = .unknown }
        see(.voipRegistration(occasion), at: index)
        if function != nil { noteCallers(of: index) }
    }

    /// Reads where a registry is made.
    mutating func readPushRegistry(_ index: Int) {
        guard startOfMaking(index) != nil else { return }
        see(.pushRegistry, at: index)
        readMaking(of: "PKPushRegistry", index)
    }

    /// The start of the expression that makes an object: `PKPushRegistry(queue: .main)`,
    /// `[[PKPushRegistry alloc] initWithQueue:queue]`, `[PKPushRegistry new]`.
    func startOfMaking(_ index: Int) -> Int? {
        if text.isObjectiveC {
            guard let word = text[index + 1], word.isName("alloc") || word.isName("new"),
                text.sees("[", at: index - 1)
            else { return nil }
            return word.isName("alloc") ? index - 2 : index - 1
        }
        let isMade = text.sees("(", at: index + 1) || text.sees(".", "init", "(", at: index + 1)
        guard isMade else { return nil }
        let hasModule =
            text.sees("PushKit", ".", at: index - 2) || text.sees("CallKit", ".", at: index - 2)
        return hasModule ? index - 2 : index
    }
}
