// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeModel

@Suite("What every store keeps to: what it believes of devices and of APNs")
struct DeviceTruthContractTests {
    private let queue = WakeQueueKey(app: Samples.app, kind: .background)

    private func register(at instant: WallInstant, _ connection: Counter) async throws {
        _ = try await connection.store.perform(
            ReportDevice(
                .registered(at: instant), of: Samples.deviceToken(), in: [queue], makes: true,
                at: connection.now, under: connection.rules))
    }

    private func view(_ connection: Counter) async throws -> DeviceView {
        try #require(
            try await connection.store.perform(
                FindDevices(
                    Samples.deviceToken(), in: [queue], at: connection.now, under: connection.rules
                )
            ).first)
    }

    @Test(
        "A registration in the future counts as one of now, so that a later 410 still counts",
        arguments: StoreKind.allCases)
    func registeredAhead(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let ahead = connection.now.advanced(bySeconds: 10 * 365 * 86_400)
            try await register(at: ahead, connection)
            #expect(try await view(connection).registeredAt == connection.now)
            // An earlier one, which came late, takes nothing back.
            let earlier = connection.now.advanced(bySeconds: -5)
            try await register(at: earlier, connection)
            #expect(try await view(connection).registeredAt == connection.now)
            let later = connection.later(60)
            let refusal = Refusal(
                status: 410, reason: .unregistered,
                tokenDeadSince: connection.now.advanced(bySeconds: 30))
            let claim = try await later.claimOne(Samples.wake(at: later.now))
            try await later.settle(
                claim, .end(.undeliverable(refusal)), attempt: .refused(refusal))
            #expect(try await view(connection).deadSince == refusal.tokenDeadSince)
        }
    }

    @Test(
        "A 410 that does not say since when kills only a token that was never registered",
        arguments: StoreKind.allCases)
    func undatedDeadToken(_ kind: StoreKind) async throws {
        let refusal = Refusal(status: 410, reason: nil)
        try await kind.withCounter { (connection) async throws in
            try await register(at: connection.now, connection)
            let later = connection.later(3_600)
            for (device, isDead) in [(7, false), (8, true)] as [(UInt64, Bool)] {
                let wake = Samples.wake(at: later.now, device: device)
                let answer = try await later.settle(
                    try await later.claimOne(wake), .end(.undeliverable(refusal)),
                    attempt: .refused(refusal))
                #expect(
                    answer.ended.map(\.end)
                        == [isDead ? .undeliverable(refusal) : .rejected(refusal)])
            }
            #expect(try await view(later).deadSince == nil)
            let feed = try await later.store.perform(ReadFeedback(after: 0, limit: 10))
            #expect(feed.map(\.deviceToken) == [Samples.deviceToken(8)])
        }
    }

    @Test(
        "A token of another topic is dead for this one until it is registered",
        arguments: StoreKind.allCases)
    func wrongTopic(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let refusal = Refusal(status: 400, reason: .deviceTokenNotForTopic)
            let claim = try await connection.claimOne(Samples.wake())
            try await connection.settle(
                claim, .end(.undeliverable(refusal)), attempt: .refused(refusal))
            let feed = try await connection.store.perform(ReadFeedback(after: 0, limit: 10))
            #expect(feed.map(\.kind) == [.wrongTopic])
            let since = connection.now.advanced(bySeconds: 1)
            let next = try await connection.admitOne(Samples.wake(at: connection.later(2).now))
            #expect(next.decision == .suppressed(.deviceTokenDead(since: since)))
            let elsewhere = try await connection.admitOne(Samples.wake(app: Samples.otherApp))
            #expect(elsewhere.decision == .send)
            let later = connection.later(3)
            try await register(at: later.now, later)
            let alive = try await later.admitOne(Samples.wake(at: later.now))
            #expect(alive.decision == .send)
        }
    }

    @Test(
        "A launch in the future does not answer what was asked for after the real one",
        arguments: StoreKind.allCases)
    func launchAhead(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let claim = try await connection.claimOne(Samples.wake())
            try await connection.settleSent(claim)
            let behind = try await connection.admitOne(Samples.wake(at: connection.later(10).now))
            let later = connection.later(20)
            let outcome = try await later.store.confirm(
                [Receipt(id: claim.id, launchedAt: connection.later(300).now, hasSynced: true)],
                at: later.now, under: later.rules)
            #expect(outcome.answers == [.recorded] && outcome.ended.isEmpty)
            #expect(try await later.record(behind.id).state == .pending)
        }
    }

    @Test(
        "A launch is kept within what can be: after the send, before the receipt",
        arguments: StoreKind.allCases)
    func impossibleLaunches(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let later = connection.later(60)
            let year = Int64(365 * 86_400)
            for (device, said, kept) in [
                (1, later.now.advanced(bySeconds: year), later.now),
                (2, connection.now.advanced(bySeconds: -year), connection.now),
                (3, connection.now.advanced(bySeconds: 5), connection.now.advanced(bySeconds: 5)),
            ] as [(UInt64, WallInstant, WallInstant)] {
                let claim = try await connection.claimOne(Samples.wake(device: device))
                try await connection.settleSent(claim)
                let outcome = try await later.store.confirm(
                    [Receipt(id: claim.id, launchedAt: said)], at: later.now, under: later.rules)
                #expect(outcome.answers == [.recorded])
                #expect(try await later.record(claim.id).launchedAt == kept)
            }
        }
    }
}
