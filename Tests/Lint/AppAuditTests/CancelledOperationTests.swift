// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Expiration handlers that cancel an operation, which waits for work that goes on.
@Suite("Operations that are cancelled in vain")
struct CancelledOperationTests: SourceFaultSuite {
    private static let wait =
        "let group = DispatchGroup()\ngroup.enter()\nSync.run { group.leave() }\ngroup.wait()"
    private static let signal =
        "let done = DispatchSemaphore(value: 0)\nTask {\nawait Sync.run()\ndone.signal()\n}\n"
        + "done.wait()"

    private static func handler(
        _ operation: String, cancel: String = "queue.cancelAllOperations()", rest: String = ""
    ) -> String {
        "func handle(task: BGProcessingTask) {\nlet queue = OperationQueue()\n"
            + "queue.maxConcurrentOperationCount = 1\nlet op = \(operation)\n"
            + "task.expirationHandler = {\nprint(\"expired\")\n\(cancel)\n}\n"
            + "op.completionBlock = { task.setTaskCompleted(success: !op.isCancelled) }\n"
            + "queue.addOperation(op)\n\(rest)}\n"
    }

    private static func type(_ main: String, _ rest: String = "") -> String {
        handler("SyncOperation()", cancel: "op.cancel()")
            + "class SyncOperation: Operation {\noverride func main() {\n\(main)\n}\n\(rest)}\n"
    }

    @Test(
        "the work goes on",
        arguments: [
            handler("BlockOperation {\n\(wait)\n}"), handler("BlockOperation {\n\(signal)\n}"),
            handler("BlockOperation {\n\(wait)\n}", cancel: "op.cancel()"),
            type(signal), type("guard !isCancelled else { return }\n" + signal),
        ])
    func vain(source: String) { #expect(Self.faults(source).contains(.idleExpiration)) }

    @Test(
        "something may stop the work",
        arguments: [
            handler("BlockOperation {\n\(wait)\n}", cancel: "op.cancel()\nSync.stop()"),
            handler(
                "BlockOperation {\nfor i in items { if op.isCancelled { return } }\n\(wait)\n}"),
            handler(
                "BlockOperation {\n"
                    + wait.replacing("group.wait()", with: "_ = group.wait(timeout: .now() + 5)")
                    + "\n}"),
            handler("BlockOperation { Sync.run() }"), handler("SyncOperation()"),
            handler("BlockOperation {\n\(wait)\n}", rest: "Sync.observe(op)\n"),
            handler("BlockOperation {\n\(wait)\n}", rest: "Sync.queue = queue\n"),
            handler("BlockOperation {\n\(wait)\n}", rest: "queue.addOperation(other)\n"),
            handler("BlockOperation {\n\(signal.replacing("Task {", with: "work = Task {"))\n}"),
            type(signal, "override func cancel() { Sync.stop() }\n"), type("Sync.run()"),
            type(
                signal.replacing("done.sig", with: "if isCancelled { return }\ndone.sig")),
            type(signal).replacing(": Operation", with: ": BaseOperation"),
        ])
    func stopped(source: String) { #expect(!Self.faults(source).contains(.idleExpiration)) }
}
