// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Paths through handlers of VoIP pushes whose report is late, beside paths that report at once.
@Suite("Paths with a late report")
struct LatePathTests {
    private static func isLate(_ body: String) throws -> Bool {
        let source =
            "final class Push: NSObject, PKPushRegistryDelegate {\n"
            + "private let log = Logger(subsystem: \"a\", category: \"b\")\n"
            + "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith payload: "
            + "PKPushPayload, for type: PKPushType, completion: @escaping () -> Void) {\n"
            + "guard let invite = Invite(payload.dictionaryPayload) else {\n"
            + "log.error(\"unreadable\")\n"
            + "Calls.shared.reportUnknown { completion() }\nreturn\n}\n"
            + body + "\n}\n"
            + "func announce(_ i: Invite) { NotificationCenter.default.post(name: n, object: i) }\n"
            + "func show(_ i: Invite) { announce(i) }\n}\n"
        return try OccasionTests.subjects(["Push.swift": source]).contains(.lateReport)
    }

    private static let report = "Calls.shared.reportIncoming(invite) { _ in completion() }"

    /// What takes time, with a place for what comes after it.
    private static let waits: [(String, String)] = [
        ("DispatchQueue.main.asyncAfter(deadline: .now() + 1.5) {", "}"),
        ("DispatchQueue.main.asyncAfter(deadline: .now() + .seconds(2)) { [weak self] in", "}"),
        ("URLSession.shared.dataTask(with: invite.url) { data, _, error in", "}.resume()"),
        (
            "let task = URLSession.shared.dataTask(with: invite.url) { data, _, error in",
            "}\ntask.resume()"
        ),
        ("Task {\ntry? await Task.sleep(nanoseconds: 3_000_000_000)", "}"),
        ("Task {\ntry? await Task.sleep(for: .seconds(2))", "}"),
        (
            "Task { [self] in\nlet (data, _) = try await URLSession.shared.data(from: invite.url)",
            "}"
        ),
        ("Timer.scheduledTimer(withTimeInterval: 2, repeats: false) { _ in", "}"),
    ]

