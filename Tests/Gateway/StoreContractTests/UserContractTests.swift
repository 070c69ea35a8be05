// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeModel

@Suite("What every store keeps to: the devices of users")
struct UserContractTests {
    private static let ordinary = WakeQueueKey(app: Samples.app, kind: .background)
    private static let calls = WakeQueueKey(app: Samples.app, kind: .voip)

    private func register(
        _ device: UInt64, _ user: UserChange, _ counter: Counter,
        in queue: WakeQueueKey = Self.ordinary, at instant: WallInstant? = nil
    ) async throws {
        _ = try await counter.store.perform(
            ReportDevice(
                .registered(at: instant ?? counter.now, user), of: Samples.deviceToken(device),
                in: [queue], makes: true, at: counter.now, under: counter.rules))
    }

    /// The devices of a user, as a list says and as a wake finds them, which must be the same.
    private func devices(
        _ user: UserID, _ counter: Counter, in queue: WakeQueueKey = Self.ordinary
    ) async throws -> Set<DeviceToken> {
        let listed = try await counter.store.perform(ListUserDevices(of: user, in: [queue]))
        let found = try await places(user, counter, in: queue).map(\.deviceToken)
        #expect(listed.map(\.deviceToken) == found)
        return Set(found)
    }

    private func places(
        _ user: UserID, _ counter: Counter, in queue: WakeQueueKey = Self.ordinary,
        key: IdempotencyKey? = nil
    ) async throws -> [UserResolution.Place] {
        let answer = try await counter.store.perform(
            ResolveUsers(
                [UserTarget(user: user, queue: queue, idempotency: key)], at: counter.now))
        guard case .devices(let places) = try #require(answer.first) else { return [] }
        return places
    }

    private func tokens(_ devices: UInt64...) -> Set<DeviceToken> {
        Set(devices.map { Samples.deviceToken($0) })
    }

