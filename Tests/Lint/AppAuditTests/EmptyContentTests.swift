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
            "best.title = \"\"\nbest.body = \"\"\nbest.sound = nil\nshow(best)",
            "if isMuted {\nbest?.body = \"\"\nbest?.title = \"\"\nshow(best)\nreturn\n}\n"
                + "best?.title = name",
        ])
    func empty(body: String) { #expect(Self.hides(body)) }

    @Test(
        "content that somebody fills",
        arguments: [
            made + "content.title = title\nshow(content)",
            made + "fill(content)\nshow(content)",
            made + "content.sound = .default\nshow(content)", made, made + "other?(content)",
            "let content = request.content.mutableCopy()\nshow(content)",
            "best.title = name\nbest.body = \"\"\nshow(best)",
            "best.title = \"\\(best.title)\"\nbest.body = \"\\(best.body)\"\nshow(best)",
            "best.title = \"\"\nshow(best)",
            "best.title = \"\"\nother.body = \"\"\nshow(best)",
            "best.title = \"\"\nbest.body = \"\"\nif let name { best.title = name }\nshow(best)",
            "if a { best.title = \"\" } else { best.body = \"\" }\nshow(best)",
        ])
    func filled(body: String) { #expect(!Self.hides(body)) }
}
