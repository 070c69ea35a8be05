// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import Testing

@testable import AdminAPI

@Suite("The log of refusals", .timeLimit(.minutes(10)))
struct RefusalLogTests {
    private static func peer(_ number: Int) -> PeerAddress {
        PeerAddress(ipAddress: "192.0.\(number / 256).\(number % 256)")
    }

    @Test("A peer has a line at its first refusal, and one with a count for each interval")
    func lines() {
        let lines = RecordedLines()
        let log = RefusalLog(lines.logger, intervalSeconds: 60)
        let words = "requests without an accepted API key were refused"
        for _ in 0..<1_000 { log.note(Self.peer(1), status: 401) }
        #expect(lines.all == ["\(words) count=1 peer=192.0.0.1 status=401"])
        log.flush()
        #expect(lines.all.dropFirst() == ["\(words) count=999 peer=192.0.0.1 status=401"])
        // Whoever goes on has one line for each interval.
        for _ in 0..<7 { log.note(Self.peer(1), status: 401) }
        #expect(lines.all.count == 2)
        log.flush()
        log.flush()
        #expect(lines.all.dropFirst(2) == ["\(words) count=7 peer=192.0.0.1 status=401"])
        // Whoever has stopped is forgotten.
        log.flush()
        log.note(Self.peer(1), status: 401)
        #expect(lines.all.count == 4)
    }

    @Test("However many peers there are, lines and memory are bounded, and none is not counted")
    func manyPeers() {
        let lines = RecordedLines()
        let log = RefusalLog(lines.logger, intervalSeconds: 60)
        for number in 0..<10_000 { log.note(Self.peer(number), status: 401) }
        #expect(lines.all.count == RefusalLog.peerCount)
        log.flush()
        #expect(lines.all.count == RefusalLog.peerCount + 1)
        #expect(
            lines.all.last?.hasSuffix("count=\(10_000 - RefusalLog.peerCount) peer=others") == true)
    }

    @Test("Requests without a key are no lines of their own, over real sockets")
    func requests() async throws {
        let lines = RecordedLines()
        try await APIBench().serve(logger: lines.logger) { caller in
            for _ in 0..<20 {
                try expectProblem(
                    try await caller.send("GET", "/v1/stats", as: nil), .unauthorized)
            }
            let during = lines.all.filter { $0.contains("refused") || $0.hasPrefix("request") }
            #expect(during.count == 1 && during[0].contains("peer=127.0.0.1"), "\(during)")
            // A caller with a key that may not is told with its name, as before.
            try expectProblem(
                try await caller.send("GET", "/v1/stats", as: .device), .forbidden)
        }
        let told = lines.all.filter { $0.contains("status=403") }
        #expect(told.count == 1 && told[0].contains(" caller=device"), "\(told)")
        #expect(told.allSatisfy { $0.hasPrefix("request ") }, "\(told)")
        let counted = lines.all.filter { $0.contains("status=401") }
        #expect(counted.contains { $0.contains("count=19") }, "\(counted)")
    }
}
