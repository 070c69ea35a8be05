// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Handlers of pushes.
extension SourceReader {
    /// Calls that tell the system about a call.
    private static let reports: Set = [
        "reportNewIncomingCall", "reportNewIncomingConversation",
        "reportNewIncomingVoIPPushPayload",
    ]
    /// Functions whose closures run later.
    private static let laterCallees: Set = [
        "Task", "detached", "async", "asyncAfter", "dataTask", "downloadTask", "uploadTask", "sink",
    ]
    /// Calls that do nothing with a push.
    private static let idleCalls: Set = ["print", "NSLog", "os_log", "debugPrint", "dump"]

    /// A handler for pushes that wake the app. The form without a completion handler is macOS's.
    mutating func readNotificationHandler(
        _ head: SourceScope.FunctionHead, _ scope: SourceScope
    ) {
        let isHandler =
            head.has("didReceiveRemoteNotification") || head.name == "didReceiveRemoteNotification"
        guard isHandler else { return }
        let completion = head.parameters.first { $0.label == "fetchCompletionHandler" }
        let isForMac = text.tokens.indices.contains { text.sees("import", "AppKit", at: $0) }
        guard completion != nil || head.isAsync || isForMac else { return }
        let type = text.type(around: scope.head)
        see(
            .remoteNotificationHandler(inSceneDelegate: type?.isSceneDelegate == true),
            at: scope.head)
        guard let completion else { return }
        for gap in CompletionPaths(text, handler: completion.name, body: scope).gaps {
            see(.pathWithoutCompletion, at: gap)
        }
    }

    /// A handler for VoIP pushes.
    mutating func readVoIPHandler(_ head: SourceScope.FunctionHead, _ scope: SourceScope) {
        let isHandler = head.parameters.contains { parameter in
            parameter.label == "didReceiveIncomingPushWith"
                || parameter.label == "didReceiveIncomingVoIPPushWith"
        }
        guard head.name == "pushRegistry", isHandler else { return }
        let takesMetadata = text.tokens[scope.head..<scope.open]
            .contains { $0.isName("PKVoIPPushMetadata") }
        see(.voipHandler(takesMetadata: takesMetadata), at: scope.head)
        let body = text.content(ofBracket: scope.open)
        if isIdle(body, handler: head.parameters.last?.name) {
            see(.voipHandlerWithoutReport, at: scope.head)
        }
        for index in body where Self.reports.contains(text.tokens[index].text) {
            if isLate(index, in: scope, body) { see(.lateReport, at: index) }
        }
    }

    /// Whether nothing is called that could report the call.
    private func isIdle(_ body: Range<Int>, handler: String?) -> Bool {
        !body.contains { index in
            let token = text.tokens[index]
            guard token.isName, text.sees("(", at: index + 1) || text.sees("{", at: index + 1),
                token.text != handler, !Self.idleCalls.contains(token.text)
            else { return false }
            return ![
                "if", "guard", "else", "switch", "while", "for", "return", "let", "var", "case",
                "do", "defer",
            ].contains(token.text)
        }
    }

    /// Whether a report waits for something: it stands behind an `await` of an earlier line, or in
    /// a closure that runs later.
    private func isLate(_ report: Int, in handler: SourceScope, _ body: Range<Int>) -> Bool {
        for scope in text.scopes(around: report) {
            if scope.open == handler.open { break }
            if case .closure(let callee?) = scope.kind, Self.laterCallees.contains(callee) {
                return true
            }
        }
        let line = text.tokens[report].position.line
        return text.tokens[body.lowerBound..<report].contains {
            $0.isName("await") && $0.position.line < line
        }
    }
}
