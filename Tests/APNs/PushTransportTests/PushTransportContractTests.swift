// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import PushTransport
import Synchronization
import Testing
import TransportTestKit
import WaitKit
import WakeModel

extension ServerTests {
    /// The contract of the port, for every transport there is.
    @Suite("Contract of PushTransport", .timeLimit(.minutes(10)))
    struct PushTransportContractTests {
        @Test("a push arrives as it was, and its answer comes back", arguments: TransportMaker.all)
        func answer(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                let outcome = await bench.send(1)
                let answer = try outcome.get()
                #expect(answer.status == 200)
                #expect(answer.apnsID == TestPush.id(1))
                #expect(answer.apnsUniqueID != nil)
                #expect(answer.body.isEmpty)

                let push = try #require(bench.simulator.receivedPushes.first)
                let pseudo = push.headers.filter { $0.name.hasPrefix(":") }.map(\.name)
                #expect(Set(pseudo) == [":method", ":scheme", ":authority", ":path"])
                #expect(push.headers.prefix(4).allSatisfy { $0.name.hasPrefix(":") })
                #expect(push[":method"] == "POST")
                #expect(push[":scheme"] == "https")
                #expect(push[":path"] == "/3/device/" + TestPush.token(1))
                #expect(push[":authority"] == "127.0.0.1:\(bench.simulator.port)")
                let sent = push.headers.filter { !$0.name.hasPrefix(":") }
                let request = TestPush.request(1)
                for block in [request.sharedHeaders.fields, request.headers] {
                    let names = Set(block.map(\.name))
                    let seen = sent.filter { names.contains($0.name) }
                    #expect(seen.map(\.name) == block.map(\.name))
                    #expect(seen.map(\.value) == block.map(\.value))
                }
                let own = Set((request.sharedHeaders.fields + request.headers).map(\.name))
                let added = Set(sent.map(\.name)).subtracting(own)
                #expect(added.isSubset(of: ["content-length", "user-agent"]), "\(added)")
                #expect(push["user-agent"] == "rouse")
                #expect(push.body == request.body)
            }
        }

        @Test("an IPv6 address is a host like any other", arguments: TransportMaker.all)
        func internetProtocol6(maker: TransportMaker) async throws {
            let server = try await HostileServer(on: Socket.listening(on: "::1")) { $0.acceptAll() }
            defer { server.close() }
            var reach = TransportConfiguration(host: "::1")
            reach.port = server.port
            reach.trust = .pem(try server.certificate.pem)
            reach.proxy = .none
            let inbox = Inbox()
            let transport = try maker.make(reach, inbox.sink)
            transport.submit([TestPush.submission(1)])
            #expect(await inbox.outcome(of: 1).label == "200")
            await transport.shutDown(gracePeriod: .zero)
        }

