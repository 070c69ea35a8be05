// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// A suite about the faults that the text of one file shows.
protocol SourceFaultSuite {}

extension SourceFaultSuite {
    typealias Fault = SourceObservation.Fault

    static func faults(_ source: String, _ path: String = "a.swift") -> Set<Fault> {
        let text = SourceText(Array(source.utf8), path: path)
        return Set(
            SourceReader.observations(in: text, SourceConstants()).compactMap { seen in
                if case .fault(let fault) = seen.subject { fault } else { nil }
            })
    }
}

/// The faults in background work that source text shows, each beside the text that is in order.
@Suite("Background work in source text")
struct BackgroundSourceTests: SourceFaultSuite {
    private static func task(_ body: String) -> String {
        "func handle(task: BGProcessingTask) {\n\(body)\n}"
    }

    private static func refresh(_ body: String) -> String {
        "func refresh(_ task: BGAppRefreshTask) {\n\(body)\n}"
    }

    private static let end = "task.setTaskCompleted(success: true)"
    private static let good = "task.expirationHandler = { work.cancel() }\n"

    private static let brokenCases: [(Fault, String)] = [
        (.taskPathWithoutEnd, task(good + "guard let x else { return }\n" + end)),
        (.taskPathWithoutEnd, task(good + "sync { ok in if ok { \(end) } }")),
        (.taskPathWithoutEnd, task("work.start()")),
        (
            .taskPathWithoutEnd,
            "s.register(forTaskWithIdentifier: \"a\", using: nil) { task in work.start() }"
        ),
        (.taskWithoutExpiration, task("sync { task.setTaskCompleted(success: true) }")),
        (
            .lateExpiration,
            "func run(task: BGProcessingTask) async {\nawait sync()\n\(good)"
                + "task.setTaskCompleted(success: true) }"
        ),
        (.idleExpiration, task("task.expirationHandler = { print(1) }\nsync(task)")),
        (.refreshWithoutNext, refresh(good + "sync { task.setTaskCompleted(success: true) }")),
        (.droppedSubmitError, "try? BGTaskScheduler.shared.submit(request)"),
        (
            .distantBeginDate,
            "request.earliestBeginDate = Date(timeIntervalSinceNow: 30 * 24 * 60 * 60)"
        ),
        (.distantBeginDate, "r.earliestBeginDate = Date().addingTimeInterval(2_592_000)"),
        (
            .repeatedSubmission,
            "func applicationDidBecomeActive(_ a: A) { try BGTaskScheduler.shared.submit(r) }"
        ),
        (
            .taskHandlerKeepsSelf,
            "class Sync { func f() { s.register(forTaskWithIdentifier: \"a\", using: nil) { task "
                + "in\nself.run(task) } } }"
        ),
        (.forcedTaskCast, "self.run(task as! BGAppRefreshTask)"),
        (
            .assertionWithoutExpiration,
            "let id = UIApplication.shared.beginBackgroundTask(withName: \"a\")"
        ),
        (
            .assertionPathWithoutEnd,
            "func f() {\nlet id = UIApplication.shared.beginBackgroundTask { g() }\n"
                + "guard x else { return }\nUIApplication.shared.endBackgroundTask(id)\n}"
        ),
        (
            .sessionWithoutDelegate,
            "func f() { let c = URLSessionConfiguration.background(withIdentifier: \"a\")\n"
                + "let s = URLSession(configuration: c) }"
        ),
        (
            .closureInBackgroundSession,
            "func f() { let c = URLSessionConfiguration.background(withIdentifier: \"a\")\n"
                + "let s = URLSession(configuration: c, delegate: self, delegateQueue: nil)\n"
                + "s.downloadTask(with: url) { _, _, _ in }.resume() }"
        ),
        (
            .timerInBackground,
            "func applicationDidEnterBackground(_ a: A) {\n"
                + "Timer.scheduledTimer(withTimeInterval: 60, repeats: true) { _ in poll() } }"
        ),
        (.longHandler, push("queue.asyncAfter(deadline: .now() + 60) { done(.noData) }")),
        (.alwaysNewData, push("sync()\ndone(.newData)")),
    ]

