// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Refuses clients that offer protocols by ALPN and not `h2`, and on demand those that offer none,
/// with the fatal alert `no_application_protocol` (RFC 7301 §3.2). It precedes the TLS handler,
/// because swift-nio-ssl continues without a protocol where none matches.
final class ALPNHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Record type alert, version 3.3, length 2, level fatal, no_application_protocol.
    private static let alert: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x78]
    /// A ClientHello that is longer is left to TLS, in bytes.
    private static let longestHello = 65_536

    private let state: SimulatorState
    private let number: Int
    private var bytes = ByteBuffer()
    private var hasPassed = false

    init(state: SimulatorState, number: Int) {
        self.state = state
        self.number = number
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasPassed else {
            context.fireChannelRead(data)
            return
        }
        var more = unwrapInboundIn(data)
        bytes.writeBuffer(&more)
        switch ClientHello.read(bytes) {
        case .incomplete where bytes.readableBytes <= Self.longestHello: return
        case .hello(let hello) where !isServed(hello):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: Self.alert)), promise: nil)
            context.close(promise: nil)
        case .incomplete, .somethingElse, .hello:
            hasPassed = true
            context.fireChannelRead(wrapInboundOut(bytes))
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
    }

    private func isServed(_ hello: ClientHello) -> Bool {
        guard let protocols = hello.protocols else {
            guard state.configuration.requiresALPN else { return true }
            state.warnOfMissingALPN(on: number)
            return false
        }
        if protocols.contains("h2") { return true }
        state.warn("A client offers other protocols than h2 by ALPN.", isRefused: true, on: number)
        return false
    }
}
