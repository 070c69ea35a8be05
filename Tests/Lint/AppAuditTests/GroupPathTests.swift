// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Handlers that wait for groups of work and for the ends of streams.
@Suite("Paths through groups and streams")
struct GroupPathTests: SourceFaultSuite {
    private static let end = HandlerPathTests.end

    private static func task(_ body: String) -> String { HandlerPathTests.task(body) }

    // MARK: Groups

    private static func group(_ body: String, _ more: String = "") -> String {
        task(
            "task.expirationHandler = { stop() }\nlet group = DispatchGroup()\n\(more)\n"
                + "for i in items {\ngroup.enter()\nload(i) { data, error in\n\(body)\n}\n}\n"
                + "group.notify(queue: .main) { END }"
        ).replacing("END", with: end)
    }

    @Test(
        "a path does not leave the group that is waited for",
        arguments: [
            "if let error {\nprint(error)\nreturn\n}\ngroup.leave()",
            "guard let data else { return }\nkeep(data)\ngroup.leave()",
            "queue.async {\nguard let data else { return }\ngroup.leave()\n}",
        ])
    func groupsNotLeft(body: String) {
        #expect(Self.faults(Self.group(body)).contains(.taskPathWithoutEnd), "\(body)")
    }

    @Test(
        "each path leaves the group",
        arguments: [
            "defer { group.leave() }\nguard let data else { return }\nkeep(data)",
            "if let error { print(error) }\ngroup.leave()",
            "guard let data else {\ngroup.leave()\nreturn\n}\nkeep(data)\ngroup.leave()",
            "queue.async {\nif let data { keep(data) }\ngroup.leave()\n}",
            "if left { return }\nleft = true\ngroup.leave()",
            "if wants { group.leave() }", "if case .progress = data { return }\ngroup.leave()",
        ])
    func groupsLeft(body: String) {
        #expect(!Self.faults(Self.group(body)).contains(.taskPathWithoutEnd), "\(body)")
    }

    @Test("a path that ends the task itself need not leave the group")
    func endsItself() {
        let body = "guard let data else {\nEND\nreturn\n}\ngroup.leave()"
        #expect(!Self.faults(Self.group(body)).contains(.taskPathWithoutEnd))
        let open = "if data.isOld {\nEND\nreturn\n}\nguard let error else { return }\ngroup.leave()"
        #expect(Self.faults(Self.group(open)).contains(.taskPathWithoutEnd))
    }

    @Test("a closure without names, or one with a captured object")
    func otherHeads() {
        for (head, body, isLeft) in [
            ("", "if left { return }\nleft = true\ngroup.leave()", true),
            ("", "if $0 == nil { return }\ngroup.leave()", false),
            ("[weak self] data in", "if self?.isOver == true { return }\ngroup.leave()", true),
            ("[weak self] data in", "guard let data else { return }\ngroup.leave()", false),
        ] {
            let source = Self.group(body).replacing("data, error in", with: head)
            #expect(Self.faults(source).contains(.taskPathWithoutEnd) != isLeft, "\(head) \(body)")
        }
    }

    @Test("a function of its own that tries again")
    func attempts() {
        let attempt =
            "func attempt() {\nload { data in\nguard let data else {\nattempt()\nreturn\n}\n"
            + "keep(data)\ngroup.leave()\n}\n}\ngroup.enter()\nattempt()"
        #expect(!Self.faults(Self.group("group.leave()", attempt)).contains(.taskPathWithoutEnd))
    }

    @Test("a group that other code may leave")
    func otherGroups() {
        let body = "guard let data else { return }\ngroup.leave()"
        for more in ["watch(group)", "self.last = group", "let other = group"] {
            #expect(!Self.faults(Self.group(body, more)).contains(.taskPathWithoutEnd), "\(more)")
        }
    }

    // MARK: Streams

    @Test("a stream ends with one of its events")
    func streams() {
        func isOpen(_ cases: String) -> Bool {
            let call = "load().subscribe { event in\nswitch event {\n\(cases)\n}\n}"
                .replacing("END", with: Self.end)
            return Self.faults(Self.task("task.expirationHandler = { stop() }\n" + call))
                .contains(.taskPathWithoutEnd)
        }
        #expect(
            !isOpen("case .next(let v): keep(v)\ncase .failed(let e):\nEND\ncase .completed: END"))
        #expect(!isOpen("case .value(let v): keep(v)\ncase .finished: END"))
        #expect(
            isOpen(
                "case .next(let v): keep(v)\ncase .failed(let e): print(e)\n"
                    + "case .completed: END"))
        #expect(isOpen("case .next(let v): keep(v)\ncase .failed: END"))
        let step = "switch step {\ncase .next: save()\ncase .complete: \(Self.end)\n}"
        #expect(Self.faults(Self.task(step)).contains(.taskPathWithoutEnd), "no stream")
    }
}
