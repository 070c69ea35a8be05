// SPDX-License-Identifier: Apache-2.0

public import Logging
import NIOCore
import NIOPosix
import WakeModel

/// An APNs simulator: HTTP/2 over TLS on loopback. It rejects requests as Apple does, injects
/// faults, and records pushes.
///
/// A test needs no set-up but the certificate authority:
///
/// ```swift
/// let simulator = try await APNsSimulator.start(.init())
/// simulator.register(RegisteredDevice(token: token, state: .unregistered(since: yesterday)))
/// simulator.inject(Fault(.goAway(.init()), count: 1))
///
/// let client = MyClient(
///     host: "localhost", port: simulator.port, trusting: simulator.certificateAuthorityPEM)
/// await client.push(to: token)
///
/// await simulator.waitForPushes(1)
/// #expect(simulator.receivedPushes[0]["apns-priority"] == "5")
/// try await simulator.shutdown()
/// ```
///
/// It shares no code with Rouse's clients, so that it is an independent check of them. All methods
/// may be called from any thread; a change takes effect for requests whose bytes are read later.
public final class APNsSimulator: Sendable {
    /// The address it listens on.
    public let host: String
    /// The TCP port it listens on.
    public let port: Int
    /// The port of the control endpoint; `nil` when the configuration asked for none.
    public let controlPort: Int?
    /// The certificate authority that clients must trust, in PEM. Made anew for each run.
    public let certificateAuthorityPEM: String

    let state: SimulatorState
    private let group: MultiThreadedEventLoopGroup
    let listener: any Channel
    private let controlListener: (any Channel)?
    private let reporting: Task<Void, Never>?
    private let logger: Logger

    /// Makes certificates, listens, and returns once connections are accepted.
    ///
    /// Throws `InvalidField` for a provider key that does not parse, and NIO's errors for a port
    /// in use or a client CA that does not parse.
    public static func start(
        _ configuration: Configuration = Configuration(),
        logger: Logger = Logger(label: "apns-simulator")
    ) async throws -> APNsSimulator {
        let state = try SimulatorState(configuration: configuration, logger: logger)
        let certificates = try SimulatorCertificates(host: configuration.host)
        let listener = try Listener(state: state, certificates: certificates)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.eventLoopThreads)
        do {
            let channel = try await listener.bind(group: group)
            var controlChannel: (any Channel)?
            if let port = configuration.controlPort {
                controlChannel = try await ControlHandler.bind(
                    router: ControlRouter(
                        state: state, certificateAuthorityPEM: certificates.authorityPEM),
                    group: group, host: configuration.host, port: port)
            }
            return APNsSimulator(
                state: state, group: group, listener: channel, controlListener: controlChannel,
                certificateAuthorityPEM: certificates.authorityPEM, logger: logger)
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    private init(
        state: SimulatorState, group: MultiThreadedEventLoopGroup, listener: any Channel,
        controlListener: (any Channel)?, certificateAuthorityPEM: String, logger: Logger
    ) {
        self.state = state
        self.group = group
        self.listener = listener
        self.controlListener = controlListener
        controlPort = controlListener?.localAddress?.port
        self.certificateAuthorityPEM = certificateAuthorityPEM
        self.logger = logger
        host = state.configuration.host
        // A bound TCP socket has a port.
        port = listener.localAddress?.port ?? state.configuration.port
        state.devices.start(on: group.any())
        reporting = state.reporter.map { reporter in
            Task { await reporter.run(on: group, logger: logger) }
        }
        logger.info("APNs simulator listens", metadata: ["host": "\(host)", "port": "\(port)"])
    }

    /// Closes every connection, stops listening, and ends the threads. Call it once.
    public func shutdown() async throws {
        state.wakeAll()
        state.devices.stop()
        reporting?.cancel()
        await reporting?.value
        try? await listener.close()
        try? await controlListener?.close()
        closeAllConnections()
        try await group.shutdownGracefully()
        logger.info("APNs simulator stopped")
    }
}