    @Test(
        "A device is one user's at a time, for each app and kind by itself",
        arguments: StoreKind.allCases)
    func moving(_ kind: StoreKind) async throws {
        let ann = try UserID("u-ann")
        let bob = try UserID("Bob Ünlü 🙂")
        try await kind.withCounter { (counter) async throws in
            #expect(try await devices(ann, counter) == [])
            try await register(1, .user(ann), counter)
            try await register(2, .user(ann), counter)
            try await register(1, .user(ann), counter, in: Self.calls)
            #expect(try await devices(ann, counter) == tokens(1, 2))
            #expect(try await devices(ann, counter, in: Self.calls) == tokens(1))
            // Without a word of the user it stays; to another one it moves.
            try await register(1, .kept, counter)
            #expect(try await devices(ann, counter) == tokens(1, 2))
            let later = counter.later(60)
            try await register(1, .user(bob), later)
            #expect(try await devices(ann, later) == tokens(2))
            #expect(try await devices(bob, later) == tokens(1))
            #expect(try await devices(ann, later, in: Self.calls) == tokens(1))
            // A report of before comes late.
            try await register(1, .user(ann), later, at: counter.now)
            #expect(try await devices(bob, later) == tokens(1))
            try await register(1, .removed, later)
            #expect(try await devices(bob, later) == [])
            let both = [Self.ordinary, Self.calls]
            #expect(
                try await later.store.perform(ListUserDevices(of: ann, in: both)).count == 2)
            let view = try await later.store.perform(
                FindDevices(
                    Samples.deviceToken(2), in: both, at: later.now, under: later.rules))
            #expect(view.map(\.user) == [ann])
        }
    }

    @Test(
        "Background wakes and alerts have the same device tokens", arguments: StoreKind.allCases)
    func alerts(_ kind: StoreKind) async throws {
        let ann = try UserID("ann")
        let alerts = WakeQueueKey(app: Samples.app, kind: .alert)
        try await kind.withCounter { (counter) async throws in
            try await register(1, .user(ann), counter)
            try await register(1, .user(ann), counter, in: alerts)
            try await register(2, .user(ann), counter, in: alerts)
            try await register(3, .user(ann), counter)
            try await register(4, .user(ann), counter, in: Self.calls)
            for queue in [Self.ordinary, alerts] {
                let found = try await places(ann, counter, in: queue).map(\.deviceToken)
                #expect(found.count == 3 && Set(found) == tokens(1, 2, 3))
            }
            #expect(try await places(ann, counter, in: Self.calls).count == 1)
        }
    }

    @Test(
        "A dead token leaves, unless it was registered since", arguments: StoreKind.allCases)
    func dead(_ kind: StoreKind) async throws {
        let ann = try UserID("ann")
        try await kind.withCounter { (counter) async throws in
            for (device, deadAfter) in [(1, 30), (2, -30)] as [(UInt64, Int64)] {
                try await register(device, .user(ann), counter)
                let refusal = Refusal(
                    status: 410, reason: .unregistered,
                    tokenDeadSince: counter.now.advanced(bySeconds: deadAfter))
                let later = counter.later(60)
                let claim = try await later.claimOne(Samples.wake(at: later.now, device: device))
                try await later.settle(
                    claim, .end(.undeliverable(refusal)), attempt: .refused(refusal))
            }
            #expect(try await devices(ann, counter) == tokens(2))
            // What was said before it died does not bring it back; what is said later does.
            let later = counter.later(120)
            try await register(1, .user(ann), later, at: counter.now.advanced(bySeconds: 10))
            #expect(try await devices(ann, later) == tokens(2))
            try await register(1, .user(ann), later)
            #expect(try await devices(ann, later) == tokens(1, 2))
            _ = try await later.store.perform(
                ReportDevice(
                    .forget, of: Samples.deviceToken(1), in: [Self.ordinary], makes: false,
                    at: later.now, under: later.rules))
            #expect(try await devices(ann, later) == tokens(2))
        }
    }

    @Test("Registrations are removed, of a device or of all", arguments: StoreKind.allCases)
    func removing(_ kind: StoreKind) async throws {
        let ann = try UserID("ann")
        try await kind.withCounter { (counter) async throws in
            for device in 1...4 as ClosedRange<UInt64> {
                try await register(device, .user(ann), counter)
            }
            try await register(1, .user(ann), counter, in: Self.calls)
            func remove(_ device: UInt64?, _ queues: [WakeQueueKey]) async throws -> Int {
                try await counter.store.perform(
                    UnregisterUser(
                        ann, token: device.map { Samples.deviceToken($0) }, in: queues,
                        at: counter.now))
            }
            #expect(try await remove(9, [Self.ordinary, Self.calls]) == 0)
            #expect(try await remove(1, [Self.ordinary]) == 1)
            #expect(try await remove(1, [Self.ordinary]) == 0)
            #expect(try await devices(ann, counter) == tokens(2, 3, 4))
            #expect(try await remove(nil, [Self.ordinary]) == 3)
            #expect(try await devices(ann, counter) == [])
            #expect(try await devices(ann, counter, in: Self.calls) == tokens(1))
            #expect(try await remove(nil, [Self.ordinary, Self.calls]) == 1)
        }
    }

    @Test("With one device too many the oldest registration goes", arguments: StoreKind.allCases)
    func bound(_ kind: StoreKind) async throws {
        let ann = try UserID("ann")
        try await kind.withCounter { (counter) async throws in
            let most = UInt64(UserID.maximumDeviceCount)
            for device in 1...most {
                try await register(device, .user(ann), counter.later(Int64(device)))
            }
            let later = counter.later(1_000)
            try await register(1, .user(ann), later)
            try await register(most + 1, .user(ann), later)
            let found = try await devices(ann, later)
            #expect(found.count == UserID.maximumDeviceCount)
            #expect(found.isSuperset(of: tokens(1, 3, most + 1)))
            #expect(!found.contains(Samples.deviceToken(2)))
        }
    }

    @Test(
        "A request that comes again is for the devices of the first time",
        arguments: StoreKind.allCases)
    func repetition(_ kind: StoreKind) async throws {
        let ann = try UserID("ann")
        try await kind.withCounter { (counter) async throws in
            let key = IdempotencyKey(
                key: Array(repeating: 7, count: 32), request: Array(repeating: 1, count: 32),
                expiresAt: counter.now.advanced(bySeconds: 86_400))
            func ask() async throws -> [AdmissionResult] {
                let wakes = try await places(ann, counter, key: key).map { place in
                    let device = (1...9).first { Samples.deviceToken($0) == place.deviceToken }
                    var wake = Samples.wake(at: counter.now, device: device ?? 0)
                    wake.idempotency = place.idempotency
                    return wake
                }
                return try await counter.admit(wakes).admissions
            }
            func ids(_ results: [AdmissionResult]) -> [WakeID] {
                results.compactMap { result in
                    guard case .admitted(let wake) = result else { return nil }
                    return wake.id
                }
            }
            try await register(1, .user(ann), counter)
            try await register(2, .user(ann), counter)
            let first = try await ask()
            #expect(ids(first).count == 2)
            // One leaves, one moves away, two come.
            _ = try await counter.store.perform(
                ReportDevice(
                    .forget, of: Samples.deviceToken(1), in: [Self.ordinary], makes: false,
                    at: counter.now, under: counter.rules))
            try await register(2, .user(try UserID("bob")), counter)
            for device in [3, 4] as [UInt64] { try await register(device, .user(ann), counter) }
            let second = try await ask()
            #expect(ids(second) == ids(first))
            #expect(
                second.allSatisfy {
                    if case .admitted(let wake) = $0 { wake.isRepeated } else { false }
                })
            // Another request with the same key is none of them.
            let other = IdempotencyKey(
                key: key.key, request: Array(repeating: 2, count: 32), expiresAt: key.expiresAt)
            let target = UserTarget(user: ann, queue: Self.ordinary, idempotency: other)
            #expect(
                try await counter.store.perform(ResolveUsers([target], at: counter.now))
                    == [.idempotencyConflict])
            var single = Samples.wake(at: counter.now, device: 9)
            single.idempotency = key
            #expect(try await counter.admit([single]).admissions == [.idempotencyConflict])
        }
    }

    @Test(
        "A repetition finds each wake of the first time by its place, whichever was not taken then",
        arguments: StoreKind.allCases)
    func places(_ kind: StoreKind) async throws {
        let ann = try UserID("ann")
        try await kind.withCounter { (counter) async throws in
            let key = IdempotencyKey(
                key: Array(repeating: 7, count: 32), request: Array(repeating: 1, count: 32),
                expiresAt: counter.now.advanced(bySeconds: 86_400))
            func wake(_ place: UserResolution.Place) throws -> WakeSubmission {
                let device = (1...9).first { Samples.deviceToken($0) == place.deviceToken }
                return Samples.wake(at: counter.now, device: try #require(device)).with(
                    place.idempotency)
            }
            for device in 1...3 as ClosedRange<UInt64> {
                try await register(device, .user(ann), counter)
            }
            let all = try await places(ann, counter, key: key)
            var first: [WakeID] = []
            for place in [0, 2] { first.append(try await counter.admitOne(wake(all[place])).id) }
            // The device in between leaves before its wake is asked for again.
            _ = try await counter.store.perform(
                UnregisterUser(
                    ann, token: all[1].deviceToken, in: [Self.ordinary], at: counter.now))
            var second: [WakeID] = []
            for place in try await places(ann, counter, key: key) {
                let admitted = try await counter.admitOne(wake(place))
                #expect(admitted.isRepeated)
                second.append(admitted.id)
            }
            #expect(second == first)
        }
    }

    @Test(
        "Of two equal requests that came at once the first alone says which devices they are for",
        arguments: StoreKind.allCases, [[1, 2, 3], [1, 2]] as [[UInt64]])
    func atOnce(_ kind: StoreKind, _ devices: [UInt64]) async throws {
        let ann = try UserID("ann")
        try await kind.withCounter { (counter) async throws in
            let key = IdempotencyKey(
                key: Array(repeating: 7, count: 32), request: Array(repeating: 1, count: 32),
                expiresAt: counter.now.advanced(bySeconds: 86_400))
            func admit(
                _ places: [UserResolution.Place]
            ) async throws -> [AdmissionResult] {
                let wakes = try places.map { place in
                    let device = (1...9).first { Samples.deviceToken($0) == place.deviceToken }
                    return Samples.wake(at: counter.now, device: try #require(device)).with(
                        place.idempotency)
                }
                return try await counter.admit(wakes).admissions
            }
            for device in devices { try await register(device, .user(ann), counter) }
            let first = try await places(ann, counter, key: key)
            // Both are resolved before one is admitted, and between them one device comes or goes.
            try await register(3, devices.count == 3 ? .removed : .user(ann), counter)
            let second = try await places(ann, counter, key: key)
            #expect(Set([first.count, second.count]) == [2, 3])
            let admitted = try await admit(first)
            #expect(admitted.compactMap(\.admittedID).count == devices.count)
            #expect(try await admit(second).allSatisfy { $0 == .idempotencyConflict })
            // Now it is known which they were.
            let again = try await admit(places(ann, counter, key: key))
            #expect(again.map(\.admittedID) == admitted.map(\.admittedID))
        }
    }

    @Test("A device that is registered under a user is not pruned", arguments: StoreKind.allCases)
    func kept(_ kind: StoreKind) async throws {
        let ann = try UserID("ann")
        try await kind.withCounter { (counter) async throws in
            try await register(1, .user(ann), counter)
            try await register(2, .kept, counter)
            let later = counter.later(400 * 86_400)
            for _ in 0..<4 {
                _ = try await later.store.prune(
                    PruneOrder(
                        now: later.now, wakesBefore: later.now, devicesBefore: later.now,
                        webhooks: [], limit: 100))
            }
            #expect(try await later.knownCount(1...2) == 1)
            #expect(try await devices(ann, later) == tokens(1))
        }
    }
}