    @Test("the report waits for a pause or a request", arguments: waits.indices)
    func late(wait index: Int) throws {
        let (start, end) = Self.waits[index]
        #expect(try Self.isLate("\(start)\n\(Self.report)\n\(end)"))
        #expect(try Self.isLate("log.info(\"push\")\n\(start)\n\(Self.report)\n\(end)"))
        // On one path only.
        #expect(
            try Self.isLate(
                "if invite.count > 1 {\n\(Self.report)\n} else {\n\(start)\n"
                    + "\(Self.report)\n\(end)\n}"
            ))
    }

    @Test("the call is reported first", arguments: waits.indices)
    func prompt(wait index: Int) throws {
        let (start, end) = Self.waits[index]
        let later = "\(start)\nCalls.shared.reportChange(of: invite)\n\(end)"
        #expect(try !Self.isLate("\(Self.report)\n\(later)"))
        #expect(try !Self.isLate("\(later)\n\(Self.report)"))
        #expect(try !Self.isLate("DispatchQueue.main.async {\n\(Self.report)\n}\n\(later)"))
        #expect(try !Self.isLate("Task { await Calls.shared.ring(invite) }\n\(later)"))
        // Only the end waits.
        #expect(try !Self.isLate("Calls.shared.ring(invite)\n\(start)\ncompletion()\n\(end)"))
    }

    @Test(
        "something else may report the call at once",
        arguments: [
            "Signaling.shared.received(payload)", "delegate?.received(invite)", "onPush?(invite)",
            "let call = Call(invite)", "sdk.push = payload", "super.received(invite)",
            "NotificationCenter.default.post(name: .incoming, object: invite)",
            "router.route(invite)", "subject.send(invite)", "announce(invite)", "show(invite)",
            "calls[invite.id]?.start()",
        ])
    func unknown(call: String) throws {
        for (start, end) in Self.waits {
            #expect(try !Self.isLate("\(call)\n\(start)\n\(Self.report)\n\(end)"), "\(start)")
        }
    }

    @Test("what comes late and may report no call is no late report")
    func otherWork() throws {
        for (start, end) in Self.waits {
            #expect(try !Self.isLate("\(start)\nscreen.update(invite)\n\(end)"), "\(start)")
        }
    }

    @Test(
        "a short pause is none, nor is a closure of the app's",
        arguments: [
            ("DispatchQueue.main.asyncAfter(deadline: .now() + 0.1) {", "}"),
            ("DispatchQueue.main.asyncAfter(deadline: .now() + delay) {", "}"),
            ("DispatchQueue.main.async {", "}"),
            ("Backend.shared.load(invite) { details in", "}"),
            ("Task {\ntry? await Task.sleep(nanoseconds: 1_000_000)", "}"),
            ("Task {\ntry? await Task.sleep(for: pause)", "}"),
            ("Task { @MainActor in", "}"),
            ("store.dispatch {", "}"),
        ])
    func short(start: String, end: String) throws {
        #expect(try !Self.isLate("\(start)\n\(Self.report)\n\(end)"))
    }

    private static func isLateInObjectiveC(_ body: String) throws -> Bool {
        let source =
            "@implementation Push\n- (void)pushRegistry:(PKPushRegistry *)registry "
            + "didReceiveIncomingPushWithPayload:(PKPushPayload *)payload "
            + "forType:(PKPushType)type withCompletionHandler:(void (^)(void))completion {\n"
            + "NSUUID *call = [[NSUUID alloc] initWithUUIDString:"
            + "payload.dictionaryPayload[@\"id\"]];\n"
            + "if (call == nil) {\nNSLog(@\"no call\");\n"
            + "[[Calls shared] reportUnknown:completion];\n"
            + "return;\n}\n\(body)\n}\n@end\n"
        return try OccasionTests.subjects(["Push.m": source]).contains(.lateReport)
    }

    /// Whether a handler is told of that leaves the report to a closure for a function of another
    /// file.
    private static func isLate(behind function: String, _ body: String) throws -> Bool {
        let source =
            "final class Push: NSObject, PKPushRegistryDelegate {\n"
            + "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith payload: "
            + "PKPushPayload, for type: PKPushType, completion: @escaping () -> Void) {\n"
            + "guard let invite = Invite(payload.dictionaryPayload) else {\n"
            + "Calls.shared.reportUnknown { completion() }\nreturn\n}\n"
            + body + "\n}\n}\n"
        let backend =
            "final class Backend {\nstatic let shared = Backend()\nprivate var cache: [Int: "
            + "Call] = "
            + "[:]\n\(function)\n}\n"
        let files = try OccasionTests.subjects(["Push.swift": source, "Backend.swift": backend])
        let isLate = files.contains(.lateReport)
        let one = try OccasionTests.subjects(["All.swift": source + backend])
        #expect(one.contains(.lateReport) == isLate)
        return isLate
    }

    private static let asked = "Backend.shared.details(invite.id) { call in\n\(report)\n}"

    private static func details(_ body: String) -> String {
        "func details(_ id: Int, then done: @escaping (Call?) -> Void) {\n\(body)\n}"
    }

    private static let request =
        "URLSession.shared.dataTask(with: url(id)) { data, _, _ in done(decode(data)) }.resume()"

    @Test(
        "a function of the app's runs the closure with the report only after a request or a pause",
        arguments: [
            details(request), details("guard id > 0 else { return }\n\(request)"),
            details("DispatchQueue.main.asyncAfter(deadline: .now() + 2) { done(nil) }"),
            details("load(id) { done($0) }") + "\nprivate func load(_ id: Int, done: @escaping "
                + "(Call?) -> Void) {\n\(request)\n}",
        ])
    func lateInOther(function: String) throws {
        #expect(try Self.isLate(behind: function, Self.asked))
        #expect(
            try Self.isLate(
                behind: function,
                "if invite.isKnown {\n\(Self.report)\n} else {\n"
                    + "\(Self.asked)\n}"))
        // It is reported before, or may be.
        for other in [Self.report, "router.route(invite)", "Calls.shared.incoming = invite"] {
            #expect(try !Self.isLate(behind: function, "\(other)\n\(Self.asked)"))
        }
        // What is reported later is another thing.
        let change = Self.asked.replacing(
            Self.report, with: "Calls.shared.reportChange(of: invite)")
        #expect(try !Self.isLate(behind: function, "\(Self.report)\n\(change)"))
    }

    @Test(
        "a function of the app's may run the closure with the report at once",
        arguments: [
            details("done(cache[id])"), details("guard id > 0 else { return }\ndone(cache[id])"),
            details("if let call = cache[id] { return done(call) }\n\(request)"),
            details("queue.async { done(self.cache[id]) }"),
            details("DispatchQueue.main.async { done(nil) }"), details("waiting.append(done)"),
            details("store.load(id, done)"), details("Task { done(await self.call(id)) }"),
            details("Calls.shared.reportIncoming(id)\n\(request)"),
            details("DispatchQueue.main.asyncAfter(deadline: .now() + 0.1) { done(nil) }"),
            "func details(_ id: Int, then done: (Call?) -> Void) { done(cache[id]) }",
        ])
    func promptInOther(function: String) throws {
        #expect(try !Self.isLate(behind: function, Self.asked))
    }

    @Test("the same in Objective-C")
    func objectiveC() throws {
        let report =
            "[[Calls shared] reportCall:call completion:^(NSError *error) { completion(); }];"
        let pause =
            "dispatch_after(dispatch_time(DISPATCH_TIME_NOW, 2 * NSEC_PER_SEC), "
            + "dispatch_get_main_queue(), ^{\n"
        #expect(try Self.isLateInObjectiveC("\(pause)\(report)\n});"))
        let request =
            "NSMutableURLRequest *request = [NSMutableURLRequest requestWithURL:url];\n"
            + "[request setValue:token forHTTPHeaderField:@\"T\"];\n"
            + "[[[NSURLSession sharedSession] dataTaskWithRequest:request "
            + "completionHandler:^(NSData "
            + "*d, NSURLResponse *r, NSError *e) {\n\(report)\n}] resume];"
        #expect(try Self.isLateInObjectiveC(request))
        #expect(try !Self.isLateInObjectiveC("[[Hub shared] push:payload];\n\(request)"))
        let cast = pause.replacing("2 * NSEC_PER_SEC", with: "(int64_t)(2.5 * NSEC_PER_SEC)")
        #expect(try Self.isLateInObjectiveC("\(cast)\(report)\n});"))
        #expect(
            try !Self.isLateInObjectiveC("\(report)\n\(pause)[[Calls shared] reportEnd:call];\n});")
        )
        #expect(
            try !Self.isLateInObjectiveC("[[Hub shared] push:payload];\n\(pause)\(report)\n});"))
        #expect(try !Self.isLateInObjectiveC("self.push = payload;\n\(pause)\(report)\n});"))
        #expect(
            try !Self.isLateInObjectiveC(
                "dispatch_async(dispatch_get_main_queue(), ^{\n\(report)\n});"))
    }
}
