// SPDX-License-Identifier: Apache-2.0

import PayloadLint
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

    @Test("the lack of aps-environment is told where CF002 does not say that the mode is left over")
    func leftOverMode() throws {
        func rules(_ source: String, ignoring ignored: String? = nil) throws -> [String] {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "App",
                settings: "INFOPLIST_KEY_UIBackgroundModes = \"remote-notification\"; "
                    + "CODE_SIGN_ENTITLEMENTS = App.entitlements;", source: source)
            try folder.write(XML.dictionary([]), to: "App/App.entitlements")
            let policy = RulePolicy(
                selected: nil, ignored: try ignored.map { try RuleSelection([$0]) },
                settings: LintConfiguration(), rules: .apps)
            return AuditScopeTests.rules(
                try Audit(paths: [folder.path]).report().applying(policy)
            ).filter { ["CF002", "CF005"].contains($0) }.sorted()
        }
        #expect(try rules("import UIKit\nlet a = 1") == ["CF002"])
        #expect(try rules("import UIKit\nlet a = 1", ignoring: "CF002") == ["CF005"])
        let old =
            "class A: NSObject, UIApplicationDelegate {\nfunc application(_ a: UIApplication,\n"
            + "didReceiveRemoteNotification u: U) { load() }\n}"
        #expect(try rules(old).contains("CF005"))
    }

    @Test(
        "it is one too where the handler shows by itself what the pushes bring",
        arguments: [
            ("center.add(UNNotificationRequest(identifier: i, content: c, trigger: nil))", true),
            ("WidgetCenter.shared.reloadAllTimelines()", true),
            ("if a.applicationState == .active { c.add(UNNotificationRequest(i)) }", false),
            ("#if DEBUG\nc.add(UNNotificationRequest(i))\n#endif", false),
            ("Messaging.messaging().appDidReceiveMessage(u)", false),
        ])
    func display(statement: String, isWarning: Bool) throws {
        let source = Self.handler.replacing("subscribe();", with: "\n" + statement + "\n") + "}"
        #expect(try Self.severities(source) == [isWarning ? .warning : .note])
    }
}
