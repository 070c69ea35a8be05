// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Handlers of background tasks that leave their task, or its end, to code that is not followed.
@Suite("Handlers of tasks that are not followed")
struct OpenTasksTests {
    private static let registration =
        "class A {\nfunc start() {\nBGTaskScheduler.shared.register(forTaskWithIdentifier: \"a\", "
        + "using: nil) { task in self.handle(task: task as! BGProcessingTask) }\n}\n"

    private static func handler(_ body: String, _ rest: String = "") -> String {
        registration + "func handle(task: BGProcessingTask) {\n\(body)\n}\n\(rest)\n}"
    }

    private static let expires = "task.expirationHandler = { self.work.cancel() }\n"
    private static let ends = "task.expirationHandler = { task.setTaskCompleted(success: false) }\n"

    /// The rules that are open for the handlers of some files, and the sentences about them.
    private static func open(
        _ files: [String: String]
    ) throws -> (rules: [String], sentences: [String]) {
        let folder = try TestFolder()
        let library = FileLibrary()
        var list = SourceList()
        list.add(
            try files.sorted { $0.key < $1.key }.map { try folder.write($0.value, to: $0.key) })
        let facts = library.facts(of: list)
        var handlers = OpenHandlers()
        handlers.add(
            AppFacts(bundles: [AppFacts.Bundle(name: "App", sources: facts)]), besides: [])
        let rules = facts?.openHandlers.filter { $0.push == nil }.flatMap(\.rules) ?? []
        return (Set(rules.map(\.rawValue)).sorted(), handlers.unjudged.map(\.description))
    }

    private static func rules(
        _ body: String, _ rest: String = "", more: [String: String] = [:]
    ) throws -> [String] {
        try open(["A.swift": handler(body, rest)].merging(more) { $1 }).rules
    }

    @Test("the end of a task is left to a function that is not found")
    func end() throws {
        let call = "store.refresh { task.setTaskCompleted(success: $0) }"
        #expect(try Self.rules(call) == ["CF035"])
        #expect(try Self.rules("Task { self.\(call) }") == ["CF035"])
        #expect(try Self.rules(Self.expires + call) == ["CF035", "CF037"])
        #expect(try Self.rules(Self.ends + call) == ["CF035"])
        #expect(
            try Self.rules("token = api.load { task.setTaskCompleted(success: true) }")
                == ["CF035"])
        #expect(
            try Self.rules("sync.onEnd = { task.setTaskCompleted(success: true) }\nsync.start()")
                == ["CF035"])
        // Of two classes that conform to a protocol, which one is meant is not known.
        let types =
            "protocol Loads { func refresh(_ done: @escaping (Bool) -> Void) }\n"
            + "class Store: Loads { func refresh(_ done: @escaping (Bool) -> Void) { done(true) } }"
        #expect(
            try Self.rules(call, "let store: Loads", more: ["B.swift": types]) == ["CF035"])
    }

    @Test("a task is left to a function that is not found, or kept")
    func task() throws {
        let all = ["CF035", "CF036", "CF037"]
        #expect(try Self.rules("Sync.shared.run(with: task)") == all)
        #expect(try Self.rules(Self.ends + "Sync.shared.run(with: task)") == ["CF035"])
        #expect(try Self.rules("work.task = task\nwork.start()") == all)
        #expect(try Self.rules("task.finishLater()") == all)
        let kept = "self.current = task\nwork.start()"
        let end = "func stop() { current?.setTaskCompleted(success: true) }"
        #expect(try Self.rules(kept, end) == ["CF035"])
        let files = [
            "A.swift": "class A {\nfunc start() {\nBGTaskScheduler.shared.register("
                + "forTaskWithIdentifier: \"a\", using: nil) { task in\n"
                + "sdk.handle(task)\n}\n}\n}"
        ]
        let found = try Self.open(files)
        #expect(found.rules == all)
        let start =
            "App: 1 handler of background tasks leaves its task to code that is not followed"
        #expect(found.sentences.count == 1 && found.sentences.first?.hasPrefix(start) == true)
        #expect(
            found.sentences.first?.hasSuffix("A.swift:3): CF035, CF036, CF037 not judged.") == true)
    }

    @Test(
        "a handler that ends its task on each path, or where it does not is told",
        arguments: [
            "task.setTaskCompleted(success: true)",
            "Task { await store.refresh()\ntask.setTaskCompleted(success: true) }",
            "store.refresh { self.note() }\ntask.setTaskCompleted(success: true)",
            "DispatchQueue.global().async { task.setTaskCompleted(success: true) }",
            "URLSession.shared.dataTask(with: url) { _, _, _ in\n"
                + "task.setTaskCompleted(success: true) }.resume()",
            "let work = BlockOperation { run() }\nwork.completionBlock = { "
                + "task.setTaskCompleted(success: true) }\nqueue.addOperation(work)",
            "guard ready else { return }\nstore.refresh { task.setTaskCompleted(success: true) }",
            "print(task)\ntask.setTaskCompleted(success: true)",
            "log(task.identifier)\ntask.setTaskCompleted(success: true)",
            "",
        ])
    func judged(body: String) throws {
        #expect(try Self.rules(body) == [])
    }

    @Test("the same in Objective-C")
    func objectiveC() throws {
        func rules(_ body: String) throws -> [String] {
            try Self.open([
                "A.m": "@implementation A\n- (void)start {\n[[BGTaskScheduler sharedScheduler] "
                    + "registerForTaskWithIdentifier:@\"a\" usingQueue:nil launchHandler:"
                    + "^(BGTask *task) {\n\(body)\n}];\n}\n@end"
            ]).rules
        }
        let all = ["CF035", "CF036", "CF037"]
        #expect(try rules("[Sync.shared handleTask:task];") == all)
        #expect(try rules("[task setTaskCompletedWithSuccess:YES];") == [])
        #expect(
            try rules("@synchronized (self) { [task setTaskCompletedWithSuccess:YES]; }") == [])
        #expect(try rules("[task finish:self];") == [])
    }

    @Test("a function of the app that is found is followed")
    func followed() throws {
        let call = "store.refresh { task.setTaskCompleted(success: $0) }"
        let store =
            "class Store {\nfunc refresh(_ done: @escaping (Bool) -> Void) {\ndone(true)\n}\n}"
        #expect(try Self.rules(call, "let store = Store()", more: ["B.swift": store]) == [])
        #expect(try Self.rules("Store.shared.\(call.dropFirst(6))", more: ["B.swift": store]) == [])
        let open = store.replacing("done(true)", with: "sdk.load(done)")
        #expect(
            try Self.rules(call, "let store = Store()", more: ["B.swift": open]) == ["CF035"])
        let own = "func run(_ task: BGProcessingTask) { task.setTaskCompleted(success: true) }"
        #expect(try Self.rules("run(task)", own) == [])
        #expect(try Self.rules("self.current = task\nrun(task)", own) == [])
        #expect(
            try Self.rules(
                "Sync.shared.run(task)",
                more: ["B.swift": "class Sync {\nstatic let shared = Sync()\n\(own)\n}"]) == [])
    }
}
