// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import PushTransport
import Testing
import WakeModel

@Suite("Clock skew")
struct ClockSkewTests {
    /// Samples.start, as a server writes it.
    static let date = "Sat, 21 Nov 2026 09:34:00 GMT"

    @Test(
        "the date of an answer tells how far APNs is ahead",
        arguments: [(0, 0.5), (-90, 90.5), (3600, -3599.5)] as [(Int64, Double)])
    func skew(ownSeconds: Int64, expected: Double) async throws {
        let play = try Play()
        #expect(play.client.clockSkew == nil)
        play.clock.advance(seconds: ownSeconds, wallOnly: true)
        let task = play.send()
        play.transport.answer(await play.nextRequest().id, 200, date: Self.date)
        #expect(try await task.value.isAccepted)
        #expect(play.client.clockSkew == .seconds(expected))
    }

    @Test("over the wire: a server an hour ahead is seen to be an hour ahead")
    func overTheWire() async throws {
        let (apple, own) = (TestClock(), TestClock())
        apple.advance(seconds: 3600)
        var configuration = APNsSimulator.Configuration()
        configuration.sendsDate = true
        configuration.now = { apple.now }
        let simulator = try await APNsSimulator.start(configuration)
        var settings = APNsClient.Configuration(
            transport: simulator.transport,
            authentication: .providerToken(try Samples.tokens(clock: own.clock)))
        settings.clock = own.clock
        let client = try APNsClient(settings)
        #expect(try await client.send(Samples.background()).isAccepted)
        #expect(client.clockSkew == .seconds(3600.5))
        await client.shutDown()
        try await simulator.shutdown()
    }

    @Test("no date, or one that cannot be read, tells nothing", arguments: [nil, "yesterday"])
    func none(date: String?) async throws {
        let play = try Play()
        let task = play.send()
        play.transport.answer(await play.nextRequest().id, 200, date: date)
        _ = try await task.value
        #expect(play.client.clockSkew == nil)
    }

    @Test("it is looked at once a minute")
    func interval() async throws {
        let play = try Play()
        for (wait, expected) in [(0, 0.5), (59, 0.5), (1, -59.5)] as [(Int64, Double)] {
            play.clock.advance(seconds: wait)
            let task = play.send()
            play.transport.answer(await play.nextRequest().id, 200, date: Self.date)
            _ = try await task.value
            #expect(play.client.clockSkew == .seconds(expected))
        }
    }
}
