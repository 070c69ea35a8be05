// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// What handlers of silent pushes answer, and when.
@Suite("Answers of handlers of silent pushes")
struct PushAnswerTests: SourceFaultSuite {
    private static func push(_ body: String, _ result: String = "") -> String {
        "func application(_ a: A, didReceiveRemoteNotification u: U, "
            + "fetchCompletionHandler done: @escaping (R) -> Void)\(result) {\n\(body)\n}\n"
    }

    private static func asyncPush(_ body: String) -> String {
        "func application(_ a: A, didReceiveRemoteNotification u: U) async -> "
            + "UIBackgroundFetchResult {\n\(body)\n}\n"
    }

    private static func objectiveC(_ body: String) -> String {
        "@implementation A\n- (void)application:(UIApplication *)a "
            + "didReceiveRemoteNotification:(NSDictionary *)u "
            + "fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))done {\n\(body)\n"
            + "done(UIBackgroundFetchResultNewData);\n}\n"
            + "- (void)keep:(NSDictionary *)u { [self.store insert:u]; }\n@end"
    }

    @Test("new data is the answer of a handler that only logs the push")
    func answerForNothing() {
        for body in [
            "print(u)\ndone(.newData)", "done(.newData)",
            "if let id = u[key] as? String { print(String(id)) }\nos_log(\"a\")\n"
                + "Logger.push.debug(u)\ndone(.newData)",
        ] {
            #expect(Self.faults(Self.push(body)) == [.answerForNothing], "\(body)")
        }
        for body in [
            "center.post(name: n, object: u)\ndone(.newData)", "Sync(u)\ndone(.newData)",
            "foodLog.reload()\ndone(.newData)", "logger.info(u)\ndone(.newData)",
            "subject <~ u\ndone(.newData)", "(self.onPush)(u)\ndone(.newData)",
            "handlers[1]?(u)\ndone(.newData)", "Analytics.shared.flush()\ndone(.newData)",
            "let content = UNMutableNotificationContent()\ncontent.title = u.title\n"
                + "center.add(UNNotificationRequest(content: content))\ndone(.newData)",
            "load().receive(on: main).sink { _ in done(.newData) }.store(in: &bag)",
            // What it keeps is nothing of the push.
            "count += 1\ndone(.newData)", "last = Date()\ndone(.newData)",
            "schedule(id: \"a\")\ndone(.newData)", "client.handle(u)\ndone(.newData)",
            "a.badge = 0\ndone(.newData)",
            "print(u)\ndefaults.set(true, forKey: key)\ndone(.newData)",
        ] {
            #expect(Self.faults(Self.push(body)) == [.alwaysNewData], "\(body)")
        }
        // What comes with the push is new each time.
        for body in [
            "store(u)\ndone(.newData)", "self.last = u\nprint(u)\ndone(.newData)",
            "u.apply?(1)\ndone(.newData)", "catalogue.add(u)\ndone(.newData)",
            "log.merge(u)\ndone(.newData)", "state = Push(u)\ndone(.newData)",
            "if let s = u[1] { state = s }\ndone(.newData)",
            "let s: State = read(u)\nqueue.async {\nself.state = s\n}\ndone(.newData)",
            "store(\nu,\nin: box)\ndone(.newData)",
            "for (k, v) in u {\ndefaults.set(v, forKey: k)\n}\ndone(.newData)",
            "let m = Message(\nu: u)\nbox.save(m)\ndone(.newData)",
            "switch u[1] {\ncase let s as String:\nbox.save(s)\ndefault: break\n}\ndone(.newData)",
            "defaults.set(u, forKey: key)\ndone(.newData)", "items[id] = u\ndone(.newData)",
            "self.items[id] = u\ndone(.newData)", "subject.send(u)\ndone(.newData)",
            "keep(u)\ndone(.newData)", "messages.create(u)\ndone(.newData)",
        ] {
            let helper = "func keep(_ u: U) {\ndefaults.set(u, forKey: key)\n}"
            #expect(Self.faults(Self.push(body) + helper) == [.alwaysNewPush], "\(body)")
        }
        for body in ["[self.store save:u];", "self.items[@\"a\"] = u;", "[self keep:u];"] {
            #expect(Self.faults(Self.objectiveC(body), "a.m") == [.alwaysNewPush], "\(body)")
        }
        let shown = "[self.controller show:u with:updateView];"
        #expect(Self.faults(Self.objectiveC(shown), "a.m") == [.alwaysNewData])
        #expect(Self.faults(Self.push("print(u)\ndone(.noData)")) == [])
        // Not whatever happened: the other path is without an answer.
        #expect(
            !Self.faults(Self.push("load { ok in if ok { done(.newData) } }"))
                .contains(.alwaysNewData))
    }

    @Test(
        "an answer before the work of the handler has ended",
        arguments: [
            push("Task { await load() }\ndone(.newData)"),
            push("session.dataTask(with: r) { d, _, _ in\nstore(d)\n}.resume()\ndone(.newData)"),
            push("if x {\nbegin()\ndone(.newData)\nreturn\n}\ndone(.noData)")
                + "func begin() {\nguard y else { return }\nTask { await load() }\n}",
            push("let t = s.dataTask(with: r) { d, _, _ in log(d) }\nt.resume()\ndone(.newData)"),
            asyncPush("if x { return .noData }\nTask { await load() }\nreturn .newData"),
            asyncPush("begin()\nreturn UIBackgroundFetchResult.newData")
                + "func begin() { Task { await load() } }",
            push("let o = CKFetchRecordsOperation()\ndatabase.add(o)\ndone(.newData)"),
        ])
    func early(source: String) {
        #expect(Self.faults(source) == [.earlyAnswer])
    }

    @Test(
        "answers that do not come too early",
        arguments: [
            push("Task {\nawait load()\ndone(.newData)\n}"),
            push("Task { show() }\ndone(.newData)"),
            push("Task { await logger.log(1) }\ndone(.newData)"),
            push("if x { Task { await load() } }\nelse { done(.newData) }"),
            push("let t = Task { await load() }\ndone(.newData)"),
            asyncPush("await load()\nreturn .newData"),
            push(
                "let o = CKFetchRecordsOperation()\no.isLongLived = true\n"
                    + "database.add(o)\ndone(.newData)"
            ),
            push(
                "let o = CKFetchRecordsOperation()\no.completionBlock = { done(.noData) }\n"
                    + "database.add(o)\ndone(.newData)"
            ),
            push("let o = Operation()\nqueue.add(o)\ndone(.newData)"),
            push(
                "Task { await load() }\nwhile x { RunLoop.current.run(mode: m, before: d) }\n"
                    + "done(.newData)"
            ),
            asyncPush("Task { await load() }\nawait other()\nreturn .newData"),
            asyncPush("Task { await load() }\nreturn x ? .failed : y"),
            asyncPush("async let a = load()\nlet b = await a\nreturn .newData"),
            push(
                "let id = app.beginBackgroundTask { end() }\nTask { await load() }\n"
                    + "done(.newData)"),
            push("begin(done)\n") + "func begin(_ done: @escaping (R) -> Void) {\n"
                + "Task {\nawait load()\ndone(.newData)\n}\n}",
            push(
                "session.dataTask(with: r) { d, _, _ in\nstore(d)\ng.leave()\n}.resume()\n"
                    + "g.wait()\ndone(.newData)"),
        ])
    func notEarly(source: String) {
        #expect(!Self.faults(source).contains(.earlyAnswer))
    }

    @Test("a handler that returns whether it handled the push may always answer new data")
    func answerOfPlugin() {
        #expect(
            Self.faults(Self.push("P.load { s in done(.newData) }\nreturn true", " -> Bool"))
                == [.alwaysNewData])
        #expect(
            Self.faults(Self.push("P.load { s in done(.noData) }\nreturn true", " -> Bool"))
                == [])
        let other = "guard mine else { return false }\ndone(.newData)\nreturn true"
        #expect(Self.faults(Self.push(other, " -> Bool")) == [])
    }
}
