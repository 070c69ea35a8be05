// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Subscriptions of CloudKit that ask for silent pushes.
@Suite("Subscriptions of CloudKit")
struct SubscriptionTests {
    private static let handler =
        "class A: NSObject, UIApplicationDelegate {\nfunc application(_ a: UIApplication,\n"
        + "didReceiveRemoteNotification u: U, fetchCompletionHandler done: @escaping (R) -> Void)\n"
        + "{ subscribe(); load { done($0) } }\n"
    private static let silent =
        "let info = CKSubscription.NotificationInfo()\ninfo.shouldSendContentAvailable = true\n"

    private static func severities(_ source: String, mode: String = "audio") throws -> [Severity] {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "App", settings: "INFOPLIST_KEY_UIBackgroundModes = \"\(mode)\";",
            source: source)
        return try Audit(paths: [folder.path]).report().findings
            .filter { $0.diagnostic.rule == "CF001" }.map(\.diagnostic.severity)
    }

    @Test("a handler without the mode is a warning where the app subscribes to silent pushes")
    func subscription() throws {
        #expect(try Self.severities(Self.handler + "}") == [.note])
        let subscribing = Self.handler + "func subscribe() {\n\(Self.silent)}\n}"
        #expect(try Self.severities(subscribing) == [.warning])
        #expect(try Self.severities(subscribing, mode: "remote-notification") == [])
        let unused = Self.handler + "private func f() {\n\(Self.silent)}\n}"
        #expect(try Self.severities(unused) == [.note])
    }

    @Test(
        "it is one too where the handler shows by itself what the pushes bring",
        arguments: [
            ("center.add(UNNotificationRequest(identifier: i, content: c, trigger: nil))", true),
            ("WidgetCenter.shared.reloadAllTimelines()", true),
            ("if a.applicationState == .active { c.add(UNNotificationRequest(i)) }", false),
            ("Messaging.messaging().appDidReceiveMessage(u)", false),
        ])
    func display(statement: String, isWarning: Bool) throws {
        let source = Self.handler.replacing("subscribe();", with: "\n" + statement + "\n") + "}"
        #expect(try Self.severities(source) == [isWarning ? .warning : .note])
    }
}
