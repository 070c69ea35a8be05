// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import Testing
import WakeModel

@Suite("What is told of queues that stop and go on", .timeLimit(.minutes(10)))
struct AppHoldTests {
    private let store = WatchfulStore(InMemoryWakeStore())
    private let clock = ManualClock()

    private func configuration(_ apps: [AppIdentity]) -> GatewayConfiguration {
        var configuration = GatewayConfiguration(apps: apps)
        configuration.webhooks = Samples.rules.webhooks
        return configuration
    }

    private func gateway(_ sender: any WakeSender) -> Gateway {
        Gateway(
            configuration: configuration([Samples.app, Samples.otherApp]), store: store,
            sender: sender, clock: clock, logger: .silent)
    }

    /// The events about queues that were written so far, in their order.
    private func holds() async throws -> [AppHold] {
        let now = clock.now()
        return try await store.perform(
            ClaimWebhooks(of: Samples.endpoint, at: now, until: now, limit: 99)
        )
        .items.compactMap { if case .appHeld(let hold) = $0.event { hold } else { nil } }
    }

    private func queue(_ app: AppIdentity, _ kind: WakeKind = .background) -> WakeQueueKey {
        WakeQueueKey(app: app, kind: kind)
    }

    private static let refused = Samples.refusal(403, .invalidProviderToken)

    @Test("A queue that was held goes on with a resume, and that is told once")
    func resumed() async throws {
        let isMended = Flag()
        let gateway = gateway(
            ScriptedSender { _ in isMended.isSet ? Samples.accepted : Self.refused })
        try await withRunning(gateway) { () async throws in
            _ = await gateway.accept(Samples.request())
            await store.waitUntilSettled(1)
            try await eventually { try await holds().count == 1 }
            isMended.set()
            #expect(try await gateway.resume(Samples.app))
            await store.waitUntilSettled(2)
            try await eventually { try await holds().count == 2 }
        }
        let told = try await holds()
        #expect(told.map(\.isHeld) == [true, false])
        #expect(told.allSatisfy { $0.queue == queue(Samples.app) })
        #expect(told.last?.reason == "It was resumed.")
    }

    @Test("Queues that were held go on with a reload, unless somebody paused them")
    func reloaded() async throws {
        let gateway = gateway(ScriptedSender { _ in Self.refused })
        try await withRunning(gateway) { () async throws in
            for app in [Samples.app, Samples.otherApp] {
                _ = await gateway.accept(Samples.request(app: app))
            }
            await store.waitUntilSettled(2)
            try await eventually { try await holds().count == 2 }
            #expect(try await gateway.pause(Samples.otherApp))
            try await eventually { try await holds().count == 4 }
            gateway.reload(
                configuration([Samples.app, Samples.otherApp]), sender: ScriptedSender())
            await store.waitUntilSettled(3)
            try await eventually { try await holds().count == 5 }
            #expect(try await gateway.resume(Samples.otherApp))
            await store.waitUntilSettled(4)
            try await eventually { try await holds().count == 7 }
        }
        let goOn = try await holds().filter { !$0.isHeld }
        #expect(
            goOn.map(\.queue)
                == [queue(Samples.app)]
                + [.background, .voip].map { queue(Samples.otherApp, $0) })
        #expect(goOn.first?.reason == "The configuration was loaded again.")
    }

    @Test("A queue that was held and is not configured any more is no longer told as held")
    func removed() async throws {
        let gateway = gateway(ScriptedSender { _ in Self.refused })
        try await withRunning(gateway) { () async throws in
            _ = await gateway.accept(Samples.request())
            await store.waitUntilSettled(1)
            try await eventually { try await holds().count == 1 }
            gateway.reload(configuration([Samples.otherApp]), sender: ScriptedSender())
            #expect(gateway.readiness.isReady)
            try await eventually { try await holds().count == 2 }
        }
        let last = try await holds().last
        #expect(last?.queue == queue(Samples.app) && last?.isHeld == false)
        #expect(last?.reason == "The app is not configured any more.")
    }

    @Test("A queue that was held when the process ended is told once to go on, by the next one")
    func startedAgain() async throws {
        let first = gateway(ScriptedSender { _ in Self.refused })
        try await withRunning(first) { () async throws in
            _ = await first.accept(Samples.request())
            await store.waitUntilSettled(1)
            try await eventually { try await holds().count == 1 }
        }
        for _ in 1...2 {
            try await withRunning(gateway(ScriptedSender())) { () async throws in
                try await eventually { try await holds().count == 2 }
            }
        }
        let told = try await holds()
        #expect(told.map(\.isHeld) == [true, false])
        #expect(told.last?.queue == queue(Samples.app))
        #expect(told.last?.reason == "The gateway was started again.")
    }

    @Test("A start tells that a queue goes on whose app is gone, and of none that is paused")
    func startedWithout() async throws {
        let first = gateway(ScriptedSender { _ in Self.refused })
        try await withRunning(first) { () async throws in
            _ = await first.accept(Samples.request())
            await store.waitUntilSettled(1)
            #expect(try await first.pause(Samples.otherApp))
            try await eventually { try await holds().count == 3 }
        }
        let next = Gateway(
            configuration: configuration([Samples.otherApp]), store: store,
            sender: ScriptedSender(), clock: clock, logger: .silent)
        try await withRunning(next) { () async throws in
            try await eventually { try await holds().count == 4 }
            #expect(try await next.resume(Samples.otherApp))
            try await eventually { try await holds().count == 6 }
        }
        let goOn = try await holds().filter { !$0.isHeld }
        #expect(goOn.map(\.queue.app) == [Samples.app, Samples.otherApp, Samples.otherApp])
        #expect(goOn.first?.reason == "The app is not configured any more.")
    }

    @Test("A pause that is set while the gateway starts hides none that was set before")
    func pausedAtStart() async throws {
        let first = gateway(ScriptedSender())
        try await withRunning(first) { () async throws in
            #expect(try await first.pause(Samples.otherApp))
        }
        let sender = ScriptedSender()
        let next = gateway(sender)
        let isPaused = Flag()
        store.onceQueuesAreRead {
            // What was read does not know of this one.
            if (try? await next.pause(Samples.app)) == true { isPaused.set() }
        }
        try await withRunning(next) { () async throws in
            for app in [Samples.app, Samples.otherApp] {
                #expect(await next.accept(Samples.request(app: app)).admittedID != nil)
            }
            try await eventually {
                clock.advance(bySeconds: 1)
                return next.apps.allSatisfy { $0.pause != nil }
            }
            #expect(isPaused.isSet)
            #expect(try await next.resume(Samples.app))
            await store.waitUntilSettled(1)
        }
        #expect(sender.sent.map(\.app) == [Samples.app])
    }

    @Test("What the old sender is refused after a reload holds nothing")
    func lateRefusals() async throws {
        let late = LateSender(Self.refused)
        let gateway = gateway(late)
        try await withRunning(gateway) { () async throws in
            let gone = try #require(await gateway.accept(Samples.request()).admittedID)
            let kept = try #require(
                await gateway.accept(Samples.request(app: Samples.otherApp)).admittedID)
            try await eventually { late.sendCount == 2 }
            gateway.reload(configuration([Samples.otherApp]), sender: ScriptedSender())
            late.answer()
            // Both of the old sender's, and the second attempt, which is the new one's.
            await store.waitUntilSettled(3)
            #expect(gateway.readiness == Readiness(obstacles: []))
            try await eventually { try await gateway.record(of: kept)?.state == .sent }
            #expect(try await gateway.record(of: gone)?.state == .pending)
        }
        #expect(try await holds().isEmpty)
    }
}
