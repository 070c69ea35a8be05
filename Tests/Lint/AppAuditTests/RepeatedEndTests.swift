// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Tasks that a handler ends at once, and in a closure again.
@Suite("Tasks that are ended again")
struct RepeatedEndTests {
    private static let end = "task.setTaskCompleted(success: true)"

    private static func isTold(_ body: String) -> Bool {
        BackgroundSourceTests.faults(
            "class M {\nfunc handle(_ task: BGProcessingTask) {\n\(body)\n}\n}"
        )
        .contains(.completedTwice)
    }

    @Test(
        "an end in a closure behind an end on each path",
        arguments: [
            "\(end)\noperation.completionBlock = { \(end) }\nqueue.addOperation(operation)",
            "\(end)\nload { ok in task.setTaskCompleted(success: ok) }",
            "\(end)\napi.load().sink(receiveCompletion: { _ in \(end) }) { _ in }",
            "schedule()\n\(end)\nqueue.addOperation { self.run { \(end) } }",
            "\(end)\ntask.expirationHandler = { stop() }\nload { if $0 { \(end) } }",
            "if isOff {\n\(end)\nreturn\n}\n\(end)\nload { \(end) }",
            "\(end)\nload { [weak self] in\nguard let self else { return }\n\(end)\n}",
        ])
    func again(body: String) { #expect(Self.isTold(body), "\(body)") }

    private static let late = "queue.asyncAfter(deadline: .now() + 25) { \(end) }\n"

    @Test(
        "a time-out that ends the task beside the end of the work",
        arguments: [
            "\(late)load { \(end) }", "load { ok in task.setTaskCompleted(success: ok) }\n\(late)",
            "load {\nif $0 { \(end) } else { \(end) }\n}\n\(late)",
            "DispatchQueue.main.async { [weak self] in\nself?.channel?.invoke(a) { r in\n"
                + "if let r { \(end) } else { \(end) }\n}\n}\n\(late)",
            "guard isOn else {\n\(end)\nreturn\n}\nTask { load { \(end) } }\n\(late)",
        ])
    func timeout(body: String) { #expect(Self.isTold(body), "\(body)") }

    @Test(
        "a time-out beside work that may not end the task",
        arguments: [
            late, "\(late)load { }", "load { if $0 { \(end) } }\n\(late)",
            "load {\nguard $0 else { return }\n\(end)\n}\n\(late)",
            "task.expirationHandler = { \(end) }\n\(late)",
            "DispatchQueue.main.async { if ready { load { \(end) } } }\n\(late)",
            "DispatchQueue.main.async {\nguard ready else { return }\nload { \(end) }\n}\n\(late)",
            "if ready { load { \(end) } }\n\(late)",
            "load { \(end) }\nqueue.asyncAfter(deadline: t) { if !isDone { \(end) } }",
            "let item = DispatchWorkItem { \(end) }\nload { item.cancel()\n\(end) }\n"
                + "queue.asyncAfter(deadline: t, execute: item)",
            "DispatchQueue.main.async { isOn && load { \(end) } }\n\(late)",
            "DispatchQueue.main.async { isOn ? load { \(end) } : skip() }\n\(late)",
            "isOn && load { \(end) }\n\(late)",
            "worker.onExpiration { \(end) }\n\(late)", "load(a).onFailure { \(end) }\n\(late)",
            "let later = { load { \(end) } }\n\(late)", "each { load { \(end) } }\n\(late)",
        ])
    func onlyTimeout(body: String) { #expect(!Self.isTold(body), "\(body)") }

    @Test(
        "ends of which only one is reached",
        arguments: [
            "load { \(end) }", "load { \(end) }\n\(end)", "\(end)\nload { }",
            "guard isOn else {\n\(end)\nreturn\n}\nload { \(end) }",
            "if isOff { \(end) } else { load { \(end) } }",
            "\(end)\ntask.expirationHandler = { \(end) }",
            "\(end)\nreturn\nload { \(end) }",
            "#if DEBUG\n\(end)\n#else\nload { \(end) }\n#endif",
            "let finish = { \(end) }\nload(finish)", "\(end)\nlet finish = { \(end) }",
            "func finish() { \(end) }\nload(finish)", "\(end)\nfunc finish() { \(end) }",
            "defer { \(end) }\nload { run() }",
            "switch kind {\ncase 1: \(end)\ndefault: load { \(end) }\n}",
            "\(end)\nload {\nif !isDone { \(end) }\n}",
            "load(first: { \(end) }, second: { \(end) })",
            "isOff ? \(end) : load { \(end) }",
            "\(end)\nwaiting.forEach { task in \(end) }",
            "\(end)\nself.onNext = { (task: BGTask) in \(end) }",
            "\(end)\nload { [weak self] in\n"
                + "guard let self, let task = self.current else { return }\n\(end)\n}",
            "\(end)\nload {\nlet task = self.next()\n\(end)\n}",
            "\(end)\nload {\nguard !self.isDone else { return }\n\(end)\n}",
        ])
    func once(body: String) { #expect(!Self.isTold(body), "\(body)") }

    @Test("an end in Objective-C whose condition has no braces")
    func withoutBraces() {
        let end = "[task setTaskCompletedWithSuccess:YES];"
        func isTold(_ body: String) -> Bool {
            let source =
                "@implementation M\n- (void)handle:(BGTask *)task {\n\(body)\n}\n@end\n"
            return BackgroundSourceTests.faults(source, "M.m").contains(.completedTwice)
        }
        let later = "op.completionBlock = ^{ \(end) };"
        #expect(isTold("\(end)\n\(later)"))
        let wait = "dispatch_after(t, q, ^{ \(end) });"
        #expect(isTold("\(wait)\n[self loadWithCompletion:^{ \(end) }];"))
        #expect(isTold("dispatch_async(q, ^{ [self loadWithCompletion:^{ \(end) }]; });\n\(wait)"))
        #expect(!isTold("\(wait)\n[self loadWithCompletion:^{ if (a) { \(end) } }];"))
        #expect(!isTold("if (fresh) \(end)\nelse { \(later) }"))
        #expect(!isTold("if (fresh) { run(); } else \(end)\nif (!fresh) { \(later) }"))
    }
}
