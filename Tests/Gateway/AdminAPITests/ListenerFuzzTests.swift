// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import SeedKit
import Testing

@testable import AdminAPI

/// Broken requests to the real listener: seeded mutations of good ones, in pieces, some of them
/// without an end. Whatever comes, the listener answers in HTTP and without a 5xx, ends the
/// connection in time, and takes the next good request.
///
/// A usual run is short. `ROUSE_FUZZ_SECONDS=600` goes on for so long, and `ROUSE_FUZZ_SEED` begins
/// with another seed than 0.
@Suite("Mutated requests to the listener, over real sockets")
struct ListenerFuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["ROUSE_FUZZ_SECONDS"].flatMap { Int($0) }
    private static let firstSeed = environment["ROUSE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 0
    /// How many requests a usual run makes.
    private static let usualCount = 400
    /// How many are under way at a time.
    private static let width = 16

    @Test("They crash nothing, hang nothing, and are answered in HTTP", .timeLimit(.minutes(30)))
    func mutations() async throws {
        var bench = try APIBench()
        bench.configuration.strangerSeconds = 1
        bench.configuration.headerSeconds = 1
        bench.configuration.bodySeconds = 1
        bench.configuration.idleSeconds = 2
        let key = try #require(bench.keys[.wake]).text
        let end = Self.seconds.map { ContinuousClock.now + .seconds($0) }
        try await bench.serve { caller in
            var seed = Self.firstSeed
            var failure: String?
            while failure == nil,
                end.map({ ContinuousClock.now < $0 })
                    ?? (seed < Self.firstSeed + UInt64(Self.usualCount))
            {
                let seeds = seed..<seed + UInt64(Self.width)
                seed = seeds.upperBound
                failure = await withTaskGroup(of: String?.self) { group in
                    for seed in seeds {
                        group.addTask { await Self.fault(seed, key: key, port: caller.port) }
                    }
                    return await group.reduce(nil) { $0 ?? $1 }
                }
                let good = try await caller.send("GET", "/healthz", as: nil)
                #expect(good.status == 200, "After the seeds \(seeds): \(good)")
            }
            #expect(failure == nil, "\(failure ?? "")")
            print("\(seed - Self.firstSeed) mutated requests, the last seed is \(seed - 1)")
        }
    }

    /// What is wrong with the answer to the request of a seed; `nil` for nothing.
    private static func fault(_ seed: UInt64, key: String, port: Int) async -> String? {
        let conversation = Conversation(seed: seed, key: key)
        do {
            let (answer, wasReset) = try await conversation.run(port: port)
            guard let fault = AnswerCheck.fault(of: answer, wasReset: wasReset) else { return nil }
            return "seed \(seed): \(fault)\n\(conversation)\n-- answered --\n"
                + String(decoding: answer.prefix(2_000), as: UTF8.self)
        } catch {
            return "seed \(seed): \(error)\n\(conversation)"
        }
    }
}

/// What one caller sends: a mutation of good requests, in pieces.
private struct Conversation: CustomStringConvertible, Sendable {
    private let pieces: [[UInt8]]
    /// Whether the caller says that it has sent everything.
    private let isEnded: Bool

    init(seed: UInt64, key: String) {
        var generator = SeededGenerator(seed: seed)
        let good = Self.good(key)
        var bytes: [UInt8] = []
        for _ in 0...generator.below(3) { bytes += Array(generator.pick(good).utf8) }
        for _ in 0..<generator.below(6) { Self.mutate(&bytes, with: &generator) }
        var pieces: [[UInt8]] = []
        for _ in 0..<generator.below(3) where !bytes.isEmpty {
            let count = generator.below(bytes.count + 1)
            pieces.append(Array(bytes[..<count]))
            bytes.removeFirst(count)
        }
        self.pieces = pieces + [bytes]
        // Without an end the listener has to find one, which takes its time.
        isEnded = !generator.chance(oneIn: 16)
    }

