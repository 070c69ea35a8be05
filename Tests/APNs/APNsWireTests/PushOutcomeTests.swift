// SPDX-License-Identifier: Apache-2.0

import APNsWire
import PushTransport
import SeedKit
import Testing
import WakeModel

@Suite("Push outcome from an answer")
struct PushOutcomeTests {
    static let id = "123e4567-e89b-42d3-a456-426614174000"

    private func outcome(
        _ status: Int, _ body: String = "", apnsID: APNsID? = nil, apnsUniqueID: String? = nil
    ) -> PushOutcome {
        PushOutcome(
            WireResponse(
                status: status, apnsID: apnsID, apnsUniqueID: apnsUniqueID,
                body: Array(body.utf8)))
    }

    private func rejection(_ status: Int, _ body: String) -> PushOutcome.Rejection? {
        guard case .rejected(let rejection) = outcome(status, body) else { return nil }
        return rejection
    }

    @Test("200 is accepted, with both identifiers where the answer has them")
    func accepted() throws {
        let id = try APNsID(Self.id)
        #expect(
            outcome(200, apnsID: id, apnsUniqueID: "unique")
                == .accepted(.init(apnsID: id, apnsUniqueID: "unique")))
        #expect(outcome(200) == .accepted(.init(apnsID: nil)))
        #expect(
            outcome(200, "{\"reason\":\"BadTopic\"}") == .accepted(.init(apnsID: nil)),
            "the status decides")
    }

    @Test("410 brings reason, timestamp in milliseconds and apns-id")
    func gone() throws {
        let answer = outcome(
            410, #"{"reason":"Unregistered","timestamp":1795253640123}"#,
            apnsID: try APNsID(Self.id))
        #expect(
            answer
                == .rejected(
                    .init(
                        status: 410, reason: .unregistered,
                        timestamp: WallInstant(millisecondsSinceEpoch: 1_795_253_640_123),
                        apnsID: try APNsID(Self.id))))
    }

    @Test(
        "the body's form does not matter as long as it is JSON",
        arguments: [
            (#"{"reason":"BadTopic"}"#, "BadTopic", nil),
            (" {\n\t\"timestamp\" : 5 ,\r\n \"reason\" : \"ExpiredToken\" } ", "ExpiredToken", 5),
            (#"{"reason":"Never Heard Of"}"#, "Never Heard Of", nil),
            (#"{"reason":"Bad\u0054opic"}"#, "BadTopic", nil),
            (#"{"reason":"a\/b\"c\\d\n"}"#, "a/b\"c\\d\n", nil),
            (#"{"reason":"\ud83d\ude00"}"#, "😀", nil),
            (#"{"reason":"zurück"}"#, "zurück", nil),
            (#"{"x":{"reason":"Inner","y":[1,{"z":"}]"}]},"reason":"BadTopic"}"#, "BadTopic", nil),
            (#"{"a":true,"b":null,"c":-1.5e3,"d":[],"reason":"BadTopic"}"#, "BadTopic", nil),
            (#"{"reason":"BadTopic","timestamp":"7"}"#, "BadTopic", nil),
            (#"{"reason":"BadTopic","timestamp":1.5}"#, "BadTopic", nil),
            (#"{"reason":"BadTopic","timestamp":99999999999999999999}"#, "BadTopic", nil),
            (#"{"reason":"BadTopic","timestamp":null}"#, "BadTopic", nil),
            (#"{"reason":"BadTopic","timestamp":-1}"#, "BadTopic", -1),
        ] as [(String, String, Int64?)])
    func forms(body: String, reason: String, timestamp: Int64?) {
        let rejection = rejection(410, body)
        #expect(rejection?.reason?.rawValue == reason)
        #expect(rejection?.timestamp?.millisecondsSinceEpoch == timestamp)
    }

    @Test(
        "a body without a readable reason costs the reason, not the status",
        arguments: [
            "", " ", "{}", "[]", "null", "Bad Gateway", "<html><body>502</body></html>",
            #"{"reason"#, #"{"reason":"#, #"{"reason":"BadTop"#, #"{"reason":"BadTopic\"#,
            #"{"reason":5}"#, #"{"reason":null}"#, #"{"reason":["BadTopic"]}"#,
            #"{"reason":"\u12"}"#, #"{"reason":"\ud83d"}"#, #"{"reason":"\ude00"}"#,
            #"{"reason":"\x"}"#, #"{reason:"BadTopic"}"#, #"{"Reason":"BadTopic"}"#,
            #""reason":"BadTopic""#, #"{"x":[,"reason":"BadTopic"}"#,
        ])
    func withoutReason(body: String) {
        #expect(rejection(502, body) == .init(status: 502, reason: nil))
    }

    @Test("a body cut anywhere keeps what stood before the cut")
    func truncated() {
        let body = Array(#"{"reason":"Unregistered","timestamp":1795253640123}"#.utf8)
        for length in 0..<body.count {
            let answer = PushOutcome(WireResponse(status: 410, body: Array(body[..<length])))
            guard case .rejected(let rejection) = answer else {
                Issue.record("cut at \(length) is not a rejection")
                continue
            }
            #expect(rejection.status == 410)
            #expect(rejection.reason == (length >= 24 ? .unregistered : nil), "cut at \(length)")
        }
    }

    @Test("text that is not UTF-8 is no reason")
    func notUTF8() {
        let body = Array(#"{"reason":""#.utf8) + [0xff, 0xfe] + Array(#""}"#.utf8)
        let answer = PushOutcome(WireResponse(status: 400, body: body))
        #expect(answer == .rejected(.init(status: 400, reason: nil)))
    }

    @Test("depth cannot exhaust the stack", arguments: ["[", "{\"a\":", "[{\"\":"])
    func deepJunk(bracket: String) {
        let body = #"{"x":"# + String(repeating: bracket, count: 100_000)
        #expect(rejection(500, body) == .init(status: 500, reason: nil))
    }

    @Test("random bytes, and answers with random bytes in them, never crash")
    func randomBytes() {
        let seed: UInt64 = 0xa9_5eed
        var generator = SeededGenerator(seed: seed)
        let good = Array(
            #"{"reason":"Unregistered","timestamp":1795253640123,"x":[{"y":"\u0041"}]}"#.utf8)
        let alphabet = Array("{}[]\",:\\u0123ae-.ntrlfs \u{ff}".utf8)
        for round in 0..<20_000 {
            var body: [UInt8]
            switch round % 3 {
            case 0:
                body = (0..<Int.random(in: 0...64, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
            case 1:
                body = (0..<Int.random(in: 0...64, using: &generator)).map { _ in
                    alphabet.randomElement(using: &generator) ?? 0
                }
            default:
                body = good
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    body[Int.random(in: 0..<body.count, using: &generator)] =
                        UInt8.random(in: 0...255, using: &generator)
                }
            }
            let status = Int.random(in: 201...599, using: &generator)
            guard
                case .rejected(let rejection) = PushOutcome(
                    WireResponse(status: status, body: body))
            else {
                Issue.record("seed \(seed), round \(round)")
                return
            }
            #expect(rejection.status == status, "seed \(seed), round \(round)")
            _ = rejection.advice
        }
    }
}
