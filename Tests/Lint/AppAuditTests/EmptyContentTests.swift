// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Extensions that show nothing in place of a notification.
@Suite("Empty content of notifications")
struct EmptyContentTests {
    private static func hides(_ body: String) -> Bool {
        let source =
            "class S: UNNotificationServiceExtension {\n"
            + "private var handler: ((UNNotificationContent) -> Void)?\n"
            + "var other: ((UNNotificationContent) -> Void)?\nfunc g() {\n"
            + "handler = contentHandler\nother = { show($0) }\n}\n"
            + "func f(_ show: (UNNotificationContent) -> Void) {\n"
            + "\(body)\n}\n}"
        let text = SourceText(Array(source.utf8), path: "a.swift")
        return SourceReader.observations(in: text, SourceConstants())
            .contains { $0.subject == .hiddenNotification }
    }

    private static let made = "let content = UNMutableNotificationContent()\n"

    @Test(
        "content that stays empty",
        arguments: [
            "show(UNNotificationContent())", "show(UNMutableNotificationContent())",
            made + "show(content)",
            made + "content.sound = nil\nlog()\nself.contentHandler?(content)",
            made + "if let count { content.badge = count }\nhandler?(content)",
        ])
    func empty(body: String) { #expect(Self.hides(body)) }

    @Test(
        "content that somebody fills",
        arguments: [
            made + "content.title = title\nshow(content)",
            made + "fill(content)\nshow(content)",
            made + "content.sound = .default\nshow(content)", made, made + "other?(content)",
            "let content = request.content.mutableCopy()\nshow(content)",
        ])
    func filled(body: String) { #expect(!Self.hides(body)) }
}
