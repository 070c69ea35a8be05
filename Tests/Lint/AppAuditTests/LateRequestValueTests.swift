// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Values of requests for tasks that are set after the request was submitted.
@Suite("Values of requests that are set too late")
struct LateRequestValueTests: SourceFaultSuite {
    private static func isLate(_ body: String) -> Bool {
        let make = "let r = BGProcessingTaskRequest(identifier: \"a\")\n"
        return faults("class A {\nfunc f() {\n\(make)\(body)\n}\n}").contains(.lateRequestValue)
    }

    private static let submit = "try? BGTaskScheduler.shared.submit(r)\n"
    private static let caught =
        "do { try BGTaskScheduler.shared.submit(r) } catch { print(error) }\n"
    private static let set = "r.earliestBeginDate = date\n"

    @Test(
        "a value that no later submission takes",
        arguments: [
            submit + set, caught + set, submit + "r.requiresExternalPower = true",
            "do {\ntry BGTaskScheduler.shared.submit(r)\n\(set)} catch { print(error) }",
            set + submit + "if x { r.requiresNetworkConnectivity = true }",
            submit + "print(\"\\(r.identifier)\")\n" + set,
        ])
    func late(body: String) { #expect(Self.isLate(body), "\(body)") }

    @Test("a call that is not closed")
    func unclosed() {
        let make = "let r = BGProcessingTaskRequest(identifier: \"a\""
        #expect(!Self.faults(make).contains(.lateRequestValue))
        #expect(!Self.faults("class A {\nfunc f() {\n\(make)\n}\n}").contains(.lateRequestValue))
    }

    @Test(
        "a value that may be submitted",
        arguments: [
            set + submit, submit + set + submit, submit + set + "if x { \(submit)}",
            "do { \(submit)} catch {\n\(set)\(submit)}", submit + set + "kept = r",
            "kept = r\n" + submit + set, submit + set + "send(r)", submit + set + "return r",
            "if x {\n\(submit)} else {\n\(set)}", "if x {\n\(submit)return\n}\n" + set,
            "for _ in a {\n\(submit)\(set)}", "while x {\n\(submit)\(set)}",
            "defer { \(submit)}\n" + set, "defer {\n\(submit)}\nif x {\n\(set)}",
            "let go = { \(submit)}\n\(set)go()", "queue.async { \(submit)}\n" + set,
            "func go() { \(submit)}\n\(set)go()", "Task { \(submit)}\n" + set,
            "switch x {\ncase a: \(submit)default: \(set)}", "queue.submit(r)\n" + set,
            "#if DEBUG\n\(submit)#endif\n" + set, "guard x else {\n\(submit)return\n}\n" + set,
            submit + "queue.async { \(set)}", submit + "other.earliestBeginDate = date",
            submit + "x = r.earliestBeginDate", submit + "print(r)", "g(r: r)\n" + set + submit,
            submit + set + "all.append(r)", submit + set + "lazy var again = r",
        ])
    func inTime(body: String) { #expect(!Self.isLate(body), "\(body)") }

    @Test("Objective-C")
    func objectiveC() {
        func isLate(_ body: String) -> Bool {
            Self.faults(
                "@implementation A\n- (void)f {\nBGAppRefreshTaskRequest *r = "
                    + "[[BGAppRefreshTaskRequest alloc] initWithIdentifier:@\"a\"];\n\(body)\n}\n"
                    + "@end", "a.m"
            ).contains(.lateRequestValue)
        }
        let submit = "[[BGTaskScheduler sharedScheduler] submitTaskRequest:r error:&error];\n"
        #expect(isLate(submit + "r.earliestBeginDate = date;"))
        #expect(isLate("BOOL ok = " + submit + "[r setEarliestBeginDate:date];"))
        #expect(!isLate("r.earliestBeginDate = date;\n" + submit))
        #expect(!isLate("if (x) " + submit + "r.earliestBeginDate = date;"))
        #expect(!isLate(submit + "r.earliestBeginDate = date;\n[self put:r];"))
        #expect(!isLate("dispatch_async(q, ^{ \(submit) });\nr.earliestBeginDate = date;"))
    }
}
