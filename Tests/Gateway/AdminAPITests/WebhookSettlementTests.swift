// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import Synchronization
import Testing
import WakeModel

@testable import AdminAPI

@Suite("Webhooks while the store fails", .timeLimit(.minutes(10)))
struct WebhookSettlementTests {
    /// A receiver that accepts everything; the store fails from the first request on.
    private final class Receiver: WebhookClient {
        private let count = Mutex(0)
        private let store: WatchfulStore

        init(breaking store: WatchfulStore) { self.store = store }

        var requestCount: Int { count.withLock { $0 } }

        func post(
            _ body: [UInt8], to endpoint: WebhookEndpoint, headers: [(name: String, value: String)]
        ) async -> Result<Int, WebhookFailure> {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 {
                store.fail(with: StoreFailure(kind: .unavailable, message: "a test"))
            }
            return .success(204)
        }
    }

    private let clock = ManualClock()
    private let store = WatchfulStore(InMemoryWakeStore())
    private let metrics = MetricsRegistry()
    private let receiver: Receiver

    init() { receiver = Receiver(breaking: store) }

    private func value(_ metric: String, _ label: String) -> String? {
        PrometheusText.page(of: metrics).split(separator: "\n")
            .first { $0.hasPrefix(metric + "{") && $0.contains(label) }?
            .split(separator: " ").last.map(String.init)
    }

    private var delivered: String? {
        value("rouse_webhook_deliveries_total", #"result="delivered""#)
    }

    /// Delivers one event, and calls `body` when its settlement has failed.
    private func deliver(_ body: () async -> Void) async throws {
        let endpoint = try WebhookEndpoint(
            url: "https://example.com/hook", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        var configuration = GatewayConfiguration(apps: [Samples.app])
        configuration.webhooks = [
            WebhookSubscription(endpoint: endpoint.id, kinds: Set(WebhookKind.allCases))
        ]
        let gateway = Gateway(
            configuration: configuration, store: store, sender: ScriptedSender(), clock: clock,
            logger: .silent)
        let worker = WebhookWorker(
            gateway: gateway, endpoint: endpoint, label: "example.com", client: receiver,
            metrics: metrics, logger: .silent)
        try await withRunning(gateway) { () async throws in
            while !gateway.readiness.isReady { await Task.yield() }
            _ = await gateway.accept(Samples.request())
            let run = Task { await worker.run() }
            await untilSettlementPauses()
            await body()
            while value("rouse_webhook_backlog", "") != "0" { await Task.yield() }
            run.cancel()
            await run.value
        }
    }

    private func untilSettlementPauses() async {
        let end = clock.now().advanced(byMilliseconds: WebhookWorker.settlementPauseMilliseconds)
        while !clock.isAwaited(at: end) { await Task.yield() }
    }

    private func passPause() {
        clock.advance(byMilliseconds: WebhookWorker.settlementPauseMilliseconds)
    }

    @Test("What was accepted is settled when the store works again, and not posted again")
    func later() async throws {
        try await deliver {
            passPause()
            await untilSettlementPauses()
            #expect((delivered ?? "0") == "0")
            store.fail(with: nil)
            passPause()
        }
        #expect(receiver.requestCount == 1)
        #expect(delivered == "1")
    }

    @Test("What is not settled when its lease ends is posted again, and counted once")
    func never() async throws {
        try await deliver {
            clock.advance(bySeconds: Int64(WebhookWorker.leaseSeconds))
            let end = clock.now().advanced(bySeconds: WebhookWorker.sleepSeconds)
            while !clock.isAwaited(at: end) { await Task.yield() }
            store.fail(with: nil)
            clock.advance(bySeconds: WebhookWorker.sleepSeconds)
        }
        #expect(receiver.requestCount == 2)
        #expect(delivered == "1")
    }
}
