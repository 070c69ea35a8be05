// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Time in the background that only its own expiration ends, and timers under it.
@Suite("Time that lasts until it expires")
struct LastingTimeTests: SourceFaultSuite {
    private static let begin = "UIApplication.shared.beginBackgroundTask"
    private static let end = "UIApplication.shared.endBackgroundTask"
    private static let timer = "Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in }"

    private static func local(_ rest: String, before: String = "") -> String {
        "class A {\nfunc f() {\nvar id: UIBackgroundTaskIdentifier = .invalid\n\(before)\n"
            + "id = \(begin) {\n\(end)(id)\nid = .invalid\n}\n\(rest)\n}\n}"
    }

    private static func kept(
        _ rest: String = "", property: String = "private var id: UIBackgroundTaskIdentifier?"
    ) -> String {
        "class A {\n\(property)\nfunc f() {\nid = \(begin) { \(end)(self.id!) }\n}\n\(rest)\n}"
    }

    @Test("the identifier is used in the expiration handler alone")
    func lasting() {
        let lasting: Set<Fault> = [.assertionEndedByExpiration]
        for source in [
            Self.local(""), Self.local("save()"),
            Self.local("guard id != .invalid else { return }"),
            "func f() {\nlet id = \(Self.begin) { \(Self.end)(id) }\nsave()\n}",
            Self.kept(), Self.kept("func g() { id = .invalid }"),
            Self.kept(property: "fileprivate var id: UIBackgroundTaskIdentifier?"),
            Self.kept("func g() { if id == .invalid { f() } }"),
            Self.kept(property: "private var id = UIBackgroundTaskIdentifier.invalid"),
            Self.local("").replacing("\(Self.end)(id)", with: "let own = id\n\(Self.end)(own)"),
        ] {
            #expect(Self.faults(source) == lasting, "\(source)")
        }
        let objectiveC =
            "@implementation A\n- (void)f {\n__block UIBackgroundTaskIdentifier t = [app "
            + "beginBackgroundTaskWithExpirationHandler:^{ [app endBackgroundTask:t]; "
            + "t = UIBackgroundTaskInvalid; }];\n[self save];\n"
        #expect(Self.faults(objectiveC + "}\n@end", "a.m") == lasting)
        #expect(Self.faults(objectiveC + "[app endBackgroundTask:t];\n}\n@end", "a.m") == [])
        #expect(
            Self.faults(
                "@implementation A {\nUIBackgroundTaskIdentifier t;\n}\n- (void)f {\nt = [app "
                    + "beginBackgroundTaskWithExpirationHandler:^{ [app endBackgroundTask:t]; }];\n"
                    + "}\n@end", "a.m") == [])
    }

    @Test(
        "what else may end it",
        arguments: [
            local("").replacing("(id)", with: "(.invalid)"), local("\(end)(id)"),
            local("defer { \(end)(id) }\nsave()"),
            local("save { \(end)(id) }"), local("ids.append(id)"), local("self.id = id"),
            local("onEnd = { [id] in \(end)(id) }"), local("let kept = id\nend(kept)"),
            local("stop()", before: "func stop() { \(end)(id) }"),
            local("DispatchQueue.main.asyncAfter(deadline: .now() + 5) { \(end)(id) }"),
            local("if on {\n\(end)(id)\n} else {\nfinish(id)\n}"),
            kept("func g() { \(end)(id!) }"), kept("deinit { if let id { \(end)(id) } }"),
            kept("func g() { guard let time = id else { return }\n\(end)(time) }"),
            kept("func g() -> UIBackgroundTaskIdentifier? { id }"),
            kept(property: "private var id: UIBackgroundTaskIdentifier? { didSet { stop() } }"),
            kept(property: "var id: UIBackgroundTaskIdentifier?"),
            kept(property: "private(set) var id: UIBackgroundTaskIdentifier?"),
            kept("func g() { Ender.end(&id) }"),
            kept(property: "@Published private var id: UIBackgroundTaskIdentifier?"),
            kept(property: "@A.B(1)\nprivate var id: UIBackgroundTaskIdentifier?"),
            kept(property: "private var id: UIBackgroundTaskIdentifier? { get { b } set { s() } }"),
            kept("func g() { resolve(id.rawValue) }"),
            kept("func g() { set(1, forKey: \"id\") }"), kept("func g() { log(\"\\(id)\") }"),
            kept("func g() { if let id { \(end)(id) } }")
                .replacing("{ \(end)(self.id!) }", with: "{ if let id { \(end)(id) } }"),
            kept("}\nclass B {\nprivate var id = 1"),
            kept("}\nclass B {\nfunc g() { id = 1 }"),
            kept().replacing("func f", with: "}\nclass B: C {\nfunc f"),
            local("").replacing("\nid = \(begin)", with: "\nself.id = \(begin)"),
            local("print(id.rawValue)"),
        ])
    func ended(source: String) {
        #expect(!Self.faults(source).contains(.assertionEndedByExpiration))
    }

    @Test("a repeating timer under such time")
    func timers() {
        let both: Set<Fault> = [.assertionEndedByExpiration, .timerInLastingTime]
        #expect(Self.faults(Self.local(Self.timer)) == both)
        #expect(Self.faults(Self.local("let t = " + Self.timer)) == both)
        #expect(Self.faults(Self.local("while true { sleep(1) }")).isSuperset(of: both))
        let objectiveC =
            "@implementation A\n- (void)f {\n__block UIBackgroundTaskIdentifier t = [app "
            + "beginBackgroundTaskWithExpirationHandler:^{ [app endBackgroundTask:t]; }];\n"
            + "NSTimer *timer = [NSTimer scheduledTimerWithTimeInterval:1 repeats:YES "
            + "block:^(NSTimer *timer) { }];\n}\n@end"
        #expect(Self.faults(objectiveC, "a.m") == both)
    }

    @Test(
        "timers that are in order",
        arguments: [
            local(timer.replacing("true", with: "false")),
            local("let t = \(timer)\nt.invalidate()"),
            local(timer.replacing("{ _ in }", with: "{ t in t.invalidate() }")),
            local("Timer.scheduledTimer(timeInterval: 1, target: self, selector: #selector(g))"),
            local(timer.replacing("{ _ in }", with: "{ t in sync(t) }")),
            local(
                "Timer.scheduledTimer(timeInterval: 1, target: self, selector: #selector(g), "
                    + "userInfo: nil, repeats: true)"),
            local("timer = \(timer)\n}\nfunc stop() { timer?.invalidate()"),
            local("timer = \(timer)\n}\ndeinit { timer.invalidate()"),
            local("\(timer)\n\(end)(id)"), local("save()\n}\nfunc g() { \(timer)"),
            local("for _ in 0..<3 { sleep(1) }"), local("Timer.publish(every: 1).sink { }"),
            local("Timer.publish(every: 1).autoconnect().sink { }.store(in: &c)\nc.cancel()"),
        ])
    func ordered(source: String) {
        #expect(!Self.faults(source).contains(.timerInLastingTime))
    }
}
