// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Completion handlers that a private property keeps, and hands to another function.
@Suite("Kept completion handlers")
struct KeptHandlerTests {
    private static func lacksCompletion(_ calls: String, _ report: String) throws -> Bool {
        let handler =
            "class AppDelegate: NSObject {\nlet calls = Calls()\nfunc pushRegistry(_ r: "
            + "PKPushRegistry, didReceiveIncomingPushWith push: PKPushPayload, for t: PKPushType, "
            + "completion: @escaping () -> Void) {\n"
            + "calls.take(push.dictionaryPayload, completion: completion)\n}\n}\n"
        let provider =
            "class Provider {\nfunc ring(_ id: UUID, done: @escaping () -> Void) {\n\(report)\n}\n}"
        return try OccasionTests.subjects([
            "A.swift": handler, "B.swift": "class Calls {\nlet provider = Provider()\n\(calls)\n}",
            "C.swift": provider,
        ])
        .contains(.fault(.voipPathWithoutCompletion))
    }

    private static let take =
        "func take(_ info: [AnyHashable: Any], completion: @escaping () -> Void) {\n"
        + "self.kept = completion\nsdk.process(info)\n}\n"
    private static let onlyWithoutError =
        "cx.reportNewIncomingCall(with: id, update: u) { error in\nif error == nil { done() }\n}"

    @Test("a function that gets it completes only some calls")
    func open() throws {
        for calls in [
            "private var kept: () -> Void = { }\n\(Self.take)"
                + "func sdk(_ s: SDK, didReceive id: UUID) { provider.ring(id, done: kept) }",
            "fileprivate var kept: (() -> Void)!\n\(Self.take)"
                + "func sdk(_ s: SDK, didReceive id: UUID) { self.provider.ring(id, done: kept) }",
            "private var kept: () -> Void = { }\n\(Self.take)"
                + "func sdk(_ s: SDK, didReceive id: UUID) { provider.ring(id, done: self.kept) }",
        ] {
            #expect(try Self.lacksCompletion(calls, Self.onlyWithoutError))
            for report in [
                "cx.reportNewIncomingCall(with: id, update: u) { _ in done() }",
                "cx.reportNewIncomingCall(with: id, update: u) { error in\n"
                    + "if error == nil { show() }\ndone()\n}",
                "cx.reportNewIncomingCall(with: id, update: u) { _ in }\ndone()",
                "later = done",
            ] {
                #expect(try !Self.lacksCompletion(calls, report), "\(report)")
            }
        }
    }

    @Test(
        "a property that more than one place reads, or of which more is done",
        arguments: [
            "private var kept: () -> Void = { }\nTAKE"
                + "func received(_ id: UUID) { provider.ring(id, done: kept) }\n"
                + "func failed() { kept() }",
            "private var kept: (() -> Void)?\nTAKE"
                + "func received(_ id: UUID) { provider.ring(id, done: kept!) }\n"
                + "func failed() { kept?() }",
            "var kept: () -> Void = { }\nTAKE"
                + "func received(_ id: UUID) { provider.ring(id, done: kept) }",
            "private var kept: () -> Void = { }\nTAKE"
                + "func received(_ id: UUID) { provider.ring(id, done: kept) }\n"
                + "func ended(_ id: UUID) { provider.end(id, done: kept) }",
            "private var kept: () -> Void = { }\nTAKE"
                + "func received(_ id: UUID) { provider.ring(id) { self.kept() } }",
            "private var kept: () -> Void = { }\nTAKE"
                + "func received(_ id: UUID) { let kept = { }\nprovider.ring(id, done: kept) }",
            "private var kept: () -> Void = { }\nTAKE"
                + "func go(_ id: UUID, kept: @escaping () -> Void) {\n"
                + "provider.ring(id, done: kept) }",
            "private var kept: () -> Void = { } { didSet { oldValue() } }\nTAKE"
                + "func received(_ id: UUID) { provider.ring(id, done: kept) }",
            "private var kept: () -> Void = { }\nTAKE"
                + "func received(_ id: UUID) { let done = kept\nprovider.ring(id, done: done) }",
            "private var kept: () -> Void = { }\nTAKE"
                + "func received(_ id: UUID) { if provider.ring(id, done: kept) { return } }",
            "private var kept: () -> Void = { }\nTAKE"
                + "func received(_ id: UUID) { other().ring(id, done: kept) }",
            "private var kept: () -> Void = { }\nfunc take(_ info: [AnyHashable: Any], "
                + "completion: @escaping () -> Void) {\nself.kept = completion\nstart(completion)\n"
                + "}\nfunc received(_ id: UUID) { provider.ring(id, done: kept) }",
        ])
    func shared(calls: String) throws {
        let source = calls.replacing("TAKE", with: Self.take)
        #expect(try !Self.lacksCompletion(source, Self.onlyWithoutError))
    }
}
