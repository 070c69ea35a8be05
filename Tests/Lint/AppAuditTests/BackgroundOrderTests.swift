// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// The order of work and expiration handlers, timers that start when the app leaves, answers of
/// silent pushes, and permissions in Objective-C.
@Suite("Order of background work")
struct BackgroundOrderTests {
    private static func faults(
        _ source: String, _ path: String = "a.swift"
    ) -> Set<SourceObservation.Fault> { BackgroundSourceTests.faults(source, path) }

    private static let end = "task.setTaskCompleted(success: true)"

    @Test(
        "an expiration handler that is set after the work has started",
        arguments: [
            "queue.addOperation(op)\ntask.expirationHandler = { op.cancel() }",
            "queue.addOperations([a, b], waitUntilFinished: false)\n"
                + "task.expirationHandler = { self.queue.cancelAllOperations() }",
            "op.start()\ntask.expirationHandler = { [weak op] in op?.cancel() }",
            "Task { await f()\n\(end) }\ntask.expirationHandler = { g() }",
            "w.run { ok in \(end) }\ntask.expirationHandler = { w.cancel() }",
            "for i in 0..<9 { step(i)\ntask.progress.completedUnitCount += 1 }\n"
                + "task.expirationHandler = { over = true }",
        ])
    func startedBefore(body: String) {
        let source =
            "func handle(task: BGProcessingTask) {\nop.completionBlock = { \(Self.end) }\n"
            + "BODY\n}"
        #expect(
            Self.faults(source.replacing("BODY", with: body)).contains(.expirationAfterStart))
    }

    @Test(
        "work that the expiration handler has to know is started before it",
        arguments: [
            "let work = Task { await f()\n\(end) }\ntask.expirationHandler = { work.cancel() }",
            "sync = Task { await f()\n\(end) }\ntask.expirationHandler = { self.sync.cancel() }",
            "let r = client.load { \(end) }\ntask.expirationHandler = { r.cancel() }",
            "queue.addOperations(more, waitUntilFinished: false)\ntask.expirationHandler = {\n"
                + "op.cancel()\ntask.setTaskCompleted(success: false) }\n"
                + "queue.addBarrierBlock { \(end) }",
            "w.onEnd { ok in \(end) }\ntask.expirationHandler = { w.cancel() }\nw.start()",
            "timer.start()\ntask.expirationHandler = { op.cancel() }\n"
                + "op.completionBlock = { \(end) }\nqueue.addOperation(op)",
            "task.progress.completedUnitCount = 0\ntask.expirationHandler = { op.cancel() }\n"
                + "op.completionBlock = { \(end) }\nop.start()",
        ])
    func startedFirst(body: String) {
        #expect(Self.faults("func handle(task: BGProcessingTask) {\n\(body)\n}") == [])
    }

    @Test("time in the background is asked for before the handler that gives it back")
    func timeBefore() {
        let source =
            "func handle(task: BGProcessingTask) {\n"
            + "let id = UIApplication.shared.beginBackgroundTask { \(Self.end) }\n"
            + "task.expirationHandler = { UIApplication.shared.endBackgroundTask(id) }\n"
            + "w.load { \(Self.end) }\n}"
        #expect(!Self.faults(source).contains(.expirationAfterStart))
    }

    private static let helper = "func poll() { t = Timer.scheduledTimer(withTimeInterval: 9) {} }\n"

    @Test(
        "timers of other kinds, and in a function that is called as the app leaves",
        arguments: [
            "func applicationDidEnterBackground(_ a: A) {\n"
                + "timer = DispatchSource.makeTimerSource(queue: .main)\n"
                + "timer?.schedule(deadline: .now(), repeating: 9)\ntimer?.resume() }",
            "func sceneDidEnterBackground(_ s: S) { Timer.publish(every: 9, on: .main, in: "
                + ".common).autoconnect().sink { _ in f() }.store(in: &bag) }",
            "class A { func applicationDidEnterBackground(_ a: A) { poll() }\n\(helper)}",
            "class A { func applicationDidEnterBackground(_ a: A) { if on { self.poll() } }\n"
                + helper + "}",
        ])
    func timers(source: String) { #expect(Self.faults(source) == [.timerInBackground]) }

    @Test("a timer in Objective-C that a function starts as the app leaves")
    func blockTimer() {
        let source =
            "- (void)applicationDidEnterBackground:(UIApplication *)a { [self poll]; }\n"
            + "- (void)poll { self.t = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, q);"
            + "\nEND }"
        let resumed = source.replacing("END", with: "dispatch_resume(self.t);")
        #expect(Self.faults(resumed, "a.m") == [.timerInBackground])
        #expect(Self.faults(source.replacing("END", with: ""), "a.m") == [])
    }

    @Test(
        "timers that do not start as the app leaves",
        arguments: [
            "func applicationDidEnterBackground(_ a: A) { timer = DispatchSource.makeTimerSource()"
                + " }",
            "func applicationDidEnterBackground(_ a: A) { p = Timer.publish(every: 9, on: .main, "
                + "in: .common) }",
            "class A { func applicationDidEnterBackground(_ a: A) { other.poll() }\n\(helper)}",
            "class A { func applicationDidEnterBackground(_ a: A) { keep { self.poll() } }\n"
                + helper + "}",
            "class A { func applicationDidBecomeActive(_ a: A) { poll() }\n\(helper)}",
            "class A { func applicationDidEnterBackground(_ a: A) { poll() }\n"
                + helper.replacing("{ t =", with: "{ guard isActive else { return }\nt =") + "}",
            "class A { func applicationDidEnterBackground(_ a: A) { poll() } }\n"
                + "class B { \(helper)}",
            "class A { func applicationDidEnterBackground(_ a: A) {\nid = a.beginBackgroundTask("
                + "expirationHandler: { f() })\npoll() }\n\(helper)}",
        ])
    func otherTimers(source: String) { #expect(Self.faults(source) == []) }

    private static func left(_ body: String) -> String {
        "class A {\nfunc applicationDidEnterBackground(_ a: A) {\n\(body)\n}\n"
            + "func poll() { f()\nqueue.asyncAfter(deadline: .now() + 9) { self.poll() } }\n"
            + "func load() { while true { f()\nsleep(9) } }\n}"
    }

    @Test(
        "loops that poll as the app leaves",
        arguments: [
            ("Task { while true { await f(); try? await Task.sleep(nanoseconds: 9) } }", true),
            (
                "t = Task.detached { while !Task.isCancelled { try await Task.sleep(for: d) } }",
                true
            ),
            ("q.async { repeat { f(); Thread.sleep(forTimeInterval: 9) } while true }", true),
            ("Task { while true { guard !Task.isCancelled else { return }\nsleep(9) } }", true),
            ("poll()", true), ("Task { await load() }", true),
            (
                "Task { while true { if await f() { break }\ntry? await Task.sleep(for: d) } }",
                false
            ),
            ("Task { for _ in 0..<3 { try? await Task.sleep(for: d) } }", false),
            ("Task { while await !queue.isEmpty { try? await Task.sleep(for: d) } }", false),
            ("Task { try? await Task.sleep(for: d)\nf() }", false), ("keep { load() }", false),
            ("id = a.beginBackgroundTask { f() }\nTask { while true { sleep(9) } }", false),
            ("Task { while true { try await f()\ntry await Task.sleep(for: d) } }", false),
            (
                "Task { while true { do { try f() } catch { g(error) }\ntry? await Task.sleep(for: "
                    + "d) } }", true
            ),
            (
                "t = Task { while true { try? await Task.sleep(for: d) } }\n"
                    + "q.asyncAfter(deadline: d) { self.t?.cancel() }", false
            ),
            (
                "t = Task { while true { try? await Task.sleep(for: d) } }\n"
                    + "q.asyncAfter(deadline: d) { self.other?.cancel() }", true
            ),
            ("let t = Timer.scheduledTimer(withTimeInterval: 9) {}\nt.invalidate()", false),
        ])
    func loops(body: String, isFound: Bool) {
        #expect(Self.faults(Self.left(body)).contains(.timerInBackground) == isFound)
        let active = Self.left(body).replacing("DidEnterBackground", with: "DidBecomeActive")
        #expect(!Self.faults(active).contains(.timerInBackground))
    }

    private static func push(_ body: String) -> String {
        "func application(_ a: A, didReceiveRemoteNotification u: U, "
            + "fetchCompletionHandler done: @escaping (R) -> Void) {\n\(body)\n}"
    }

    @Test("new data is no answer to a push that is not looked at")
    func alwaysNewData() {
        #expect(Self.faults(Self.push("show(u)\ndone(.newData)")) == [.alwaysNewData])
        #expect(Self.faults(Self.push("done(.noData)")) == [])
        let handedOn = "if mine { sdk.handle(u, completion: done)\nreturn }\ndone(.newData)"
        #expect(!Self.faults(Self.push(handedOn)).contains(.alwaysNewData))
    }

    @Test(
        "a registration in Objective-C that waits for the permission",
        arguments: [
            ("if (granted) { [a registerForRemoteNotifications]; }", true),
            (
                "if (granted) [[UIApplication sharedApplication] registerForRemoteNotifications];",
                true
            ),
            (
                "if (granted && !error) { dispatch_async(dispatch_get_main_queue(), ^{ "
                    + "[a registerForRemoteNotifications]; }); }", true
            ),
            ("if (!granted) return;\n[a registerForRemoteNotifications];", true),
            ("if (granted == NO) { log(); return; }\n[a registerForRemoteNotifications];", true),
            ("if (!granted) { log(); }\n[a registerForRemoteNotifications];", false),
            ("if (!error) { [a registerForRemoteNotifications]; }", false),
            ("if (!granted) { [a registerForRemoteNotifications]; }", false),
            ("[a registerForRemoteNotifications];", false),
        ])
    func permission(body: String, waits: Bool) {
        let source =
            "- (BOOL)application:(UIApplication *)a didFinishLaunchingWithOptions:(id)o {\n"
            + "[center requestAuthorizationWithOptions:(UNAuthorizationOptionAlert | 1)\n"
            + "completionHandler:^(BOOL granted, NSError * _Nullable error) {\n\(body)\n}];\n"
            + "return YES;\n}"
        let seen = SourceReader.observations(
            in: SourceText(Array(source.utf8), path: "a.m"), SourceConstants())
        #expect(
            seen.contains { $0.subject == .remoteNotificationRegistration(.permission) } == waits)
    }

    @Test("a branch of Swift that leaves without the permission")
    func refusal() {
        let source =
            "center.requestAuthorization(options: o) { granted, _ in\nif !granted { return }\n"
            + "a.registerForRemoteNotifications() }"
        let seen = SourceReader.observations(
            in: SourceText(Array(source.utf8), path: "a.swift"), SourceConstants())
        #expect(seen.contains { $0.subject == .remoteNotificationRegistration(.permission) })
    }
}
