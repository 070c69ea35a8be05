// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

@Suite("Handlers that complete twice")
struct RepeatedCallsTests {
    /// The lines of the body, from 1, on which a handler completes a second time.
    private static func repeats(_ head: String, _ body: String, _ path: String) -> [Int] {
        let text = SourceText(Array("\(head) {\n\(body)\n}".utf8), path: path)
        return SourceReader.observations(in: text, SourceConstants())
            .filter { $0.subject == .fault(.completedTwice) }.map { $0.place.line - 1 }
    }

    private static func silent(_ body: String) -> [Int] {
        repeats(
            "func application(_ a: A, didReceiveRemoteNotification u: U, "
                + "fetchCompletionHandler done: @escaping (R) -> Void)", body, "a.swift")
    }

    @Test(
        "a second call on one path is found",
        arguments: [
            ("done(.newData)\ndone(.noData)", [2]),
            ("if a { done(.failed) }\ndone(.newData)", [2]),
            ("if a {\ndone(.failed)\n} else if b {\nreturn\n}\nlog()\ndone(.newData)", [7]),
            ("a ? done(.newData) : done(.noData)\ndone(.failed)", [2]),
            ("defer { done(.noData) }\nif a {\ndone(.newData)\nreturn\n}", [3]),
            ("switch a {\ncase .b: done(.failed)\ndefault: break\n}\ndone(.newData)", [5]),
            ("DispatchQueue.main.async { done(.newData) }\ndone(.noData)", [2]),
            ("sync { r in\nif r { done(.newData) }\ndone(.noData)\n}", [3]),
            ("do { try f(); done(.newData) } catch { done(.failed) }\nreturn done(.noData)", [2]),
        ])
    func twice(body: String, lines: [Int]) { #expect(Self.silent(body) == lines) }

    private static let late = "queue.asyncAfter(deadline: .now() + 25) { done(.failed) }\n"
    private static let timer =
        "Timer.scheduledTimer(withTimeInterval: 25, repeats: false) { _ in done(.failed) }\n"

    @Test(
        "a time-out beside the end of the work",
        arguments: [
            (late + "sync { _ in done(.newData) }", 1),
            ("sync { _ in done(.newData) }\n" + late, 2),
            (timer + "sync { done(.newData) }", 1), ("_ = " + timer + "sync { done(.newData) }", 1),
            (late.replacing("{ ", with: "{\nwork.cancel()\n") + "sync { done(.newData) }", 3),
            (late + "sync { error in\nlog(1)\ndone(error == nil ? .newData : .failed)\n}", 1),
            (
                "queue.asyncAfter(deadline: t) { log(n ?? 1); done(.noData) }\n"
                    + "sync { done(.newData) }", 1
            ),
            ("guard a else { return done(.noData) }\n" + late + "sync { done(.newData) }", 2),
        ])
    func timeout(body: String, line: Int) { #expect(Self.silent(body) == [line], "\(body)") }

    @Test(
        "a time-out that something may stop, or that calls something else",
        arguments: [
            late, late + "sync { log() }", "let t = " + timer + "sync { t.stop()\ndone(.newData) }",
            "timer = " + timer + "sync { timer.stop()\ndone(.newData) }",
            timer.replacing("false", with: "true") + "sync { done(.newData) }",
            "queue.asyncAfter(deadline: t) { if !ended { done(.failed) } }\n"
                + "sync { done(.newData) }",
            "queue.asyncAfter(deadline: t) {\nguard !x else { return }\ndone(.failed)\n}\n"
                + "sync { done(.newData) }",
            "queue.asyncAfter(deadline: t) { x ? () : done(.failed) }\nsync { done(.newData) }",
            late + "sync { if !x { done(.newData) } }",
            late + "sync {\nguard !x else { return }\ndone(.newData)\n}",
            "let done = once(done)\n" + late + "sync { done(.newData) }",
            late + "sync { done in done(.newData) }", late + "sync { a, done in done(.newData) }",
            "let item = DispatchWorkItem { done(.failed) }\nqueue.asyncAfter(deadline: t, execute: "
                + "item)\nsync { item.cancel()\ndone(.newData) }",
            "if a {\n\(late)} else {\nsync { done(.newData) }\n}",
            "if a {\n\(late)return\n}\nsync { done(.newData) }",
            "#if DEBUG\n\(late)#else\nsync { done(.newData) }\n#endif",
            "queue.asyncAfter(deadline: t) { box.call(.failed) }\nsync { box.call(.newData) }",
            "queue.asyncAfter(deadline: t) { self.done(.failed) }\nsync { self.done(.newData) }",
            "queue.asyncAfter(deadline: t) { once { done(.failed) } }\n"
                + "sync { once { done(.newData) } }",
            "sync {\n\(late)}", "queue.asyncAfter(deadline: t) { sync { done(.newData) } }",
            late + "center.addObserver(forName: a, object: b) { _ in done(.newData) }",
            late + "app.beginBackgroundTask { done(.newData) }", late + "items.map { done($0) }",
            late + "Watcher { done(.newData) }", late + "feed.onEnd { done(.newData) }",
            "let end = { done(.failed) }\nsync { x in x ? done(.newData) : end() }",
            late + "handler = { done(.newData) }", late + "sync { defer { done(.newData) } }",
        ])
    func stoppedTimeout(body: String) { #expect(Self.silent(body) == [], "\(body)") }

    @Test(
        "paths that exclude each other, and what may not run, are let be",
        arguments: [
            "done(.newData)", "if a { done(.failed) } else { done(.newData) }",
            "if a {\ndone(.failed)\nreturn\n}\ndone(.newData)",
            "if a { done(.failed); return }\ndone(.newData)",
            "guard a else { done(.failed); return }\ndone(.newData)",
            "guard a else { return done(.failed) }\nsync { done(.newData) }",
            "if a { done(.failed) }\nif !a { done(.newData) }",
            "do { try f(); done(.newData) } catch { done(.failed) }",
            "switch a {\ncase .b: done(.failed)\ncase .c: done(.noData)\n}",
            "switch a {\ncase .b:\nif c { done(.a); break }\ndone(.b)\ncase .d: done(.noData)\n}",
            "sync { done(.newData) }\nother { done(.noData) }",
            "for x in y { done(.newData)\nbreak }\nreturn",
            "func finish() { done(.newData) }\ndone(.noData)",
            "done(.newData)\nif !isDone { done(.noData) }",
            "#if DEBUG\ndone(.newData)\n#else\ndone(.noData)\n#endif",
            "call.done(.newData)\ndone(.noData)",
            "a ? done(.newData) : done(.noData)", "a\n? done(.newData)\n: done(.noData)",
            "var ended = false\ndefer { if !ended { done(.failed) } }\ndone(.noData)\nended = true",
        ])
    func once(body: String) { #expect(Self.silent(body) == []) }

    @Test("VoIP pushes: the report's closure runs, and so does what stands behind it")
    func voip() {
        let head =
            "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith p: PKPushPayload,"
            + " for type: PKPushType, completion: @escaping () -> Void)"
        let report = "provider.reportNewIncomingCall(with: id, update: update) { error in\n"
        #expect(Self.repeats(head, report + "completion()\n}\ncompletion()", "a.swift") == [4])
        #expect(Self.repeats(head, report + "log(error)\n}\ncompletion()", "a.swift") == [])
        #expect(
            Self.repeats(
                head, report + "if error != nil { return }\ncompletion()\n}", "a.swift") == [])
    }

    @Test("Objective-C: blocks and branches are followed")
    func objectiveC() {
        let head =
            "- (void)application:(UIApplication *)a didReceiveRemoteNotification:(NSDictionary *)u"
            + " fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))done"
        #expect(
            Self.repeats(
                "@implementation A\n" + head, "if (a) {\ndone(1);\n}\ndone(0);", "a.m") == [5])
        #expect(
            Self.repeats("@implementation A\n" + head, "if (a)\ndone(1);\nelse\ndone(0);", "a.m")
                == [])
    }

    @Test("a library that gets the completion handler of a VoIP push calls it")
    func library() {
        let report =
            "RNCallKeep.reportNewIncomingCall(id, handle: h, withCompletionHandler: completion)\n"
        let head =
            "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith p: PKPushPayload,"
            + " for type: PKPushType, completion: @escaping () -> Void)"
        #expect(Self.repeats(head, report + "completion()", "a.swift") == [2])
        #expect(Self.repeats(head, report, "a.swift") == [])
        let other = report.replacing("RNCallKeep", with: "calls")
        #expect(Self.repeats(head, other + "completion()", "a.swift") == [])
        let message = "[RNCallKeep reportNewIncomingCall:u payload:nil withCompletionHandler:DONE];"
        let method =
            "@implementation A\n- (void)pushRegistry:(PKPushRegistry *)r "
            + "didReceiveIncomingPushWithPayload:(PKPushPayload *)p forType:(PKPushType)t "
            + "withCompletionHandler:(void (^)(void))completion"
        #expect(
            Self.repeats(
                method, message.replacing("DONE", with: "completion") + "\ncompletion();", "a.m")
                == [3])
        #expect(
            Self.repeats(method, message.replacing("DONE", with: "nil") + "\ncompletion();", "a.m")
                == [])
    }

    @Test("tasks: the expiration handler's end is no second one")
    func task() {
        let end = "task.setTaskCompleted(success: true)"
        let head = "func handle(task: BGAppRefreshTask)"
        #expect(Self.repeats(head, "if a { \(end) }\n\(end)", "a.swift") == [2])
        #expect(
            Self.repeats(head, "task.expirationHandler = { \(end) }\n\(end)", "a.swift") == [])
    }

    @Test(
        "a branch that completes and goes on, with a closure behind it that completes",
        arguments: [
            ("if a {\ndone(.noData)\n}\nload { done(.newData) }", 4),
            ("if a { done(.noData) }\nengine.load(x: 1) { result in\ndone(result)\n}", 3),
            ("if a { done(.noData) }\nengine\n.load(x: 1) { r in\ndone(r)\n}", 4),
            ("if a { done(.noData) }\nload(x: 1, then: { done(.newData) })", 2),
            (
                "if a { done(.noData) }\nlet x = 1\nload { r in\nswitch r {\ncase .a: done(.a)\n"
                    + "default: done(.b)\n}\n}", 5
            ),
            ("load { e in\nif e { done(.noData) }\nnext { done(.newData) }\n}", 3),
            ("load { e in\nif e { done(.noData) }\nif n { done(.a) } else { done(.b) }\n}", 3),
            ("if e { done(.noData) }\nif n { done(.a)\nreturn } else { done(.b) }", 2),
            ("if a { done(.noData) }\nTask { await x()\ndone(.newData) }", 3),
            ("if a { done(.noData) }\nload { r in\nlet n = r.map { return $0 }\ndone(n) }", 4),
            (
                "if a { done(.noData) }\nload { e in\nif e != nil { done(.failed)\nreturn }\n"
                    + "done(.newData)\n}", 3
            ),
            ("if a { done(.noData) }\nload { DispatchQueue.main.async { done(.newData) } }", 2),
        ])
    func behindBranch(body: String, line: Int) {
        #expect(Self.silent(body) == [line], "\(body)")
    }

    @Test(
        "a closure that may not run behind such a branch",
        arguments: [
            "if a {\ndone(.noData)\nreturn\n}\nload { done(.newData) }",
            "if a { done(.noData) } else { load { done(.newData) } }",
            "if a == nil { done(.noData) }\na?.load { done(.newData) }",
            "if a.isEmpty { done(.noData) }\na.forEach { x in load(x); done(.newData) }",
            "if a.isEmpty { done(.noData) }\nfor x in a { load(x) { done(.newData) } }",
            "if a { done(.noData) }\nguard !a else { return }\nload { done(.newData) }",
            "if a { done(.noData) }\nlet end = { done(.newData) }\nif !a { end() }",
            "if a { done(.noData) }\nif !a { load { done(.newData) } }",
            "if a { done(.noData)\nended = true }\nload { if !ended { done(.newData) } }",
            "if a { done(.noData)\nstopped = true }\nload { if !stopped { done(.newData) } }",
            "if !done2 { done(.noData) }\nload { done(.newData) }",
            "load { e in\nif e { done(.noData) }\nif n { done(.a) } else if m { done(.b) }\n}",
            "load { e in\nif e { done(.noData)\nreturn }\nif n { done(.a) } else { done(.b) }\n}",
            "if let a { done(.noData) } else { x = 1 }\nload { done(.newData) }",
            // The closure answers only where the branch did not.
            "if a { done(.noData) }\nload { if !a { done(.newData) } }",
            "if a { done(.noData) }\nload { guard !a else { return }\ndone(.newData) }",
            "if a { done(.noData) }\nload { if a { x() } else { done(.newData) } }",
            "if a { done(.noData) }\nload { switch a {\ncase true: break\n"
                + "default: done(.newData)\n} }",
            "if a { done(.noData) }\nload { a ? () : done(.newData) }",
            "if a { done(.noData) }\nload { _ = a || { done(.newData)\nreturn true }() }",
            "if a { done(.noData) }\nTask { if !a { done(.newData) } }",
            "if a { done(.noData) }\nload { Task { if !a { done(.newData) } } }",
            "if a { done(.noData)\nopen.toggle() }\nload { if open { done(.newData) } }",
            // It is kept, or gets what the branch asks for.
            "if a { done(.noData) }\nlet op = BlockOperation { done(.newData) }\nif !a { run(op) }",
            "if a { done(.noData) }\nlet sync = Sync(onEnd: { done(.newData) })",
            "if a == nil { done(.noData) }\nsync(a) { done(.newData) }",
            "if self.a { done(.noData) }\na.ifFalse { done(.newData) }",
            "if a { done(.noData)\nloader.cancel() }\nloader.load { done(.newData) }",
            "if a { done(.noData) }\ntoken.onExpire { done(.failed) }",
            // It runs for each element.
            "if a { done(.noData) }\nitems.enumerateObjects { x, i, stop in done(.newData) }",
            "if a { done(.noData) }\nDispatchQueue.concurrentPerform(iterations: n) { i in "
                + "done(.newData) }",
            "if a { done(.noData) }\n#if DEBUG\n#else\nload { done(.newData) }\n#endif",
            "let done = once(done)\nif a { done(.noData) }\nload { done(.newData) }",
            "if a { done(.noData)\npreconditionFailure() }\nload { done(.newData) }",
            "if a { done(.noData) }\n_ = a || start { done(.newData) }",
            "if a { done(.noData) }\nmigrate { done in done(true) }",
        ])
    func notBehindBranch(body: String) {
        #expect(Self.silent(body).isEmpty, "\(body)")
    }

    @Test("the end of a Combine publisher comes behind its value")
    func behindValue() {
        let both =
            "if case .failure = end { done(.failed) } else { done(.noData) }\n}, receiveValue: {"
        let told = [
            "p.sink(receiveCompletion: { end in\n\(both) done($0) })",
            "keep[k] = p.first().sink(receiveCompletion: { [weak self] end in\n\(both) v in "
                + "done(v ? .a : .b) })",
            "p.sink { _ in\ndone(.noData)\n} receiveValue: { v in if v { done(.newData) } }",
        ]
        for body in told { #expect(Self.silent(body) == [2], "\(body)") }
        let right = [
            "p.sink(receiveCompletion: { end in\nif case .failure = end { done(.failed) }\n}, "
                + "receiveValue: { done($0) })",
            "p.sink(receiveCompletion: { end in\nswitch end {\ncase .finished: break\n"
                + "case .failure: done(.failed)\n}\n}, receiveValue: { done($0) })",
            "p.sink(receiveCompletion: { _ in done(.newData) }, receiveValue: { all.append($0) })",
            "p.sink(receiveCompletion: { _ in if !answered { done(.noData) } }, "
                + "receiveValue: { answered = true\ndone($0) })",
            "p.sink(receiveCompletion: { _ in guard !answered else { return }\ndone(.noData) }, "
                + "receiveValue: { answered = true\ndone($0) })",
            "keep[k] = p.sink(receiveCompletion: { end in\n\(both) v in\n"
                + "self.keep[k] = nil\ndone(v) })",
            "p.sink(receiveCompletion: { _ in done(.noData) }, receiveValue: { "
                + "self.running?.cancel()\ndone($0) })",
            "let done = once(done)\np.sink(receiveCompletion: { end in\n\(both) done($0) })",
            "p.sink(receiveCompletion: { _ in done(.noData) }, receiveValue: { "
                + "done($0)\nself.bag = [] })",
            "p.sink(receiveCompletion: { _ in done(.noData) }, receiveValue: { "
                + "done($0)\nself.stopListening() })",
        ]
        for body in right { #expect(Self.silent(body).isEmpty, "\(body)") }
    }

    @Test("two tasks that look at a flag first")
    func flagInTasks() {
        let task = "Task { @MainActor in\nguard !finished else { return }\nfinished = true\nDONE\n}"
        let body =
            task.replacing("DONE", with: "done(.noData)") + "\n"
            + task.replacing("DONE", with: "done(.newData)")
        #expect(Self.silent("var finished = false\n" + body).isEmpty)
        let bare = body.replacing("guard !finished else { return }\nfinished = true\n", with: "")
        #expect(Self.silent(bare) == [5])
    }

    @Test("a closure behind a branch in Objective-C")
    func behindBranchInObjectiveC() {
        func repeats(_ body: String) -> [Int] {
            Self.repeats(
                "@implementation A\n- (void)application:(UIApplication *)a "
                    + "didReceiveRemoteNotification:(NSDictionary *)u "
                    + "fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))done",
                body + "\n}",
                "a.m")
        }
        let load = "[self.loader load:u completion:^(NSError *error) {\ndone(1);\n}];"
        #expect(repeats("if (!x) {\ndone(0);\n}\n\(load)").count == 1)
        #expect(repeats("if (!x) {\ndone(0);\nreturn;\n}\n\(load)").isEmpty)
        #expect(repeats("if (!x) {\ndone(0);\n} else {\n\(load)\n}").isEmpty)
        for other in [
            "[self load:^{ if (x) done(1); }];", "[self load:^{ if (!x) { return; }\ndone(1); }];",
            "[x load:^{ done(1); }];",
            "NSBlockOperation *op = [NSBlockOperation blockOperationWithBlock:^{ done(1); }];",
            "[items enumerateObjectsUsingBlock:^(id a, NSUInteger i, BOOL *stop) { done(1); }];",
            "dispatch_apply(2, queue, ^(size_t i) { done(1); });",
        ] {
            #expect(repeats("if (!x) {\ndone(0);\n}\n\(other)").isEmpty, "\(other)")
        }
    }
}
