// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Handlers of background tasks that end the task before their work.
@Suite("Early ends of tasks")
struct EarlyEndTests: SourceFaultSuite {
    private static let end = "task.setTaskCompleted(success: true)"

    private static func isEarly(_ body: String) -> Bool {
        let rest =
            "func sync() async { await api.load() }\n"
            + "func scheduleNext() { try? BGTaskScheduler.shared.submit(request) }\n"
        let handler = faults(
            "class A {\nfunc handle(task: BGProcessingTask) {\n\(body)\n}\n\(rest)}")
        let closure = faults(
            "class A {\nfunc setUp() {\nBGTaskScheduler.shared.register(forTaskWithIdentifier: "
                + "\"a.b\", using: nil) { task in\n\(body)\n}\n}\n\(rest)}")
        #expect(handler.contains(.earlyEnd) == closure.contains(.earlyEnd), "\(body)")
        return handler.contains(.earlyEnd)
    }

    /// Work that goes on.
    private static let works = [
        "Task { await self.sync() }", "let work = Task { try await api.load() }",
        "Task.detached { await self.sync() }",
        "Task(priority: .utility) {\nlet a = try await api.load()\nstore.save(a)\n}",
        "queue.addOperation(operation)", "queue.addOperation { self.clean() }",
        "queue.addOperations([a, b], waitUntilFinished: false)",
        "DispatchQueue.global(qos: .utility).async { self.clean() }",
        "worker.async {\nself.clean()\n}",
        "URLSession.shared.dataTask(with: url) { d, _, _ in self.store(d) }.resume()",
        "let request = URLSession.shared.dataTask(with: url) { d, _, _ in self.store(d) }\n"
            + "request.resume()",
        "let request = client.load { result in self.store(result) }\n"
            + "task.expirationHandler = { request.cancel() }",
    ]

    @Test("the task is ended behind the start of its work", arguments: works)
    func early(work: String) {
        #expect(Self.isEarly("\(work)\n\(Self.end)"))
        #expect(Self.isEarly("scheduleNext()\n\(work)\nprint(\"done\")\n\(Self.end)"))
        #expect(Self.isEarly("guard isOn else {\n\(Self.end)\nreturn\n}\n\(work)\n\(Self.end)"))
        #expect(Self.isEarly("defer { \(Self.end) }\n\(work)"))
        // The work is begun only behind an end on another path.
        #expect(!Self.isEarly("guard isOn else {\n\(Self.end)\nreturn\n}\n\(work)"))
        #expect(!Self.isEarly("if isOn {\n\(work)\n} else {\n\(Self.end)\n}"))
        #expect(!Self.isEarly("\(Self.end)\n\(work)"))
        // Something else may end it.
        #expect(!Self.isEarly("\(work)\nfinish(task)"))
        #expect(!Self.isEarly("\(work)\nsemaphore.wait()\n\(Self.end)"))
    }