    private static let moreBrokenCases: [(Fault, String)] = [
        (
            .assertionExpirationWithoutEnd,
            "id = UIApplication.shared.beginBackgroundTask(withName: \"a\") { self.id = nil }"
        ),
        (
            .assertionExpirationWithoutEnd,
            "id = UIApplication.shared.beginBackgroundTask(withName: \"a\", expirationHandler: { "
                + "print(1) })"
        ),
        (
            .closureInBackgroundSession,
            "class A { lazy var s: URLSession = {\nlet c = URLSessionConfiguration.background("
                + "withIdentifier: \"a\")\nreturn URLSession(configuration: c, delegate: self, "
                + "delegateQueue: nil)\n}()\n"
                + "func f() { s.dataTask(with: url) { _, _, _ in }.resume() } }"
        ),
        // A name with a verb's letters in it does nothing with the push.
        (
            .voipPathWithoutReport,
            voip(
                "let kind = Client.pushType(payload.dictionaryPayload)\nswitch kind {\n"
                    + "case .call: calls.show(kind)\ndefault: break\n}")
        ),
        (
            .voipPathWithoutReport,
            voip(
                "let id = payload.stringValue(1)\nguard let call = Call(id) else { return }\n"
                    + "ring(call)")
        ),
        // Nor does what makes a value, and what looks at the queue.
        (
            .voipPathWithoutReport,
            voip(
                "dispatchPrecondition(condition: .onQueue(.main))\n"
                    + "let name = MainActor.assumeIsolated { contacts.find(payload) }\n"
                    + "if app.isActive { return }\nring(name)")
        ),
        // Nor does a notification.
        (
            .voipPathWithoutReport,
            voip(
                "UNUserNotificationCenter.current().add(request)\n"
                    + "guard let id = payload.id else { return }\nring(id)")
        ),
        (
            .assertionWithoutExpiration,
            "id = UIApplication.shared.beginBackgroundTask(expirationHandler: {})"
        ),
        (
            .idleExpiration,
            task("task.expirationHandler = { FileLog.shared.add(\"a\") }\nrun(task)")
        ),
        (.voipPathWithoutReport, voip("if let id = payload.id {\ncalls.report(id)\n}")),
        (
            .voipPathWithoutReport,
            voip(
                "let data = payload.data\nif data.kind == 1 { calls.report(data) } "
                    + "else { calls.endCall(data) }")
        ),
        (
            .voipPathWithoutReport,
            voip(
                "guard let id = payload.id else {\nAnalytics.shared.track(1)\nreturn\n}\n"
                    + "ring(id)")
        ),
        (
            .voipPathWithoutReport,
            "func handle(_ push: PKPushPayload) {\nguard let id = id(push) else { return }\n"
                + "provider.reportNewIncomingCall(with: id, update: u) { _ in }\n}"
        ),
        (
            .voipPathWithoutReport,
            voip(
                "if let id = payload.id {\nif let provider { provider.reportNewIncomingCall("
                    + "with: id, update: u) {} }\n}")
        ),
        (
            .voipPathWithoutCompletion,
            "func handle(push: PKPushPayload, completion: @escaping () -> Void) {\n"
                + "provider.reportNewIncomingCall(with: id, update: u) { error in\n"
                + "if error != nil { return }\ncompletion()\n}\n}"
        ),
    ]

    private static let assertion =
        "id = UIApplication.shared.beginBackgroundTask { UIApplication.shared.endBackgroundTask("
        + "self.id) }\n"

