// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Handlers that lead to a report behind a pause, where nothing reports a call otherwise.
@Suite("Reports after a pause")
struct DelayedReportsTests {
    private static func handler(_ call: String) -> String {
        "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, "
            + "for type: PKPushType, completion: @escaping () -> Void) {\n"
            + "print(payload.dictionaryPayload)\n\(call)\ncompletion()\n}\n"
    }
    private static let provider =
        "class Provider: NSObject {\nfunc ring(_ id: UUID) {\n"
        + "cx.reportNewIncomingCall(with: id, update: u) { _ in }\n}\n}\n"

    private static func isLate(_ files: [String: String]) throws -> Bool {
        try OccasionTests.subjects(files).contains(.lateReport)
    }

    private static func isLate(helper: String, call: String = "show()") throws -> Bool {
        let app =
            "class AppDelegate: NSObject, UIApplicationDelegate {\n\(handler(call))\(helper)\n}"
        return try isLate(["A.swift": app, "B.swift": provider])
    }

    @Test(
        "a helper that the handler calls reports only after a pause",
        arguments: [
            "func show() { queue.asyncAfter(deadline: .now() + 2) { P.it.ring(id) } }",
            "func show() { queue.asyncAfter(wallDeadline: DispatchWallTime.now() + 1.5) "
                + "{\nprint(1)\ndelegate.ring(id) } }",
            "func show() { queue.asyncAfter(deadline: .now() + .seconds(3), execute: {\n"
                + "self.p?.ring(id) }) }",
            "func show() { DispatchQueue.main.async {\n"
                + "queue.asyncAfter(deadline: .now() + 2) { P.it.ring(id) } } }",
            "func show() { perform(#selector(begin), with: nil, afterDelay: 2.0) }\n"
                + "@objc private func begin() { p.ring(id) }",
            "func show() { Timer.scheduledTimer(withTimeInterval: 1, repeats: false) "
                + "{ _ in self.begin() } }\nprivate func begin() { p.ring(id) }",
            "func show() { Timer.scheduledTimer(timeInterval: 4, target: self, selector: "
                + "#selector(AppDelegate.begin), userInfo: nil, repeats: false) }\n"
                + "@objc private func begin() { DispatchQueue.main.async { self.start() } }\n"
                + "func start() { p.ring(id) }",
            "func show() { other() }\nfunc other() {\n"
                + "queue.asyncAfter(deadline: .now() + 2) { P.it.ring(id) } }",
        ])
    func late(helper: String) throws {
        #expect(try Self.isLate(helper: helper))
        // The handler leads elsewhere, or leaves the push to what is not known.
        #expect(try !Self.isLate(helper: helper, call: ""))
        for call in [
            "SDK.shared.handle(payload)", "super.show()", "sdk.push = payload", "all[0]?(payload)",
            "subject <~ payload", "delegate?.received(payload)", "onPush?(payload)",
        ] {
            #expect(try !Self.isLate(helper: helper, call: "show()\n\(call)"), "\(call)")
        }
        // Another one calls it at once.
        #expect(try !Self.isLate(helper: helper + "\nfunc tap() { p.ring(id) }"))
        #expect(try !Self.isLate(helper: helper + "\nlet all = [p.ring]"))
        #expect(try !Self.isLate(helper: helper + "\nlet name = Selector((\"ring:\"))"))
        #expect(
            try !Self.isLate(
                helper: helper
                    + "\nfunc tap() { cx.reportNewIncomingCall(with: id, update: u) { _ in } }"))
    }

    @Test(
        "a report that may come at once, or is begun to be waited for",
        arguments: [
            "func show() { p.ring(id) }", "func show() { DispatchQueue.main.async { p.ring(id) } }",
            "func show() { queue.asyncAfter(deadline: .now()) { self.p.ring(id) } }",
            "func show() { queue.asyncAfter(deadline: .now() + 0.1) { p.ring(id) } }",
            "func show() { queue.asyncAfter(deadline: .now() + wait) { p.ring(id) } }",
            "func show() { queue.asyncAfter(deadline: .now() + 2, execute: make(p.ring)) }",
            "func show() { queue.asyncAfter(deadline: .now() + 2) { hub.on = { p.ring(id) } } }",
            "func show() { queue.asyncAfter(deadline: .now() + 2) { hub.on { p.ring(id) } } }",
            "func show() { queue.asyncAfter(deadline: .now() + 2) { self.open() } }\n"
                + "func open() { socket.on(1) { p.ring(id) } }",
            "func show() { queue.asyncAfter(deadline: .now() + 2) { self.open() } }\n"
                + "func open() { publisher.sink { _ in p.ring(id) } }",
            "func show() { queue.asyncAfter(deadline: .now() + 2) { self.open() } }\n"
                + "func open() { center.addObserver(self, selector: #selector(begin), name: n) }\n"
                + "@objc private func begin() { p.ring(id) }",
            "func show() { queue.asyncAfter(deadline: .now() + 2) { self.open() } }\n"
                + "func open() { while true { p.ring(queue.next()) } }",
            "func show() { queue.asyncAfter(deadline: .now() + 2) { Task {\n"
                + "for await p in all { p.ring(id) } } } }",
            "func show() { queue.asyncAfter(deadline: .now() + 2) { if !isShown { p.ring(id) } } }",
            "func show() { queue.asyncAfter(deadline: .now() + 2) {\n"
                + "guard !sdk.hasCall else { return }\np.ring(id) } }",
            "func show() { session.dataTask(with: u) { _, _, _ in p.ring(id) }.resume() }",
            "func show() { perform(#selector(begin), with: nil, afterDelay: 2) }\n"
                + "@IBAction func begin() { p.ring(id) }",
            "func show() { perform(#selector(begin), with: nil, afterDelay: 2) }\n"
                + "@objc(now) private func begin() { p.ring(id) }",
            "func show() { perform(#selector(go), with: p.ring(id), afterDelay: 2) }",
            "func show() { queue.asyncAfter(deadline: .now() + 2) { self.begin() } }\n"
                + "override func begin() { p.ring(id) }",
            "func show() { queue.asyncAfter(deadline: .now() + 2) { self.begin() } }\n"
                + "@objc func begin() { p.ring(id) }",
            "var a = 1 { didSet { p.ring(id) } }\nfunc show() { a = 2 }",
        ])
    func atOnce(helper: String) throws {
        #expect(try !Self.isLate(helper: helper))
    }

    @Test("a library may call what a protocol that is not known asks for")
    func witnesses() throws {
        let pause = "func show() { queue.asyncAfter(deadline: .now() + 2) { self.begin() } }\n"
        let begin = "func begin() { p.ring(id) }"
        func isLate(_ type: String) throws -> Bool {
            try Self.isLate([
                "A.swift": type + " {\n\(Self.handler("show()"))\(pause)\(begin)\n}",
                "B.swift": Self.provider,
            ])
        }
        #expect(try isLate("class AppDelegate: UIResponder, UIApplicationDelegate"))
        #expect(try !isLate("class AppDelegate: UIResponder, UIApplicationDelegate, Engine"))
    }

    @Test("a screen that the handler shows")
    func screens() throws {
        func isLate(_ shows: String, start: String = "viewDidLoad()") throws -> Bool {
            let screen =
                "class Call: UIViewController { override func \(start) {\n"
                + "DispatchQueue.main.asyncAfter(deadline: .now() + 2) { P.it.ring(id) } } }"
            let app =
                "class AppDelegate: NSObject, UIApplicationDelegate {\n\(Self.handler(shows))\n}"
            return try Self.isLate(["A.swift": app, "B.swift": Self.provider, "C.swift": screen])
        }
        let show = "root?.present(call, animated: true)"
        #expect(try isLate("let call = Call()\n\(show)"))
        #expect(try isLate("let call = Call()\n\(show)", start: "viewDidAppear(_ a: Bool)"))
        #expect(
            try isLate(
                "let call = board.instantiateViewController(withIdentifier: i) as! Call\n\(show)"
            ))
        #expect(try !isLate("let call = Other()\n\(show)"))
        #expect(try !isLate("let call = Call()"))
        #expect(try !isLate("let call = make()\n\(show)"))
        #expect(try !isLate("let call = Call()\n\(show)", start: "updateState()"))
    }

    @Test("a screen in Objective-C")
    func blocks() throws {
        let handler =
            "@implementation AppDelegate\n- (void)pushRegistry:(PKPushRegistry *)r "
            + "didReceiveIncomingPushWithPayload:(PKPushPayload *)payload forType:(NSString *)type "
            + "{\nCall *call = [[UIStoryboard storyboardWithName:@\"Main\" bundle:nil] "
            + "instantiateViewControllerWithIdentifier:@\"Call\"];\n"
            + "call.info = payload.dictionaryPayload;\n"
            + "[self.root presentViewController:call animated:YES completion:nil];\n}\n@end"
        let provider =
            "@implementation P\n- (void)reportCall:(NSUUID *)i phone:(NSString *)p {\n"
            + "[cx reportNewIncomingCallWithUUID:i update:u completion:^(NSError *e) { }];\n}\n@end"
        func isLate(_ body: String) throws -> Bool {
            try Self.isLate([
                "A.m": handler, "P.m": provider,
                "C.m": "@implementation Call\n- (void)viewWillAppear:(BOOL)a {\n"
                    + "[super viewWillAppear:a];\n\(body)\n}\n"
                    + "- (void)begin { [[P shared] reportCall:self.i phone:self.p]; }\n@end",
            ])
        }
        let call = "[[P shared] reportCall:self.i phone:self.p];"
        let now = "dispatch_time(DISPATCH_TIME_NOW, "
        for body in [
            "[self performSelector:@selector(begin) withObject:nil afterDelay:2.f];",
            "if (self.isIncoming) { [self performSelector:@selector(begin) withObject:nil "
                + "afterDelay:2]; } else { [p start]; }",
            "dispatch_after(\(now)4 * NSEC_PER_SEC), dispatch_get_main_queue(), ^{\n[self begin];\n"
                + "});",
            "dispatch_after(\(now)(int64_t)(1.5 * NSEC_PER_SEC)), queue, ^{\n[self begin];\n});",
            "[NSTimer scheduledTimerWithTimeInterval:3 target:self selector:@selector(begin) "
                + "userInfo:nil repeats:NO];",
            "[NSTimer scheduledTimerWithTimeInterval:3.0 repeats:NO block:^(NSTimer *t) { "
                + "[self begin]; }];",
        ] {
            #expect(try isLate(body), "\(body)")
            #expect(try !isLate(body + "\n[self begin];"), "\(body)")
            #expect(try !isLate(body + "\n" + call), "\(body)")
        }
        for body in [
            "[self begin];", "[self performSelector:@selector(begin) withObject:nil];",
            "[self performSelector:@selector(begin) withObject:nil afterDelay:0.2];",
            "[self performSelector:@selector(begin) withObject:nil afterDelay:kWait];",
            "dispatch_async(dispatch_get_main_queue(), ^{ [self begin]; });",
            "dispatch_after(\(now)20 * NSEC_PER_MSEC), queue, ^{ [self begin]; });",
            "dispatch_after(\(now)2 * NSEC_PER_SEC), queue, ^{ hub.on = ^{ [self begin]; }; });",
            "dispatch_after(\(now)2 * NSEC_PER_SEC), queue, ^{ [hub then:^{ [self begin]; }]; });",
            "dispatch_after(when, queue, ^{ [self begin]; });",
            "[self performSelector:NSSelectorFromString(@\"begin\") withObject:nil afterDelay:2];",
        ] {
            #expect(try !isLate(body), "\(body)")
        }
    }
}