    @Test(
        "the task is ended where its work ends",
        arguments: [
            "Task {\nawait self.sync()\n\(end)\n}",
            "Task {\ndefer { \(end) }\nawait self.sync()\n}",
            "let work = Task { await self.sync() }\ntask.expirationHandler = { work.cancel() }\n"
                + "Task {\nawait work.value\n\(end)\n}",
            "queue.addOperation(operation)\noperation.completionBlock = { \(end) }",
            "queue.addOperations([a], waitUntilFinished: true)\n\(end)",
            "queue.addOperation(a)\nqueue.waitUntilAllOperationsAreFinished()\n\(end)",
            "queue.addOperation(a)\nqueue.addBarrierBlock { \(end) }",
            "worker.async(group: group) { self.clean() }\ngroup.notify(queue: .main) { \(end) }",
            "worker.async { self.clean() }\ngroup.wait()\n\(end)",
            "worker.sync { self.clean() }\n\(end)",
            "clean()\nDispatchQueue.main.async { self.table.reloadData() }\n\(end)",
            "clean()\nTask { @MainActor in await self.show() }\n\(end)",
            "clean()\nTask { await MainActor.run { self.show() } }\n\(end)",
            "Task { await self.planNext() }\nfunc f() { }\nfinish(task)",
            "Task {\nlet all = await BGTaskScheduler.shared.pendingTaskRequests()\n"
                + "if all.isEmpty { try? BGTaskScheduler.shared.submit(r) }\n}\nclean()\n\(end)",
            "let sync = Sync()\ntask.expirationHandler = { sync.cancel() }\nsync.run()\n\(end)",
            "let request = Request(url) { self.store($0) }\n"
                + "task.expirationHandler = { request.cancel() }\nrequest.run()\n\(end)",
            "let items = rows.map { $0.id }\ntask.expirationHandler = { self.cancel() }\n\(end)",
            "URLSession.shared.dataTask(with: url) { d, _, _ in\nself.store(d)\n\(end)\n}.resume()",
            "session.downloadTask(with: url).resume()\n\(end)",
            "worker.async { print(\"begun\") }\n\(end)",
            "client.load { result in\n\(end)\n}\ntask.expirationHandler = { \(end) }",
            "current = task\nqueue.addOperation(a)", "clean()\n\(end)",
            // The main queue only shows.
            "clean()\nOperationQueue.main.addOperation { self.show() }\n\(end)",
            "clean()\nuiQueue.async { self.show() }\n\(end)",
            // Something else may wait for it.
            "worker.async { self.clean() }\nworker.sync { }\n\(end)",
            "queue.addOperation(a)\nqueue.drain()\n\(end)",
            "worker.async { self.fill(box) }\nlet all = box.get()\n\(end)",
            "worker.async { self.clean() }\nawaitAll()\n\(end)",
            "worker.async { self.fill(box) }\ntask.setTaskCompleted(success: box.get())",
            "let work = Task { await self.sync() }\n"
                + "task.setTaskCompleted(success: await done(work))",
            // Not the work, or only the next request.
            "let t = Task { try await Task.sleep(for: .seconds(9)); stop() }\nclean()\n"
                + "t.cancel()\n\(end)",
            "let job = jobs.first { $0.isOpen }\ntask.expirationHandler = { job?.cancel() }\n"
                + "job?.run()\n\(end)",
            "clean()\nDispatchQueue.global().async { Planner.shared.planNext() }\n\(end)",
            "clean()\nTask { await Jobs.shared.scheduleNext() }\n\(end)",
            "URLSession.shared.dataTask(with: ping) { _, _, _ in }.resume()\n\(end)",
            "clean()\ntimer = feed.publisher.sink { self.tick($0) }\n"
                + "task.expirationHandler = { self.timer?.cancel() }\n\(end)",
            "let id = UIApplication.shared.beginBackgroundTask { }\n"
                + "worker.async { self.clean(); UIApplication.shared.endBackgroundTask(id) }\n"
                + "\(end)",
        ])
    func inTime(body: String) { #expect(!Self.isEarly(body)) }

    @Test("an expiration handler ends no task early")
    func expiration() {
        #expect(
            !Self.isEarly(
                "queue.addOperation(a)\na.completionBlock = { \(Self.end) }\n"
                    + "task.expirationHandler = {\nqueue.cancelAllOperations()\n\(Self.end)\n}"))
    }

    @Test("ends in Objective-C")
    func objectiveC() {
        func isEarly(_ body: String) -> Bool {
            Self.faults(
                "@implementation A\n- (void)handleRefresh:(BGAppRefreshTask *)task "
                    + "{\n\(body)\n}\n@end",
                "a.m"
            )
            .contains(.earlyEnd)
        }
        let end = "[task setTaskCompletedWithSuccess:YES];"
        for work in [
            "dispatch_async(dispatch_get_global_queue(0, 0), ^{ [self clean]; });",
            "dispatch_async(self.queue, ^{\n[self.store compact];\n});",
            "[self.queue addOperation:operation];",
            "[self.queue addOperationWithBlock:^{ [self clean]; }];",
            "[[[NSURLSession sharedSession] dataTaskWithURL:url completionHandler:^(NSData *d, "
                + "NSURLResponse *r, NSError *e) { [self store:d]; }] resume];",
            "NSURLSessionDataTask *load = [self.loader loadWithCompletion:^(NSData *d) { [self "
                + "store:d]; }];\ntask.expirationHandler = ^{ [load cancel]; };",
        ] {
            #expect(isEarly("\(work)\n\(end)"))
            #expect(!isEarly("if (!self.isOn) {\n\(end)\nreturn;\n}\n\(work)"))
            #expect(!isEarly("\(work)\n[self finish:task];"))
        }
        for body in [
            "dispatch_async(self.queue, ^{ [self clean]; \(end) });",
            "[self clean];\ndispatch_async(dispatch_get_main_queue(), ^{ [self show]; });\n\(end)",
            "[self.queue addOperation:a];\n[self.queue waitUntilAllOperationsAreFinished];\n\(end)",
            "[self.queue addOperations:@[a] waitUntilFinished:YES];\n\(end)",
            "dispatch_sync(self.queue, ^{ [self clean]; });\n\(end)",
            "dispatch_async(self.queue, ^{ [self clean]; dispatch_semaphore_signal(s); });\n"
                + "dispatch_semaphore_wait(s, DISPATCH_TIME_FOREVER);\n\(end)",
            "[[NSOperationQueue mainQueue] addOperationWithBlock:^{ [self show]; }];\n\(end)",
            "dispatch_async(self.queue, ^{ [self clean]; });\n"
                + "dispatch_sync(self.queue, ^{ });\n\(end)",
            "dispatch_async(self.queue, ^{ [self clean]; });\n[self drain];\n\(end)",
            "[a setCompletionBlock:^{ \(end) }];\n[self.queue addOperation:a];",
        ] {
            #expect(!isEarly(body))
        }
    }

