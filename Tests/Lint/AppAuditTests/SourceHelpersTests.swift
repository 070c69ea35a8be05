// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// What helpers of handlers do, and what only looks as if it did something.
@Suite("Helpers of handlers")
struct SourceHelpersTests: SourceFaultSuite {
    private static let end = "task.setTaskCompleted(success: true)"
    private static let report = "provider.reportNewIncomingCall(with: id, update: u) { _ in }"

    private static func subjects(
        _ source: String, _ path: String = "a.swift"
    ) -> [SourceObservation.Subject] {
        SourceReader.observations(
            in: SourceText(Array(source.utf8), path: path), SourceConstants()
        ).map(\.subject)
    }

    /// A handler of VoIP pushes with this body, and other functions.
    private static func voip(_ body: String, _ others: String) -> String {
        "class Calls {\nfunc pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith p: "
            + "PKPushPayload, for t: PKPushType, completion: @escaping () -> Void) {\n\(body)\n}\n"
            + "\(others)\n}\n"
    }

    @Test("the end of a call is no report, in a function that gets the push too")
    func endOfCall() {
        for change in ["endedAt: nil, reason: .unanswered", "updated: u"] {
            let source = Self.voip(
                "ring(p)\nupdate(p)\ncompletion()",
                "func ring(_ p: PKPushPayload) { \(Self.report) }\n"
                    + "func update(_ p: PKPushPayload) { provider.reportCall(with: id, \(change)) }"
            )
            #expect(!Self.subjects(source).contains(.voipHandlerWithoutReport))
        }
        let ended = Self.voip(
            "update(p)\ncompletion()",
            "func update(_ p: PKPushPayload) { provider.reportCall(with: id, endedAt: nil) }\n"
                + "func other() { \(Self.report) }")
        #expect(Self.subjects(ended).contains(.voipHandlerWithoutReport))
    }

    @Test("a function that only logs through others reports nothing")
    func logs() {
        let other = "func other() { \(Self.report) }\n"
        for helpers in [
            "func take(_ p: P) { note(p) }\nfunc note(_ p: P) { print(p) }",
            "func take(_ p: P) { note(p) }\nfunc note(_ p: P) { log(p)\nkeep(p) }\n"
                + "func keep(_ p: P) { UserDefaults.standard.set(p, forKey: \"p\") }",
        ] {
            let source = Self.voip("take(p)\ncompletion()", helpers + "\n" + other)
            #expect(Self.subjects(source).contains(.voipHandlerWithoutReport), "\(helpers)")
        }
        for helpers in [
            "func take(_ p: P) { note(p) }\nfunc note(_ p: P) { delegate.take(p) }",
            "func take(_ p: P) { note(p) }\nfunc note(_ p: P) { pending = p\nprint(p) }",
            "func take(_ p: P) { note(p) }\nfunc note(_ p: P) { take(p) }",
            "func take(_ p: P) { note(p) }\nfunc note(_ p: P) { \(Self.report) }",
        ] {
            let source = Self.voip("take(p)\ncompletion()", helpers + "\n" + other)
            #expect(!Self.subjects(source).contains(.voipHandlerWithoutReport), "\(helpers)")
        }
    }

    @Test("a function that gets the push and what completes has to hand it on")
    func handedOn() {
        func has(_ body: String, _ parameters: String = "completion: @escaping () -> Void") -> Bool
        {
            let source = Self.voip(
                "process(p.dictionaryPayload, completion: completion)",
                "func process(_ d: [AnyHashable: Any], \(parameters)) {\n\(body)\n}\n"
                    + "func other() { \(Self.report) }")
            return Self.subjects(source).contains(.fault(.voipPathWithoutReport))
        }
        let on = "delegate.process(d, completion: completion)"
        #expect(has("guard let delegate = delegate else { return }\n" + on))
        #expect(!has("delegate?.process(d, completion: completion)"))
        #expect(!has("guard let delegate = delegate else { return report(d, completion) }\n" + on))
        // Another value may say that nothing is to be done.
        #expect(!has("guard completion else { return }\ndelegate.process(d)", "completion: Bool"))
    }