    var description: String {
        pieces.map { String(decoding: $0.prefix(2_000), as: UTF8.self).debugDescription }
            .joined(separator: "\n") + (isEnded ? "" : "\n(and no end)")
    }

    private static func good(_ key: String) -> [String] {
        let body = APIBench.body()
        let multicast = body.replacing("device_token\":", with: "device_tokens\":[\"aa\",")
            .replacing(",\"app\"", with: "],\"app\"")
        let head = "Host: localhost\r\nAuthorization: Bearer \(key)\r\n"
        let type = "Content-Type: application/json\r\n"
        let length = "Content-Length: \(body.utf8.count)\r\n"
        let size = String(body.utf8.count, radix: 16)
        return [
            "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /v1/wakes?limit=2&state=sent HTTP/1.1\r\n\(head)\r\n",
            "GET /healthz HTTP/1.0\r\n\r\n",
            "GET http://localhost:8080/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /nothing/%41?a=b HTTP/1.1\r\n\(head)Connection: close\r\n\r\n",
            "POST /v1/wakes HTTP/1.1\r\n\(head)\(type)\(length)\r\n\(body)",
            "POST /v1/wakes HTTP/1.1\r\n\(head)\(type)\(length)Expect: 100-continue\r\n\r\n\(body)",
            "POST /v1/wakes HTTP/1.1\r\nHost: localhost\r\n\(type)\(length)\r\n\(body)",
            "POST /v1/validate HTTP/1.1\r\n\(head)\(type)Transfer-Encoding: chunked\r\n\r\n"
                + "\(size)\r\n\(body)\r\n0\r\n\r\n",
            "POST /v1/wakes/batch HTTP/1.1\r\n\(head)\(type)Transfer-Encoding: chunked\r\n\r\n"
                + "1;x=y\r\n[\r\n\(size)\r\n\(body)\r\n1\r\n]\r\n0\r\nX-Trailer: a\r\n\r\n",
            "POST /v1/wakes/multicast HTTP/1.1\r\n\(head)\(type)"
                + "Content-Length: \(multicast.utf8.count)\r\n\r\n\(multicast)",
            "DELETE /v1/wakes/0198f1d0-0000-7000-8000-000000000000 HTTP/1.1\r\n\(head)\r\n",
        ]
    }

    private static let tokens: [String] = [
        "\r", "\n", "\r\n", "\r\n\r\n", " ", "\t", "\0", ":", "/", "//", "?", "#", "%", "%00", ",",
        ";", "\"", "\u{7f}", "é", "*", "Host: other\r\n", "Content-Length: 5\r\n",
        "Content-Length: -1\r\n", "Content-Length: 18446744073709551616\r\n",
        "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: identity, chunked\r\n",
        "Connection: close\r\n", "Connection: keep-alive\r\n", "Expect: 100-continue\r\n",
        "Connection: Upgrade\r\nUpgrade: h2c\r\n", "Upgrade: websocket\r\n", "TE: trailers\r\n",
        " folded\r\n", "HTTP/1.0", "HTTP/1.1", "HTTP/2.0", "HTTP/9.9", "0\r\n\r\n",
        "ffffffffffffffff\r\n", "-1\r\n", "GET ", "POST ", "OPTIONS * ", "CONNECT a:1 ", "PRI * ",
        "http://", "https://[::1]/", "..", "/../", "\u{16}\u{3}\u{1}",
    ]

    private static func mutate(_ bytes: inout [UInt8], with generator: inout SeededGenerator) {
        let place = generator.below(bytes.count + 1)
        switch generator.below(8) {
        case 0, 1, 2: bytes.insert(contentsOf: Array(generator.pick(tokens).utf8), at: place)
        case 3:
            let end = min(bytes.count, place + 1 + generator.below(12))
            bytes.removeSubrange(place..<end)
        case 4 where place < bytes.count: bytes[place] = UInt8(generator.below(256))
        case 5 where place < bytes.count: bytes[place] ^= 1 << UInt8(generator.below(8))
        case 6:
            let end = min(bytes.count, place + generator.below(80))
            bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
        case 7 where generator.chance(oneIn: 4):
            let letter = UInt8(generator.below(256))
            bytes.insert(
                contentsOf: Array(repeating: letter, count: 1 << generator.below(17)), at: place)
        default: break
        }
    }

