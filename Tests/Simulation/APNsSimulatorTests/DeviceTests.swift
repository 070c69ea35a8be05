// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import DeviceModel
import Testing
import WakeModel

@Suite("Modelled devices", .timeLimit(.minutes(10)))
struct DeviceTests {
    static let token = Result { try DeviceToken(hex: Push.token) }

    /// A provider token that is never too old, and renewed no oftener than Apple allows.
    static func push(atSecond second: Int64, token: String = Push.token) -> Push {
        Push(
            token: token,
            authorization: TestToken.bearer(issuedAt: TestToken.now + second / 1800 * 1800))
    }

    /// When the app was launched, in seconds after the start.
    static func launches(_ pushes: [ModelledPush]) -> [Int64] {
        pushes.compactMap { push in
            guard case .launched = push.fate else { return nil }
            return push.decidedAt?.sinceStart
        }
    }

    static func numbers(_ pushes: [ModelledPush], _ label: String) -> [Int] {
        pushes.filter { $0.label == label }.map(\.number)
    }

    @Test(
        "M1 over the wire: of 14 pushes, one every 450 s, 7 launch the app",
        arguments: ["own clock", "moved devices"])
    func fourteenPushes(by means: String) async throws {
        let clock = TestClock()
        try await WireTests.withSimulator {
            $0.now = { clock.now }
        } _: { simulator in
            func advance(_ seconds: Int64) {
                if means == "own clock" {
                    clock.advance(bySeconds: seconds)
                } else {
                    simulator.advanceDevices(bySeconds: seconds)
                }
            }
            let token = try Self.token.get()
            simulator.register(.init(token: token, model: DeviceSetup(parameters: .exact)))
            let client = try await RawClient.connect(to: simulator)
            for index in 0..<14 as Range<Int64> {
                if index > 0 { advance(450) }
                let push = Self.push(atSecond: means == "own clock" ? index * 450 : 0)
                #expect(try await client.push(push)?.status == 200)
            }
            var pushes = simulator.fates(of: token)
            #expect(Self.launches(pushes) == [0, 900, 1800, 2700, 3600, 4500, 5400])
            #expect(Self.numbers(pushes, "coalesced-on-device") == [2, 4, 6, 8, 10, 12])
            #expect(Self.numbers(pushes, "undecided") == [14])
            #expect(pushes.map(\.apnsID) == Array(repeating: Push.apnsID, count: 14))
            let status = try #require(simulator.status(of: token))
            #expect(status.undecided == [14])
            #expect(status.pushes == 14)
            #expect(status.reachedApp == 7)
            #expect(status.nextChange?.sinceStart == 6300)

            // What is due at an instant happens once it is over.
            advance(450)
            #expect(Self.numbers(simulator.fates(of: token), "undecided") == [14])
            advance(1)
            pushes = simulator.fates(of: token)
            #expect(Self.launches(pushes).last == 6300)
            #expect(pushes.last?.label == "delivered-after-hold")
            await client.close()
        }
    }

    @Test("without a model nothing is kept, and pushes are answered as ever")
    func noModel() async throws {
        try await WireTests.withSimulator { simulator in
            let token = try Self.token.get()
            simulator.register(.init(token: token))
            let client = try await RawClient.connect(to: simulator)
            #expect(try await client.push(Push())?.status == 200)
            #expect(simulator.fates(of: token).isEmpty)
            #expect(simulator.status(of: token) == nil)
            #expect(!simulator.apply(.appOpened, to: token))
            await client.close()
        }
    }

    @Test("only pushes answered with 200 reach the device")
    func refusals() async throws {
        try await WireTests.withSimulator {
            $0.deviceModel = DeviceSetup(parameters: .exact)
        } _: { simulator in
            let token = try Self.token.get()
            let client = try await RawClient.connect(to: simulator)
            #expect(try await client.push(Push().with("apns-topic", nil))?.status == 400)
            simulator.inject(Fault(.reject(.shutdown), count: 1))
            #expect(try await client.push(Push())?.status == 503)
            simulator.inject(Fault(.resetStream(.internalError), at: .answer, count: 1))
            #expect(try await client.push(Push()) == nil)
            #expect(simulator.fates(of: token).isEmpty)
            #expect(try await client.push(Push())?.status == 200)
            #expect(simulator.fates(of: token).map(\.number) == [4])
            await client.close()
        }
    }