        @Test("a refusal comes back with its body", arguments: TransportMaker.all)
        func refusal(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                bench.simulator.inject(Fault(.reject(.badDeviceToken), count: 1))
                let answer = try await bench.send(1).get()
                #expect(answer.status == 400)
                #expect(answer.body == Array(#"{"reason":"BadDeviceToken"}"#.utf8))
            }
        }

        @Test("bodies of many sizes arrive byte for byte", arguments: TransportMaker.all)
        func bodies(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                let sizes = [1, 2, 127, 128, 1000, 4096, 5120]
                for size in sizes {
                    let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                    bench.transport.submit([
                        TestPush.submission(
                            UInt64(size), of: TestPush.request(UInt64(size), body: body),
                            timeout: .seconds(10))
                    ])
                    _ = await bench.inbox.outcome(of: UInt64(size))
                    #expect(bench.simulator.receivedPushes.last?.body == body)
                }
            }
        }

        @Test("a body that is empty is not sent", arguments: TransportMaker.all)
        func emptyBody(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                let request = TestPush.request(1, body: [])
                bench.transport.submit(TestPush.submission(1, of: request, timeout: .seconds(5)))
                #expect(await bench.inbox.outcome(of: 1).label == "other (not-sent)")
                #expect(bench.simulator.counters.requests == 0)
            }
        }

        @Test("each of many is answered once, and arrives once", arguments: TransportMaker.all)
        func batches(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                for start in stride(from: 0, to: 2000, by: 250) {
                    bench.transport.submit(TestPush.batch(start..<start + 250))
                }
                bench.transport.submit([])
                await bench.inbox.waitForCount(2000)
                #expect(bench.inbox.count(status: 200) == 2000)
                #expect(bench.inbox.outcomes.count == 2000)
                #expect(Set(bench.inbox.outcomes.keys) == Set(0..<2000))
                let paths = bench.simulator.receivedPushes.compactMap(\.deviceTokenHex)
                #expect(paths.count == 2000 && Set(paths).count == 2000)
                let gauges = bench.transport.gauges
                #expect(gauges.queued == 0 && gauges.inFlight == 0)
                #expect((1...4).contains(gauges.connectionsOpened))
            }
        }

        @Test("submitting from the sink is fine", arguments: TransportMaker.all)
        func submitFromSink(maker: TransportMaker) async throws {
            let inbox = Inbox()
            try await withBench(maker) { bench in
                var reach = TransportConfiguration(host: "127.0.0.1")
                reach.port = bench.simulator.port
                reach.trust = .pem(bench.simulator.certificateAuthorityPEM)
                reach.proxy = .none
                let chain = Chain()
                let transport = try maker.make(reach) { batch in
                    inbox.sink(batch)
                    for completion in batch where completion.id < 50 {
                        chain.submit(completion.id + 1)
                    }
                }
                chain.transport = transport
                transport.submit([TestPush.submission(1)])
                #expect(await inbox.outcome(of: 50).label == "200")
                await transport.shutDown(gracePeriod: .zero)
            }
        }

        @Test("ids may come back once they are answered", arguments: TransportMaker.all)
        func reusedIDs(maker: TransportMaker) async throws {
            try await withBench(maker, reusesIDs: true) { bench in
                bench.transport.submit([TestPush.submission(7, timeout: .seconds(2))])
                await bench.inbox.waitForCount(1)
                // The first one's deadline passes while the second one is in flight.
                bench.simulator.inject(Fault(.delay(milliseconds: 2500), count: 1))
                bench.transport.submit([TestPush.submission(7, timeout: .seconds(10))])
                await bench.inbox.waitForCount(2)
                #expect(bench.inbox.outcomes[7]?.map(\.label) == ["200", "200"])
            }
        }

        // MARK: Cancellation

        @Test(
            "cancelled in flight: unknown, and no second completion", arguments: TransportMaker.all)
        func cancelInFlight(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                _ = await bench.send(1)
                bench.simulator.inject(Fault(.neverAnswer, count: 1))
                bench.transport.submit([TestPush.submission(2)])
                await bench.simulator.waitForPushes(2)
                bench.transport.cancel(2)
                #expect(await bench.inbox.outcome(of: 2).label == "cancelled (unknown)")
                #expect(await bench.send(3).label == "200")
                #expect(bench.transport.gauges.connectionsOpened == 1)
                bench.transport.cancel(3)
                bench.transport.cancel(2)
                #expect(await bench.send(4).label == "200")
                #expect(bench.inbox.order == [1, 2, 3, 4])
            }
        }

        @Test("cancelled while queued: not sent, and never arrives", arguments: TransportMaker.all)
        func cancelQueued(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                // The first one holds the only stream, because nothing was answered yet.
                bench.simulator.inject(Fault(.neverAnswer, count: 1))
                bench.transport.submit(TestPush.batch(1...3))
                bench.transport.cancel(2)
                #expect(await bench.inbox.outcome(of: 2).label == "cancelled (not-sent)")
                await bench.simulator.waitForPushes(1)
                bench.transport.cancel(1)
                #expect(await bench.inbox.outcome(of: 3).label == "200")
                #expect(bench.inbox.order.first == 2)
                #expect(bench.arrivals(of: 2) == 0)
            }
        }

        @Test("a cancellation is of what came before it", arguments: TransportMaker.all)
        func cancelBefore(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                for id in UInt64(1)...50 {
                    bench.transport.cancel(id)
                    bench.transport.submit([TestPush.submission(id)])
                }
                await bench.inbox.waitForCount(50)
                #expect(bench.inbox.count(status: 200) == 50)
            }
        }

        // MARK: Deadlines

        @Test("a deadline in flight: timed out, unknown", arguments: TransportMaker.all)
        func deadlineInFlight(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                bench.simulator.inject(Fault(.neverAnswer, count: 1))
                let clock = ContinuousClock()
                let start = clock.now
                #expect(
                    await bench.send(1, timeout: .milliseconds(400)).label == "timed-out (unknown)")
                let taken = clock.now - start
                #expect(taken >= .milliseconds(390) && taken < .seconds(10), "\(taken)")
            }
        }

        @Test("a deadline in the queue: timed out, not sent", arguments: TransportMaker.all)
        func deadlineQueued(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                bench.simulator.inject(Fault(.neverAnswer, count: 1))
                bench.transport.submit([TestPush.submission(1)])
                await bench.simulator.waitForPushes(1)
                bench.transport.submit([TestPush.submission(2, timeout: .milliseconds(100))])
                #expect(await bench.inbox.outcome(of: 2).label == "timed-out (not-sent)")
                bench.transport.cancel(1)
                #expect(await bench.inbox.outcome(of: 1).label == "cancelled (unknown)")
                #expect(await bench.send(3).label == "200")
                #expect(bench.arrivals(of: 2) == 0)
            }
        }

        @Test("no time at all: timed out, not sent", arguments: TransportMaker.all)
        func noTime(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                _ = await bench.send(1)
                for (id, timeout) in [(2, Duration.zero), (3, .seconds(-5))] as [(UInt64, Duration)]
                {
                    #expect(await bench.send(id, timeout: timeout).label == "timed-out (not-sent)")
                }
                #expect(bench.simulator.counters.requests == 1)
            }
        }

        @Test("a deadline beyond all time does no harm", arguments: TransportMaker.all)
        func endlessTime(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                #expect(await bench.send(1, timeout: .seconds(Int64.max)).label == "200")
            }
        }

        // MARK: Queue

        @Test(
            "a full queue refuses at once, and only what is too much", arguments: TransportMaker.all
        )
        func queueFull(maker: TransportMaker) async throws {
            try await withBench(maker, transport: { $0.maximumQueued = 10 }) { bench in
                bench.simulator.inject(Fault(.delay(milliseconds: 300), count: 1))
                bench.transport.submit([TestPush.submission(1)])
                await bench.simulator.waitForPushes(1)
                bench.transport.submit(TestPush.batch(2...21))
                await bench.inbox.waitForCount(10)
                #expect(bench.inbox.failures == ["queue-full (not-sent)": 10])
                await bench.inbox.waitForCount(21)
                #expect(bench.inbox.count(status: 200) == 11)
            }
        }

        @Test("what is urgent goes first", arguments: TransportMaker.all)
        func urgent(maker: TransportMaker) async throws {
            try await withBench(
                maker, simulator: { $0.maxConcurrentStreams = 1 },
                transport: {
                    $0.maximumConnections = 1
                    $0.maximumStreamsPerConnection = 1
                }
            ) { bench in
                bench.simulator.inject(Fault(.delay(milliseconds: 200), count: 1))
                bench.transport.submit([TestPush.submission(1)])
                await bench.simulator.waitForPushes(1)
                bench.transport.submit(TestPush.batch(2...5))
                bench.transport.submit((6...8).map { TestPush.submission($0, isUrgent: true) })
                await bench.inbox.waitForCount(8)
                let arrived = bench.simulator.receivedPushes.compactMap(\.deviceTokenHex)
                #expect(arrived == [1, 6, 7, 8, 2, 3, 4, 5].map { TestPush.token($0) })
            }
        }

        // MARK: Replacement

        @Test(
            "replaced connections finish what they have; new ones take the rest",
            arguments: TransportMaker.all)
        func replace(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                _ = await bench.send(1)
                bench.simulator.inject(Fault(.delay(milliseconds: 1500), count: 1))
                bench.transport.submit([TestPush.submission(2)])
                await bench.simulator.waitForPushes(2)
                bench.transport.replaceConnections()
                #expect(await bench.send(3).label == "200")
                #expect(bench.inbox.order == [1, 3])
                #expect(await bench.inbox.outcome(of: 2).label == "200")
                #expect(bench.simulator.receivedPushes.map(\.connection) == [1, 1, 2])
                #expect(bench.transport.gauges.connectionsOpened == 2)
                let isClosed = await eventually {
                    bench.simulator.counters.connectionsOpen == 1
                        && bench.transport.gauges.connections == 1
                }
                #expect(isClosed)
            }
        }

        // MARK: Shutdown

        @Test("with a grace period what was taken is answered", arguments: TransportMaker.all)
        func shutdownDrains(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                bench.transport.submit(TestPush.batch(1...500))
                await bench.transport.shutDown(gracePeriod: .seconds(10))
                #expect(bench.inbox.count(status: 200) == 500)
                #expect(bench.simulator.counters.completeRequests == 500)
                let isClosed = await eventually { bench.simulator.counters.connectionsOpen == 0 }
                #expect(isClosed)
            }
        }

        @Test(
            "without one each learns whether it may have been sent", arguments: TransportMaker.all)
        func shutdownNow(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                bench.simulator.inject(Fault(.neverAnswer))
                bench.transport.submit(TestPush.batch(1...5))
                await bench.simulator.waitForPushes(1)
                #expect(await eventually { bench.transport.gauges.inFlight == 1 })
                #expect(bench.transport.gauges.queued == 4)
                let clock = ContinuousClock()
                let start = clock.now
                await bench.transport.shutDown(gracePeriod: .zero)
                #expect(clock.now - start < .seconds(10))
                #expect(
                    bench.inbox.failures == ["shut-down (unknown)": 1, "shut-down (not-sent)": 4])
                #expect(bench.inbox.outcomes[1]?.first?.label == "shut-down (unknown)")
            }
        }

        @Test("a grace period that is too short ends", arguments: TransportMaker.all)
        func shutdownGraceEnds(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                bench.simulator.inject(Fault(.neverAnswer))
                bench.transport.submit(TestPush.batch(1...1))
                await bench.simulator.waitForPushes(1)
                let clock = ContinuousClock()
                let start = clock.now
                await bench.transport.shutDown(gracePeriod: .milliseconds(300))
                #expect(clock.now - start >= .milliseconds(290))
                #expect(clock.now - start < .seconds(10))
                #expect(bench.inbox.failures == ["shut-down (unknown)": 1])
            }
        }

        @Test(
            "a second shutdown waits for the first, and never lengthens it",
            arguments: TransportMaker.all)
        func shutdownTwice(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                bench.simulator.inject(Fault(.neverAnswer))
                bench.transport.submit(TestPush.batch(1...1))
                await bench.simulator.waitForPushes(1)
                let clock = ContinuousClock()
                let start = clock.now
                async let first: Void = bench.transport.shutDown(gracePeriod: .milliseconds(300))
                try await elapse(.milliseconds(50))
                await bench.transport.shutDown(gracePeriod: .seconds(30))
                await first
                #expect(clock.now - start < .seconds(10))
                await bench.transport.shutDown(gracePeriod: .seconds(30))
                #expect(bench.inbox.order == [1])
            }
        }

        @Test("after shutdown each submission is refused, not lost", arguments: TransportMaker.all)
        func submitAfterShutdown(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                _ = await bench.send(1)
                await bench.transport.shutDown(gracePeriod: .zero)
                bench.transport.submit(TestPush.batch(2...4))
                bench.transport.cancel(2)
                bench.transport.replaceConnections()
                await bench.inbox.waitForCount(4)
                #expect(bench.inbox.failures == ["shut-down (not-sent)": 3])
            }
        }

        @Test(
            "after shutdown a sink may submit again as often as it likes",
            arguments: TransportMaker.all)
        func submitFromSinkAfterShutdown(maker: TransportMaker) async throws {
            let last: TransportRequest.ID = 100_000
            let inbox = Inbox()
            let chain = Chain()
            let transport = try maker.make(TransportConfiguration(host: "127.0.0.1")) { batch in
                inbox.sink(batch)
                for completion in batch where completion.id < last {
                    chain.submit(completion.id + 1)
                }
            }
            chain.transport = transport
            await transport.shutDown(gracePeriod: .zero)
            transport.submit([TestPush.submission(1)])
            #expect(inbox.order.elementsEqual(1...last))
            #expect(inbox.failures == ["shut-down (not-sent)": Int(last)])
            chain.transport = nil
        }

        @Test("a transport that is let go ends by itself", arguments: TransportMaker.all)
        func letGo(maker: TransportMaker) async throws {
            let simulator = try await APNsSimulator.start()
            let inbox = Inbox()
            do {
                var reach = TransportConfiguration(host: "127.0.0.1")
                reach.port = simulator.port
                reach.trust = .pem(simulator.certificateAuthorityPEM)
                reach.proxy = .none
                let transport = try maker.make(reach, inbox.sink)
                transport.submit([TestPush.submission(1)])
                _ = await inbox.outcome(of: 1)
            }
            #expect(await eventually { simulator.counters.connectionsOpen == 0 })
            try await simulator.shutdown()
        }

        @Test(
            "what is submitted as the transport ends is certainly not sent, and no old answer",
            arguments: TransportMaker.all)
        func submitAsItEnds(maker: TransportMaker) async throws {
            let simulator = try await APNsSimulator.start()
            let inbox = Inbox()
            let chain = Chain()
            var reach = TransportConfiguration(host: "127.0.0.1")
            reach.port = simulator.port
            reach.trust = .pem(simulator.certificateAuthorityPEM)
            reach.proxy = .none
            chain.transport = try maker.make(reach) { batch in
                // On the transport's thread: it finds the pushes and its end in one turn, beside a
                // connection with room and handles that have carried an answer.
                if batch.contains(where: { $0.id == 20 }) {
                    chain.transport?.submit(TestPush.batch(21...70))
                    chain.transport = nil
                }
                inbox.sink(batch)
            }
            for id in 1...20 as ClosedRange<TransportRequest.ID> {
                chain.submit(id)
                #expect(await inbox.outcome(of: id).label == "200")
            }
            await inbox.waitForCount(70)
            #expect(inbox.failures == ["shut-down (not-sent)": 50])
            #expect(await eventually { simulator.counters.connectionsOpen == 0 })
            #expect(simulator.counters.completeRequests == 20)
            try await simulator.shutdown()
        }
    }
}

/// A transport that its own sink can reach.
private final class Chain: Sendable {
    private let box = Mutex<(any PushTransport)?>(nil)

    var transport: (any PushTransport)? {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }

    func submit(_ id: TransportRequest.ID) { transport?.submit([TestPush.submission(id)]) }
}
