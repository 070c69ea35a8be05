// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import APNsWire
import PushTransport
import Testing
import WakeModel

@Suite("Waking devices", .timeLimit(.minutes(1)))
struct WakingTests {
    /// A client as your program makes it, but for the server: put your own in its place.
    private func makeClient(_ simulator: APNsSimulator, _ key: ProviderKey) throws -> APNsClient {
        var server = TransportConfiguration(host: simulator.host)
        server.port = simulator.port
        server.trust = .pem(simulator.certificateAuthorityPEM)
        server.proxy = .none
        let tokens = ProviderTokenSource(
            key: try SigningKey(pem: key.pem.utf8),
            keyID: try DeveloperID(key.keyID, field: "key id"),
            teamID: try DeveloperID(key.teamID, field: "team id"))
        return try APNsClient(.init(transport: server, authentication: .providerToken(tokens)))
    }

    @Test("a push arrives as Apple wants it, and a dead token is reported")
    func wakes() async throws {
        let key = ProviderKey.generated()
        var configuration = APNsSimulator.Configuration()
        configuration.providerKeys = [key]  // tokens of other keys are answered with 403
        configuration.unknownDeviceTokens = .refused  // and other devices with 400
        try await APNsSimulator.withRunning(configuration) { simulator in
            let app = try BundleID("com.example.app")
            let phone = try DeviceToken(hex: "00fc13ad")
            let payload = Array(#"{"aps":{"content-available":1},"version":7}"#.utf8)
            simulator.register(RegisteredDevice(token: phone))
            let client = try makeClient(simulator, key)

            // The first push meets a fault, the second is accepted.
            simulator.inject(Fault(.reject(.tooManyRequests), count: 1))
            for _ in 1...2 {
                _ = try await client.send(.background(to: phone, of: app, payload: payload))
            }
            let pushes = try await simulator.pushes(2, within: .seconds(10))
            #expect(pushes.map(\.status) == [429, 200])
            #expect(pushes[1].deviceTokenHex == phone.hex)
            #expect(pushes[1]["apns-priority"] == "5")
            struct Payload: Decodable { let version: Int }
            #expect(try pushes[1].payload(as: Payload.self).version == 7)

            // The app is deleted: APNs answers 410 from now on.
            let yesterday = WakeClock.system.now().advanced(bySeconds: -86_400)
            simulator.register(
                RegisteredDevice(token: phone, state: .unregistered(since: yesterday)))
            guard
                case .rejected(let rejection) = try await client.send(
                    .background(to: phone, of: app, payload: payload))
            else {
                Issue.record("a push to a dead token was accepted")
                return
            }
            #expect(rejection.reason == .unregistered && rejection.timestamp == yesterday)
            await client.shutDown()
        }
    }
}
