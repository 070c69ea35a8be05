// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Background tasks and the types of pushes that an app asks for.
extension SourceReader {
    /// `BGTaskScheduler.shared.register(forTaskWithIdentifier: …)`, SwiftUI's
    /// `.backgroundTask(.appRefresh(…))`, and requests of tasks.
    mutating func readScheduling(_ name: String, _ index: Int) {
        switch name {
        case "register" where text.sees("(", "forTaskWithIdentifier", ":", at: index + 1):
            let identifier = constants.value(of: index + 4, in: text)
            see(.registeredTask(identifier, occasion(of: index)), at: index)
        case "backgroundTask" where text.sees("(", ".", "appRefresh", "(", at: index + 1):
            let identifier = constants.value(of: index + 5, in: text)
            see(.backgroundWork(.appRefresh), at: index)
            // SwiftUI registers it when the scene is made, in time.
            see(.registeredTask(identifier, .launch), at: index)
        case "BGAppRefreshTaskRequest": readRequest(.appRefresh, index)
        case "BGProcessingTaskRequest": readRequest(.processing, index)
        case "BGContinuedProcessingTaskRequest": readRequest(.continued, index)
        case "BGHealthResearchTaskRequest": readRequest(.healthResearch, index)
        default: return
        }
    }

    private mutating func readRequest(_ work: SourceObservation.BackgroundWork, _ index: Int) {
        see(.backgroundWork(work), at: index)
        guard text.sees("(", "identifier", ":", at: index + 1) else { return }
        see(.requestedTask(constants.value(of: index + 4, in: text), work), at: index)
    }

    /// `registry.desiredPushTypes = [.voIP]`.
    mutating func readPushTypes(_ index: Int) {
        guard text.sees("=", at: index + 1) else { return }
        let line = text.tokens[index].position.line
        let value = text.tokens[(index + 2)...].prefix(AuditLimits.headWords)
            .prefix { $0.position.line <= line + 3 && !$0.isMark("}") }
        if value.contains(where: { $0.isName("voIP") }) { see(.voipRegistration, at: index) }
    }
}
