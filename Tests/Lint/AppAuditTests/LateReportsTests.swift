// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Handlers of VoIP pushes that report the call late.
@Suite("Late reports")
struct LateReportsTests {
    private static let report = "provider.reportNewIncomingCall(with: id, update: u) { _ in }"

    private static func handler(
        _ body: String, in type: String = "class Pushes: NSObject"
    )
        -> String
    {
        "\(type) {\nfunc pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith payload: "
            + "PKPushPayload, for type: PKPushType, completion: @escaping () -> Void) {\n\(body)\n"
            + "}\n}\n"
    }

    private static func subjects(
        _ body: String, _ other: String = ""
    ) throws -> [SourceObservation.Subject] {
        try OccasionTests.subjects(["A.swift": handler(body), "B.swift": other])
    }

    @Test(
        "a report after a wait for something else",
        arguments: [
            ("let s = DispatchSemaphore(value: 0)\nload { s.signal() }\ns.wait()\nREPORT", true),
            ("let g = DispatchGroup()\ng.enter()\nload { g.leave() }\ng.wait()\nREPORT", true),
            ("let g = DispatchGroup()\nload(g)\ng.notify(queue: .main) { REPORT }", true),
            ("Thread.sleep(forTimeInterval: 2)\nREPORT", true),
            ("Timer.scheduledTimer(withTimeInterval: 1, repeats: false) { _ in REPORT }", true),
            ("Task { await load()\nREPORT }", true),
            ("let lock = DispatchSemaphore(value: 1)\nlock.wait()\nlock.signal()\nREPORT", false),
            ("let s = DispatchSemaphore(value: 0)\nREPORT\ns.wait()", false),
            ("Task { await count() }\nREPORT", false), ("REPORT", false),
            ("if isOld { sleep(1)\nreturn }\nREPORT", false),
            ("if isOld { sleep(1) } else { REPORT }", false), ("lamp.sleep()\nREPORT", false),
            ("switch kind {\ncase 1: sleep(1)\ndefault: REPORT\n}", false),
            ("switch kind {\ncase 1: sleep(1)\nREPORT\ndefault: break\n}", true),
            ("#if DEBUG\nsleep(1)\n#endif\nREPORT", false),
            ("#if os(iOS)\nsleep(1)\n#endif\nREPORT", true),
            ("Task { try await m.reportNewIncomingConversation(uuid: id, update: u) }", false),
            (
                "Task { await load()\ntry await m.reportNewIncomingConversation(uuid: id) }", true
            ),
            ("let s = DispatchSemaphore(value: 0)\ns.wait(timeout: .now())\nREPORT", false),
        ])
    func waits(body: String, isLate: Bool) throws {
        let source = body.replacing("REPORT", with: Self.report) + "\ncompletion()"
        #expect(try Self.subjects(source).contains(.lateReport) == isLate)
    }

    @Test(
        "a closure with the report that a function runs later",
        arguments: [
            ("URLSession.shared.dataTask(with: u) { d, _, _ in done(d) }.resume()", true),
            ("queue.asyncAfter(deadline: .now() + 1) { done(1) }", true),
            ("Task { done(await load()) }", true),
            ("URLSession.shared.dataTask(with: u, completionHandler: done).resume()", true),
            ("http.get(1, then: done)", true), ("http.get(1) { d in done(d) }", true),
            ("done(p)", false), ("guard isNew else { return done(p) }\nTask { done(1) }", false),
            ("client.load(done)", false),
        ])
    func closures(body: String, isLate: Bool) throws {
        let other =
            "class Api { let http = HTTP()\nstatic func fetch(_ p: P, done: @escaping (I) -> Void) "
            + "{\n\(body)\n} }\nclass HTTP { func get(_ n: Int, then: @escaping (I) -> Void) {\n"
            + "queue.async { then(n) } } }"
        let handler = "Api.fetch(payload.dictionaryPayload) { i in\n\(Self.report)\ncompletion() }"
        #expect(try Self.subjects(handler, other).contains(.lateReport) == isLate)
        let same =
            Self.handler("self.fetch(payload) { i in \(Self.report)\ncompletion() }")
            + "extension Pushes { func fetch(_ p: P, done: @escaping (I) -> Void) {\n\(body)\n} }"
        let sameFile = try OccasionTests.subjects(["A.swift": same]).contains(.lateReport)
        #expect(sameFile == (isLate && !body.contains("http")))
    }