    @Test("priority, expiration and a generated apns-id go into the model with the push")
    func headers() async throws {
        let clock = TestClock()
        try await WireTests.withSimulator {
            $0.now = { clock.now }
            $0.deviceModel = DeviceSetup(parameters: .exact)
        } _: { simulator in
            let token = try Self.token.get()
            let client = try await RawClient.connect(to: simulator)
            // The devices' time is ahead: an hour of storage must stay an hour.
            simulator.advanceDevices(bySeconds: 7200)
            let first = try #require(
                try await client.push(Self.push(atSecond: 0).with("apns-id", nil)))
            #expect(simulator.fates(of: token).map(\.apnsID) == [first.headers["apns-id"]])

            #expect(simulator.apply(.online(false), to: token))
            for expiration in ["0", String(TestToken.now + 3600)] {
                _ = try await client.push(
                    Self.push(atSecond: 0).with("apns-expiration", expiration))
            }
            simulator.advanceDevices(bySeconds: 3599)
            #expect(simulator.fates(of: token).map(\.label)[1...] == ["expired", "undecided"])
            simulator.advanceDevices(bySeconds: 2)
            #expect(simulator.fates(of: token).map(\.label)[1...] == ["expired", "expired"])
            #expect(simulator.fates(of: token)[2].decidedAt?.sinceStart == 10_800)

            // A sleeping device accepts priority 10 immediately, and 5 when it wakes.
            simulator.apply(.online(true), to: token)
            simulator.apply(.locked(true), to: token)
            _ = try await client.push(Self.push(atSecond: 0))
            #expect(simulator.fates(of: token).last?.label == "undecided")
            _ = try await client.push(Self.push(atSecond: 0).with("apns-priority", "10"))
            let labels = simulator.fates(of: token).map(\.label)
            #expect(labels[3...].sorted() == ["coalesced-on-device", "delivered-now"])
            await client.close()
        }
    }

    @Test("type and payload decide whether a push wakes the app (facts §2.4)")
    func contents() async throws {
        let wakes = #"{"aps":{"content-available":1}}"#
        let shows = #"{"aps":{"alert":"a"}}"#
        let both = #"{"aps":{"alert":"a","content-available":1}}"#
        let cases: [(type: String?, body: String, content: ArrivingPush.Content?)] = [
            ("background", wakes, .background), ("background", both, .background),
            ("background", shows, .alert), ("background", "no JSON", .alert),
            ("alert", wakes, .alert), ("alert", shows, .alert), ("alert", both, .mixed),
            (nil, wakes, .background), (nil, both, .mixed), (nil, shows, .alert),
            ("voip", "{}", .voip), ("widgets", "{}", nil),
        ]
        try await WireTests.withSimulator {
            $0.deviceModel = DeviceSetup(parameters: .exact)
            $0.log = .off
        } _: { simulator in
            let client = try await RawClient.connect(to: simulator)
            for (index, example) in cases.enumerated() {
                let hex = Push.token + (index < 10 ? "0" : "") + String(index)
                let topic =
                    switch example.type {
                    case "voip": "com.example.app.voip"
                    case "widgets": "com.example.app.push-type.widgets"
                    default: "com.example.app"
                    }
                let push = Push(token: hex, body: Array(example.body.utf8))
                    .with("apns-push-type", example.type).with("apns-topic", topic)
                #expect(try await client.push(push)?.status == 200)
                let content = simulator.fates(of: try DeviceToken(hex: hex)).first?.content
                #expect(content == example.content, "\(example)")
            }
            await client.close()
        }
    }

    @Test("what happens to a device decides about its pushes, and is told")
    func events() async throws {
        try await WireTests.withSimulator {
            $0.deviceModel = DeviceSetup(parameters: .exact)
        } _: { simulator in
            let token = try Self.token.get()
            var deliveries = simulator.deliveries().makeAsyncIterator()
            let client = try await RawClient.connect(to: simulator)
            for _ in 1...3 { _ = try await client.push(Push()) }
            #expect(await deliveries.next()?.number == 1)
            simulator.apply(.appOpened, to: token)
            #expect(simulator.status(of: token)?.conditions.isInForeground == true)
            let flushed = try #require(await deliveries.next())
            #expect(flushed.number == 3)
            #expect(flushed.label == "flushed-by-user")
            simulator.apply(.appForceQuit, to: token)
            _ = try await client.push(Push())
            #expect(simulator.fates(of: token).last?.label == "discarded-force-quit")
            await client.close()
        }
    }

    @Test("the same seed gives the same days and the same fates, another one others")
    func determinism() async throws {
        func run(seed: UInt64) async throws -> [ModelledPush] {
            let clock = TestClock()
            var fates: [ModelledPush] = []
            try await WireTests.withSimulator {
                $0.now = { clock.now }
                $0.seed = seed
                $0.deviceModel = DeviceSetup(profile: .nightOwl)
            } _: { simulator in
                let client = try await RawClient.connect(to: simulator)
                for _ in 0..<100 {
                    _ = try await client.push(Self.push(atSecond: 0))
                    simulator.advanceDevices(bySeconds: 1700)
                }
                fates = simulator.fates(of: try Self.token.get())
                await client.close()
            }
            return fates
        }
        let first = try await run(seed: 7)
        #expect(first.count == 100)
        #expect(Set(first.map(\.label)).count > 2)
        #expect(try await run(seed: 7) == first)
        #expect(try await run(seed: 8) != first)
    }

    @Test("in real time a held push launches the app although nobody asks")
    func alarm() async throws {
        var parameters = ModelParameters.exact
        parameters.rate.minimumSpacingSeconds = 1
        parameters.rate.bucketRefillSeconds = 1
        let setup = DeviceSetup(parameters: parameters)
        try await WireTests.withSimulator {
            $0.deviceModel = setup
        } _: { simulator in
            var deliveries = simulator.deliveries().makeAsyncIterator()
            let client = try await RawClient.connect(to: simulator)
            for _ in 1...2 { _ = try await client.push(Push()) }
            let first = try #require(await deliveries.next())
            let second = try #require(await deliveries.next())
            #expect(first.number == 1)
            #expect(second.number == 2)
            let launchedAt = try #require(first.decidedAt)
            #expect(second.decidedAt == launchedAt.advanced(bySeconds: 1))
            await client.close()
        }
    }

    @Test("after the devices' time was moved, what is left of a wait is waited for, not all of it")
    func alarmAfterMove() async throws {
        try await WireTests.withSimulator {
            $0.deviceModel = DeviceSetup(parameters: .exact)
        } _: { simulator in
            var deliveries = simulator.deliveries().makeAsyncIterator()
            let client = try await RawClient.connect(to: simulator)
            for _ in 1...2 { _ = try await client.push(Push()) }
            let first = try #require(await deliveries.next())
            // The second waits for 900 s; it is not queried again.
            simulator.advanceDevices(bySeconds: 899)
            let second = try #require(await deliveries.next())
            #expect(second.decidedAt == first.decidedAt?.advanced(bySeconds: 900))
            await client.close()
        }
    }

    @Test("deliveries end with the simulator, whether one begins to read before or after")
    func deliveriesEnd() async throws {
        var simulators: [APNsSimulator] = []
        var before: AsyncStream<ModelledPush>?
        try await WireTests.withSimulator { simulator in
            simulators.append(simulator)
            before = simulator.deliveries()
        }
        for stream in [try #require(before), simulators[0].deliveries()] {
            #expect(await stream.first { _ in true } == nil)
        }
    }

    @Test("a new registration keeps a device with the same setup, and replaces another")
    func registration() async throws {
        try await WireTests.withSimulator { simulator in
            let token = try Self.token.get()
            let model = DeviceSetup(parameters: .exact)
            simulator.register(.init(token: token, model: model))
            let client = try await RawClient.connect(to: simulator)
            _ = try await client.push(Push())
            simulator.register(
                .init(
                    token: token,
                    state: .expired(
                        since: .init(
                            millisecondsSinceEpoch: 1)), model: model))
            #expect(try await client.push(Push())?.status == 410)
            #expect(simulator.fates(of: token).count == 1)
            simulator.register(.init(token: token, model: DeviceSetup()))
            #expect(simulator.status(of: token)?.pushes == 0)
            simulator.register(.init(token: token))
            #expect(simulator.status(of: token) == nil)
            await client.close()
        }
    }
}