    private static let helperCases: [(Fault, String)] = [
        // A function that the handler leaves the report to.
        (
            .voipPathWithoutReport,
            voip("ring(payload.dictionaryPayload)")
                + "\nfunc ring(_ data: [AnyHashable: Any]) {\n"
                + "guard let id = data.id else { return }\n"
                + "provider.reportNewIncomingCall(with: id, update: u) { _ in }\n}"
        ),
        (
            .voipPathWithoutReport,
            voip("do { let id = try parse(payload)\ntry await provider.reportNewIncomingCall(")
                .replacing(
                    "reportNewIncomingCall(\n}",
                    with: "reportNewIncomingCall(with: id, update: u) } catch { log(error) }\n}")
        ),
        (.taskLeftRunning, task("task.expirationHandler = { \(end) }\nsync { \(end) }")),
        (.droppedSubmitError, "do { try BGTaskScheduler.shared.submit(r) } catch {}"),
        (.droppedSubmitError, "let s = BGTaskScheduler.shared\ntry? s.submit(r)"),
        (.distantBeginDate, "r.earliestBeginDate = .now + 30 * 86_400\n"),
        (
            .distantBeginDate,
            "r.earliestBeginDate = Calendar.current.date(byAdding: .month, value: 1, to: .now)"
        ),
        (
            .repeatedSubmission,
            "func sceneDidBecomeActive(_ s: S) { next() }\n"
                + "func next() { try BGTaskScheduler.shared.submit(r) }"
        ),
        (
            .assertionPathWithoutEnd,
            "func f() async {\n\(assertion)guard await g() else { return }\n"
                + "UIApplication.shared.endBackgroundTask(id)\n}"
        ),
        (
            .sessionWithoutDelegate,
            "class A { lazy var s = URLSession(configuration: .background(withIdentifier: \"a\")) }"
        ),
        (
            .closureInBackgroundSession,
            "class A { let s = URLSession(configuration: .background(withIdentifier: \"a\"), "
                + "delegate: d, delegateQueue: nil)\n"
                + "func f() async throws { _ = try await self.s.data(from: url) } }"
        ),
        (
            .closureInBackgroundSession,
            "class A { lazy var s = URLSession(configuration: .background(withIdentifier: \"a\"), "
                + "delegate: self, delegateQueue: nil)\n"
                + "func f() { s.downloadTask(with: url) { _, _, _ in }.resume() } }"
        ),
        (
            .timerInBackground,
            "func f() { c.addObserver(forName: UIApplication.didEnterBackgroundNotification, "
                + "object: nil, queue: nil) { _ in\nTimer.scheduledTimer(withTimeInterval: 5, "
                + "repeats: true) { _ in g() } } }"
        ),
        (
            .timerInBackground,
            "var body: some View { V().onChange(of: scenePhase) { phase in\n"
                + "if phase == .background { Timer.scheduledTimer(withTimeInterval: 5, "
                + "repeats: true) { _ in g() } } } }"
        ),
        (
            .timerInBackground,
            "var body: some Scene { W().onChange(of: scenePhase) { _, new in\nswitch new {\n"
                + "case .background: Timer.scheduledTimer(withTimeInterval: 5, repeats: true) { _ "
                + "in g() }\ndefault: break } } }"
        ),
        (
            .timerInBackground,
            "var body: some Scene { W().onChange(of: phase) { p in\nif p == .background { "
                + "Timer.scheduledTimer(withTimeInterval: 5, repeats: true) { _ in g() } } } }"
        ),
        (
            .repeatedSubmission,
            "var body: some Scene { W().onChange(of: scenePhase) { p in\nif p == .active { "
                + "try? BGTaskScheduler.shared.submit(r) } } }"
        ),
        (
            .repeatedSubmission,
            "var body: some Scene { W().onChange(of: scenePhase) { _, new in\nswitch new {\n"
                + "case .active: next()\ndefault: break } } }\n"
                + "func next() { try? BGTaskScheduler.shared.submit(r) }"
        ),
        (
            .taskPathWithoutEnd,
            "s.register(forTaskWithIdentifier: \"a\", using: nil) { _ in }"
        ),
        (
            .voipPathWithoutReport,
            voip(
                "if payload.isCancel {\nprovider.reportCall(with: id, endedAt: nil, reason: r)\n"
                    + "} else {\nprovider.reportNewIncomingCall(with: id, update: u) { _ in }\n}")
        ),
        (
            .voipPathWithoutReport,
            voip(
                "do {\nlet call = try parse(payload)\nprovider.reportNewIncomingCall(with: call)\n"
                    + "} catch {\nprovider.reportCallEnded(id, at: .now)\n}")
        ),
        (
            .voipPathWithoutReport,
            voip(
                "guard let type = payload.dictionaryPayload[\"type\"] as? String, "
                    + "type == \"call\" else { return }\nreport(type)")
        ),
        (
            .voipPathWithoutReport,
            voip(
                "let seen = CXCallObserver()\nif seen.calls.isEmpty {\n"
                    + "provider.reportNewIncomingCall(with: id, update: u) { _ in }\n}")
        ),
        (.refreshWithoutNext, "WindowGroup {}.backgroundTask(.appRefresh(\"a\")) { await sync() }"),
    ]

