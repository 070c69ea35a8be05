// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Refuses the TLS handshake: the first bytes of the client are answered with the fatal alert
/// `handshake_failure` (RFC 8446 §6), in the clear.
final class TLSRefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Record type alert, version 3.3, length 2, level fatal, handshake_failure.
    private static let alert: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: Self.alert)), promise: nil)
        context.close(promise: nil)
    }
}

/// Takes every byte and says nothing.
final class SilentHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
