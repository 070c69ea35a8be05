// SPDX-License-Identifier: Apache-2.0

import CHTTP2Shims
import SeedKit
import Testing
import TransportTestKit

@Suite("Header fields on the wire")
struct HeaderEncodingTests {
    private static let authorization =
        "bearer eyJhbGciOiJFUzI1NiIsImtpZCI6IktFWSJ9."
        + String(repeating: "QWxhZGRpbjpvcGVuIHNlc2FtZQ", count: 6)
    private static let shared = [
        ("authorization", authorization), ("apns-topic", "com.example.app"),
        ("apns-push-type", "background"), ("apns-priority", "5"),
    ]

    private func own(_ number: Int) -> [(String, String)] {
        let digits = String(number, radix: 16)
        let id = String(repeating: "0", count: 8 - digits.count) + digits
        return [
            ("apns-id", id + "-0000-4000-8000-000000000000"), ("apns-expiration", "\(number)"),
            ("apns-collapse-id", "c\(number)"),
        ]
    }

    private func headers(of session: MemorySession) throws -> [UInt8] {
        let frames = try session.frames().filter { $0.type == 1 }
        #expect(frames.count == 1)
        return try #require(frames.first).payload
    }

    @Test("APNs' rules (facts §1.4), representation by representation")
    func representations() throws {
        let session = try MemorySession()
        let decoder = try HeaderDecoder()
        let block = try TestBlock(Self.shared)
        let path = "/3/device/" + String(repeating: "ab", count: 32)
        var seen: [[Representation]] = []
        for number in 1...3 {
            #expect(session.start(path: path, shared: block, headers: own(number)).stream >= 0)
            let payload = try headers(of: session)
            seen.append(try HeaderDecoder.representations(payload))
            let fields = try decoder.fields(payload)
            let expected =
                [
                    (":method", "POST"), (":scheme", "https"), (":authority", "push.example"),
                    (":path", path), ("user-agent", "rouse"),
                ] + Self.shared + own(number)
            #expect(fields.map(\.name) == expected.map(\.0))
            #expect(fields.map(\.value) == expected.map(\.1))
        }
        func expect(_ request: Int, _ forms: [(Representation.Form, Int)]) {
            #expect(seen[request] == forms.map { Representation(form: $0.0, index: $0.1) })
        }
        // Names 1, 4, 23 and 58 are of the static table; 0 is a name in letters.
        expect(
            0,
            [
                (.indexed, 3), (.indexed, 7), (.incremental, 1), (.withoutIndexing, 4),
                (.incremental, 58), (.neverIndexed, 23), (.incremental, 0), (.incremental, 0),
                (.incremental, 0), (.incremental, 0), (.incremental, 0), (.incremental, 0),
            ])
        // The dynamic table, from 62: collapse id, expiration, id, priority, type, topic, agent,
        // authority.
        let later: [(Representation.Form, Int)] = [
            (.indexed, 3), (.indexed, 7), (.indexed, 69), (.withoutIndexing, 4), (.indexed, 68),
            (.neverIndexed, 23), (.indexed, 67), (.indexed, 66), (.indexed, 65),
            (.withoutIndexing, 64), (.withoutIndexing, 63), (.withoutIndexing, 62),
        ]
        expect(1, later)
        expect(2, later)
    }

    @Test("a provider token is Huffman-coded")
    func huffman() throws {
        let sizes = try [Self.shared, Array(Self.shared.dropFirst())].map { fields in
            let session = try MemorySession()
            _ = session.start(shared: try TestBlock(fields))
            let payload = try headers(of: session)
            #expect(!payload.contains(sequence: Array("eyJhbGciOi".utf8)))
            return payload.count
        }
        // Digits and letters take six bits on average (RFC 7541, Appendix B).
        #expect(sizes[0] - sizes[1] < Self.authorization.utf8.count * 9 / 10)
    }

    @Test(
        "whatever is encoded, nghttp2 decodes, also when the table's size changes",
        arguments: 1...12)
    func anything(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let session = try MemorySession()
        let decoder = try HeaderDecoder()
        session.hear(ServerFrame.settings())
        let blocks = try (0..<30).map { number -> ([(String, String)], TestBlock) in
            let fields = (0..<Int(random.next() % 6)).map { index in
                (
                    random.chance(oneIn: 6) ? "authorization" : "x-\(number % 7)-\(index)",
                    random.text(below: random.chance(oneIn: 8) ? 900 : 40)
                )
            }
            return (fields, try TestBlock(fields))
        }
        for number in 0..<400 {
            if random.chance(oneIn: 40) {
                let size = [0, 64, 200, 4096, 100_000][Int(random.next() % 5)]
                session.hear(ServerFrame.settings([(1, size)]))
                decoder.change(tableSize: min(size, 4096))
            }
            let (fields, block) = blocks[Int(random.next() % 30)]
            let own =
                [("apns-id", random.text(below: 40))]
                + (random.chance(oneIn: 3) ? [("apns-collapse-id", random.text(below: 64))] : [])
            let started = session.start(path: "/\(number)", shared: block, headers: own)
            #expect(started.stream >= 0, "seed \(seed)")
            let decoded = try decoder.fields(try headers(of: session)).dropFirst(5)
            #expect(decoded.map(\.name) == (fields + own).map(\.0), "seed \(seed), \(number)")
            #expect(decoded.map(\.value) == (fields + own).map(\.1), "seed \(seed), \(number)")
            session.hear(ServerFrame.accepted(stream: 2 * number + 1))
            #expect(session.finished().count == 1)
        }
    }
}

extension SeededGenerator {
    /// Printable characters, fewer than so many.
    mutating func text(below count: Int) -> String {
        let length = Int(next() % UInt64(count))
        return String(
            decoding: (0..<length).map { _ in UInt8(0x21 + next() % 0x5e) }, as: UTF8.self)
    }
}

extension [UInt8] {
    func contains(sequence: [UInt8]) -> Bool { firstRange(of: sequence) != nil }
}
