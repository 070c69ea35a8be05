// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import APNsWire
import PushTransport
import Synchronization
import WakeModel

/// What many tests send.
enum Samples {
    static let payload = Array(#"{"aps":{"content-available":1}}"#.utf8)
    static let start = WallInstant(secondsSinceEpoch: 1_795_253_640)

    static var app: BundleID {
        get throws { try BundleID("com.example.app") }
    }

    /// A device token that says its number.
    static func device(_ number: Int) throws -> DeviceToken {
        try DeviceToken(
            bytes: (0..<32).map {
                $0 < 24 ? 0xa5 : UInt8(truncatingIfNeeded: number >> (8 * (31 - $0)))
            })
    }

    static func background(_ number: Int = 1) throws -> Push {
        try .background(to: device(number), of: app, payload: payload)
    }

    static func voip(_ number: Int = 2) throws -> Push {
        try .voip(to: device(number), of: app, payload: payload)
    }

    static func tokens(
        key: SigningKey = .generate(), clock: WakeClock = .system
    ) throws -> ProviderTokenSource {
        ProviderTokenSource(
            key: key, keyID: try DeveloperID("KEYKEY1234", field: "key id"),
            teamID: try DeveloperID("TEAM123456", field: "team id"), clock: clock)
    }
}

/// Clocks that stand still until a test moves them.
final class TestClock: Sendable {
    private let state: Mutex<(now: WallInstant, uptime: Duration)>

    init(_ now: WallInstant = Samples.start) { state = Mutex((now, .zero)) }

    /// Moves both clocks, or the wall clock alone.
    func advance(seconds: Int64, wallOnly: Bool = false) {
        state.withLock { state in
            state.now = state.now.advanced(bySeconds: seconds)
            if !wallOnly { state.uptime += .seconds(seconds) }
        }
    }

    var now: WallInstant { state.withLock { $0.now } }

    var clock: WakeClock {
        WakeClock(now: { self.now }, uptime: { self.state.withLock { $0.uptime } })
    }
}

extension PushOutcome {
    var isAccepted: Bool {
        if case .accepted = self { true } else { false }
    }

    var acceptance: Acceptance? {
        if case .accepted(let acceptance) = self { acceptance } else { nil }
    }

    var rejection: Rejection? {
        if case .rejected(let rejection) = self { rejection } else { nil }
    }
}

extension APNsSimulator {
    /// How a client reaches this simulator: directly, whatever the environment says.
    var transport: TransportConfiguration {
        var transport = TransportConfiguration(host: "localhost")
        transport.port = port
        transport.trust = .pem(certificateAuthorityPEM)
        transport.proxy = .none
        return transport
    }

    func client(
        _ authentication: APNsClient.Authentication, over kind: TransportKind = .native
    ) throws -> APNsClient {
        var configuration = APNsClient.Configuration(
            transport: transport, authentication: authentication)
        configuration.transportKind = kind
        return try APNsClient(configuration)
    }
}

/// Runs a test with a simulator and a client of it, and ends both.
func withClient(
    _ configuration: APNsSimulator.Configuration = .init(),
    authentication: APNsClient.Authentication? = nil,
    over kind: TransportKind = .native,
    _ body: (APNsClient, APNsSimulator) async throws -> Void
) async throws {
    let simulator = try await APNsSimulator.start(configuration)
    let result: Result<Void, any Error>
    do {
        let client = try simulator.client(
            authentication ?? .providerToken(try Samples.tokens()), over: kind)
        do {
            result = .success(try await body(client, simulator))
        } catch {
            result = .failure(error)
        }
        await client.shutDown(gracePeriod: .zero)
    }
    try await simulator.shutdown()
    try result.get()
}
