// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// The functions by which iOS asks about notifications, and waits for the answer to.
@Suite("Answers about notifications")
struct NotificationAnswerTests {
    /// The lines of the body, from 1, at which paths end without an answer; 0 for the whole.
    private static func gaps(
        _ head: String, _ body: String, file: String = "a.swift"
    ) -> [Int] {
        let text = SourceText(Array("\(head) {\n\(body)\n}".utf8), path: file)
        let faults: [SourceObservation.Subject] = [
            .fault(.notificationPathWithoutCompletion), .fault(.contentPathWithoutHandler),
        ]
        return SourceReader.observations(in: text, SourceConstants())
            .filter { faults.contains($0.subject) }.map { $0.place.line - 1 }
    }

    private static let response =
        "func userNotificationCenter(_ c: UNUserNotificationCenter, didReceive r: "
        + "UNNotificationResponse, withCompletionHandler done: @escaping () -> Void)"
    private static let presentation =
        "func userNotificationCenter(_ c: UNUserNotificationCenter, willPresent n: "
        + "UNNotification, withCompletionHandler done: @escaping (Options) -> Void)"
    private static let content =
        "override func didReceive(_ r: UNNotificationRequest, withContentHandler done: "
        + "@escaping (UNNotificationContent) -> Void)"

    @Test(
        "a path without an answer is found",
        arguments: [
            (response, "", [0]), (response, "open(r)", [0]),
            (response, "guard let u = r.url else { return }\nopen(u)\ndone()", [1]),
            (response, "switch r.id {\ncase \"a\": done()\ndefault: break\n}", [0]),
            (response, "open(r)\ndone()", []), (response, "defer { done() }\nopen(r)", []),
            (response, "router.open(r, completion: done)", []),
            (response, "open(r) { done() }", []), (response, "self.done = done", []),
            (
                response,
                "super.userNotificationCenter(c, didReceive: r, withCompletionHandler: done)", []
            ),
            (presentation, "show(n)", [0]), (presentation, "done([.banner])", []),
            (
                presentation,
                "if #available(iOS 14.0, *) { done([.banner]) } else { done([.alert]) }", []
            ),
            (presentation, "done(n.isOwn ? [] : [.banner])", []),
            (content, "guard let c = r.content.mutableCopy() as? C else { return }\ndone(c)", [1]),
            (
                content,
                "guard let c = r.content.mutableCopy() as? UNMutableNotificationContent else {\n"
                    + "return\n}\ndone(c)", []
            ),
            (
                response, "if let p = (r.content.userInfo as? [String: Any]) {\nopen(p)\ndone()\n}",
                []
            ),
            (response, "if let p = r.userInfo as? [String: Any] {\nopen(p)\ndone()\n}", [0]),
            (content, "guard isMine(r) else { return }\ndone(r.content)", [1]),
            (content, "handler = done\nif let best { done(best) }", []),
            (content, "load(r) { image in\nguard let image else { return }\ndone(image)\n}", [2]),
        ])
    func swift(head: String, body: String, lines: [Int]) {
        #expect(Self.gaps(head, body) == lines, "\(body)")
    }

