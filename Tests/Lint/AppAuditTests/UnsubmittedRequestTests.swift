// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Requests for background tasks that are set up and not submitted.
@Suite("Requests that nothing submits")
struct UnsubmittedRequestTests {
    private static func messages(_ files: [String: String]) throws -> [String] {
        try RequestUseTests.report(files).findings
            .filter { $0.diagnostic.rule == "CF052" }.map(\.diagnostic.message)
    }

    private static let make = "let r = BGAppRefreshTaskRequest(identifier: \"a.b\")\n"
    private static let told = "the request for `a.b` is set up, and nothing submits it"

    @Test(
        "a request in a local variable that nothing submits",
        arguments: [
            make, make + "r.earliestBeginDate = date", "do {\n\(make)} catch { log(error) }",
            make + "if isOn { print(r) }", make + "print(\"\\(r.requiresExternalPower)\")",
            make + "logger.info(\"planned \\(r.earliestBeginDate?.description ?? \"\")\")",
            make + "print(\"planned\", r)", make + "print(r)",
            make + "print(\"\\(r) is planned, \\(r.identifier) too\")",
            "let r: BGTaskRequest = BGProcessingTaskRequest(identifier: \"a.b\")",
            "let r = BGAppRefreshTaskRequest.init(identifier: \"a.b\")",
            make + "// submit(r)", "if isOn {\n\(make)}",
        ])
    func unsubmitted(body: String) throws {
        let source = "final class Jobs {\nfunc plan() {\n\(body)\n}\ninit() { plan() }\n}"
        #expect(try Self.messages(["A.swift": source]) == [Self.told])
        // What registers it is not told of besides.
        let register =
            "func f() { BGTaskScheduler.shared.register(forTaskWithIdentifier: \"a.b\", "
            + "using: nil) { t in t.setTaskCompleted(success: true) } }\ninit() { f() }"
        let both = ["A.swift": source, "B.swift": "final class R {\n\(register)\n}"]
        #expect(try Self.messages(both) == [Self.told])
    }

    @Test(
        "a request that something may submit",
        arguments: [
            make + "try? BGTaskScheduler.shared.submit(r)", make + "return plan(r)",
            make + "#if DEBUG\nprint(r)\n#else\ntry? scheduler.submit(r)\n#endif",
            make + "defer { try? BGTaskScheduler.shared.submit(r) }",
            make + "func go() { try? s.submit(r) }\ngo()", make + "queue.async { s.add(r) }",
            make + "r.submit()", make + "self.request = r", make + "log(r)",
            make + "print(submitted(r))", make + "let all = [r]", make + "print(\"\\(go(r))\")",
            make + "_ = r.identifier", make + "let plan = r", make + "r.plan.run()",
            "_ = BGAppRefreshTaskRequest(identifier: \"a.b\")",
            "switch kind {\ncase 1:\n\(make)try? s.submit(r)\ndefault: break\n}",
            "let r: BGTaskRequest\nr = BGAppRefreshTaskRequest(identifier: \"a.b\")\ngo(r)",
            "try? s.submit(BGAppRefreshTaskRequest(identifier: \"a.b\"))",
            make + "r.earliestBeginDate = date\nif let d = r.earliestBeginDate { show(d) }",
            make + "show(\"\\(r.requiresExternalPower)\")",
            make + "r.scheduler = .shared", "if isDry {\n\(make)print(r)\nreturn\n}",
            "let r = BGAppRefreshTaskRequest(identifier: \"a.b\", after: 900)\nprint(r)",
        ])
    func submitted(body: String) throws {
        let source = "final class Jobs {\nfunc plan() {\n\(body)\n}\ninit() { plan() }\n}"
        #expect(try !Self.messages(["A.swift": source]).contains(Self.told), "\(body)")
    }

    @Test("a request that no code makes, or that a test makes")
    func elsewhere() throws {
        let uncalled = "final class Jobs {\nprivate func plan() {\n\(Self.make)}\n}"
        #expect(try Self.messages(["A.swift": uncalled]).isEmpty)
        let test = "import XCTest\nclass T: XCTestCase {\nfunc testPlan() {\n\(Self.make)}\n}"
        #expect(try Self.messages(["A.swift": test]).isEmpty)
    }

    @Test("a request in Objective-C that only a log names")
    func objectiveC() throws {
        let make =
            "BGProcessingTaskRequest *r = [[BGProcessingTaskRequest alloc] "
            + "initWithIdentifier:@\"a.b\"];\nr.requiresExternalPower = YES;\n"
        func isTold(_ use: String) throws -> Bool {
            try Self.messages(["A.m": "void f(void) {\n\(make)\(use)\n}"]).contains(Self.told)
        }
        #expect(try isTold(""))
        #expect(try isTold("NSLog(@\"%@\", r);"))
        #expect(try !isTold("NSLog(@\"%@\", run(r));"))
        #expect(try isTold("[r setEarliestBeginDate:date];"))
        #expect(try !isTold("[r setScheduler:scheduler];"))
        #expect(try !isTold("SUBMIT(r);"))
        #expect(try !isTold("[[BGTaskScheduler sharedScheduler] submitTaskRequest:r error:&e];"))
    }
}
