// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Calls of functions that return while their work still runs, of the same file or of another one.
@Suite("Work behind calls")
struct BegunWorkTests: SourceFaultSuite {
    /// The handler of a task that calls something last.
    private static func task(_ body: String) -> String {
        "class Tasks {\ninit() { BGTaskScheduler.shared.register(forTaskWithIdentifier: \"a\", "
            + "using: nil) { self.handle(task: $0 as! BGProcessingTask) } }\n"
            + "func handle(task: BGProcessingTask) {\n"
            + "task.expirationHandler = { work.cancel() }\n\(body)\n"
            + "task.setTaskCompleted(success: true)\n}\n"
    }

    private static func push(_ body: String, _ answer: String) -> String {
        "class AppDelegate: NSObject, UIApplicationDelegate {\nfunc application(_ a: U, "
            + "didReceiveRemoteNotification push: [AnyHashable: Any], fetchCompletionHandler done: "
            + "@escaping (UIBackgroundFetchResult) -> Void) {\n\(body)\ndone(\(answer))\n}\n"
    }

    /// The faults of two files.
    private static func faults(_ first: String, _ second: String) throws -> Set<Fault> {
        let folder = try TestFolder()
        var list = SourceList()
        for (name, text) in ["A.swift": first, "B.swift": second] {
            try folder.write(text, to: name)
        }
        list.add([folder.path + "/A.swift", folder.path + "/B.swift"])
        let facts = FileLibrary().facts(of: list)
        return Set(
            (facts?.observations ?? []).compactMap { seen in
                if case .fault(let fault) = seen.subject { fault } else { nil }
            })
    }

    /// Functions whose work goes on.
    private static let begin = [
        "func load() {\nTask { await api.load() }\n}",
        "func load() {\nURLSession.shared.dataTask(with: url) { d, _, _ in self.store(d) }.resume()"
            + "\n}",
        "func load() {\nguard isOn else { return }\nTask {\nlet a = try await api.load()\n"
            + "store.save(a)\n}\n}",
        "func load() {\nif let url = URL(string: \"https://a.example\") {\n"
            + "let task = URLSession.shared.dataTask(with: url) { d, _, _ in self.store(d) }\n"
            + "task.resume()\n}\n}",
        "func load() {\nDispatchQueue.global().async { self.uploadAll() }\n}",
        "func load() {\nnext()\n}\nfunc next() {\nTask { await api.load() }\n}",
    ]

    /// Functions that end with their work, tell of it, or may have time of their own.
    private static let finish = [
        "func load() {\nclean()\n}",
        "func load() async {\nawait api.load()\n}",
        "func load() {\nTask { await api.load() }\nsemaphore.wait()\n}",
        "func load(isForced: Bool = false) {\nif isForced { Task { await api.load() } }\n}",
        "func load(completion: (() -> Void)? = nil) {\nTask { await api.load() }\n}",
        "func load() {\nlet id = app.beginBackgroundTask { }\nTask { await api.load() }\n}",
        "func load() {\nTask { @MainActor in await self.show() }\n}",
        "func load() {\nload()\n}",
        "func load() {\nqueue.async { self.loadAll() }\nqueue.sync { }\n}",
        "func load() {\nTask { await api.load(); merged.signal() }\nwaitUntilMerged()\n}",
        "func load() {\nTask { await api.load() }\nautoreleasepool { semaphore.wait() }\n}",
        "func load() {\nTask { await api.load() }\nlet loop = RunLoop.current\n"
            + "loop.run(mode: .default, before: .distantFuture)\n}",
        "func load() {\nTask { await api.load() }\nwhile queue.operationCount > 0 { "
            + "sched_yield() }\n}",
        "func load() {\nlet time = BackgroundTime(\"a\")\nTask { await api.load(); time.end() }\n}",
        "func load() {\nTask { await counter.add(1) }\n}",
        "func load() {\nqueue.async(flags: .barrier) { self.state = .ready }\n}",
        "func load() {\nif app.applicationState == .active { Task { await api.load() } }\n}",
    ]

    private static let calls = ["load()", "self.load()"]

    @Test("a task is ended behind such a call", arguments: begin)
    func tasks(function: String) throws {
        for call in Self.calls {
            #expect(Self.faults(Self.task(call) + function + "\n}").contains(.earlyEnd))
        }
        let other = "class Loader {\nstatic let shared = Loader()\n\(function)\n}\n"
        for call in ["Loader.shared.load()", "scheduleNext()\nLoader.shared.load()\nprint(1)"] {
            #expect(try Self.faults(Self.task(call) + "}", other).contains(.earlyEnd))
        }
    }

    @Test("a task is ended behind a call that does its work", arguments: finish)
    func work(function: String) throws {
        for call in Self.calls {
            #expect(!Self.faults(Self.task(call) + function + "\n}").contains(.earlyEnd))
        }
        let other = "class Loader {\nstatic let shared = Loader()\n\(function)\n}\n"
        let call = Self.task("Loader.shared.load()") + "}"
        #expect(try !Self.faults(call, other).contains(.earlyEnd))
    }

