// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import Testing
import WakeModel

@Suite("What every store keeps to: what it believes of devices and of APNs")
struct DeviceTruthContractTests {
    private let lane = Lane(app: Samples.app, kind: .background)

    private func register(at instant: WallInstant, _ desk: Counter) async throws {
        _ = try await desk.store.report(
            .registered(at: instant), of: Samples.deviceToken(), in: [lane], makes: true,
            at: desk.now, under: desk.rules)
    }

    private func view(_ desk: Counter) async throws -> DeviceView {
        try #require(
            try await desk.store.devices(
                Samples.deviceToken(), in: [lane], at: desk.now, under: desk.rules
            ).first)
    }

    @Test(
        "A registration in the future counts as one of now, so that a later 410 still counts",
        arguments: StoreKind.allCases)
    func registeredAhead(_ kind: StoreKind) async throws {
        try await kind.withCounter { (desk) async throws in
            let ahead = desk.now.advanced(bySeconds: 10 * 365 * 86_400)
            try await register(at: ahead, desk)
            #expect(try await view(desk).registeredAt == desk.now)
            // An earlier one, which came late, takes nothing back.
            let earlier = desk.now.advanced(bySeconds: -5)
            try await register(at: earlier, desk)
            #expect(try await view(desk).registeredAt == desk.now)
            let later = desk.later(60)
            let refusal = Refusal(
                status: 410, reason: .unregistered,
                tokenDeadSince: desk.now.advanced(bySeconds: 30))
            let claim = try await later.claimOne(Samples.wake(at: later.now))
            try await later.settle(
                claim, .end(.undeliverable(refusal)), attempt: .refused(refusal))
            #expect(try await view(desk).deadSince == refusal.tokenDeadSince)
        }
    }

    @Test(
        "A token of another topic is dead for this one until it is registered",
        arguments: StoreKind.allCases)
    func wrongTopic(_ kind: StoreKind) async throws {
        try await kind.withCounter { (desk) async throws in
            let refusal = Refusal(status: 400, reason: .deviceTokenNotForTopic)
            let claim = try await desk.claimOne(Samples.wake())
            try await desk.settle(claim, .end(.undeliverable(refusal)), attempt: .refused(refusal))
            let feed = try await desk.store.feedback(after: 0, limit: 10)
            #expect(feed.map(\.kind) == [.wrongTopic])
            let since = desk.now.advanced(bySeconds: 1)
            let next = try await desk.admitOne(Samples.wake(at: desk.later(2).now))
            #expect(next.decision == .suppressed(.deviceTokenDead(since: since)))
            let elsewhere = try await desk.admitOne(Samples.wake(app: Samples.otherApp))
            #expect(elsewhere.decision == .send)
            let later = desk.later(3)
            try await register(at: later.now, later)
            let alive = try await later.admitOne(Samples.wake(at: later.now))
            #expect(alive.decision == .send)
        }
    }

    @Test(
        "A launch in the future does not answer what was asked for after the real one",
        arguments: StoreKind.allCases)
    func launchAhead(_ kind: StoreKind) async throws {
        try await kind.withCounter { (desk) async throws in
            let claim = try await desk.claimOne(Samples.wake())
            try await desk.settleSent(claim)
            let behind = try await desk.admitOne(Samples.wake(at: desk.later(10).now))
            let later = desk.later(20)
            let outcome = try await later.store.confirm(
                [Receipt(id: claim.id, launchedAt: desk.later(300).now, hasSynced: true)],
                at: later.now, under: later.rules)
            #expect(outcome.answers == [.recorded] && outcome.ended.isEmpty)
            #expect(try await later.record(behind.id).state == .pending)
        }
    }

    @Test(
        "A launch is kept within what can be: after the send, before the receipt",
        arguments: StoreKind.allCases)
    func impossibleLaunches(_ kind: StoreKind) async throws {
        try await kind.withCounter { (desk) async throws in
            let later = desk.later(60)
            let year = Int64(365 * 86_400)
            for (device, said, kept) in [
                (1, later.now.advanced(bySeconds: year), later.now),
                (2, desk.now.advanced(bySeconds: -year), desk.now),
                (3, desk.now.advanced(bySeconds: 5), desk.now.advanced(bySeconds: 5)),
            ] as [(UInt64, WallInstant, WallInstant)] {
                let claim = try await desk.claimOne(Samples.wake(device: device))
                try await desk.settleSent(claim)
                let outcome = try await later.store.confirm(
                    [Receipt(id: claim.id, launchedAt: said)], at: later.now, under: later.rules)
                #expect(outcome.answers == [.recorded])
                #expect(try await later.record(claim.id).launchedAt == kept)
            }
        }
    }
}
