// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import PushTransport
import SeedKit
import Testing
import TransportTestKit
import WakeModel

extension ServerTests {
    @Suite("Chaos by seed", .timeLimit(.minutes(10)))
    struct ChaosTests {
        @Test(
            "whatever happens, each is answered once and arrives at most once",
            arguments: TransportMaker.all, 1...4)
        func chaos(maker: TransportMaker, seed: Int) async throws {
            print("chaos seed \(seed)")
            var random = SeededGenerator(seed: UInt64(seed))
            try await withBench(
                maker,
                simulator: {
                    $0.seed = UInt64(seed)
                    $0.log = .last(20_000)
                },
                transport: {
                    $0.maximumConnections = 3
                    $0.maximumStreamsPerConnection = 60
                }
            ) { bench in
                // A simulator that logs a push and then refuses it invites the transport to send it
                // again, so refusals come before the body, and every GOAWAY is honest.
                let faults: [(Fault.Kind, Fault.Stage, Double)] = [
                    (.resetStream(.internalError), .answer, 0.01),
                    (.resetStream(.refusedStream), .headers, 0.0005),
                    (.delay(milliseconds: 30), .answer, 0.05), (.neverAnswer, .answer, 0.001),
                    (.reject(.tooManyRequests), .answer, 0.01), (.closeConnection, .answer, 0.0003),
                    (.goAway(.init(lastStream: .highestSeen)), .answer, 0.0006),
                    (.closeConnection, .body, 0.0003), (.resetStream(.cancel), .headers, 0.002),
                    (.refuseTLS, .connection, 0.1), (.closeConnection, .connection, 0.1),
                ]
                for (kind, stage, share) in faults {
                    bench.simulator.inject(Fault(kind, for: .share(share), at: stage))
                }
                let total = 6000
                var next = 0
                while next < total {
                    let size = min(total - next, Int(random.next() % 200) + 1)
                    bench.transport.submit(
                        (next..<next + size).map { number in
                            let isHasty = random.chance(oneIn: 20)
                            return TestPush.submission(
                                UInt64(number),
                                timeout: .milliseconds(isHasty ? Int(random.next() % 40) : 3000),
                                isUrgent: random.chance(oneIn: 10))
                        })
                    for _ in 0..<size / 20 {
                        bench.transport.cancel(UInt64(next) + random.next() % UInt64(size))
                    }
                    if random.chance(oneIn: 30) { bench.transport.replaceConnections() }
                    next += size
                    if next > 1500 { await bench.inbox.waitForCount(next - 1500) }
                }
                await bench.transport.shutDown(gracePeriod: .milliseconds(Int(random.next() % 400)))
                #expect(bench.inbox.outcomes.count == total, "seed \(seed)")
                #expect(bench.inbox.answeredTwice == 0, "seed \(seed)")
                let arrivals = Dictionary(
                    grouping: bench.simulator.receivedPushes.compactMap(\.deviceTokenHex),
                    by: { $0 })
                #expect(arrivals.values.allSatisfy { $0.count == 1 }, "seed \(seed)")
                // What is said to be not sent never arrived, and what was answered did.
                for (id, outcomes) in bench.inbox.outcomes {
                    let arrived = arrivals[TestPush.token(id)] != nil
                    switch outcomes[0] {
                    case .failure(let failure) where failure.certainty == .notSent:
                        #expect(!arrived, "seed \(seed), \(id): \(failure)")
                    case .success(let response):
                        #expect(arrived, "seed \(seed), \(id): \(response)")
                    default: break
                    }
                }
                print(
                    "chaos seed \(seed):", bench.inbox.count(status: 200), bench.inbox.failures
                )
            }
        }
    }
}
