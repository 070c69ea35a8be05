// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// What ends time in the background, and what does not.
@Suite("Time in the background")
struct BackgroundTimeTests: SourceFaultSuite {
    @Test("what else an expiration handler does ends no time")
    func expiration() {
        func faults(_ body: String, _ rest: String = "") -> Set<Fault> {
            Self.faults(
                "class A {\nfunc f() {\nself.id = UIApplication.shared.beginBackgroundTask {\n"
                    + "\(body)\n}\n}\n\(rest)\n}")
        }
        let fault: Set<Fault> = [.assertionExpirationWithoutEnd]
        #expect(faults("self.timer.invalidate(); self.id = .invalid") == fault)
        #expect(faults("self.pollTimer?.invalidate(); self.id = .invalid") == fault)
        #expect(faults("self.note()", "func note() { print(1) }") == fault)
        let end = "UIApplication.shared.endBackgroundTask(id)"
        #expect(faults("self.note()", "func note() { \(end) }") == [])
        #expect(faults("self.note()", "func note() { manager.stop() }") == [])
        #expect(faults("self.session.invalidate()") == [])
        #expect(faults("self.timer?.invalidate()", "var timer: BackgroundTimer?") == [])
        #expect(faults("self.timer?.invalidate()", "var timer: Timer?") == fault)
        for body in ["(onExpire)()", "subject <~ 1", "count += 1"] {
            #expect(faults(body) == [], "\(body)")
        }
        let observed = "var id = none { willSet { \(end) } }\nfunc stop() { id = none }"
        #expect(faults("self.stop()", observed) == [])
        #expect(
            Self.faults(
                "@implementation A\n- (void)f {\n_id = [[UIApplication sharedApplication] "
                    + "beginBackgroundTaskWithExpirationHandler:^{ [ws.timer invalidate]; "
                    + "ws.task = UIBackgroundTaskInvalid; }];\n}\n@end", "a.m") == fault)
    }

    @Test("the completion handler of the system ends no time")
    func systemCompletion() {
        func faults(_ head: String, _ handler: String, type: String = Self.delegate) -> Set<Fault> {
            Self.faults(
                "\(type)\nfunc \(head) {\nlet id = UIApplication.shared.beginBackgroundTask {\n"
                    + "\(handler)\n}\nTask {\nawait run()\ndone(.newData)\n"
                    + "UIApplication.shared.endBackgroundTask(id)\n}\n}\n}")
        }
        let push =
            "application(_ a: UIApplication, didReceiveRemoteNotification p: [AnyHashable: Any], "
            + "fetchCompletionHandler done: @escaping (UIBackgroundFetchResult) -> Void)"
        let fetch =
            "application(_ a: UIApplication, performFetchWithCompletionHandler done: @escaping "
            + "(UIBackgroundFetchResult) -> Void)"
        for head in [push, fetch] {
            #expect(faults(head, "done(.failed)").contains(.assertionExpirationWithoutEnd))
            #expect(
                faults(head, "print(1)\ndone(.noData)").contains(.assertionExpirationWithoutEnd))
            for handler in [
                "done(.failed)\nwork.cancel()", "work.done(.failed)", "finish(.failed)",
                "done(.failed)\nUIApplication.shared.endBackgroundTask(id)",
                "done(.failed)\nsemaphore.signal()", "run(end) { done in done(.failed) }",
            ] {
                #expect(
                    !faults(head, handler).contains(.assertionExpirationWithoutEnd), "\(handler)")
            }
            // The delegate may hand another object a closure that ends the time.
            for type in [
                "class A: NSObject {", Self.delegate.replacing("UIApplicationD", with: "D"),
            ] {
                #expect(
                    !faults(head, "done(.failed)", type: type)
                        .contains(.assertionExpirationWithoutEnd))
            }
        }
        let own = "run(_ done: @escaping (UIBackgroundFetchResult) -> Void)"
        #expect(!faults(own, "done(.failed)").contains(.assertionExpirationWithoutEnd))
    }

    private static let delegate =
        "class A: UIResponder, UIApplicationDelegate {\nfunc application(_ a: UIApplication, "
        + "didFinishLaunchingWithOptions o: [String: Any]?) -> Bool { true }"

    @Test("an identifier of time in the background that nothing keeps")
    func lostIdentifier() {
        let call = "UIApplication.shared.beginBackgroundTask { self.end() }"
        let end = "func end() { UIApplication.shared.endBackgroundTask(id) }"
        func faults(_ body: String, _ result: String = "") -> Set<Fault> {
            Self.faults("class A {\nfunc f()\(result) {\n\(body)\n}\n\(end)\n}")
        }
        let fault: Set<Fault> = [.assertionThrownAway]
        #expect(faults(call) == fault)
        #expect(faults("guard x else { return }\n" + call) == fault)
        #expect(faults("if x {\nlog(1)\n" + call + "\n}") == fault)
        #expect(faults("_ = " + call) == fault)
        #expect(faults("DispatchQueue.main.async {\n_ = x\n" + call + "\n}") == fault)
        for body in [
            "id = " + call, "id =\n" + call, "keep(\n" + call + "\n)", "ids.append(" + call + ")",
            "queue.sync {\n" + call + "\n}", "id = x\n? .invalid\n: " + call,
            "id = if x {\n" + call + "\n} else { .invalid }",
            "id = if x {\n.invalid\n} else if y {\n.invalid\n} else {\n" + call + "\n}",
            "id = run.async {\n" + call + "\n}",
        ] {
            #expect(!faults(body).contains(.assertionThrownAway), "\(body)")
        }
        for other in ["(reason: r)", "(expirationHandler: f)", " { self.end() }"] {
            #expect(faults("Manager.shared.beginBackgroundTask" + other) == [], "\(other)")
        }
        #expect(faults("application.beginBackgroundTask { self.end() }") == fault)
        #expect(faults("app.beginBackgroundTask { self.end() }") == [])
        #expect(faults(call, " -> UIBackgroundTaskIdentifier") == [])
        #expect(faults("return " + call, " -> UIBackgroundTaskIdentifier") == [])
        func objectiveC(_ start: String) -> Set<Fault> {
            Self.faults(
                "@implementation A\n- (void)f {\n\(start)[[UIApplication sharedApplication] "
                    + "beginBackgroundTaskWithExpirationHandler:^{ [self end]; }];\n}\n"
                    + "- (void)end { [[UIApplication sharedApplication] endBackgroundTask:_id]; }\n"
                    + "@end", "a.m")
        }
        #expect(objectiveC("") == fault)
        #expect(objectiveC("_id = ") == [])
    }

    @Test("the time of a private property that nothing else ends")
    func timeOfProperty() {
        func faults(
            _ body: String, _ rest: String = "", finish: String = "private func finish()"
        )
            -> Set<Fault>
        {
            Self.faults(
                "class A {\nprivate var id: UIBackgroundTaskIdentifier = .invalid\nfunc f() {\n"
                    + "id = UIApplication.shared.beginBackgroundTask { self.finish() }\n"
                    + "\(body)\n}\n\(finish) {\n"
                    + "UIApplication.shared.endBackgroundTask(id)\nid = .invalid\n}\n\(rest)\n}")
        }
        let open = "Task { if await save() { finish() } }"
        #expect(faults(open) == [.assertionPathWithoutEnd])
        #expect(
            faults(
                "s.dataTask(with: r) { d, _, _ in\nguard let d else { return }\nself.finish()\n"
                    + "}.resume()") == [.assertionPathWithoutEnd])
        #expect(
            faults("Task { do { try await save()\nfinish() } catch { print(error) } }")
                == [.assertionPathWithoutEnd])
        #expect(faults("save { _ in self.finish() }") == [])
        // What may be called several times.
        for call in ["save { ok in", "s.sink { ok in", "timer = Timer.scheduledTimer(1) { ok in"] {
            #expect(faults(call + " if ok { self.finish() } }") == [], "\(call)")
        }
        #expect(faults("Task { for i in items { if await save(i) { finish() } } }") == [])
        #expect(faults("Task { defer { finish() }\ntry await save() }") == [])
        // Others may end it.
        #expect(faults(open, finish: "func finish()") == [])
        #expect(faults(open, "func stop() { finish() }") == [])
        #expect(faults(open, "deinit { UIApplication.shared.endBackgroundTask(id) }") == [])
        #expect(faults(open, "func g() { center.add(self, #selector(finish)) }") == [])
        // Nothing but its expiration ends it.
        #expect(faults("save()") == [.assertionEndedByExpiration])
        #expect(faults("save()", finish: "func finish()") == [])
    }

    @Test("a closure that ends the time is followed into the function that gets it")
    func closureOfTime() {
        func faults(_ guarded: String) -> Set<Fault> {
            Self.faults(
                "class A {\nfunc f() {\nlet id = UIApplication.shared.beginBackgroundTask { x() }\n"
                    + "submit { UIApplication.shared.endBackgroundTask(id) }\n}\n"
                    + "func submit(completion: @escaping () -> Void) {\n"
                    + "URLSession.shared.dataTask(with: u) { d, _, _ in\n"
                    + "guard let d else { \(guarded) }\ncompletion()\n}.resume()\n}\n}")
        }
        #expect(faults("return") == [.assertionPathWithoutEnd])
        #expect(faults("return completion()") == [])
    }
}
