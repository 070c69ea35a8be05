// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeedKit
import Testing
import WakeBudget

@Suite("Union of payloads")
struct PayloadUnionTests {
    static let cases: [(old: String, new: String, union: String)] = [
        (
            #"{"aps":{"content-available":1},"a":1}"#, #"{"aps":{"content-available":1},"b":2}"#,
            #"{"a":1,"aps":{"content-available":1},"b":2}"#
        ),
        (#"{"a":1,"b":1}"#, #"{"b":2,"c":2}"#, #"{"a":1,"b":2,"c":2}"#),
        (#"{}"#, #"{}"#, #"{}"#),
        (#"{"a":1}"#, #"{ }"#, #"{"a":1}"#),
        (
            " {\n \"a\" :\t[1, {\"b\":\"]}\"}] , \"c\":null }\r\n", #"{"d":true}"#,
            "{\"a\" :\t[1, {\"b\":\"]}\"}],\"c\":null,\"d\":true}"
        ),
        // The same key, escaped or not.
        (#"{"a":1,"\u0062":1}"#, #"{"\u0061":2,"b":2}"#, #"{"\u0061":2,"b":2}"#),
        (#"{"\u00e9\/\n":1}"#, "{\"\u{e9}/\\u000A\":2}", "{\"\u{e9}/\\u000A\":2}"),
        (#"{"\ud83d\ude00":1}"#, "{\"\u{1f600}\":2}", "{\"\u{1f600}\":2}"),
        (
            #"{"\uD83D":1,"\ud83dx":1}"#, #"{"\ud83d":2,"\uD83D\u0078":2}"#,
            #"{"\ud83d":2,"\uD83D\u0078":2}"#
        ),
        // Different keys, for letters and their combining forms are not the same characters.
        ("{\"\u{e9}\":1}", "{\"e\u{301}\":2}", "{\"\u{e9}\":1,\"e\u{301}\":2}"),
        // The later of two in one payload.
        (#"{"a":1,"b":1,"a":2}"#, #"{"c":1,"b":2,"c":3}"#, #"{"a":2,"b":2,"c":3}"#),
        (#"{"a":"\"}","b":"\\"}"#, #"{"c":"{"}"#, #"{"a":"\"}","b":"\\","c":"{"}"#),
        (#"{"":0,"a":-1.5e3}"#, #"{"":1}"#, #"{"a":-1.5e3,"":1}"#),
    ]

    @Test("the newest value of each key stands", arguments: cases)
    func union(old: String, new: String, union: String) {
        #expect(
            PayloadUnion.merge(old: Array(old.utf8), new: Array(new.utf8))
                == .united(Array(union.utf8)))
    }

    @Test(
        "what is no object is not merged",
        arguments: [
            "", " ", "[]", "1", "null", "{", "{\"a\"", "{\"a\":", "{\"a\":}", "{\"a\":1",
            "{\"a\":1,}",
            "{\"a\":1}x", "{a:1}", "{\"a\":[}", "{\"a\":\"", "{\"\\", "{\"\\u12\":1}",
            "{\"\\x\":1}",
            "{\"a\":\"\\", "{,}",
        ])
    func damaged(text: String) {
        let (good, bad) = (Array("{\"a\":1}".utf8), Array(text.utf8))
        #expect(PayloadUnion.merge(old: bad, new: good) == .replaced(.olderIsNoObject))
        #expect(PayloadUnion.merge(old: good, new: bad) == .replaced(.newerIsNoObject))
    }

    @Test("at 4096 bytes it is a union, at 4097 the newer payload replaces")
    func limit() {
        func payload(_ key: String, _ length: Int) -> [UInt8] {
            Array("{\"\(key)\":\"\(String(repeating: "x", count: length - 8))\"}".utf8)
        }
        #expect(payload("a", 100).count == 100)
        guard
            case .united(let union) = PayloadUnion.merge(
                old: payload("a", 2_000), new: payload("b", 2_097))
        else {
            Issue.record("4096 bytes are not too many")
            return
        }
        #expect(union.count == 4_096)
        #expect(
            PayloadUnion.merge(old: payload("a", 2_000), new: payload("b", 2_098))
                == .replaced(.tooLong(byteCount: 4_097)))
        #expect(
            PayloadUnion.merge(old: payload("a", 4_096), new: payload("a", 4_096))
                == .united(payload("a", 4_096)))
    }

    /// Keys of the random payloads, and for each of them what JSON may write.
    private static let keys = [
        ["\"a\"", "\"\\u0061\""], ["\"b\""], ["\"c\\n\"", "\"c\\u000a\""], ["\"aps\""],
    ]
    private static let values = ["1", "{}", "[1,{\"a\":2}]", "\"\\\"}\"", "null"]

    /// How many seeds are tried; with 4096 merges each, a million in CI.
    static let seeds = ProcessInfo.processInfo.environment["CI"] == nil ? 1...24 : 1...245

    @Test(
        "random merges have each key once, the newest value, and at most 4096 bytes",
        arguments: seeds)
    func properties(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let keys = Self.keys.map { $0.map { Array($0.utf8) } }
        // Some seeds come near the limit.
        let long = seed.isMultiple(of: 24) ? [String(repeating: "x", count: 1_350)] : []
        let values = (Self.values + long.map { "\"\($0)\"" }).map { Array($0.utf8) }
        let payloads = (0..<64).map { _ in RandomPayload(keys, values, &generator) }
        for new in payloads {
            for old in payloads {
                let union = RandomPayload.union(old, new)
                switch PayloadUnion.merge(old: old.bytes, new: new.bytes) {
                case .united(let merged) where merged == union && union.count <= 4_096: continue
                case .replaced(.tooLong(union.count)) where union.count > 4_096: continue
                case let outcome:
                    Issue.record("seed \(seed): \(old.text) and \(new.text) give \(outcome)")
                    return
                }
            }
        }
    }

    /// A payload of up to three members, and what they are.
    private struct RandomPayload {
        private(set) var bytes = Array("{".utf8)
        /// The number of each key, and the member as it stands in a union.
        private(set) var members: [(key: Int, bytes: [UInt8])] = []

        /// The union by plain means: the last member of each key, those of the older payload
        /// first.
        static func union(_ old: RandomPayload, _ new: RandomPayload) -> [UInt8] {
            let all = old.members + new.members
            var union = Array("{".utf8)
            for (index, member) in all.enumerated() {
                let later = all[(index + 1)...]
                if later.contains(where: { $0.key == member.key }) { continue }
                if union.count > 1 { union.append(UInt8(ascii: ",")) }
                union += member.bytes
            }
            return union + [UInt8(ascii: "}")]
        }

        var text: String { String(decoding: bytes, as: UTF8.self) }

        init(_ keys: [[[UInt8]]], _ values: [[UInt8]], _ generator: inout SeededGenerator) {
            for index in 0..<Int(generator.next() % 4) {
                let key = Int(generator.next() % UInt64(keys.count))
                let value = Int(generator.next() % UInt64(values.count))
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                let spelling = keys[key][Int(generator.next() % UInt64(keys[key].count))]
                bytes += spelling + Array(": ".utf8) + values[value] + Array(" ".utf8)
                members.append((key, spelling + Array(": ".utf8) + values[value]))
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

}
