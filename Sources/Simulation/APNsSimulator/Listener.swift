// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import ServerTLS

/// The listening socket, and what each accepted connection is made of.
struct Listener: Sendable {
    let state: SimulatorState
    let tls: ServerTLSContext

    /// How many connections may wait to be accepted.
    private static let backlog: Int32 = 1024
    /// How long a closing connection waits for the client's close_notify.
    private static let farewell = TimeAmount.milliseconds(100)

    /// TLS 1.2 or later with ALPN `h2`, and client certificates if a CA for them is configured.
    init(state: SimulatorState, certificates: SimulatorCertificates) throws {
        self.state = state
        let authorities = state.configuration.trustedClientCertificateAuthorityPEM
        tls = try ServerTLSContext(
            certificateChain: Array(certificates.serverPEM.utf8),
            key: Array(certificates.serverKeyPEM.utf8), applicationProtocols: ["h2"],
            requiresALPN: state.configuration.requiresALPN,
            clientAuthorities: authorities.map { Array($0.utf8) })
    }

    func bind(group: any EventLoopGroup) async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try initialize(channel) }
            }
            .bind(host: state.configuration.host, port: state.configuration.port)
            .get()
    }

    private func initialize(_ channel: any Channel) throws {
        let number = state.open(channel)
        channel.closeFuture.whenComplete { [state] _ in state.closed(number) }
        let fault = state.currentRules.faults.fault(
            at: .connection, number: number, deviceToken: nil)
        if fault != nil { state.counters.faultsInjected.increment() }
        switch fault?.kind {
        case .refuseTLS:
            try channel.pipeline.syncOperations.addHandler(TLSRefusalHandler())
            return
        case .neverAnswer:
            try channel.pipeline.syncOperations.addHandler(SilentHandler())
            return
        case .closeConnection:
            channel.eventLoop.execute { channel.close(promise: nil) }
            return
        case .delay(let milliseconds):
            try channel.syncOptions?.setOption(.autoRead, value: false)
            channel.eventLoop.scheduleTask(in: .milliseconds(Int64(milliseconds))) {
                try channel.syncOptions?.setOption(.autoRead, value: true)
            }
        default: break
        }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ServerTLSHandler(context: tls, closeTimeout: Self.farewell))
        if let timeout = state.configuration.idleTimeout {
            try pipeline.addHandler(IdleStateHandler(allTimeout: TimeAmount(timeout)))
        }
        try pipeline.addHandler(ConnectionHandler(state: state, number: number))
    }
}
