// SPDX-License-Identifier: Apache-2.0

import PayloadLint
import PayloadRules
import Testing

@testable import AppAudit

/// Paths through handlers whose closures, calls and answers belong together.
@Suite("Paths through handlers")
struct HandlerPathTests: SourceFaultSuite {
    static let end = "task.setTaskCompleted(success: true)"

    static func task(_ body: String) -> String {
        "func handle(task: BGProcessingTask) {\n\(body)\n}"
    }

    @Test("a function of an extension ends the task that it is called on")
    func extensions() {
        for call in ["task.run { await f() }", "task.run(f)"] {
            #expect(
                !Self.faults("func handle(task: BGAppRefreshTask) {\nschedule()\n\(call)\n}")
                    .contains(.taskPathWithoutEnd))
        }
        func faults(_ message: String) -> Set<Fault> {
            Self.faults("- (void)run:(BGAppRefreshTask *)task { [task \(message)]; }", "a.m")
        }
        #expect(!faults("sy_runWithWork:^{ [c load]; }").contains(.taskPathWithoutEnd))
        #expect(faults("isKindOfClass:c").contains(.taskPathWithoutEnd))
    }

    @Test("a push comes to a device from which the user has signed out, and for calls that ended")
    func accounts() {
        let head =
            "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith p: PKPushPayload, "
            + "for t: PKPushType, completion: @escaping () -> Void) {\ndefer { completion() }\n"
        let report = "provider.reportNewIncomingCall(with: id, update: u) { _ in }"
        func isOpen(_ body: String) -> Bool {
            Self.faults(head + body + "\n}").contains(.voipPathWithoutReport)
        }
        for condition in [
            "Store.currentUser != nil", "let user = Auth.user", "session.isLoggedIn",
            "AccountStore.shared.account != nil", "isAuthenticated",
        ] {
            #expect(isOpen("if \(condition) { \(report) }"), "\(condition)")
        }
        #expect(!isOpen("if provider != nil { \(report) }"))
        #expect(
            !isOpen(
                "var isReported = false\nif let user { \(report)\nisReported = true\n}\n"
                    + "if !isReported { \(report) }"))
        #expect(
            !isOpen(
                "guard session.isSignedIn else { return rejectCall() }\n\(report)\n}\n"
                    + "func rejectCall() { refuse() }\nfunc refuse() { \(report)"))
        #expect(!isOpen("if hasEnded { stray.endCall(completion) } else { \(report) }"))
        #expect(isOpen("if hasEnded { stray.endCall(id) } else { \(report) }"))
        let end = "CXCallController().request(CXTransaction(action: end)) { _ in }"
        #expect(isOpen("if hasEnded { \(end) } else { \(report) }"))
        let kept = "let controller = CXCallController()\ncontroller.request(t) { _ in print(1) }"
        #expect(isOpen("if hasEnded {\n\(kept)\n} else { \(report) }"))
        #expect(!isOpen("if hasEnded { calls.request(p) } else { \(report) }"))
    }

    @Test("what makes a call of a push may report it, and may say that it did not")
    func results() {
        let head =
            "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith p: PKPushPayload, "
            + "for t: PKPushType, completion: @escaping () -> Void) {\n"
        let report = "provider.reportNewIncomingCall(with: id, update: u) { _ in }"
        func subjects(_ body: String) -> [SourceObservation.Subject] {
            let text = SourceText(Array((head + body).utf8), path: "a.swift")
            return SourceReader.observations(in: text, SourceConstants()).map(\.subject)
        }
        let adds = "let call = calls.addIncomingCall(p)\nprint(call)\ncompletion() }\n"
        #expect(!subjects(adds).contains(.voipHandlerWithoutReport))
        let reads = adds.replacing("addIncomingCall", with: "isKnown")
        #expect(subjects(reads).contains(.voipHandlerWithoutReport))
        let makes =
            "guard let c = Calls.make(p) else { \(report)\nreturn completion() }\ncompletion() }\n"
            + "enum Calls { static func make(_ p: PKPushPayload) -> Call? {\n"
            + "guard let c = Call(p) else { return nil }\n\(report)\nreturn c } }"
        #expect(!subjects(makes).contains(.fault(.voipPathWithoutReport)))
        let ignored = makes.replacing("guard let c = Calls.make(p) else", with: "Calls.make(p)\ndo")
        #expect(subjects(ignored).contains(.fault(.voipPathWithoutReport)))
        let helper =
            "func reportCall(_ d: D) -> Bool {\nguard let id = d.id else { return false }\n"
            + "\(report)\nreturn true }"
        let asks = "guard reportCall(p) else { \(report)\nreturn completion() }\ncompletion() }\n"
        #expect(!subjects(asks + helper).contains(.fault(.voipPathWithoutReport)))
        let gives = asks.replacing("\(report)\nreturn", with: "return")
        #expect(subjects(gives + helper).contains(.fault(.voipPathWithoutReport)))
        let drops = "reportCall(p)\ncompletion() }\n"
        #expect(subjects(drops + helper).contains(.fault(.voipPathWithoutReport)))
    }

    // MARK: Combine

    @Test(
        "the closures of one sink are a pair",
        arguments: [
            "load().sink(receiveCompletion: { _ in }, receiveValue: { _ in END })",
            "load().sink(receiveCompletion: { _ in }) { _ in END }",
            "load().sink { _ in END } receiveValue: { _ in }",
            "load().sink(receiveCompletion: { r in\nswitch r {\ncase .finished: break\n"
                + "case .failure: END\n}\n}) { _ in\nEND\n}",
            "load().sink { r in\nif case .failure = r { END }\n} receiveValue: { _ in END }",
            "load().sink(receiveCompletion: { _ in END }, receiveValue: { v in\n"
                + "guard v else { return }\nEND\n})",
        ])
    func pairs(sink: String) {
        let call = sink.replacing("END", with: Self.end) + ".store(in: &all)"
        #expect(
            !Self.faults(Self.task("task.expirationHandler = { stop() }\n" + call))
                .contains(.taskPathWithoutEnd))
        let time =
            "func f() {\nlet id = UIApplication.shared.beginBackgroundTask { "
            + "UIApplication.shared.endBackgroundTask(id) }\n"
            + sink.replacing("END", with: "UIApplication.shared.endBackgroundTask(id)")
            + ".store(in: &all)\n}"
        #expect(Self.faults(time) == [])
    }

    @Test(
        "neither closure of a sink ends the task on some path",
        arguments: [
            "load().sink(receiveCompletion: { r in\nif case .failure(let e) = r { print(e) }\n}, "
                + "receiveValue: { _ in END })",
            "load().sink(receiveCompletion: { r in\nif case .failure(let e) = r { print(e) }\n}) { "
                + "_ in END }",
            "load().sink(receiveCompletion: { _ in }, receiveValue: { v in\n"
                + "guard v else { return }\nEND\n})",
            "load().sink(receiveCompletion: { r in\nif case .failure = r { END }\n}, "
                + "receiveValue: { _ in print(1) })",
        ])
    func openPairs(sink: String) {
        let call = sink.replacing("END", with: Self.end) + ".store(in: &all)"
        #expect(
            Self.faults(Self.task("task.expirationHandler = { stop() }\n" + call))
                .contains(.taskPathWithoutEnd))
    }

    // MARK: Tasks

    @Test("what a handler does at once has nothing to stop")
    func idleExpiration() {
        let log = "task.expirationHandler = { print(1) }\n"
        #expect(!Self.faults(Self.task(log + "save()\n" + Self.end)).contains(.idleExpiration))
        #expect(
            Self.faults(Self.task(log + "save { \(Self.end) }")).contains(.idleExpiration))
        #expect(Self.faults(Self.task(log + "work.run(task)")).contains(.idleExpiration))
        let inTask = "task.expirationHandler = { Task { @MainActor in DO } }\nsave { \(Self.end) }"
        for (code, isIdle) in [
            ("addToAppLogs(\"late\")", true), ("self?.sync.log(\"late\")", true),
            ("work.cancel()", false), ("await self?.finish()", false), ("isLate = true", false),
            ("await self?.flush", false), ("throw CancellationError()", false),
            ("store.addWorkoutLogs()", false),
        ] {
            let found = Self.faults(Self.task(inTask.replacing("DO", with: code)))
            #expect(found.contains(.idleExpiration) == isIdle, "\(code)")
        }
        func faults(
            _ note: String, in type: String = "final class A", _ head: String = "func note()"
        ) -> Set<Fault> {
            Self.faults(
                "\(type) {\n"
                    + Self.task("task.expirationHandler = { self.note() }\nsave { \(Self.end) }")
                    + "\n\(head) {\n\(note)\n}\n}")
        }
        #expect(faults("print(1)").contains(.idleExpiration))
        #expect(faults("", in: "struct A").contains(.idleExpiration))
        #expect(faults("", in: "class A", "private func note()").contains(.idleExpiration))
        // A subclass may stop the work.
        #expect(!faults("", in: "class A").contains(.idleExpiration))
        #expect(!faults("", in: "extension A").contains(.idleExpiration))
        let request = "let r = BGAppRefreshTaskRequest(identifier: id)\n"
        let again = request + "r.earliestBeginDate = Date()\n"
        let submit = "do { try BGTaskScheduler.shared.submit(r) } catch { print(error) }"
        #expect(faults(again + submit).contains(.idleExpiration))
        let once = "private init() {}\nfunc note()"
        #expect(faults(again + submit, in: "class A", once).contains(.idleExpiration))
        #expect(!faults(again + submit, in: "class A").contains(.idleExpiration))
        for other in [
            "work.cancel()", "r.state = 1", "isCancelled = true", "queue.submit(r)",
            "worker.strategy = .stop",
            "switch w { case let w?: w.isStopped = true\ncase nil: break }",
            "a.r.title = 1",
        ] {
            #expect(!faults(again + submit + "\n" + other).contains(.idleExpiration), "\(other)")
        }
        let cancel = "BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: id)\n"
        #expect(faults(cancel + again + submit).contains(.idleExpiration))
        for head in [
            "init(s: S) {}\n" + once, "private convenience init(a: Int) { self.init() }\n" + once,
            once.replacing("private init() {}", with: "enum B { class A { private init() {} } }"),
        ] {
            let found = faults(again + submit, in: "class A", head)
            #expect(!found.contains(.idleExpiration), "\(head)")
        }
        for (own, value) in [("note(a: Int)", ""), ("note()", "let note = { work.cancel() }\n")] {
            let found = Self.faults(
                "final class A {\n"
                    + Self.task(
                        value + "task.expirationHandler = { note() }\nsave { \(Self.end) }")
                    + "\nfunc \(own) {\n\(again + submit)\n}\n}")
            #expect(!found.contains(.idleExpiration), "\(own) \(value)")
        }
        // What is late is told, what gets the task may end it, and another may follow.
        let asking = "task.expirationHandler = { self.note() }\n"
        for code in [
            "work.run(task)\n" + asking, asking + "task.expirationHandler = { work.cancel() }\n",
        ] {
            let found = Self.faults(
                "final class A {\n" + Self.task(code + "save { \(Self.end) }")
                    + "\nfunc note() {\n\(again + submit)\n}\n}")
            #expect(!found.contains(.idleExpiration), "\(code)")
        }
        let ending = "task.expirationHandler = { self.note(); \(Self.end) }\nawait save()\n"
        let ended = Self.faults(
            "final class A {\n"
                + Self.task(
                    "\(ending.replacing("await save()", with: ""))"
                        + "Task { await save(); \(Self.end) }")
                + "\nfunc note() {\n\(again + submit)\n}\n}")
        #expect(ended.contains(.taskLeftRunning))
        for note in [
            "print(1)\nwork.cancel()", "isCancelled = true", "stop?()", "note()", "stops += 1",
            "(onStop)()", "handlers[1]?()", "log.close()",
        ] {
            #expect(!faults(note).contains(.idleExpiration), "\(note)")
        }
        // It takes the place of a handler that ended the task.
        let caller =
            "func begin() { s.register(forTaskWithIdentifier: \"a\", using: nil) { t in\n"
            + "guard let task = t as? BGProcessingTask else { return }\n"
            + "task.expirationHandler = {\n\(Self.end)\n}\nself.handle(task: task)\n} }\n"
        #expect(
            Self.faults(caller + Self.task(log + "save()\n" + Self.end))
                .contains(.idleExpiration))
    }

    @Test("a function that works on the task begins before the expiration handler is set")
    func workBeforeExpiration() {
        let good = "task.expirationHandler = { task.setTaskCompleted(success: false) }\n"
        #expect(
            Self.faults(Self.task("work.execute(task: task)\n" + good))
                .contains(.expirationAfterStart))
        for body in [
            good + "work.execute(task: task)\n", "show(task)\n" + good,
            "log.debug(task)\n" + good, "self.current = task\n" + good,
        ] {
            #expect(!Self.faults(Self.task(body)).contains(.expirationAfterStart), "\(body)")
        }
    }

    @Test("a request for the next task in a catch alone is none after a success")
    func nextTask() {
        func refresh(_ success: String, _ failure: String) -> Set<Fault> {
            Self.faults(
                "func refresh(_ task: BGAppRefreshTask) {\n"
                    + "task.expirationHandler = { w.cancel() }\n"
                    + "Task {\ndo {\ntry await work()\n\(Self.end)\n\(success)\n} catch {\n"
                    + "\(Self.end)\n\(failure)\n}\n}\n}")
        }
        #expect(refresh("", "schedule()").contains(.refreshWithoutNext))
        #expect(!refresh("schedule()", "").contains(.refreshWithoutNext))
    }

    // MARK: VoIP pushes

    private static func voip(_ body: String) -> String {
        "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, "
            + "for type: PKPushType, completion: @escaping () -> Void) {\n\(body)\n}\n"
    }

    @Test("paths without a report are told once if they do not complete either")
    func onePath() {
        let report = "provider.reportNewIncomingCall(with: id, update: u) { _ in }"
        let one = "if isMine(payload.dictionaryPayload) {\n\(report)\ncompletion()\n}"
        #expect(Self.faults(Self.voip(one)) == [.voipPathWithoutEither])
        let helped =
            "if isMine(payload.dictionaryPayload) {\n\(report)\nfinish(completion)\n}"
        let finish =
            "func finish(_ done: @escaping () -> Void) {\nguard x else { return }\ndone()\n}"
        #expect(
            Self.faults(Self.voip(helped) + finish)
                == [.voipPathWithoutReport, .voipPathWithoutCompletion])
        let other =
            "if payload.dictionaryPayload.isEmpty {\ncompletion()\nreturn\n}\n"
            + "if isMine(payload.dictionaryPayload) {\n\(report)\ncompletion()\n}"
        #expect(Self.faults(Self.voip(other)).contains(.voipPathWithoutEither))
        let two = "if isMine(payload.dictionaryPayload) {\n\(report)\nif x { completion() }\n}"
        #expect(
            Self.faults(Self.voip(two)) == [.voipPathWithoutReport, .voipPathWithoutCompletion])
    }

    @Test("a path through a closure that completes the push and reports no call")
    func completedInClosure() {
        let report =
            "self.provider.reportNewIncomingCall(with: id, update: u) { _ in completion() }"
        func faults(_ call: String, _ guarded: String, before: String = "") -> Set<Fault> {
            Self.faults(
                "class P {\n" + Self.voip("\(before)\n\(call) in\n\(guarded)\n\(report)\n}")
                    + "func parse(_ p: P, then: (C?) -> Void) { then(p.call) }\n"
                    + "func ring(_ p: P, then: (C?) -> Void) {\n\(report)\nthen(nil)\n}\n"
                    + "func mayRing(_ p: P) -> Bool {\nif x { return true }\n\(report)\n"
                    + "return false\n}\n}")
        }
        let fault: Set<Fault> = [.voipPathWithoutReport]
        let parse = "parse(payload) { c"
        let refuse = "guard let c else { completion(); return }"
        #expect(faults(parse, refuse) == fault)
        let main = "DispatchQueue.main.async { [weak self]"
        #expect(faults(main, "if isBusy { return completion() }") == fault)
        #expect(faults(main, "guard let self else { return completion() }") == [])
        let met = "guard let self, #available(iOS 15, *) else { return completion() }"
        #expect(faults(main, met) == [])
        let open = "guard let self, Task.isCancelled else { return completion() }"
        #expect(faults(main, open) == fault)
        // It is reported there, or before, or may be.
        for other in [
            "self.reportIncomingCall()", "self.center.fail(payload)", "self.mock.push = payload",
            "(self.onMock)(payload)", "self.pushes += [payload]",
        ] {
            #expect(faults(parse, "guard let c else { \(other); completion(); return }") == [])
        }
        #expect(faults("ring(payload) { c", refuse) == [])
        #expect(faults(main, "guard self.mayRing(payload) else { completion(); return }") == [])
        #expect(faults("calls.prepare(payload) { c", refuse) == [])
        #expect(faults(parse, refuse, before: "calls.add(payload)") == [])
        // Nothing is completed there, so that another closure may do it.
        #expect(faults(parse, "guard let c else { return }") != fault)
    }

    @Test("a message that ends a call is no report, whatever its later parts are")
    func endingMessage() {
        func faults(_ message: String) -> Set<Fault> {
            Self.faults(
                "@implementation A\n- (void)pushRegistry:(PKPushRegistry *)r "
                    + "didReceiveIncomingPushWithPayload:(PKPushPayload *)p forType:(PKPushType)t "
                    + "withCompletionHandler:(void (^)(void))done {\n"
                    + "if ([p.dictionaryPayload[@\"e\"] isEqual:@\"end\"]) {\n\(message)\ndone();\n"
                    + "return;\n}\n[self.provider reportNewIncomingCallWithUUID:u update:c "
                    + "completion:^(NSError *e) { done(); }];\n}\n@end", "a.m")
        }
        #expect(
            faults("[Calls endCallWithUUID:p.dictionaryPayload[@\"id\"] reason:1];")
                == [.voipPathWithoutReport])
        for message in [
            "[Calls showCallWithUUID:p.dictionaryPayload[@\"id\"] reason:1];",
            "[Calls endOld:p.dictionaryPayload[@\"id\"] reportCall:p];", "[Calls take:p];",
        ] {
            #expect(faults(message) == [], "\(message)")
        }
    }

    private static func isLate(_ source: String) -> Bool {
        SourceReader.observations(
            in: SourceText(Array(source.utf8), path: "a.swift"), SourceConstants()
        ).contains { $0.subject == .lateReport }
    }

    @Test("a function that is called at once may report the call too late")
    func lateHelper() {
        let report = "self.provider.reportNewIncomingCall(with: id, update: u) { _ in }"
        let wait = "DispatchQueue.main.asyncAfter(deadline: .now() + 1.5) { \(report) }"
        let handler = Self.voip("handle()\ncompletion()")
        #expect(Self.isLate(handler + "func handle() {\n\(wait)\n}"))
        #expect(
            Self.isLate(handler + "func handle() { show() }\nfunc show() {\n\(wait)\n}"))
        #expect(!Self.isLate(handler + "func handle() {\n\(report)\n}"))
        #expect(!Self.isLate(handler + "func handle() {\n\(report)\n\(wait)\n}"))
        #expect(
            !Self.isLate(
                Self.voip("calls.report(payload)\nhandle()\ncompletion()")
                    + "func handle() {\n\(wait)\n}"))
    }

    // MARK: Registration

    private static func occasions(_ body: String) -> [SourceObservation.Occasion] {
        let source = "func f() async {\n\(body)\n}"
        return SourceReader.observations(
            in: SourceText(Array(source.utf8), path: "a.swift"), SourceConstants()
        ).compactMap { seen in
            if case .remoteNotificationRegistration(let occasion) = seen.subject {
                occasion
            } else {
                nil
            }
        }
    }

    @Test("the answer to a request that is written over several lines")
    func requestOverLines() {
        let register = "if granted { UIApplication.shared.registerForRemoteNotifications() }"
        for request in [
            "let granted = try await center\n.requestAuthorization(options: [.alert])",
            "let granted =\ntry await UNUserNotificationCenter.current()\n"
                + ".requestAuthorization(options: [.alert])",
            "let granted = (try? await center\n.requestAuthorization(options: [.alert])) ?? false",
        ] {
            #expect(Self.occasions(request + "\n" + register) == [.permission], "\(request)")
        }
        #expect(
            Self.occasions(
                "let granted = flag\nlet other = try await center\n"
                    + ".requestAuthorization(options: [.alert])\n" + register) == [.unknown])
    }

    @Test("what registers on old systems only runs no more")
    func oldSystems() {
        let register = "UIApplication.shared.registerForRemoteNotifications()"
        func source(_ condition: String) -> String {
            "if \(condition) {\ncenter.requestAuthorization(options: o) { granted, _ in\n"
                + "if granted { \(register) }\n}\n} else {\n\(register)\n}"
        }
        #expect(Self.occasions(source("#available(iOS 10.0, *)")) == [.permission])
        #expect(Self.occasions(source("#available(iOS 17, *)")) == [.permission, .unknown])
        #expect(Self.occasions(source("#available(iOS 10.0, *), x")) == [.permission, .unknown])
        #expect(Self.occasions("guard #available(iOS 10, *) else { \(register); return }") == [])
        // Behind what returns on newer ones.
        func early(_ condition: String, _ end: String = "return") -> String {
            "if \(condition) {\ncenter.requestAuthorization(options: o) { granted, _ in\n"
                + "if granted { \(register) }\n}\n\(end)\n}\n\(register)"
        }
        let center = "NSClassFromString(\"UNUserNotificationCenter\") != nil"
        for condition in [center, "#available(iOS 10.0, *)", "#available(iOS 10, macOS 11, *)"] {
            #expect(Self.occasions(early(condition)) == [.permission], "\(condition)")
            #expect(Self.occasions(early(condition, "")) == [.permission, .unknown])
        }
        for condition in [
            center + ", x", "!" + center,
            "#available(iOS 17, *)", "NSClassFromString(\"A\") != nil",
            "NSClassFromString(\"UNUserNotificationCenter\") == nil",
        ] {
            #expect(Self.occasions(early(condition)) == [.permission, .unknown], "\(condition)")
        }
    }

    // MARK: Tokens

    @Test("a token is not kept if what sends it reads it next")
    func tokenForSending() {
        func isStored(_ next: String) -> Bool {
            let source =
                "class A {\nfunc application(_ a: A, "
                + "didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data) {\n"
                + "UserDefaults.standard.set(hex(deviceToken), "
                + "forKey: Keys.pushToken)\n\(next)\n}\nfunc send() {\n"
                + "guard let t = UserDefaults.standard.string(forKey: Keys.pushToken) else {\n"
                + "return\n}\napi.send(t)\n}\n}"
            return SourceReader.observations(
                in: SourceText(Array(source.utf8), path: "a.swift"), SourceConstants()
            ).contains { $0.subject == .storedDeviceToken }
        }
        #expect(isStored(""))
        #expect(!isStored("send()"))
        #expect(isStored("if isNew { send() }"))
    }

    @Test("without the code of the launch, a function without a caller may register")
    func launch() throws {
        func rules(_ other: String) throws -> Set<String> {
            let folder = try TestFolder()
            let plist = "<plist version=\"1.0\"><dict>"
            try folder.write(
                plist + "<key>CFBundlePackageType</key><string>APPL</string></dict></plist>",
                to: "Info.plist")
            try folder.write(
                "class Pushes: NSObject, PKPushRegistryDelegate {\nfunc start() {\n"
                    + "registry.desiredPushTypes = [.voIP]\n}\n"
                    + Self.voip(
                        "guard let id = payload.dictionaryPayload[\"id\"] else {\ncompletion()\n"
                            + "return\n}\nCalls.shared.ring(id)\ncompletion()") + "}\n",
                to: "A.swift")
            try folder.write(other, to: "B.swift")
            let report = try Audit(paths: [folder.path]).report().applying(RulePolicy())
            return Set(AuditScopeTests.rules(report))
        }
        #expect(try rules("class B {\n}\n").contains("CF033"))
        #expect(
            try !rules("@main class B: UIResponder, UIApplicationDelegate {\n}\n")
                .contains("CF033"))
    }
}