    @Test(
        "so it is in Objective-C",
        arguments: [
            (
                "- (void)userNotificationCenter:(UNUserNotificationCenter *)c "
                    + "didReceiveNotificationResponse:(UNNotificationResponse *)r "
                    + "withCompletionHandler:(void (^)(void))done", "[self open:r];", "done();"
            ),
            (
                "- (void)userNotificationCenter:(UNUserNotificationCenter *)c "
                    + "willPresentNotification:(UNNotification *)n "
                    + "withCompletionHandler:(void (^)(UNNotificationPresentationOptions))done",
                "[self show:n];", "done(UNNotificationPresentationOptionBadge);"
            ),
            (
                "- (void)didReceiveNotificationRequest:(UNNotificationRequest *)r "
                    + "withContentHandler:(void (^)(UNNotificationContent *))done",
                "[self note:r];", "done(r.content);"
            ),
        ])
    func objectiveC(head: String, work: String, answer: String) {
        #expect(Self.gaps(head, work, file: "a.m") == [0])
        #expect(
            Self.gaps(head, "\(work)\nif (self.off) { return; }\n\(answer)", file: "a.m") == [2])
        #expect(Self.gaps(head, "\(work)\n\(answer)", file: "a.m") == [])
    }

    /// The lines of the class around a service extension's function at which paths end without an
    /// answer, from 1 for the first one of the body.
    private static func keptGaps(
        _ body: String, _ rest: String = "", inherited: String = "UNNotificationServiceExtension"
    ) -> [Int] {
        let head = "class S: \(inherited) { var handler: ((C) -> Void)?; var best: C?; "
        let start =
            "handler = done\nbest = (r.content.mutableCopy() as? UNMutableNotificationContent)\n"
        return gaps(head + content, start + body + "\n}\n" + rest).map { $0 - 2 }
    }

    @Test(
        "a service extension that keeps its content handler answers on each path",
        arguments: [
            ("if let best = best {\ndone(best)\n}", []),
            ("if let best {\nchange.run(best)\n}", [-2]),
            ("guard let best, let u = best.url else { return }\ndone(best)", [1]),
            (
                "guard let u = r.url else {\nhandler?(r.content)\nreturn\n}\n"
                    + "loader.load(u) { done($0) }", []
            ),
            ("guard let u = r.url else { return }\nloader.load(u) { self.handler?($0) }", [1]),
            ("guard let u = r.url else { return finish() }\nloader.load(u) { self.finish() }", []),
            ("guard let u = r.url else { return }\nloader.load(u) { self.finish() }", [1]),
            ("let loader = Loader(extension: self)\nloader.run()", []),
            ("let answer = handler\nqueue.async { answer?(r.content) }", []),
            ("if off { return }\ndone(r.content)", [1]),
        ])
    func kept(body: String, lines: [Int]) {
        let rest = "func finish() { handler?(best!) }\n"
        #expect(Self.keptGaps(body, body.contains("finish") ? rest : "") == lines, "\(body)")
    }

    @Test("a function that leads to another one that answers does")
    func chains() {
        let rest =
            "func load() { get { self.deliver() } }\nfunc deliver() { handler?(best!) }\n"
            + "override func serviceExtensionTimeWillExpire() { deliver() }"
        #expect(Self.keptGaps("guard isMine else {\ndeliver()\nreturn\n}\nload()", rest) == [])
        #expect(Self.keptGaps("guard isMine else { return }\nload()", rest) == [1])
        let cancelled = "Task {\nguard !Task.isCancelled else { return }\ndone(c)\n}"
        #expect(Self.keptGaps(cancelled) == [])
        let named =
            "if let best = best {\n" + String(repeating: "best.a = b\n", count: 40) + "done(c)\n}"
        #expect(Self.keptGaps(named) == [])
    }

    @Test(
        "a kept content handler may be called by what this file does not show",
        arguments: [
            ("process(r)", ""), ("self.process(r)", ""), ("core.handler = done\ncore.run()", ""),
            ("loader.load { self.image = $0 }", "var image: I? { didSet { handler?(best!) } }"),
            ("loader.run()", "lazy var loader = L { [weak self] in self?.handler?(c) }"),
            ("loader.run()", "lazy var loader = L(delegate: self)"),
            ("loader.run()", "override init() { loader.delegate = self }"),
        ])
    func unseen(body: String, rest: String) {
        #expect(Self.keptGaps("if off { return done(c) }\n" + body, rest) == [], "\(body) \(rest)")
    }

    @Test("what others do with a kept content handler is not known")
    func keptForOthers() {
        let body = "if off { return }\nloader.start()"
        #expect(Self.keptGaps(body) == [-2])
        let callback = "func loaded(_ c: C) { handler?(c) }"
        #expect(Self.keptGaps(body, callback) == [])
        for inherited in ["Base", "UNNotificationServiceExtension, LoaderDelegate"] {
            #expect(Self.keptGaps(body, inherited: inherited) == [], "\(inherited)")
        }
        let late = "override func serviceExtensionTimeWillExpire() { handler?(best!) }"
        #expect(Self.keptGaps(body, late) == [-2])
    }

    @Test("functions of another kind are let be, and those of Flutter's plugins")
    func others() {
        #expect(Self.gaps("class P: FlutterPlugin {\n" + Self.response, "open()\n}") == [])
        for head in [
            Self.response + " -> Bool", "func open(withCompletionHandler done: () -> Void)",
            Self.response.replacing("_ c", with: "for c").replacing("userN", with: "myN"),
            Self.content.replacing("didReceive", with: "receive"),
        ] {
            #expect(Self.gaps(head, "open()") == [], "\(head)")
        }
    }
}