    /// A listener that has not closed the connection by then hangs.
    private static let patienceSeconds = 60

    /// What it took the listener too long to do.
    private struct Hang: Error {}

    /// Sends it all and reads until the listener closes. Whether it did so with a reset, which may
    /// have cut off the answer.
    func run(port: Int) async throws -> (answer: [UInt8], wasReset: Bool) {
        try await withCheckedThrowingContinuation { continuation in
            // The calls block, so they have a thread of their own.
            Thread.detachNewThread { continuation.resume(with: Result { try talk(port) }) }
        }
    }

    private func talk(_ port: Int) throws -> (answer: [UInt8], wasReset: Bool) {
        let descriptor = try LoopbackSocket.connect(
            port: port, patienceSeconds: Self.patienceSeconds)
        defer { close(descriptor) }
        var isOpen = true
        for piece in pieces where isOpen {
            var sent = 0
            while sent < piece.count {
                let count = piece[sent...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else {
                    isOpen = false
                    break
                }
                sent += count
            }
            sched_yield()
        }
        if isEnded { shutdown(descriptor, Int32(SHUT_WR)) }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return (answer, false) }
            if count < 0 {
                guard errno == EAGAIN || errno == EWOULDBLOCK else { return (answer, true) }
                throw Hang()
            }
            answer += buffer[..<count]
        }
    }
}

/// Whether bytes are answers of HTTP/1.1, one after the other, as a strict client reads them.
private enum AnswerCheck {
    /// What is wrong; `nil` for nothing. After a reset the last answer may lack its end.
    static func fault(of bytes: [UInt8], wasReset: Bool) -> String? {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else {
                return wasReset ? nil : "A head does not end."
            }
            let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
                .components(separatedBy: "\r\n")
            rest = rest[end.upperBound...]
            let words = lines[0].split(
                separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            guard words.count == 3, words[0] == "HTTP/1.1", words[1].utf8.count == 3,
                let status = Int(words[1])
            else { return "A status line is none: \(lines[0].debugDescription)" }
            if status >= 500 { return "The status is \(status)." }
            var fields: [String: String] = [:]
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
                    !line.hasPrefix(" ")
                else { return "A header field is none: \(line.debugDescription)" }
                let name = line[..<colon].lowercased()
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                guard fields.updateValue(value, forKey: name) == nil else {
                    return "Duplicate header field \(name)."
                }
            }
            if status < 200 || status == 204 || status == 304 { continue }
            if let length = fields["content-length"] {
                guard let count = Int(length), fields["transfer-encoding"] == nil else {
                    return "The length of a body is said in two ways, or is none: \(fields)"
                }
                guard count <= rest.count else { return wasReset ? nil : "A body does not end." }
                rest = rest.dropFirst(count)
            } else if fields["transfer-encoding"] == "chunked" {
                guard let end = endOfChunks(rest) else {
                    return wasReset ? nil : "The chunks of a body do not end."
                }
                rest = rest[end...]
            } else {
                return "An answer does not say where it ends: \(fields)"
            }
        }
        return nil
    }

    private static func endOfChunks(_ bytes: ArraySlice<UInt8>) -> Int? {
        var rest = bytes
        while let end = rest.firstRange(of: Array("\r\n".utf8)) {
            let digits = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            guard let count = Int(digits, radix: 16), count >= 0 else { return nil }
            rest = rest[end.upperBound...]
            guard rest.count >= count + 2 else { return nil }
            rest = rest.dropFirst(count)
            guard rest.prefix(2) == Array("\r\n".utf8)[...] else { return nil }
            rest = rest.dropFirst(2)
            if count == 0 { return rest.startIndex }
        }
        return nil
    }
}