    @Test(
        "what is kept, awaited or told of its end may be waited for",
        arguments: [
            "let work = Loader.shared.load()\nwork.wait()", "Loader.shared.load().wait()",
            "if Loader.shared.load() { return }", "Loader.shared.load { print(1) }",
            "Loader.shared.load()\nLoader.shared.waitForAll()", "pick(Loader.shared.load())",
            "Loader.shared.load()\nsemaphore.wait()", "loader.load()",
        ])
    func awaited(call: String) throws {
        let other = "class Loader {\nstatic let shared = Loader()\n\(Self.begin[0])\n}\n"
        #expect(try !Self.faults(Self.task(call) + "}", other).contains(.earlyEnd))
        // What the end says may wait.
        let task = Self.task("Loader.shared.load()").replacing("true", with: "Loader.shared.isDone")
        #expect(try !Self.faults(task + "}", other).contains(.earlyEnd))
        // Which of two functions is called is not known.
        let two = other + "class Other: Loader {\n\(Self.finish[0])\n}\n"
        #expect(try !Self.faults(Self.task("Loader.shared.load()") + "}", two).contains(.earlyEnd))
    }

    @Test("SwiftUI ends a task when its closure returns", arguments: begin)
    func scenes(function: String) throws {
        let app = { (call: String) in
            "struct A: App {\nvar body: some Scene {\nWindowGroup { Text(\"a\") }\n"
                + ".backgroundTask(.appRefresh(\"a.b\")) {\n\(call)\n}\n}\n"
        }
        #expect(Self.faults(app("scheduleNext()\nload()") + function + "\n}").contains(.earlyEnd))
        #expect(!Self.faults(app("await load()") + function + "\n}").contains(.earlyEnd))
        let other = "class Loader {\nstatic let shared = Loader()\n\(function)\n}\n"
        #expect(
            try Self.faults(app("Loader.shared.load()\nscheduleNext()") + "}", other)
                .contains(.earlyEnd))
        #expect(
            try !Self.faults(app("await Loader.shared.load()") + "}", other).contains(.earlyEnd))
    }

    @Test("a silent push is answered behind such a call", arguments: [".newData", ".noData"])
    func pushes(answer: String) throws {
        let other = "class Loader {\nstatic let shared = Loader()\n\(Self.begin[0])\n}\n"
        #expect(
            try Self.faults(Self.push("Loader.shared.load()", answer) + "}", other)
                .contains(.earlyAnswer))
        #expect(
            Self.faults(Self.push("load()", answer) + Self.begin[1] + "\n}")
                .contains(.earlyAnswer))
        for function in Self.finish {
            let other = "class Loader {\nstatic let shared = Loader()\n\(function)\n}\n"
            #expect(
                try !Self.faults(Self.push("Loader.shared.load()", answer) + "}", other)
                    .contains(.earlyAnswer))
        }
        let answered = Self.push("Loader.shared.load()\nLoader.shared.finish()", answer) + "}"
        #expect(try !Self.faults(answered, other).contains(.earlyAnswer))
        let inUse =
            Self.push(
                "if a.applicationState == .active {\nTask { await load() }\ndone(\(answer))\n"
                    + "return\n}", ".failed") + "}"
        #expect(!Self.faults(inUse).contains(.earlyAnswer))
        #expect(
            try !Self.faults(
                Self.push("await Loader.shared.load()", answer) + "}", other
            ).contains(.earlyAnswer))
        let failed = Self.push("Task { await load() }", ".failed") + "}"
        #expect(!Self.faults(failed).contains(.earlyAnswer))
    }

    @Test("a handler that nothing calls ends no task early")
    func uncalled() throws {
        let other = "class Loader {\nstatic let shared = Loader()\n\(Self.begin[0])\n}\n"
        let source = Self.task("Loader.shared.load()").replacing("init() {", with: "func other() {")
            .replacing("self.handle", with: "self.finish")
        #expect(try !Self.faults(source + "}", other).contains(.earlyEnd))
    }

    @Test("each answer is looked at, and one to an app in the background")
    func answers() throws {
        let other = "class Loader {\nstatic let shared = Loader()\n\(Self.begin[0])\n}\n"
        let body = "guard push[\"k\"] != nil else {\ndone(.noData)\nreturn\n}\nLoader.shared.load()"
        #expect(try Self.faults(Self.push(body, ".newData") + "}", other).contains(.earlyAnswer))
        let state =
            "if a.applicationState == .background {\nTask { await load() }\ndone(.newData)\n"
            + "return\n}"
        #expect(Self.faults(Self.push(state, ".failed") + "}").contains(.earlyAnswer))
    }

    @Test("long chains and bodies take no long time and no deep stack")
    func sizes() {
        let chain = (0..<20_000).map {
            "func f\($0)() {\nTask { await api.load() }\nf\($0 + 1)()\n}"
        }
        #expect(
            Self.faults(
                Self.task("f0()").replacing("class Tasks {", with: "")
                    + chain.joined(separator: "\n")
            )
            .contains(.earlyEnd) == false)
        let calls = String(repeating: "Foo.resume()\n", count: 2_000) + "Foo.start()\n"
        #expect(!Self.faults(Self.push(calls, ".newData") + "}").contains(.earlyAnswer))
        let makings = String(repeating: "A.b()\n", count: 2_000)
        #expect(!Self.faults(Self.task(makings) + "}").contains(.earlyEnd))
        let words = "var router: X? {\n" + String(repeating: "router\n", count: 2_000) + "}\n"
        let handed = Self.push("", ".noData").replacing(
            "done(.noData)", with: "router?.handle(done)")
        #expect(!Self.faults(handed + words + "}").contains(.pushHandedToScene))
        let times = String(
            repeating: "id = app.beginBackgroundTask { app.endBackgroundTask(id) }\n", count: 1_000)
        #expect(
            Self.faults("class A {\nvar id: X\nfunc f() {\n\(times)}\n}")
                .contains(.assertionOverwritten))
    }
}