    /// Whether a function that asks for time, and then has this body, gives it back early.
    private static func isGivenBackEarly(
        _ body: String, _ end: String, _ other: String = ""
    ) throws -> Bool {
        let source = """
            class A {
            private var time = UIBackgroundTaskIdentifier.invalid
            func save() {
            time = UIApplication.shared.beginBackgroundTask(withName: "a") { self.endTime() }
            \(body.replacing("END", with: end))
            }
            private func endTime() {
            UIApplication.shared.endBackgroundTask(time)
            time = .invalid
            }
            }
            """
        return try TestFolder.messages(
            of: "CF045", ["A.swift": source, "B.swift": "func f() { A().save() }\n" + other]
        )
        .contains { $0.contains("is given back while") }
    }

    @Test(
        "time in the background is given back behind the start of its work, or at its end",
        arguments: ["endTime()", "UIApplication.shared.endBackgroundTask(time)"])
    func earlyEndsOfTime(end: String) throws {
        for work in Self.works where !work.contains("task.") {
            #expect(try Self.isGivenBackEarly("\(work)\nEND", end), "\(work)")
            #expect(try !Self.isGivenBackEarly("\(work)\nsemaphore.wait()\nEND", end), "\(work)")
            #expect(try !Self.isGivenBackEarly("if isOn {\n\(work)\n} else {\nEND\n}", end))
        }
        let right = [
            "DispatchQueue.global().async {\nself.clean()\nEND\n}", "clean()\nEND",
            "Task {\nawait self.sync()\nEND\n}", "queue.sync { self.clean() }\nEND",
            "DispatchQueue.main.async { self.show() }\nclean()\nEND",
            "let group = DispatchGroup()\nqueue.async(group: group) { self.clean() }\n"
                + "group.notify(queue: .main) { END }",
            "guard isOn else {\nEND\nreturn\n}\nTask {\nawait self.sync()\nEND\n}",
            "store.save { END }",
            "queue.async { self.clean() }\nqueue.async { END }",
            "queue.async { self.clean() }\nUIApplication.shared.endBackgroundTask(old)",
        ]
        // What another file does may have time of its own.
        let own = "func load() { UIApplication.shared.beginBackgroundTask { } }"
        #expect(try !Self.isGivenBackEarly("queue.async { load() }\nEND", end, own))
        for body in right { #expect(try !Self.isGivenBackEarly(body, end), "\(body)") }
    }

    @Test(
        "Objective-C names the variable of the property",
        arguments: ["_time", "self.time", "weakSelf.time"])
    func earlyEndInObjectiveC(name: String) throws {
        func isTold(_ name: String) throws -> Bool {
            let source =
                "@interface Loader ()\n@property UIBackgroundTaskIdentifier time;\n@end\n"
                + "@implementation Loader\n- (void)load {\n"
                + "UIApplication *app = [UIApplication sharedApplication];\n"
                + "self.time = [app beginBackgroundTaskWithExpirationHandler:^{ "
                + "[app endBackgroundTask:self.time]; self.time = UIBackgroundTaskInvalid; }];\n"
                + "[[NSURLSession.sharedSession dataTaskWithURL:self.url completionHandler:"
                + "^(NSData *d, NSURLResponse *r, NSError *e) { [self keep:d]; }] resume];\n"
                + "[app endBackgroundTask:\(name)];\nself.time = UIBackgroundTaskInvalid;\n}\n@end"
            return try TestFolder.messages(of: "CF045", ["Loader.m": source])
                .contains { $0.contains("is given back while") }
        }
        #expect(try isTold(name))
        #expect(try !isTold("other"))
    }

    @Test("a closure of the function gives the time back")
    func earlyEndByClosure() throws {
        func isTold(_ call: String, _ inside: String) throws -> Bool {
            let source =
                "@implementation Queue\n- (void)send:(NSURL *)file {\n"
                + "UIApplication *app = UIApplication.sharedApplication;\n"
                + "__block UIBackgroundTaskIdentifier time = UIBackgroundTaskInvalid;\n"
                + "void (^finish)(void) = ^{ [app endBackgroundTask:time]; "
                + "time = UIBackgroundTaskInvalid; };\n"
                + "time = [app beginBackgroundTaskWithExpirationHandler:^{ finish(); }];\n"
                + "[[self.session dataTaskWithURL:file completionHandler:"
                + "^(NSData *d, NSURLResponse *r, NSError *e) { [self keep:d]; \(inside) }] "
                + "resume];\n\(call)\n}\n@end"
            return try TestFolder.messages(of: "CF045", ["Queue.m": source])
                .contains { $0.contains("is given back while") }
        }
        #expect(try isTold("finish();", ""))
        #expect(try !isTold("", "finish();"))
        #expect(try !isTold("if (isEmpty) { finish(); }", "finish();"))
    }
}
