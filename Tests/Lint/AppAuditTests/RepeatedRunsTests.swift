// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Code that runs more than once, or never, and names that are no proof.
@Suite("Code that runs often or never")
struct RepeatedRunsTests: SourceFaultSuite {
    private static let head =
        "func application(_ a: UIApplication, performFetchWithCompletionHandler done: "
        + "@escaping (UIBackgroundFetchResult) -> Void) {\n"

    @Test(
        "a closure that runs for each change need not complete each time",
        arguments: [
            "observe(\\.state) { _, change in if change.newValue == 1 { done(.newData) } }",
            "token = work?.observe(\\.state, options: [.new]) { [weak self] _, change in\n"
                + "if change.newValue == 1 { self?.token = nil; done(.newData) } }",
            "center.addObserver(forName: n, object: nil, queue: nil) { note in\n"
                + "if note.object == nil { done(.noData) } }",
            "Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { t in\n"
                + "if isDone { t.invalidate(); done(.newData) } }",
        ])
    func often(body: String) {
        #expect(Self.faults(Self.head + body + "\n}") == [])
        #expect(
            Self.faults(Self.head + "guard on else { return }\n" + body + "\n}")
                == [.fetchPathWithoutCompletion])
    }

    @Test(
        "a closure that runs once has to complete",
        arguments: [
            "load { data in if data != nil { done(.newData) } }",
            "Timer.scheduledTimer(withTimeInterval: 1, repeats: false) { t in\n"
                + "if isDone { done(.newData) } }",
            "DispatchQueue.main.asyncAfter(deadline: .now() + 1) { if on { done(.noData) } }",
        ])
    func once(body: String) {
        #expect(Self.faults(Self.head + body + "\n}") == [.fetchPathWithoutCompletion])
    }

    @Test("the system calls no default of a protocol")
    func defaults() {
        let text = Self.head + "}\n"
        #expect(Self.faults("protocol P: AnyObject { func f() }\nextension P {\n\(text)}") == [])
        for type in ["extension A {\n", "class A: P {\n", "protocol P { }\nextension A {\n"] {
            #expect(Self.faults("\(type)\(text)}") == [.fetchPathWithoutCompletion], "\(type)")
        }
    }

    @Test("what a refresh task's handler passes to others asks for no task")
    func constants() {
        func lacks(_ body: String) -> Bool {
            Self.faults(
                "func handle(task: BGAppRefreshTask) {\n\(body)\nwork()\n"
                    + "task.setTaskCompleted(success: true)\n}"
            ).contains(.refreshWithoutNext)
        }
        for body in ["commands.run(.schedulerPing)", "log(Event.schedulerPing, 1)"] {
            #expect(lacks(body), "\(body)")
        }
        for body in [
            "scheduler.next()", "commands.run(.scheduleNext)", "run(self.scheduleNext)",
            "try? BGTaskScheduler.shared.submit(r)", "AppScheduler.shared.plan()",
            "let scheduler = self.scheduler\nscheduler.start()", "scheduleNext()",
        ] {
            #expect(!lacks(body), "\(body)")
        }
    }

    @Test("a scene's task that a function of another file asks for again")
    func sceneTasks() throws {
        let scene =
            "struct M: App { var body: some Scene { WindowGroup { T() }\n"
            + ".backgroundTask(.appRefresh(\"a.b\")) { await Refresh.perform() } } }\n"
        func lacks(_ other: String) throws -> Bool {
            try OccasionTests.subjects(["A.swift": scene, "B.swift": other])
                .contains(.fault(.refreshWithoutNext))
        }
        let submit =
            "func schedule() { let r = BGAppRefreshTaskRequest(identifier: \"a.b\")\n"
            + "try? BGTaskScheduler.shared.submit(r) }\n"
        #expect(try !lacks("enum Refresh {\n\(submit)func perform() async { schedule() }\n}"))
        #expect(try lacks("enum Refresh {\n\(submit)func perform() async { load() }\n}"))
        #expect(try lacks("enum Refresh {\nfunc perform() async { load() }\n}"))
    }

    @Test("the application under another name")
    func application() {
        func faults(_ declaration: String, _ call: String = "host.beginBackgroundTask()") -> Int {
            Self.faults(
                "class A {\n\(declaration)\nvar id = none\nfunc f() { id = \(call) }\n}"
            ).count
        }
        for declaration in [
            "var host = UIApplication.shared", "let host: UIApplication",
            "var host: UIApplication\ninit(host: UIApplication) { self.host = host }",
        ] {
            #expect(faults(declaration) > 0, "\(declaration)")
            #expect(faults(declaration, "self.host.beginBackgroundTask()") > 0)
            #expect(faults(declaration, "host.beginBackgroundTask(reason: 1)") == 0)
        }
        for declaration in [
            "let host: Host", "let host = Host()", "let host = UIApplication.shared.work",
            "let host: UIApplication.Work", "", "let host: UIApplication\nfunc g(host: Host) { }",
            "let host = host(of: UIApplication.shared)",
        ] {
            #expect(faults(declaration) == 0, "\(declaration)")
        }
    }

    @Test("whose token a closure gets is not known, and what is only logged is no use")
    func tokens() {
        func subjects(_ body: String) -> [SourceObservation.Subject] {
            let text = SourceText(Array(body.utf8), path: "a.swift")
            return SourceReader.observations(in: text, SourceConstants()).map(\.subject)
        }
        let store = "UserDefaults.standard.set(deviceToken, forKey: \"t\")"
        let head =
            "func application(_ a: A, didRegisterForRemoteNotificationsWithDeviceToken "
            + "deviceToken: Data) {\n"
        for body in [
            "pushy.register({ (error, deviceToken) in \(store) })",
            "pushy.register { deviceToken in if on { \(store) } }",
        ] {
            #expect(!subjects("func f() { \(body) }").contains(.storedDeviceToken), "\(body)")
        }
        let activity = "for await deviceToken in activity.pushTokenUpdates {\n\(store)\n}"
        #expect(!subjects("func f() async { \(activity) }").contains(.storedDeviceToken))
        for body in [store, "queue.async { \(store) }", "queue.async { [weak self] in \(store) }"] {
            #expect(subjects("\(head)\(body)\n}").contains(.storedDeviceToken), "\(body)")
        }
        for log in ["DDLogError", "DDLogInfo", "print"] {
            #expect(subjects("\(head)\(log)(\"t: \\(deviceToken)\")\n}") == [], "\(log)")
        }
        #expect(
            subjects("\(head)send(\"\\(deviceToken)\")\n}").contains(.describedDeviceToken))
    }
}
