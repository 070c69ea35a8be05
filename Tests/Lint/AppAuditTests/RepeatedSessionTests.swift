// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Background sessions that are made anew at each use.
@Suite("Sessions that are made anew")
struct RepeatedSessionTests: SourceFaultSuite {
    private static let fault: Set<Fault> = [.sessionMadeAnew]
    private static let making =
        "URLSession(configuration: .background(withIdentifier: \"a\"), delegate: self, "
        + "delegateQueue: .main)"
    private static let uses =
        "func start() { session.downloadTask(with: url).resume() }\n"
        + "func stop() { self.session.getAllTasks { $0.forEach { $0.cancel() } } }"

    private static func found(_ maker: String, _ uses: String = uses) -> Set<Fault> {
        faults("class A: NSObject {\n\(maker)\n\(uses)\n}").intersection(fault)
    }

    @Test("a computed property or a function that makes one at each of several uses")
    func madeAnew() {
        #expect(Self.found("var session: URLSession { \(Self.making) }") == Self.fault)
        #expect(
            Self.found("private var session: URLSession {\nreturn \(Self.making)\n}") == Self.fault)
        let kept =
            "let c = URLSessionConfiguration.background(withIdentifier: \"a\")\n"
            + "var session: URLSession {\nc.isDiscretionary = true\n"
            + "return URLSession(configuration: c, delegate: self, delegateQueue: nil)\n}"
        #expect(Self.found(kept) == Self.fault)
        let local =
            "var session: URLSession {\n"
            + "let c = URLSessionConfiguration.background(withIdentifier: \"a\")\n"
            + "c.sessionSendsLaunchEvents = true\n"
            + "return URLSession(configuration: c, delegate: self, delegateQueue: nil)\n}"
        #expect(Self.found(local) == Self.fault)
        #expect(
            Self.found(
                "func session() -> URLSession {\nreturn \(Self.making)\n}",
                Self.uses.replacing("session.", with: "session().")) == Self.fault)
    }

    @Test("one that is made at launch and thrown away, with a constant for its identifier")
    func thrownAway() {
        let maker =
            "static let id = \"a\"\nprivate func session() -> URLSession {\n"
            + "let c = URLSessionConfiguration.background(withIdentifier: Self.id)\n"
            + "return URLSession(configuration: c, delegate: self, delegateQueue: nil)\n}"
        let load = "func load() { session().downloadTask(with: url).resume() }\n"
        #expect(Self.found(maker, load + "func start() {\n_ = session()\n}") == Self.fault)
        #expect(Self.found(maker, load + "func start() {\n_ = self.session() }") == Self.fault)
        for (old, new) in [
            ("_ = session()", "_ = session().delegate"), ("_ = session()", "_ = session()?.id"),
            ("_ = session()", "kept = session()"), ("_ = session()", "print(1)"),
        ] {
            let start = "func start() {\n_ = session()\n}".replacing(old, with: new)
            let expected: Set<Fault> = new.hasSuffix("delegate") ? Self.fault : []
            #expect(Self.found(maker, load + start) == expected, "\(new)")
        }
        for id in [
            "static var id = \"a\"", "let id = make()", "static let id = \"a\" + name",
            "static let id = \"a.\\(name)\"", "static var id: String { UUID().uuidString }",
            "static let other = \"a\"",
        ] {
            let maker = maker.replacing("static let id = \"a\"", with: id)
            #expect(Self.found(maker, load + "func start() {\n_ = session()\n}") == [], "\(id)")
        }
    }

    @Test(
        "one that is kept, or has another identifier",
        arguments: [
            "lazy var session: URLSession = { \(making) }()",
            "lazy var session: URLSession = \(making)",
            "lazy var session = \(making)",
            "static var session: URLSession { \(making) }",
            "var kept: URLSession?\nvar session: URLSession {\nif let kept { return kept }\n"
                + "let new = \(making)\nkept = new\nreturn new\n}",
            "var kept: URLSession?\nvar session: URLSession {\nkept = kept ?? \(making)\n"
                + "return kept!\n}",
            "var session: URLSession { \(making.replacing("\"a\"", with: "UUID().uuidString")) }",
            "var session: URLSession { \(making.replacing("\"a\"", with: "\"a.\\(id)\"")) }",
            "var session: URLSession { URLSession(configuration: .default) }",
            "var session: URLSession { Self.shared.session }",
            "var c = URLSessionConfiguration.background(withIdentifier: \"a\")\n"
                + "var session: URLSession { URLSession(configuration: c) }",
        ])
    func kept(maker: String) {
        #expect(Self.found(maker) == [])
    }

    @Test(
        "one that is used once, kept by its user, or ended",
        arguments: [
            "func start() { session.downloadTask(with: url).resume() }",
            "func start() { let s = session }\nfunc stop() { let s = session }",
            "func start() { if a { session.downloadTask(with: url) } else { session.reset { } } }",
            "func start() { session.downloadTask(with: url) }\nfunc stop() { "
                + "session.invalidateAndCancel() }",
            "func start() { session.downloadTask(with: url) }\n"
                + "func done(_ session: URLSession) { session.reset { } }",
            "func start() { session.downloadTask(with: url) }\n"
                + "func done() { guard let session = other else { return }\nsession.reset { } }",
            "func start() { session.downloadTask(with: url) }\nfunc done() { other.session.run() }",
        ])
    func usedOnce(uses: String) {
        #expect(Self.found("var session: URLSession { \(Self.making) }", uses) == [])
    }
}
