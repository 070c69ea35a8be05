// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Tasks in a box that a closure may have, and in the parameters of a closure.
@Suite("Tasks in boxes")
struct BoxedTaskTests {
    private static let box = "struct Box<T>: @unchecked Sendable { let value: T }\n"
    private static let make = "let box = Box(value: task)\n"
    private static let end = "box.value.setTaskCompleted(success: true)\n"

    private static func faults(
        _ body: String, _ more: String = box
    ) -> Set<SourceObservation.Fault> {
        BackgroundSourceTests.faults(
            "\(more)class M {\nfunc handle(_ task: BGProcessingTask) {\n\(body)\n}\n}")
    }

    @Test("a path that does not end the task in a box")
    func gaps() {
        let open = [
            "Task {\nawait load()\nif isOn { \(Self.end) }\n}",
            "Task { log(box.value.identifier) }",
            "Task {\nguard isOn else { return }\n\(Self.end)}",
            "task.expirationHandler = { \(Self.end) }",
        ]
        for body in open {
            #expect(Self.faults(Self.make + body).contains(.taskPathWithoutEnd), "\(body)")
        }
        let closed = [
            "Task {\nawait load()\n\(Self.end)}", "run(box)", "Task { run(box.value) }",
            "Task { await box.value.finish() }",
            "Task { if let r = box.value as? BGAppRefreshTask { run(r) } else { \(Self.end) } }",
        ]
        for body in closed {
            #expect(!Self.faults(Self.make + body).contains(.taskPathWithoutEnd), "\(body)")
        }
    }

    @Test("what else holds a task, and may end it")
    func others() {
        let end = "task.expirationHandler = { box.task.setTaskCompleted(success: false) }"
        let make = "let box = Worker(task: task)\n"
        let types = [
            "", "final class Worker { let task: BGTask\ninit(task: BGTask) { run() } }\n",
            "struct Worker { let task: BGTask\nfunc run() { task.setTaskCompleted() } }\n",
        ]
        for type in types {
            #expect(!Self.faults(make + end, type).contains(.taskPathWithoutEnd), "\(type)")
        }
        let further = [
            "struct Worker: Closing { let task: BGTask }\n",
            "struct Worker { let task: BGTask\nvar isDone: Bool { get { true } set { end() } } }\n",
        ]
        for type in further {
            #expect(!Self.faults(make + end, type).contains(.taskPathWithoutEnd), "\(type)")
        }
        let plain = "struct Worker { let task: BGTask }\n"
        #expect(Self.faults(make + end, plain).contains(.taskPathWithoutEnd))
        #expect(!Self.faults("let box = Worker(task: task)\n", plain).contains(.taskPathWithoutEnd))
    }

    @Test("a box of another file that may end its task")
    func otherFiles() throws {
        let handler =
            "final class M {\ninit() { BGTaskScheduler.shared.register("
            + "forTaskWithIdentifier: \"a.b\", using: nil) { task in\n\(Self.make)"
            + "task.expirationHandler = { \(Self.end) }\n} }\n}"
        func isTold(_ box: String) throws -> Bool {
            try RequestUseTests.rules(["A.swift": handler, "B.swift": box]).contains("CF035")
        }
        #expect(try isTold(Self.box))
        #expect(try isTold("let other = Box(value: 1)"))
        let two = handler.replacing(Self.make, with: "let plain = Plain(value: task)\n" + Self.make)
        let worker = "struct Box {\nlet value: BGTask\ninit(value: BGTask) { run(value) }\n}"
        #expect(
            try !RequestUseTests.rules([
                "A.swift": two, "B.swift": "struct Plain { let value: BGTask }\n" + worker,
            ]).contains("CF035"))
        #expect(try !isTold("final class Box { let value: BGTask\ninit(value: BGTask) { run() } }"))
        #expect(try !isTold("\(Self.box)extension Box { init(value: T) { run(value) } }"))
    }

    @Test("a task in a box that has no expiration handler, or is ended twice")
    func further() {
        let work = "let work = Task {\nawait load()\n\(Self.end)}\n"
        #expect(Self.faults(Self.make + work).contains(.taskWithoutExpiration))
        let cancel = "task.expirationHandler = { work.cancel() }"
        #expect(!Self.faults(Self.make + work + cancel).contains(.taskWithoutExpiration))
        let early = "task.setTaskCompleted(success: true)\n"
        #expect(Self.faults(early + Self.make + work).contains(.completedTwice))
    }

    @Test(
        "a closure whose parameter is in brackets",
        arguments: ["(task) in", "task in", "(task: BGTask) in", "[weak self] (task) in"])
    func parameters(head: String) {
        func isTold(_ body: String) -> Bool {
            BackgroundSourceTests.faults(
                "func f() { BGTaskScheduler.shared.register(forTaskWithIdentifier: \"a.b\", "
                    + "using: nil) { \(head)\n\(body)\n} }"
            )
            .contains(.taskPathWithoutEnd)
        }
        #expect(isTold("let task = task as! BGAppRefreshTask"))
        #expect(isTold("load()"))
        #expect(!isTold("run(task)"))
        #expect(!isTold("task.setTaskCompleted(success: true)"))
    }
}
