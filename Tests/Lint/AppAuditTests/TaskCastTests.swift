// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Casts of background tasks to another kind than that of their requests.
@Suite("Casts of background tasks")
struct TaskCastTests {
    private static let request =
        "func next() { try? BGTaskScheduler.shared.submit("
        + "BGProcessingTaskRequest(identifier: \"a.b\")) }\n"
    private static let register =
        "BGTaskScheduler.shared.register(forTaskWithIdentifier: \"a.b\", using: nil"

    /// An app delegate that registers a task like this, with these functions.
    private static func delegate(_ handler: String, _ functions: String = "") -> String {
        """
        class AppDelegate: UIResponder, UIApplicationDelegate {
        func application(_ application: UIApplication,
            didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?) -> Bool {
            \(register)\(handler)
            next()
            return true
        }
        \(functions)
        }
        """
    }

    private static func count(_ source: String, _ request: String = request) throws -> Int {
        try RequestUseTests.rules(["A.swift": source, "B.swift": request])
            .filter { $0 == "CF056" }.count
    }

    @Test(
        "a cast that fails for each task",
        arguments: [
            delegate(") { task in self.run(task as! BGAppRefreshTask) }"),
            delegate(") { self.run($0 as! BGAppRefreshTask) }"),
            delegate(") { [unowned self] in run($0 as! BGAppRefreshTask) }"),
            delegate(
                ") { [weak self] task in\nguard let self else { return }\n"
                    + "run(task as! BGAppRefreshTask)\n}"),
            delegate(", launchHandler: { task in run(task as! BGAppRefreshTask) })"),
            delegate(
                ") { task in\nguard let t = task as? BGAppRefreshTask else { return }\nrun(t)\n}"),
            delegate(
                ") { task in\nguard let t = task as? BGAppRefreshTask else {\nprint(1)\n"
                    + "task.setTaskCompleted(success: false)\nreturn\n}\nrun(t)\n}"),
            delegate(") { task in\nguard task is BGAppRefreshTask else { return }\nrun(task)\n}"),
            delegate(
                ") { task in self.handle(task) }",
                "func handle(_ task: BGTask) { run(task as! BGAppRefreshTask) }"),
            delegate(
                ") { task in Task { await self.handle(task: task) } }",
                "func handle(task: BGTask) async {\n"
                    + "guard let task = task as? BGAppRefreshTask else { return }\nrun(task)\n}"),
            delegate(
                ", launchHandler: handle)",
                "func handle(_ task: BGTask) { run(task as! BGAppRefreshTask) }"),
            delegate(
                ", launchHandler: handle(task:))",
                "func handle(task: BGTask) { run(task as! BGAppRefreshTask) }"),
        ])
    func failing(source: String) throws {
        #expect(try Self.count(source) == 1, "\(source)")
    }

    @Test(
        "a cast that may succeed, or that not each task reaches",
        arguments: [
            delegate(") { task in self.run(task as! BGProcessingTask) }"),
            delegate(") { task in self.run(task) }"),
            delegate(
                ") { task in\nguard let t = task as? BGAppRefreshTask else { f(task)\nreturn }\n"
                    + "run(t)\n}"),
            delegate(
                ") { task in\nguard task is BGAppRefreshTask else { return finish(task) }\n"
                    + "run(task)\n}"),
            delegate(
                ") { task in\nif let t = task as? BGAppRefreshTask { run(t) } else { f(task) }\n}"),
            delegate(
                ") { task in\nswitch task {\ncase let t as BGAppRefreshTask: run(t)\n"
                    + "default: go(task)\n}\n}"),
            delegate(
                ") { task in\nif let t = task as? BGProcessingTask { go(t) } "
                    + "else { run(task as! BGAppRefreshTask) }\n}"),
            delegate(
                ") { task in\nif isOld { run(task as! BGAppRefreshTask) } else { go(task) }\n}"),
            delegate(
                ") { task in\nif go(task) { return }\nrun(task as! BGAppRefreshTask)\n}"),
            delegate(") { task in self.run(other as! BGAppRefreshTask) }"),
            delegate(") { task in self.run(task.last as! BGAppRefreshTask) }"),
            // The function handles other tasks too.
            delegate(
                ") { task in self.handle(task) }\nother { self.handle($0) }",
                "func handle(_ task: BGTask) { run(task as! BGAppRefreshTask) }"),
            delegate(
                ") { task in self.handle(task) }",
                "func handle(_ task: BGTask) { run(task as! BGAppRefreshTask) }\n"
                    + "func handle(_ task: BGProcessingTask) { go(task) }"),
        ])
    func right(source: String) throws {
        #expect(try Self.count(source) == 0, "\(source)")
    }

    @Test("a constant of another file, a loop over identifiers, and a request of each kind")
    func identifiers() throws {
        let source = Self.delegate(") { task in self.run(task as! BGAppRefreshTask) }")
        let named = source.replacing("\"a.b\"", with: "Tasks.refresh")
        let constants = Self.request + "enum Tasks {\nstatic let refresh = \"a.b\"\n}"
        #expect(try Self.count(named, constants) == 1)
        let loop = source.replacing(
            Self.register,
            with: "for name in names {\n" + Self.register.replacing("\"a.b\"", with: "name"))
        #expect(try Self.count(loop.replacing("return true", with: "}\nreturn true")) == 0)
        let both = Self.request + Self.request.replacing("Processing", with: "AppRefresh")
        #expect(try Self.count(source, both) == 0)
        // Nothing calls what asks for it.
        let dead = Self.request.replacing("next", with: "old") + "func next() { }"
        #expect(try Self.count(source, dead) == 0)
        let other = Self.request.replacing("a.b", with: "a.c")
        #expect(try Self.count(source, other) == 0)
    }

    @Test("Objective-C: a check of the kind that each task fails")
    func objectiveC() throws {
        let source = """
            @implementation AppDelegate
            - (BOOL)application:(UIApplication *)application
                didFinishLaunchingWithOptions:(NSDictionary *)options {
                [BGTaskScheduler.sharedScheduler registerForTaskWithIdentifier:@"a.b"
                    usingQueue:nil launchHandler:^(__kindof BGTask *task) {
                    if (![task isKindOfClass:[BGProcessingTask class]]) {
                        [task setTaskCompletedWithSuccess:NO];
                        return;
                    }
                    [self run:(BGAppRefreshTask *)task];
                }];
                [self next];
                return YES;
            }
            - (void)next {
                BGAppRefreshTaskRequest *request =
                    [[BGAppRefreshTaskRequest alloc] initWithIdentifier:@"a.b"];
                [BGTaskScheduler.sharedScheduler submitTaskRequest:request error:&error];
            }
            @end
            """
        let wrong = try RequestUseTests.rules(["A.m": source])
        #expect(wrong.contains("CF056"))
        let right = try RequestUseTests.rules([
            "A.m": source.replacing("BGProcessingTask class", with: "BGAppRefreshTask class")
        ])
        #expect(!right.contains("CF056"))
        let positive = try RequestUseTests.rules(["A.m": source.replacing("(![", with: "([")])
        #expect(!positive.contains("CF056"))
    }
}