    @Test(
        "a fault is seen in functions that help, and in other ways to write it",
        arguments: helperCases)
    func helpers(fault: Fault, source: String) { #expect(Self.faults(source).contains(fault)) }

    private static let harmlessCases: [String] = [
        // What throws is the report itself, which was tried.
        voip(
            "do { try await provider.reportNewIncomingCall(with: id, update: u) } "
                + "catch { print(error) }"),
        voip("ring(payload.dictionaryPayload)")
            + "\nfunc ring(_ data: [AnyHashable: Any]) {\n"
            + "guard let id = data.id else { fail(); return }\n"
            + "provider.reportNewIncomingCall(with: id, update: u) { _ in }\n}\n"
            + "func fail() { provider.reportNewIncomingCall(with: UUID(), update: u) { _ in } }",
        "do { try BGTaskScheduler.shared.submit(r) } catch { log(error) }",
        "let s = Form()\ntry? s.submit(r)",
        "r.earliestBeginDate = .now + 6 * 3600\nlet other = 30 * 86_400 * 2",
        "r.earliestBeginDate = Calendar.current.date(byAdding: .hour, value: 30, to: .now)",
        // Others end what a property keeps.
        "func f() {\n\(assertion)if ready { UIApplication.shared.endBackgroundTask(id)\nreturn }\n"
            + "begin()\n}",
        "func f() {\n\(assertion)load { if self.id != .invalid {\n"
            + "UIApplication.shared.endBackgroundTask(self.id) } }\n}",
        "func f() async {\n\(assertion)guard id != .invalid else { return }\n"
            + "defer { UIApplication.shared.endBackgroundTask(id) }\n"
            + "guard await g() else { return }\n}",
        "V().background(Color.red)",
        "enum A { public static func f() { s.register(forTaskWithIdentifier: \"a\", using: nil) { "
            + "task in\nrun(task, object: self) } } }",
        // Its caller answers where it was not its push.
        "func didReceiveRemoteNotification(u: U, fetchCompletionHandler done: @escaping (R) -> "
            + "Void) -> Bool {\nguard mine else { return false }\ndone(.newData)\nreturn true\n}",
        "func end(result: R, task: BGAppRefreshTask) {\nswitch result {\ncase .success: \(end)\n"
            + "case .failure: \(end)\n}\n}",
        "lazy var s = URLSession(configuration: .background(withIdentifier: \"a\"), "
            + "delegate: self, delegateQueue: nil)",
        "V().onChange(of: scenePhase) { phase in if phase == .active { "
            + "Timer.scheduledTimer(withTimeInterval: 5, repeats: true) { _ in g() } } }",
        "WindowGroup {}.backgroundTask(.appRefresh(\"a\")) { await sync(); scheduleNext() }",
    ]

    @Test("other ways to write what is in order show none", arguments: harmlessCases)
    func harmless(source: String) { #expect(Self.faults(source) == []) }

    @Test("what only tells a script of a push reports no call")
    func relays() {
        let handler = """
            - (void)pushRegistry:(PKPushRegistry *)registry
                didReceiveIncomingPushWithPayload:(PKPushPayload *)payload
                forType:(PKPushType)type {
              [RNVoipPushNotificationManager didReceiveIncomingPushWithPayload:payload
                forType:(NSString *)type];
            }
            """
        func subjects(_ text: String) -> [SourceObservation.Subject] {
            SourceReader.observations(
                in: SourceText(Array(text.utf8), path: "a.m"), SourceConstants()
            ).map(\.subject)
        }
        #expect(subjects(handler).contains(.voipHandlerWithoutReport))
        let question = handler.replacing(
            "  [RNVoip",
            with: "  NSString *uuid = [Client uuidForPush:payload].UUIDString;\n  [RNVoip")
        #expect(subjects(question).contains(.voipHandlerWithoutReport))
        let other = handler.replacing("RNVoipPushNotificationManager", with: "self.calls")
        #expect(!subjects(other).contains(.voipHandlerWithoutReport))
        let end = """
            - (void)pushRegistry:(PKPushRegistry *)registry
                didReceiveIncomingPushWithPayload:(PKPushPayload *)payload
                forType:(PKPushType)type {
              [self.provider reportCallWithUUID:known endedAtDate:nil reason:why];
            }
            """
        #expect(subjects(end).contains(.voipHandlerWithoutReport))
        let stored = end.replacing(
            "[self.provider reportCallWithUUID:known endedAtDate:nil reason:why];",
            with: """
                [[NSUserDefaults standardUserDefaults] setObject:payload forKey:@"push"];
                dispatch_async(dispatch_get_main_queue(), ^{
                    [[UIApplication sharedApplication] presentLocalNotificationNow:note];
                });
                """)
        #expect(subjects(stored).contains(.voipHandlerWithoutReport))
        let shown = stored.replacing(
            "[[UIApplication sharedApplication] presentLocalNotificationNow:note];",
            with: "[[Calls shared] show:payload];")
        #expect(!subjects(shown).contains(.voipHandlerWithoutReport))
        let own = end.replacing(
            "reportCallWithUUID:known endedAtDate:nil", with: "reportCall:known")
        #expect(!subjects(own).contains(.voipHandlerWithoutReport))
    }

    @Test("of two forms of a handler the one that iOS calls counts")
    func supersededHandler() {
        let old = voipFunction("print(payload)", completion: "")
        let new = voipFunction("calls.report(payload)\ndone()")
        func subjects(_ source: String) -> [SourceObservation.Subject] {
            SourceReader.observations(
                in: SourceText(Array(source.utf8), path: "a.swift"), SourceConstants()
            ).map(\.subject)
        }
        #expect(subjects(old).contains(.voipHandlerWithoutReport))
        #expect(!subjects(old + "\n" + new).contains(.voipHandlerWithoutReport))
        let empty = voipFunction("done()")
        let older = voipFunction("calls.report(payload)", completion: "")
        #expect(subjects(older + "\n" + empty).contains(.voipHandlerWithoutReport))
    }

    private func voipFunction(
        _ body: String, completion: String = ", completion done: @escaping () -> Void"
    ) -> String {
        "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, "
            + "for type: PKPushType\(completion)) {\n\(body)\n}"
    }

    private static func voip(_ body: String) -> String {
        "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, "
            + "for type: PKPushType) {\n\(body)\n}"
    }

    private static func push(_ body: String) -> String {
        "func application(_ a: A, didReceiveRemoteNotification u: U, "
            + "fetchCompletionHandler done: @escaping (R) -> Void) {\n\(body)\n}"
    }

    @Test("a fault is seen", arguments: brokenCases + moreBrokenCases)
    func broken(fault: Fault, source: String) { #expect(Self.faults(source).contains(fault)) }

    private static let keptCases: [String] = [
        task(good + "sync { ok in task.setTaskCompleted(success: ok) }"),
        task("run(task)"),
        task("guard let t = task as? BGProcessingTask else { return }\nrun(t)"),
        task(
            "task.expirationHandler = { task.setTaskCompleted(success: false) }\n"
                + "do { try f(); task.setTaskCompleted(success: true) }\n"
                + "catch { task.setTaskCompleted(success: false) }"),
        refresh("scheduleNext()\n" + good + "sync { task.setTaskCompleted(success: true) }"),
        // The caller gives what asks for the next task.
        "func refresh(task: BGAppRefreshTask, then next: @escaping () -> Void) {\n"
            + "sync()\ntask.setTaskCompleted(success: true)\nnext()\n}",
        "func handle(task: URLSessionTask) { work() }",
        "do { try BGTaskScheduler.shared.submit(request) } catch { log(error) }",
        "request.earliestBeginDate = Date(timeIntervalSinceNow: 7 * 24 * 60 * 60)",
        "request.earliestBeginDate = next",
        "s.register(forTaskWithIdentifier: \"a\", using: nil) { [weak self] task in "
            + "self?.run(task) }",
        "let id = UIApplication.shared.beginBackgroundTask { g() }",
        "id = application.beginBackgroundTaskWithExpirationHandler({ g() })",
        task(good + "work { task.setTaskCompleted(success: true) }")
            + "\nlet r = BGAppRefreshTaskRequest(identifier: id)",
        "func f() {\nlet id = UIApplication.shared.beginBackgroundTask { g() }\n"
            + "sync { UIApplication.shared.endBackgroundTask(id) }\n}",
        "func f() { let c = URLSessionConfiguration.background(withIdentifier: \"a\")\n"
            + "let s = URLSession(configuration: c, delegate: self, delegateQueue: nil)\n"
            + "s.downloadTask(with: url).resume() }",
        "func f() { let c = URLSessionConfiguration.background(withIdentifier: \"a\")\n"
            + "let s = URLSession(configuration: c)\ns.invalidateAndCancel() }",
        "func viewDidLoad() { Timer.scheduledTimer(withTimeInterval: 60, repeats: true) { _ in } }",
        push("sync { ok in done(ok ? .newData : .noData) }"),
        push("queue.asyncAfter(deadline: .now() + 5) { done(.noData) }"),
    ]

    private static let moreKeptCases: [String] = [
        // Whoever sets the flag has ended the task.
        task(
            "task.expirationHandler = { over = true\ntask.setTaskCompleted(success: false) }\n"
                + "queue.async {\nguard !over else { return }\n\(end)\n}"),
        task(
            "task.expirationHandler = { over = true; task.setTaskCompleted(success: false) }\n"
                + "queue.async {\nif over { return }\n\(end)\n}"),
        // Nothing is left that could expire.
        task("center.add(request)\n" + end),
        // Another function sets the handler, and hands the task on.
        "func run(_ task: BGProcessingTask) {\nsync { \(end) }\n}\n"
            + "func begin() { s.register(forTaskWithIdentifier: id, using: nil) { task in\n"
            + "task.expirationHandler = { work.cancel() }\nrun(task)\n} }",
        "class A { func f() { s.register(forTaskWithIdentifier: \"a\", using: nil) { "
            + "[weak self] task in\nself?.run(with: task as? BGProcessingTask)\n} } }",
        // An object that lives as long as the app.
        "class Sync { static let shared = Sync()\nfunc f() { s.register("
            + "forTaskWithIdentifier: \"a\", using: nil) { task in\nself.run(task) } } }",
        voip("if let delegate = self.delegate { delegate.received(payload) }"),
        // A name with the letters of a log in it.
        voip("if let id = payload.id { startLogicalCall(id) } else { dialog.show(payload) }"),
        voip("let task = Task { await calls.incoming(payload) }\nif app.isActive { return }"),
        // What another file holds may ask for the next one.
        "WindowGroup {}.backgroundTask(.appRefresh(\"a\")) { await Sync.handleRefresh() }",
        "id = UIApplication.shared.beginBackgroundTask(withName: \"a\") { [weak self] in "
            + "self?.finish() }",
        "id = UIApplication.shared.beginBackgroundTask(withName: \"a\") { job.over?() }",
        voip("if let id = payload.id { calls.report(id) } else { calls.reportUnknown() }"),
        "func isCall(_ push: PKPushPayload) -> Bool {\nguard push.isCall else { return false }\n"
            + "return true\n}",
    ]

    @Test("text that is in order shows none", arguments: keptCases + moreKeptCases)
    func kept(source: String) { #expect(Self.faults(source) == []) }
}
