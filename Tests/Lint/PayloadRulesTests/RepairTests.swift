// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import SeedKit
import StrictJSON
import Testing
import WakeModel

@Suite("Repairs")
struct RepairTests {
    private let validator = PushValidator()

    private func draft(_ type: PushType, _ payload: String) -> PushDraft {
        PushDraft(
            payload: Array(payload.utf8), headers: [.init("apns-push-type", type.rawValue)])
    }

    private func mended(_ type: PushType, _ payload: String, unsafe: Bool = false) -> String {
        String(
            decoding: validator.repaired(draft(type, payload), includingUnsafe: unsafe),
            as: UTF8.self)
    }

    @Test(
        "what has one right answer is written, and nothing else is touched",
        arguments: [
            (
                .background, #"{ "aps" : { "content-available" : true } , "v":1}"#,
                #"{ "aps" : { "content-available" : 1 } , "v":1}"#
            ),
            (
                .background, #"{"aps":{"content-available":"1"},"v":1}"#,
                #"{"aps":{"content-available":1},"v":1}"#
            ),
            (
                .background, #"{"aps":{"content-available":1.0},"v":1}"#,
                #"{"aps":{"content-available":1},"v":1}"#
            ),
            (
                .background, #"{"aps":{"content_available":true},"v":1}"#,
                #"{"aps":{"content-available":1},"v":1}"#
            ),
            (
                .background, "\u{feff}{\"aps\":{\"content-available\":1},\"v\":1,}",
                #"{"aps":{"content-available":1},"v":1}"#
            ),
            (
                .background, #"{"aps":{"content-available":1},"v":[1,2, ] ,  }"#,
                #"{"aps":{"content-available":1},"v":[1,2 ]   }"#
            ),
            (
                .background,
                #"{"aps":{"content-available":1},"n":"\u00e9\u00e8\"\u00ea\u0000\ud83d\ude00"}"#,
                #"{"aps":{"content-available":1},"n":"éè\"ê\u0000😀"}"#
            ),
            (
                .alert,
                #"{"aps":{"alert":{"titleLocKey":"T"},"mutable-content":true,"badge":"3"}}"#,
                #"{"aps":{"alert":{"title-loc-key":"T"},"mutable-content":1,"badge":3}}"#
            ),
            (
                .alert, #"{"aps":{"alert":"x","content_available":true}}"#,
                #"{"aps":{"alert":"x","content-available":1}}"#
            ),
            (
                .alert,
                #"{"aps":{"alert":"x","interruption-level":"timeSensitive","thread-id":5}}"#,
                #"{"aps":{"alert":"x","interruption-level":"time-sensitive","thread-id":"5"}}"#
            ),
            (
                .liveactivity,
                #"{"aps":{"timestamp":1795255200000,"event":"end","stale-date":"1795255200"}}"#,
                #"{"aps":{"timestamp":1795255200,"event":"end","stale-date":1795255200}}"#
            ),
            (.widgets, #"{"aps":{"content-changed":1}}"#, #"{"aps":{"content-changed":true}}"#),
        ] as [(PushType, String, String)])
    func safeRepairs(type: PushType, payload: String, expected: String) {
        #expect(mended(type, payload) == expected)
    }

    @Test(
        "what changes the push is left alone unless asked for",
        arguments: [
            (
                .background, #"{"aps":{"alert":"","content-available":1,"badge":0},"v":1}"#,
                #"{"aps":{"content-available":1},"v":1}"#
            ),
            (
                .background, #"{"aps":{"alert":"x","badge":1,"sound":"y","content-available":1}}"#,
                #"{"aps":{"content-available":1}}"#
            ),
            (.background, #"{"aps":{"content-available":0}}"#, #"{"aps":{"content-available":1}}"#),
            (.background, #"{"aps":{},"v":1}"#, #"{"aps":{"content-available":1},"v":1}"#),
            (.background, #"{"aps":{"badge":1}}"#, #"{"aps":{"content-available":1}}"#),
            (.background, #"{"v":1}"#, #"{"v":1,"aps":{"content-available":1}}"#),
            (
                .background, "{\n  \"v\": 1\n}",
                "{\n  \"v\": 1,\n  \"aps\":{\"content-available\":1}\n}"
            ),
            (
                .background, #"{"content-available":1,"v":1}"#,
                #"{"aps":{"content-available":1},"v":1}"#
            ),
            (.alert, #"{"sound":"x","aps":{"alert":"y"}}"#, #"{"aps":{"alert":"y","sound":"x"}}"#),
            (.alert, #"{"aps":{"alerts":"y"}}"#, #"{"aps":{"alert":"y"}}"#),
            (.voip, #"{"aps":{"alert":"y"},"callUUID":"x"}"#, #"{"aps":{},"callUUID":"x"}"#),
            (.mdm, #"{"aps":{},"mdm":"x"}"#, #"{"mdm":"x"}"#),
            (.controls, #"{"aps":{"sound":"x"}}"#, #"{"aps":{"content-changed":true}}"#),
        ] as [(PushType, String, String)])
    func unsafeRepairs(type: PushType, payload: String, expected: String) {
        #expect(mended(type, payload) == payload)
        #expect(mended(type, payload, unsafe: true) == expected)
    }

    @Test(
        "where two answers are possible nobody guesses",
        arguments: [
            (.background, #"{"aps":{"content-available":1,"content_available":0},"v":1}"#),
            (.alert, #"{"aps":{"alert":7,"relevance-score":"high","sound":true}}"#),
            (.background, #"{"aps":{"content-available":1},"a":1,"a":2}"#),
            (.background, #"{"aps":{"content-available":1},"a":[1,,2]}"#),
            (.background, #"{"aps":{"content-available":1} "v":1}"#),
        ] as [(PushType, String)])
    func noRepair(type: PushType, payload: String) {
        #expect(mended(type, payload, unsafe: true) == payload)
    }

    @Test("edits that touch are made one by one, equal ones once")
    func overlaps() {
        func repair(_ range: Range<Int>, _ text: String) -> Repair {
            Repair(edits: [.init(range: range, replacement: Array(text.utf8))], isSafe: true)
        }
        func apply(_ repairs: [Repair]) -> String {
            String(decoding: Repairs.apply(repairs, to: Array("0123456789".utf8)), as: UTF8.self)
        }
        #expect(apply([]) == "0123456789")
        #expect(apply([repair(2..<4, "x"), repair(7..<7, "y")]) == "01x456y789")
        #expect(apply([repair(7..<7, "y"), repair(2..<4, "x")]) == "01x456y789")
        #expect(apply([repair(2..<4, "x"), repair(3..<5, "y")]) == "01x456789")
        #expect(apply([repair(2..<4, "x"), repair(4..<5, "y")]) == "01xy56789")
        #expect(apply([repair(2..<4, "x"), repair(2..<4, "x")]) == "01x456789")
        #expect(apply([repair(3..<3, "x"), repair(3..<3, "y")]) == "012x3456789")
        #expect(apply([repair(10..<10, "x")]) == "0123456789x")
        #expect(apply([repair(9..<11, "x"), repair(-1..<0, "y")]) == "0123456789")
        let pair = Repair(
            edits: [
                .init(range: 5..<6, replacement: []), .init(range: 0..<1, replacement: []),
            ], isSafe: true)
        #expect(pair.edits.map(\.range) == [0..<1, 5..<6])
        #expect(apply([repair(5..<6, "x"), pair]) == "01234x6789")
        #expect(apply([pair]) == "12346789")
    }

    @Test(
        "repairs come to an end, keep JSON JSON, and leave nothing safe to mend",
        arguments: [UInt64](41...44))
    func randomRepairs(seed: UInt64) {
        var pushes = RandomPushes(seed: seed)
        for index in PropertyRounds.few(300) {
            var draft = pushes.draft()
            let original = draft.payload
            let includesUnsafe = index.isMultiple(of: 2)
            draft.payload = validator.repaired(draft, includingUnsafe: includesUnsafe)
            let left = validator.report(on: draft).diagnostics.compactMap(\.repair)
                .filter { includesUnsafe || $0.isSafe }
            let wasJSON = (try? JSONScanner.scan(original)) != nil
            let isJSON = (try? JSONScanner.scan(draft.payload)) != nil
            guard left.isEmpty, isJSON || !wasJSON else {
                Issue.record(
                    """
                    seed \(seed), draft \(index), \(String(decoding: original, as: UTF8.self)) \
                    became \(String(decoding: draft.payload, as: UTF8.self)), left \(left)
                    """)
                return
            }
        }
    }
}
