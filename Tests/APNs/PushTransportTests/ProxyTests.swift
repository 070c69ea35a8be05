// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import PushTransport
import Testing
import TransportTestKit
import WakeModel

extension ServerTests {
    @Suite("HTTP CONNECT proxies", .timeLimit(.minutes(10)))
    struct ProxyTests {
        private func proxy(
            _ port: Int, user: String? = nil, password: String = ""
        ) -> TransportConfiguration.Proxy {
            .http(
                url: "http://127.0.0.1:\(port)",
                credentials: user.map { .init(user: $0, password: password) })
        }

        @Test(
            "pushes go through, with and without credentials", arguments: TransportMaker.all,
            [nil, "anna:pass:word"])
        func through(maker: TransportMaker, credentials: String?) async throws {
            let relay = Relay(.proxy(credentials: credentials))
            let user = credentials.map { _ in "anna" }
            try await withBench(
                maker,
                transport: {
                    $0.proxy = proxy(relay.port, user: user, password: "pass:word")
                }
            ) { bench in
                bench.transport.submit(TestPush.batch(1...300))
                await bench.inbox.waitForCount(300)
                #expect(bench.inbox.count(status: 200) == 300)
                let target = "127.0.0.1:\(bench.simulator.port)"
                #expect(!relay.targets.isEmpty && relay.targets.allSatisfy { $0 == target })
                #expect(bench.simulator.counters.connectionsOpened == relay.targets.count)
            }
            relay.close()
        }

        @Test(
            "wrong credentials: proxy, not sent, and the password is in no word",
            arguments: TransportMaker.all)
        func refused(maker: TransportMaker) async throws {
            let relay = Relay(.proxy(credentials: "anna:right"))
            try await withBench(
                maker,
                transport: {
                    $0.proxy = proxy(relay.port, user: "anna", password: "wrong-secret")
                }
            ) { bench in
                let failure = await bench.send(1).failure
                #expect(failure?.label == "proxy (not-sent)")
                #expect(failure?.detail.contains("407") == true)
                #expect(failure?.description.contains("secret") == false)
                #expect(bench.simulator.counters.connectionsOpened == 0)
            }
            relay.close()
        }

        @Test("a proxy that is not there: proxy, not sent", arguments: TransportMaker.all)
        func unreachable(maker: TransportMaker) async throws {
            try await withBench(maker, transport: { $0.proxy = proxy(Socket.freePort()) }) {
                bench in
                #expect(await bench.send(1).label == "proxy (not-sent)")
            }
            try await withBench(
                maker,
                transport: {
                    $0.proxy = .http(url: "http://nowhere.invalid:3128", credentials: nil)
                }
            ) { bench in
                #expect(await bench.send(1).label == "proxy (not-sent)")
            }
        }

        @Test(
            "a proxy that dies takes its connection with it, and comes back",
            arguments: TransportMaker.all)
        func dies(maker: TransportMaker) async throws {
            let relay = Relay(.proxy(credentials: nil))
            try await withBench(maker, transport: { $0.proxy = proxy(relay.port) }) { bench in
                #expect(await bench.send(1).label == "200")
                bench.simulator.inject(Fault(.neverAnswer, count: 1))
                bench.transport.submit([TestPush.submission(2)])
                await bench.simulator.waitForPushes(2)
                relay.resetClients()
                #expect(await bench.inbox.outcome(of: 2).label == "connection-lost (unknown)")
                #expect(await bench.send(3).label == "200")
                #expect(bench.arrivals(of: 2) == 1)
            }
            relay.close()
        }
    }
}
