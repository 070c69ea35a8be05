// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// What a handler of VoIP pushes does with the call, on paths through helpers, cases and closures.
extension BackgroundSourceTests {
    private static func handler(_ body: String, type: String = "type") -> String {
        "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, "
            + "for \(type): PKPushType, completion: @escaping () -> Void) {\n\(body)\n}"
    }

    private static func objectiveC(_ body: String) -> String {
        "- (void)pushRegistry:(PKPushRegistry *)registry "
            + "didReceiveIncomingPushWithPayload:(PKPushPayload *)payload "
            + "forType:(PKPushType)type withCompletionHandler:(void (^)(void))completion {\n"
            + "\(body)\n}"
    }

    private static let report = "provider.reportNewIncomingCall(with: id, update: u) { _ in }\n"
    private static let guarded = "guard let id = payload.dictionaryPayload[\"id\"] else {\n"

    @Test("a helper gets the completion handler by its place among arguments without a label")
    func helperParameters() {
        let call = Self.handler("\(Self.report)handle(payload.dictionaryPayload, completion)")
        let helper = "\nfunc handle(_ data: [AnyHashable: Any], _ done: @escaping () -> Void) {\n"
        #expect(Self.faults(call + helper + "log(data)\ndone()\n}") == [])
        #expect(
            Self.faults(call + helper + "guard data.isNew else { return }\ndone()\n}")
                == [.voipPathWithoutCompletion])
        let mixed = Self.handler("\(Self.report)handle(at: 1, payload, completion)")
        let other =
            "\nfunc handle(at: Int, _ push: PKPushPayload, _ done: @escaping () -> Void) {\n"
        #expect(Self.faults(mixed + other + "done()\n}") == [])
        #expect(
            Self.faults(mixed + other + "if at > 1 { done() }\n}") == [.voipPathWithoutCompletion])
    }

    @Test("a method of Objective-C gets the completion handler by its label")
    func objectiveCHelper() {
        let call = Self.objectiveC(
            "[self.calls reportIncomingCall:payload];\n[self handle:payload then:completion];")
        let helper = "\n- (void)handle:(NSObject *)push then:(void (^)(void))done {\n"
        #expect(Self.faults(call + helper + "done();\n}", "a.m") == [])
        #expect(
            Self.faults(call + helper + "if (push.isNew) { return; }\ndone();\n}", "a.m")
                == [.voipPathWithoutCompletion])
    }

    @Test("a completion handler without a name is never called")
    func ignoredCompletion() {
        let source = Self.handler(Self.report).replacing("completion:", with: "completion _:")
        #expect(Self.faults(source) == [.voipPathWithoutCompletion])
    }

    @Test("a type without a name exempts no path")
    func unnamedType() {
        let body = "guard let _ = payload.dictionaryPayload[\"id\"] else { return completion() }\n"
        let source = Self.handler("\(body)\(Self.report)completion()", type: "_")
        #expect(Self.faults(source) == [.voipPathWithoutReport])
    }

    @Test(
        "what each path does before it looks at the push reports no call",
        arguments: [
            "configureAudio()\n", "trace(\"push\")\n", "self.session.activate()\n",
        ])
    func preparations(_ start: String) {
        let trace = "\nfunc trace(_ text: String) { print(\"calls\", text) }"
        let broken = Self.handler("\(start)\(Self.guarded)return completion()\n}\n\(Self.report)")
        #expect(Self.faults(broken + trace).contains(.voipPathWithoutReport))
        let whole = Self.handler("\(start)\(Self.report)completion()")
        #expect(Self.faults(whole + trace) == [])
        // What else there is may do it.
        let unknown = Self.handler("\(start)start()\ncompletion()")
        #expect(Self.faults(unknown + trace) == [])
    }

    @Test("a function of this file that writes a log reports no call")
    func ownLog() {
        let log = "\nfunc remark(_ text: String) { print(\"calls\", text) }"
        let end = "remark(\"bad\")\nreturn completion()\n}\n"
        let source = Self.handler(Self.guarded + end + Self.report + "completion()")
        #expect(Self.faults(source + log) == [.voipPathWithoutReport])
        let fake = "\nfunc remark(_ text: String) { print(text); calls.failed() }"
        #expect(Self.faults(source + fake) == [])
    }

    @Test("a closure that is called as an optional gets the push")
    func optionalClosure() {
        #expect(Self.faults(Self.handler("onPush?(payload)\ncompletion()")) == [])
        let seen = SourceReader.observations(
            in: SourceText(
                Array(Self.handler("onPush?(payload)\ncompletion()").utf8), path: "a.swift"),
            SourceConstants())
        #expect(!seen.map(\.subject).contains(.voipHandlerWithoutReport))
    }

    @Test("a method whose name has a capital letter may report the call, and a type does not")
    func capitalLetters() {
        func isIdle(_ body: String) -> Bool {
            SourceReader.observations(
                in: SourceText(Array(body.utf8), path: "a.swift"), SourceConstants()
            ).contains { $0.subject == .voipHandlerWithoutReport }
        }
        #expect(!isIdle(Self.handler("model.IncomingCall(payload)\ncompletion()")))
        let own = "\nfunc Ring(_ push: PKPushPayload) { calls.ring(push) }"
        #expect(!isIdle(Self.handler("Ring(payload)\ncompletion()") + own))
        #expect(isIdle(Self.handler("Ring(payload)\ncompletion()")))
        #expect(isIdle("import calls\n" + Self.handler("calls.Data(payload)\ncompletion()")))
        #expect(isIdle(Self.handler("Calls.Data(payload)\ncompletion()")))
    }

    @Test("an empty handler in the form of iOS 8 is told from one that does something else")
    func emptyHandler() {
        func subjects(_ body: String) -> Set<SourceObservation.Subject> {
            let source = Self.objectiveC(body).replacing(
                " withCompletionHandler:(void (^)(void))completion", with: "")
            return Set(
                SourceReader.observations(
                    in: SourceText(Array(source.utf8), path: "a.m"), SourceConstants()
                ).map(\.subject))
        }
        #expect(subjects("return;").contains(.emptyVoIPHandler))
        #expect(!subjects("return;").contains(.voipHandlerWithoutReport))
        #expect(subjects("self.last = payload;").contains(.voipHandlerWithoutReport))
    }

    @Test("a helper whose call goes to another file is followed")
    func namedReports() {
        let call = Self.handler("take(payload)\ncompletion()")
        let helper =
            "\nfunc take(_ push: PKPushPayload) {\nlet data = push.dictionaryPayload\n"
            + "if let id = data[\"id\"] { Calls.shared.reportIncoming(id) }"
        #expect(Self.faults(call + helper + "\n}") == [.voipPathWithoutReport])
        #expect(Self.faults(call + helper + " else { Calls.shared.reportUnknownCall() }\n}") == [])
    }

    @Test("a local function that reports is no report until it is called")
    func localReport() {
        let local = "func ring() { provider.reportNewIncomingCall(with: id, update: u) { _ in } }\n"
        let broken = Self.handler("\(local)\(Self.guarded)return completion()\n}\nring()")
        #expect(Self.faults(broken).contains(.voipPathWithoutReport))
        let whole = Self.handler("\(local)\(Self.guarded)ring()\nreturn completion()\n}\nring()")
        #expect(!Self.faults(whole).contains(.voipPathWithoutReport))
    }

    @Test("a case that falls through does what the next one does")
    func fallingThrough() {
        let cases =
            "switch payload.dictionaryPayload[\"t\"] {\ncase 1:\nprint(1)\nfallthrough\n"
            + "default:\n\(Self.report)}\ncompletion()"
        #expect(Self.faults(Self.handler(cases)) == [])
        #expect(
            Self.faults(Self.handler(cases.replacing("fallthrough\n", with: "")))
                == [.voipPathWithoutReport])
        let old =
            "switch ([payload.dictionaryPayload[@\"t\"] intValue]) {\ncase 1:\nNSLog(@\"1\");\n"
            + "default:\n[self.calls reportIncomingCall:payload];\n}\ncompletion();"
        #expect(Self.faults(Self.objectiveC(old), "a.m") == [])
        let ended = old.replacing("NSLog(@\"1\");\n", with: "NSLog(@\"1\");\nbreak;\n")
        #expect(Self.faults(Self.objectiveC(ended), "a.m") == [.voipPathWithoutReport])
    }

    @Test("a loop over the push may find nothing to report")
    func loop() {
        let source = Self.handler(
            "for call in payload.dictionaryPayload.calls {\n\(Self.report)}\ncompletion()")
        #expect(Self.faults(source) == [.voipPathWithoutReport])
        let other = Self.handler("for old in calls { end(old) }\n\(Self.report)completion()")
        #expect(Self.faults(other) == [])
    }

    @Test(
        "a block of Objective-C that runs later reports late",
        arguments: [
            "dispatch_async(dispatch_get_main_queue(), ^{ REPORT });",
            "dispatch_after(dispatch_time(DISPATCH_TIME_NOW, 9), queue, ^{ REPORT });",
            "[[session dataTaskWithURL:u completionHandler:^(NSData *d) { REPORT }] resume];",
        ])
    func lateBlocks(_ body: String) {
        let report =
            "[self.provider reportNewIncomingCallWithUUID:i update:u completion:^(NSError *e) { "
            + "completion(); }];"
        func isLate(_ body: String) -> Bool {
            let source = Self.objectiveC(body.replacing("REPORT", with: report))
            return SourceReader.observations(
                in: SourceText(Array(source.utf8), path: "a.m"), SourceConstants()
            ).contains { $0.subject == .lateReport }
        }
        #expect(isLate(body))
        #expect(!isLate("REPORT"))
        #expect(!isLate("[self.calls each:^{ REPORT }];"))
    }

    @Test(
        "what only ends the waiting, completes or tells the app itself reports no call",
        arguments: [
            "timeout.cancel()", "self.cancelTimer()", "finish()", "later()",
            "NotificationCenter.default.post(name: .call, object: nil)",
            "sendEvent(withName: \"call\", body: payload)",
            "channel.invokeMethod(\"call\", arguments: payload.dictionaryPayload)",
            "center.disconnected(call)", "center.close(call, reason: .remoteEnded)",
            "defaults.synchronize()",
        ])
    func endings(_ call: String) {
        let source = Self.handler(
            "func finish() { completion() }\nlet later = { log(1)\nfinish() }\n\(Self.guarded)"
                + "\(call)\nreturn completion()\n}\n\(Self.report)completion()")
        #expect(Self.faults(source) == [.voipPathWithoutReport])
        let other = source.replacing(call, with: "calls.cancelCall(payload)")
        #expect(Self.faults(other) == [])
    }

    @Test("a message to a script reports no call, whatever it is made of")
    func scriptMessages() {
        let send =
            "CDVPluginResult *r = [CDVPluginResult resultWithStatus:CDVCommandStatus_OK "
            + "messageAsDictionary:push];\n[r setKeepCallback:[NSNumber numberWithBool:YES]];\n"
            + "[self.commandDelegate sendPluginResult:r callbackId:self.id];\n"
        let helper =
            "\n}\n- (void)receiveCall:(NSDictionary *)push {\nif (push.count > 0) {\n"
            + "[self.provider reportNewIncomingCallWithUUID:i update:u completion:nil];\n} else {\n"
            + "\(send)}"
        let source = Self.objectiveC(
            "[self receiveCall:payload.dictionaryPayload];\ncompletion();" + helper)
        #expect(Self.faults(source, "a.m") == [.voipPathWithoutReport])
        let other = source.replacing(send, with: "[self.calls reportIncomingCall:push];\n")
        #expect(Self.faults(other, "a.m") == [])
    }

    @Test("a handler that calls the one in the form of iOS 8 reports what that one reports")
    func olderHandler() {
        let source =
            "class A: NSObject {\n"
            + Self.handler(
                "self.pushRegistry(r, didReceiveIncomingPushWith: payload, for: type)\n"
                    + "completion()")
            + "\nfunc pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith payload: "
            + "PKPushPayload, for kind: PKPushType) {\nguard kind == .voIP else { return }\n"
            + "WORK\n}\n}"
        func faults(_ work: String) -> Set<Fault> {
            Self.faults(source.replacing("WORK", with: work))
        }
        #expect(faults(Self.report) == [])
        #expect(faults("calls.handle(payload)") == [])
        #expect(faults("\(Self.guarded)return\n}\n\(Self.report)") == [.voipPathWithoutReport])
        let silent = source.replacing("WORK", with: "print(payload)")
        let text = SourceText(Array(silent.utf8), path: "a.swift")
        #expect(
            SourceReader.observations(in: text, SourceConstants())
                .contains { $0.subject == .voipHandlerWithoutReport })
    }

    @Test("a local notification reports no call, whatever its center is called")
    func localNotification() {
        let guarded = "\(Self.guarded)WORK\nreturn completion()\n}\n\(Self.report)completion()"
        func faults(_ center: String) -> Set<Fault> {
            let work = "let center = \(center)\ncenter.add(request) { _ in }"
            return Self.faults(Self.handler(guarded.replacing("WORK", with: work)))
        }
        #expect(faults("UNUserNotificationCenter.current()") == [.voipPathWithoutReport])
        #expect(faults("CallCenter(payload)") == [])
        let source = Self.objectiveC(
            "if (payload.dictionaryPayload[@\"id\"] == nil) {\n"
                + "UNUserNotificationCenter *c = "
                + "[UNUserNotificationCenter currentNotificationCenter];\n"
                + "[c addNotificationRequest:r withCompletionHandler:nil];\ncompletion();\n"
                + "return;\n}\n[p reportNewIncomingCallWithUUID:i update:u completion:nil];\n"
                + "completion();")
        #expect(Self.faults(source, "a.m") == [.voipPathWithoutReport])
        let other = source.replacing("[UNUserNotificationCenter cur", with: "[Calls cur")
        #expect(Self.faults(other, "a.m") == [])
    }

    @Test("a function of this file that only asks a script reports no call")
    func askingHelper() {
        let source =
            Self.handler(
                "if app.applicationState == .active {\nshow(payload, completion)\n} else {\n"
                    + "\(Self.report)completion()\n}")
            + "\nfunc show(_ push: PKPushPayload, _ done: @escaping () -> Void) {\n"
            + "let channel = FlutterMethodChannel(name: \"a\")\n"
            + "channel.invokeMethod(\"call\", arguments: nil)\ndone()\n}"
        #expect(Self.faults(source) == [.voipPathWithoutReport])
        #expect(Self.faults(source.replacing("done()\n", with: "calls.ring(push)\n")) != [])
        #expect(
            Self.faults(source.replacing("done()\n", with: "calls.ring(push)\ndone()\n")) == [])
    }

    @Test("a timer that Objective-C invalidates reports no call")
    func invalidation() {
        let source = Self.objectiveC(
            "if (payload.dictionaryPayload[@\"id\"] == nil) {\n[self.timer invalidate];\n"
                + "completion();\nreturn;\n}\n[self.calls reportIncomingCall:payload];\n"
                + "completion();")
        #expect(Self.faults(source, "a.m") == [.voipPathWithoutReport])
    }

    @Test("a helper completes by a closure of any name, which is no report")
    func helperCloses() {
        let source =
            Self.handler("handle(payload.dictionaryPayload, completion)")
            + "\nfunc handle(_ info: [AnyHashable: Any], _ done: @escaping () -> Void) {\n"
            + "guard let id = info[\"id\"] else { return done() }\n\(Self.report)done()\n}"
        #expect(Self.faults(source) == [.voipPathWithoutReport])
    }

    @Test("an error that is thrown before the report leads to the catch")
    func thrownBefore() {
        let source = Self.handler(
            "do {\nguard payload.isNew else { throw Failure.old }\n\(Self.report)completion()\n"
                + "} catch {\ncompletion()\n}")
        #expect(Self.faults(source) == [.voipPathWithoutReport])
        let reporting = source.replacing(
            "catch {\n", with: "catch {\n\(Self.report)")
        #expect(Self.faults(reporting) == [])
    }

    @Test("a report that raises an exception was attempted")
    func raisedByReport() {
        let body =
            "@try {\nNSUUID *i = [NSUUID UUID];\n[self.provider reportNewIncomingCallWithUUID:i "
            + "update:u completion:^(NSError *e) { completion(); }];\n"
            + "} @catch (NSException *e) {\ncompletion();\n}"
        #expect(Self.faults(Self.objectiveC(body), "a.m") == [])
        let without = body.replacing(
            "[self.provider", with: "if (old) { @throw e; }\n[self.provider")
        #expect(Self.faults(Self.objectiveC(without), "a.m") == [.voipPathWithoutReport])
    }

    @Test("a break with a label leaves what follows in its statement out")
    func labelledBreak() {
        let source = Self.handler(
            "parse: do {\nguard payload.isNew else { break parse }\n\(Self.report)}\ncompletion()")
        #expect(Self.faults(source) == [.voipPathWithoutReport])
        let reported = source.replacing("completion()\n}", with: "\(Self.report)completion()\n}")
        #expect(Self.faults(reported) == [])
    }

    @Test(
        "a condition that asks for the type and for what the push says is not met by every call",
        arguments: [
            "guard type == .voIP, let id = payload.dictionaryPayload[\"id\"] else { return }\n",
            "if type != .voIP || payload.dictionaryPayload.isEmpty { return completion() }\n",
        ])
    func typeAndContent(condition: String) {
        let source = Self.handler("defer { completion() }\n\(condition)\(Self.report)")
        #expect(Self.faults(source).contains(.voipPathWithoutReport))
        let only = "guard type == .voIP, let self else { return }\n"
        #expect(Self.faults(Self.handler("defer { completion() }\n\(only)\(Self.report)")) == [])
        let block = Self.objectiveC(
            "if ([type isEqualToString:PKPushTypeVoIP] && payload.dictionaryPayload[@\"id\"]) {\n"
                + "[self.calls reportIncomingCall:payload];\n}\ncompletion();")
        #expect(Self.faults(block, "a.m") == [.voipPathWithoutReport])
        let type = block.replacing(" && payload.dictionaryPayload[@\"id\"]", with: "")
        #expect(Self.faults(type, "a.m") == [])
    }

    @Test(
        "a payload is always a dictionary of texts",
        arguments: [
            ("[String: Any]", true), ("NSDictionary", true), ("[AnyHashable: Any]", true),
            ("[String: String]", false), ("[String: Any], let id = push[\"id\"]", false),
        ])
    func wholePayload(type: String, isMet: Bool) {
        for check in ["", "type == .voIP, "] {
            let source = Self.handler(
                "guard \(check)let push = payload.dictionaryPayload as? \(type) else {\n"
                    + "completion()\nreturn\n}\n\(Self.report)completion()")
            #expect(Self.faults(source) == (isMet ? [] : [.voipPathWithoutReport]))
        }
    }

    @Test("a function that only a view calls registers its tasks too late")
    func viewRegistration() {
        func occasions(_ body: String) -> [SourceObservation.Occasion] {
            let source =
                "struct V: View {\nfunc setUp() { s.register(forTaskWithIdentifier: \"a\", using: "
                + "nil) { [x] task in x.run(task) } }\n\(body)\n}"
            return SourceReader.observations(
                in: SourceText(Array(source.utf8), path: "a.swift"), SourceConstants()
            ).compactMap {
                if case .registeredTask(_, let occasion) = $0.subject { occasion } else { nil }
            }
        }
        #expect(occasions("var body: some View { T().onAppear { self.setUp() } }") == [.view])
        #expect(occasions("var body: some View { T().onAppear { tasks.setUp() } }") == [.unknown])
        #expect(
            occasions("init() { setUp() }\nvar body: some View { T().onAppear { setUp() } }") == [
                .unknown
            ])
        #expect(occasions("init() { setUp() }") == [.unknown])
        #expect(occasions("") == [.elsewhere])
        let bridges = [
            "@objc func start(_ resolve: RCTPromiseResolveBlock) { setUp() }",
            "func handle(_ call: FlutterMethodCall, result: @escaping FlutterResult) { setUp() }",
            "@objc func start(_ call: CAPPluginCall) { setUp() }",
            "func f() { channel.setMethodCallHandler { call, result in self.setUp() } }",
        ]
        for bridge in bridges { #expect(occasions(bridge) == [.afterLaunch]) }
        #expect(
            occasions("func register(with registrar: FlutterPluginRegistrar) { setUp() }")
                == [.unknown])
    }

    @Test("the handler of a background session's events keeps its completion handler or calls it")
    func transferEvents() {
        func faults(_ body: String) -> Set<Fault> {
            Self.faults(
                "func application(_ a: UIApplication, handleEventsForBackgroundURLSession id: "
                    + "String, completionHandler: @escaping () -> Void) {\n\(body)\n}")
        }
        #expect(faults("log(id)") == [.transferEventsWithoutCompletion])
        #expect(faults("log(completionHandler: id)") == [.transferEventsWithoutCompletion])
        #expect(faults("store.done = completionHandler") == [])
        #expect(faults("transfers.join(id, completionHandler: completionHandler)") == [])
        let objectiveC =
            "@implementation A\n- (void)application:(UIApplication *)a "
            + "handleEventsForBackgroundURLSession:(NSString *)identifier "
            + "completionHandler:(void (^)(void))done {\n[self join:identifier];\n}\n@end"
        #expect(Self.faults(objectiveC, "a.m") == [.transferEventsWithoutCompletion])
    }

    @Test(
        "a closure that runs instead of the one that completes has to complete too",
        arguments: [
            "load.sink(receiveCompletion: { if case .failure = $0 { OTHER } else { done(.noData) } "
                + "}, receiveValue: { print($0) })",
            "load.subscribe(onNext: { done(.noData) }, onError: { OTHER }).disposed(by: bag)",
            "api.get(success: { done(.noData) }, failure: { OTHER })",
            "api.get(success: { OTHER }, failure: { done(.failed) })",
        ])
    func alternatives(call: String) {
        func gaps(_ call: String) -> Bool {
            let source =
                "func application(_ a: A, didReceiveRemoteNotification u: U, "
                + "fetchCompletionHandler done: @escaping (R) -> Void) {\n\(call)\n}"
            return SourceReader.observations(
                in: SourceText(Array(source.utf8), path: "a.swift"), SourceConstants()
            ).contains { $0.subject == .pathWithoutCompletion }
        }
        #expect(gaps(call.replacing("OTHER", with: "log(1)")))
        #expect(!gaps(call.replacing("OTHER", with: "done(.noData)")))
        let disposed = call.replacing("onError:", with: "onDisposed: { done(.noData) }, onError:")
        if disposed != call { #expect(!gaps(disposed.replacing("OTHER", with: "log(1)"))) }
    }

    @Test("the block of Objective-C for a failure has to complete as the one for success does")
    func failureBlock() {
        let source =
            "@implementation A\n- (void)application:(UIApplication *)a "
            + "performFetchWithCompletionHandler:(void (^)(UIBackgroundFetchResult))done {\n"
            + "[self.api get:@\"a\" success:^(id value) { done(0); } "
            + "failure:^(NSError *error) { END }];\n}\n@end"
        #expect(
            Self.faults(source.replacing("END", with: "NSLog(@\"b\");"), "a.m")
                == [.fetchPathWithoutCompletion])
        #expect(Self.faults(source.replacing("END", with: "done(1);"), "a.m") == [])
    }
}
