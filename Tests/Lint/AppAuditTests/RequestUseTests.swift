// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Requests for background tasks that are made, and whether anything can submit them.
@Suite("Uses of requests for background tasks")
struct RequestUseTests {
    /// The report on an app with these files. Its Info.plist has both modes of tasks.
    static func report(
        _ sources: [String: String], permitted: String = "a.b"
    ) throws -> AuditReport {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([
                ("CFBundlePackageType", "<string>APPL</string>"),
                ("LSRequiresIPhoneOS", "<true/>"),
                ("UIBackgroundModes", XML.array("fetch", "processing")),
                ("BGTaskSchedulerPermittedIdentifiers", XML.array(permitted)),
            ]), to: "App/Info.plist")
        for (name, text) in sources { try folder.write(text, to: "App/" + name) }
        return try Audit(paths: [folder.path]).report()
    }

    /// The rules that an app with these files breaks.
    static func rules(_ sources: [String: String], permitted: String = "a.b") throws -> [String] {
        AuditScopeTests.rules(try report(sources, permitted: permitted)).sorted()
    }

    private static let make = "BGProcessingTaskRequest(identifier: \"c.d\")"
    private static let refresh =
        "func next() { try? BGTaskScheduler.shared.submit("
        + "BGAppRefreshTaskRequest(identifier: \"a.b\")) }"

    @Test(
        "a request that nothing submits asks for no task",
        arguments: [
            "class V: UIViewController {\nvar process = \(make)\n}",
            "class V: UIViewController {\nlet process: BGProcessingTaskRequest = \(make)\n}",
            "class V {\nvar process = \(make)\nfunc f() { process.earliestBeginDate = date }\n}",
            "func f() {\nlet process = \(make)\nprocess.earliestBeginDate = date\n}",
            "func f() { _ = \(make) }",
        ])
    func unused(source: String) throws {
        let found = try Self.rules(["A.swift": source, "B.swift": Self.refresh])
        #expect(!found.contains("CF020"), "\(source)")
        #expect(found.contains("CF019"), "\(source)")
    }

    @Test(
        "a request that may be submitted",
        arguments: [
            "func f() {\nlet process = \(make)\ntry? BGTaskScheduler.shared.submit(process)\n}",
            "func f() { try? BGTaskScheduler.shared.submit(\(make)) }",
            "func f() { schedule(\(make)) }", "func f() -> BGTaskRequest { \(make) }",
            "func f() -> BGTaskRequest {\nlet process = \(make)\nreturn process\n}",
            "class V {\nvar process = \(make)\nfunc f() { submit(process) }\n}",
            "class V {\nvar process = \(make)\nfunc f() { submit(self.process) }\n}",
            "class V {\nvar process: BGTaskRequest?\nfunc f() { process = \(make) }\n}",
            "class V {\n@objc var process = \(make)\nfunc f() { g(value(forKey: \"process\")) }\n}",
            "let all = [\(make)]", "func f() { if let process = make(\(make)) { process.go() } }",
        ])
    func used(source: String) throws {
        let found = try Self.rules(["A.swift": source, "B.swift": Self.refresh])
        #expect(found.contains("CF020"), "\(source)")
        #expect(!found.contains("CF019"), "\(source)")
    }

    @Test("another file may submit a request in a property")
    func otherFile() throws {
        let keep = "class V {\nvar process = \(Self.make)\n}"
        for use in ["func g(_ v: V) { submit(v.process) }", "// process"] {
            let found = try Self.rules(["A.swift": keep, "B.swift": Self.refresh, "C.swift": use])
            #expect(found.contains("CF020"), "\(use)")
        }
    }

    @Test("a forced cast in a class that asks for tasks and that nothing uses yet")
    func forcedCasts() throws {
        let register =
            "func setUp() { BGTaskScheduler.shared.register(forTaskWithIdentifier: \"a.b\", "
            + "using: nil) { task in run(task as! BGAppRefreshTask) } }\n"
        func isTold(_ source: String) throws -> Bool {
            try Self.rules(["A.swift": source]).contains("CF043")
        }
        #expect(try isTold("final class Tasks {\n\(register)\(Self.refresh)\n}"))
        #expect(try !isTold("final class Tasks {\n\(register)\n}"))
        #expect(try isTold("final class Tasks {\ninit() { setUp() }\n\(register)\n}"))
    }

    @Test("a request in Objective-C that nothing submits")
    func objectiveC() throws {
        let make =
            "BGProcessingTaskRequest *r = [[BGProcessingTaskRequest alloc] "
            + "initWithIdentifier:@\"c.d\"];\n"
        for set in ["", "r.requiresExternalPower = YES;", "[r setEarliestBeginDate:date];"] {
            let source = "void f(void) {\n\(make)\(set)\n}"
            let found = try Self.rules(["A.m": source, "B.swift": Self.refresh])
            #expect(!found.contains("CF020") && found.contains("CF019"), "\(set)")
        }
        for use in ["[scheduler submitTaskRequest:r error:nil];", "return r;", "[self run:r];"] {
            let source = "id f(void) {\n\(make)\(use)\n}"
            #expect(try Self.rules(["A.m": source, "B.swift": Self.refresh]).contains("CF020"))
        }
    }

    @Test("the error of a request in Objective-C that is thrown away")
    func objectiveCErrors() {
        for scheduler in ["[BGTaskScheduler sharedScheduler]", "BGTaskScheduler.sharedScheduler"] {
            func isIgnored(_ error: String) -> Bool {
                BackgroundSourceTests.faults(
                    "void f(void) { [\(scheduler) submitTaskRequest:r error:\(error)]; }", "a.m"
                )
                .contains(.droppedSubmitError)
            }
            #expect(isIgnored("nil"))
            #expect(!isIgnored("&e"))
        }
    }

    @Test(
        "the error of a submission that is dropped",
        arguments: [
            "try? S", "_ = try? S", "queue.async { try? S }", "Task { try? S }",
            "r.earliestBeginDate = date\ntry? S\nlog()", "r.delay = 60\ntry? S",
            "if ready { try? S }", "let s = [a]\ntry? S; log()", "do { try S } catch {}",
        ])
    func droppedErrors(body: String) {
        #expect(Self.submissions("func f() {\n\(body)\n}") == [.droppedSubmitError])
        #expect(Self.submissions("func f() async {\n\(body)\n}") == [.droppedSubmitError])
    }

    @Test(
        "the error of a submission that may be looked at, or of another try",
        arguments: [
            "if (try? S) == nil { retry() }", "let done = try? S\nnote(done)",
            "guard (try? S) != nil else { return }", "guard let _ = try? S else { return }",
            "if let _ = try? S { done() }", "switch try? S { default: break }",
            "note(1, try? S)", "let x = isOn ? try? S : nil", "try? S ?? log()",
            "let f = { try? S }",
            "[r].map { try? S }", "try? S\n    .map { log() }", "return\ntry? S",
            "do { try S } catch { cancel()\ntry? S }",
        ])
    func doubtfulErrors(body: String) {
        #expect(Self.submissions("func f() {\n\(body)\n}") == [.ignoredSubmitError])
    }

    @Test("the error of a submission that is the result of a function")
    func resultingErrors() {
        #expect(Self.submissions("func f() -> Void? { try? S }") == [.ignoredSubmitError])
        #expect(Self.submissions("var done: Void? { try? S }") == [.ignoredSubmitError])
    }

    @Test("the result of a submission in Objective-C that may be looked at")
    func objectiveCResults() {
        let call = "[[BGTaskScheduler sharedScheduler] submitTaskRequest:r error:nil]"
        for body in [
            "if (!\(call)) { retry(); }", "BOOL ok = \(call);", "return \(call);",
            "if (a && \(call)) { b(); }", "ok = NO == \(call);", "[self note:\(call)];",
            "NSLog(@\"%d\", \(call));", "ok = c ? \(call) : NO;",
        ] {
            #expect(
                Self.submissions("void f(void) { \(body) }", "a.m") == [.ignoredSubmitError],
                "\(body)")
        }
    }

    /// What becomes of the errors of a source's submissions, for which `S` stands.
    private static func submissions(
        _ source: String, _ path: String = "a.swift"
    ) -> Set<SourceObservation.Fault> {
        BackgroundSourceTests.faults(
            source.replacing(" S", with: " BGTaskScheduler.shared.submit(r)"), path
        ).intersection([.droppedSubmitError, .ignoredSubmitError])
    }

    @Test("an expiration handler that is set behind a call which waits for nothing")
    func promptCalls() {
        func faults(_ helper: String, _ call: String) -> Set<SourceObservation.Fault> {
            BackgroundSourceTests.faults(
                "class M {\n\(helper)\nfunc handle(_ task: BGProcessingTask) async {\n\(call)\n"
                    + "let w = Task { await run() }\ntask.expirationHandler = { w.cancel() }\n"
                    + "_ = await w.value\ntask.setTaskCompleted(success: true)\n}\n}")
        }
        let next = "func next() async { try? BGTaskScheduler.shared.submit(r) }"
        let chain = "func next() async {\nawait same()\nsubmit(r)\n}\nprivate func same() async { }"
        for (helper, call) in [
            (next, "await next()"), (next, "await self.next()"), (chain, "await next()"),
        ] {
            #expect(!faults(helper, call).contains(.lateExpiration), "\(helper)")
        }
        for (helper, call) in [
            ("func next() async { await load() }", "await next()"),
            ("func next() async { sleep(20) }", "await next()"),
            ("func next() async { for await x in list { add(x) } }", "await next()"),
            ("@MainActor \(next)", "await next()"), ("nonisolated \(next)", "await next()"),
            ("\(next)\nfunc next(_ a: Int) async { await load() }", "await next()"),
            (next, "await next(load())"), (next, "await other.next()"),
            (next, "await next().value"), ("", "await next()"),
            ("}\nextension M {\n\(next)\n}\nextension M {", "await next()"),
            ("}\nactor N {\n\(next)\n}\nclass M {", "await next()"),
        ] {
            #expect(faults(helper, call).contains(.lateExpiration), "\(helper) \(call)")
        }
    }
}
