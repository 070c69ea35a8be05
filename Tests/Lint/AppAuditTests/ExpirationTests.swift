// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Expiration handlers that end their task and leave its work running.
@Suite("Expiration handlers")
struct ExpirationTests: SourceFaultSuite {
    private static func faults(handler: String, work: String) -> Set<Fault> {
        faults(
            "func handle(task: BGProcessingTask) {\n"
                + "task.expirationHandler = { HANDLER }\nWORK\n}"
                .replacing("HANDLER", with: handler).replacing("WORK", with: work))
    }

    private static let end = "task.setTaskCompleted(success: true)"

    @Test("work in a task goes on, and that in another closure may")
    func leftRunning() {
        for work in [
            "Task { await sync()\n\(Self.end) }",
            "Task {\ndo { try await sync()\n\(Self.end) } catch { \(Self.end) }\n}",
        ] {
            #expect(
                Self.faults(handler: Self.end, work: work).contains(.taskLeftRunning), "\(work)")
            for handler in ["work.cancel()\n\(Self.end)", "self.isOver = true\n\(Self.end)"] {
                #expect(Self.faults(handler: handler, work: work) == [], "\(handler)")
            }
        }
        let atOnce = "context.performAndWait { save()\n\(Self.end) }"
        #expect(Self.faults(handler: Self.end, work: atOnce) == [])
        let later = "context.perform { save()\n\(Self.end) }"
        #expect(Self.faults(handler: Self.end, work: later) == [.taskLeftRunning])
    }

    @Test("what it measures for a log stops nothing")
    func measured() {
        let work = "Task { await sync()\n\(Self.end) }"
        let spent = "let spent = Date().timeIntervalSince(start)\nprint(spent)\n"
        #expect(Self.faults(handler: spent + Self.end, work: work) == [.taskLeftRunning])
        #expect(Self.faults(handler: spent, work: work).contains(.idleExpiration))
        for stop in ["let work = self.work\nwork?.cancel()", "let stopped = worker.stop()"] {
            #expect(Self.faults(handler: "\(stop)\n\(Self.end)", work: work) == [], "\(stop)")
        }
    }

    @Test("a second handler may cancel it")
    func replaced() {
        let work = "let work = Task { await sync()\n\(Self.end) }\n"
        let second = "task.expirationHandler = { work.cancel()\n\(Self.end) }"
        #expect(
            Self.faults(handler: Self.end, work: work + second)
                .isDisjoint(with: [.taskLeftRunning]))
    }
}