    @Test("a report in a task that calls a function of the file")
    func helpers() throws {
        let show = "extension Pushes { func show(_ p: P) { \(Self.report) } }"
        func isLate(_ body: String) throws -> Bool {
            try OccasionTests.subjects(["A.swift": Self.handler(body) + show])
                .contains(.lateReport)
        }
        #expect(try isLate("Task { await load()\nshow(payload)\ncompletion() }"))
        #expect(try !isLate("show(payload)\nTask { await load() }\ncompletion()"))
        // What comes later may report again.
        let again = "\nTask { await load()\nshow(payload) }\ncompletion()"
        #expect(try !isLate(Self.report + again))
        #expect(try !isLate("show(payload)" + again))
        let notify = "extension Pushes { func notify(_ run: () -> Void) { run() } }"
        #expect(
            try !OccasionTests.subjects([
                "A.swift": Self.handler("notify { \(Self.report) }\ncompletion()") + notify
            ]).contains(.lateReport))
    }

    @Test("what a function of another file does before a late report is not known")
    func otherFiles() throws {
        let wait = "DispatchQueue.main.asyncAfter(deadline: .now() + 1) { \(Self.report) }"
        for body in [
            wait, "Store.shared.push = info\n" + wait, "log.incoming(info)\n" + wait,
            "UIState.ring(info)\n" + wait, "_ = CallStore(info)\n" + wait,
        ] {
            let subjects = try OccasionTests.subjects([
                "A.swift": Self.handler("center.take(payload.dictionaryPayload)\ncompletion()")
                    .replacing(
                        "class Pushes: NSObject {",
                        with: "class Pushes: NSObject {\nlet center = Center()"),
                "B.swift": "class Center {\nfunc take(_ info: [AnyHashable: Any]) {\n\(body)\n}\n}",
            ])
            #expect(!subjects.contains(.lateReport), "\(body)")
        }
    }

    @Test("a function of the file that a handler calls at once may report the call too late")
    func sameFile() throws {
        func isLate(_ body: String, _ rest: String = "") throws -> Bool {
            let source = Self.handler("take(payload.dictionaryPayload)\ncompletion()")
            let helper =
                "extension Pushes {\nfunc take(_ info: [AnyHashable: Any]) {\n\(body)\n}\n"
                + "func ring() { \(Self.report) }\n\(rest)\n}"
            return try OccasionTests.subjects(["A.swift": source + helper]).contains(.lateReport)
        }
        let wait = "DispatchQueue.main.asyncAfter(deadline: .now() + 1) { \(Self.report) }"
        #expect(try isLate(wait))
        for start in [
            "print(info)", "AVAudioSession.sharedInstance().setActive(true)",
            "let update = CXCallUpdate()\nupdate.hasVideo = true", "last = info\n",
        ] {
            #expect(try isLate(start + "\n" + wait, "var last: Any?"), "\(start)")
        }
        #expect(try isLate("Task { let user = await load(info)\n\(Self.report) }"))
        #expect(try isLate("session.dataTask(with: u) { _, _, _ in self.ring() }.resume()"))
        #expect(
            try isLate(
                "let t = session.dataTask(with: u) { _, _, _ in self.ring() }\nt.resume()"))
        for start in [
            Self.report, "ring()", "calls.show(info)", "rings.begin()", "store.push = info",
            "last = info", "rows += [info]", "subject <~ info", "(self.onPush)(info)",
            "handlers[1]?(info)", "_ = ringer", "AVCalls.shared.present(info)",
            "UIState.ring(info)", "queue.resume()", "gate.wait()", "bus.notify(info)",
            "calls.async(info)", "log.incoming(info)", "_ = CallStore(info)",
            "let store = CallStore(info)",
        ] {
            #expect(
                try !isLate(start + "\n" + wait, "@Published var last: Any?"), "\(start)")
        }
        #expect(try !isLate("if isNew { \(Self.report) } else { \(wait) }"))
    }

    @Test("a screen may be gone when the call is reported, and other objects that stay")
    func screens() {
        let body =
            "provider.reportNewIncomingCall(with: id, update: u) { [weak self] _ in\n"
            + "guard let self else { return }\nself.started()\ncompletion()\n}"
        func faults(_ type: String) -> Set<SourceObservation.Fault> {
            BackgroundSourceTests.faults(Self.handler(body, in: type))
        }
        #expect(
            faults("class CallViewController: UIViewController, PKPushRegistryDelegate")
                == [.voipPathWithoutCompletion])
        #expect(faults("class AppDelegate: UIResponder, PKPushRegistryDelegate") == [])
    }

    @Test("a function that only shows the push reports no call")
    func banner() {
        let body =
            "if UIApplication.shared.applicationState == .active { show(payload)\ncompletion()\n"
            + "return }\n\(Self.report)\ncompletion()"
        func faults(_ show: String) -> Set<SourceObservation.Fault> {
            BackgroundSourceTests.faults(
                Self.handler(body) + "extension Pushes { func show(_ p: P) { \(show) } }")
        }
        #expect(faults("let v = Banner(p)\nwindow.addSubview(v)") == [.voipPathWithoutReport])
        #expect(faults("client.take(p)") == [])
    }

    @Test("a method of Objective-C that only asks a script reports no call")
    func scripts() throws {
        func reportsNothing(
            _ body: String, _ rest: String = "",
            _ properties: String = "@property (copy) NSDictionary *call;"
        ) throws -> Bool {
            let source =
                "@interface Push ()\n\(properties)\n@end\n@implementation Push\n"
                + "@synthesize isCold, message;\n- (void)pushRegistry:(PKPushRegistry *)r "
                + "didReceiveIncomingPushWithPayload:(PKPushPayload *)payload forType:(NSString *)t"
                + " {\nself.message = payload.dictionaryPayload;\n[self received];\n}\n"
                + "- (void)received {\n\(body)\n}\n\(rest)\n@end"
            return try OccasionTests.subjects(["A.m": source]).contains(.voipHandlerWithoutReport)
        }
        let ask =
            "CDVPluginResult *result = [CDVPluginResult resultWithStatus:OK "
            + "messageAsDictionary:info];\n[result setKeepCallbackAsBool:YES];\n"
            + "[self.commandDelegate sendPluginResult:result callbackId:self.callbackId];"
        let copy =
            "NSMutableDictionary *info = [NSMutableDictionary dictionaryWithCapacity:4];\n"
            + "for (id key in message) { [info setObject:[message objectForKey:key] forKey:key]; }"
        for body in [
            ask, copy + ask, ask + "\nself.message = nil;\nself.isCold = NO;",
            "if (message) {\n\(copy)\(ask)\nisCold = NO;\n}",
            "NSDictionary *body = @{ @\"a\": self.message };\n"
                + "[self sendEventWithName:@\"push\" body:body];",
        ] {
            #expect(try reportsNothing(body), "\(body)")
        }
        for body in [
            ask + "\nself.call = message;", ask + "\n[self.calls show:message];",
            ask + "\ncenter.call = message;", ask + "\nself.center.call = message;",
            "CallView *view = [[CallView alloc] init];\nview.call = message;\n"
                + "[self.root pushViewController:view animated:YES];",
            ask + "\n[self performSelector:@selector(ring) withObject:nil];",
            ask
                + "\n[calls reportNewIncomingCallWithUUID:i update:u completion:^(id e) { }];",
            ask + "\nself.onPush(message);", ask + "\n[self ring];",
            ask + "\n(handlers[0])(message);",
        ] {
            let setter = "- (void)setCall:(NSDictionary *)c { [calls add:c]; }"
            #expect(try !reportsNothing(body, setter), "\(body)")
        }
        let keep = ask + "\nself.call = message;"
        #expect(try reportsNothing(keep))
        #expect(try !reportsNothing(keep, "", ""))
        #expect(try !reportsNothing(keep, "", "@property (copy, setter=take:) NSDictionary *call;"))
        let observer =
            "- (void)watch { [self addObserver:self forKeyPath:@\"call\" options:0 context:nil]; }"
        #expect(try !reportsNothing(keep, observer))
        #expect(try !reportsNothing(ask + "\nself.call[@\"now\"] = message;"))
    }
}