    @Test("a closure that runs at once leaves no path open")
    func pools() {
        func faults(_ body: String) -> Set<Fault> {
            Self.faults("func run(task: BGProcessingTask) {\n\(body)\n}")
                .intersection([.taskPathWithoutEnd])
        }
        let pool = "autoreleasepool { guard use(b) else {\n\(Self.end)\nreturn } }\n"
        #expect(faults("for b in all {\ntry? \(pool)}\n\(Self.end)") == [])
        #expect(faults("\(pool)\(Self.end)") == [])
        #expect(faults("autoreleasepool {\nuse(b)\n\(Self.end)\n}") == [])
        let asked = "let isDone = " + pool.replacing("return", with: "return false")
        #expect(faults("\(asked)guard isDone else { return }\n\(Self.end)") == [])
        #expect(faults(pool) == [.taskPathWithoutEnd])
        #expect(faults("autoreleasepool { use(b) }") == [.taskPathWithoutEnd])
    }

    @Test("a queue may have done all of its work")
    func doneWork() {
        func isOpen(_ body: String) -> Bool {
            Self.faults(
                "func run(task: BGProcessingTask) {\nqueue.addOperation(work)\n\(body)"
                    + ".completionBlock = { \(Self.end) }\n}"
            ).contains(.taskPathWithoutEnd)
        }
        #expect(isOpen("queue.operations.last?"))
        #expect(isOpen("let last = queue.operations.last\nlast?"))
        #expect(!isOpen("let last = queue.operations.last!\nlast"))
        #expect(!isOpen("guard let last = queue.operations.last else { return \(Self.end) }\nlast"))
        #expect(!isOpen("let last = work.last\nlast?"))
        #expect(!isOpen("work?"))
    }

    @Test("one block of a call may complete for the others in the end")
    func ends() {
        func isOpen(_ blocks: String) -> Bool {
            let source =
                "func application(_ a: A, didReceiveRemoteNotification u: U, "
                + "fetchCompletionHandler done: @escaping (R) -> Void) {\nSDK.take(u, \(blocks))\n}"
            return Self.subjects(source).contains(.pathWithoutCompletion)
        }
        let some = "found: { c in if c == nil { done(.failed) } }"
        #expect(!isOpen("\(some), end: { done(.noData) }"))
        #expect(!isOpen("\(some), finally: { done(.noData) }"))
        #expect(isOpen(some))
        #expect(isOpen("\(some), end: { print(1) }"))
        #expect(isOpen("\(some), failure: { _ in done(.noData) }"))
        #expect(isOpen("\(some), end: { if x { done(.noData) } }"))
        let blocks =
            "- (void)application:(UIApplication *)a didReceiveRemoteNotification:(NSDictionary *)u "
            + "fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))done {\n"
            + "[sdk take:u found:^(id c) { if (!c) { done(1); } } "
            + "terminateHandler:^{ done(2); }];\n}\n"
        #expect(!Self.subjects(blocks, "a.m").contains(.pathWithoutCompletion))
    }

    @Test("cancelling requests stops no work")
    func cancelledRequests() {
        func isIdle(_ body: String) -> Bool {
            Self.faults(
                "func handle(task: BGProcessingTask) {\ntask.expirationHandler = { \(body) }\n"
                    + "job.onReady { \(Self.end) }\n}"
            ).contains(.idleExpiration)
        }
        #expect(isIdle("BGTaskScheduler.shared.cancelAllTaskRequests()"))
        #expect(isIdle("BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: \"a\")"))
        #expect(!isIdle("BGTaskScheduler.shared.cancelAllTaskRequests()\njob.cancel()"))
        #expect(!isIdle("job.cancel()"))
        #expect(!isIdle("cancelAllTasks()"))
    }

    @Test("a background session uploads files only")
    func uploads() {
        func faults(_ call: String) -> Set<Fault> {
            Self.faults(
                "class A { lazy var s = URLSession(configuration: .background(withIdentifier: "
                    + "\"a\"), delegate: self, delegateQueue: nil)\nfunc f() { \(call) } }")
        }
        #expect(faults("s.uploadTask(with: r, from: data).resume()") == [.dataInBackgroundSession])
        #expect(
            faults("self.s.uploadTask(with: r, from: try encode()).resume()")
                == [.dataInBackgroundSession])
        for call in [
            "s.uploadTask(with: r, fromFile: file).resume()",
            "s.uploadTask(with: r, from: nil).resume()",
            "other.uploadTask(with: r, from: data).resume()",
            "s.uploadTask(with: make(from: data), fromFile: file).resume()",
            "s.downloadTask(with: r).resume()",
        ] {
            #expect(faults(call) == [], "\(call)")
        }
    }
}
