// SPDX-License-Identifier: Apache-2.0

package import NIOCore
internal import NIOTLS

/// TLS on OpenSSL for the accepted connections of a server.
///
/// When the handshake is complete, `TLSUserEvent.handshakeCompleted` of NIOTLS goes up the pipeline
/// with the protocol that was negotiated. What is written before that is sent after it. When a
/// handshake fails, ``ServerTLSError`` goes up and the channel is closed.
///
/// Closing sends close_notify and waits for the client's, at most as long as it was told: a socket
/// that is closed with unread bytes would make TCP discard what was sent last.
///
/// Confined to the event loop of its channel.
package final class ServerTLSHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private enum State {
        case handshaking
        case open
        /// close_notify was sent, and the client's is awaited.
        case closing
        case closed
    }

    private let tls: ServerTLSConnection
    private let applicationProtocol: String
    private let closeTimeout: TimeAmount
    private var state = State.handshaking
    private var writes = CircularBuffer<(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)>()
    /// How many of the writes are to be sent.
    private var flushedCount = 0
    /// Whether something was asked for by a read and nothing was delivered since.
    private var owesRead = false
    private var isOutputClosed = false
    private var closePromises: [EventLoopPromise<Void>] = []
    private var closeTimer: Scheduled<Void>?

    /// A handler for a new connection. `closeTimeout` is how long a closing connection waits for
    /// the client's close_notify. Throws ``ServerTLSError`` if memory is exhausted.
    package init(
        context: ServerTLSContext, closeTimeout: TimeAmount
    ) throws(ServerTLSError) {
        guard let tls = ServerTLSConnection(context) else { throw .failed("out of memory") }
        self.tls = tls
        self.closeTimeout = closeTimeout
        applicationProtocol = context.applicationProtocol
    }

    /// Until when the client's certificate is valid, in seconds since the epoch; `nil` without one,
    /// and before the handshake is complete.
    package var clientCertificateValidUntil: Int64? { tls.clientValidUntil }

    // MARK: Receiving

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state != .closed else { return }
        let received = tls.receive(unwrapInboundIn(data), context.channel.allocator)
        sendOutput(context)
        if received.completesHandshake, state == .handshaking {
            state = .open
            context.fireUserInboundEventTriggered(
                TLSUserEvent.handshakeCompleted(
                    negotiatedProtocol: tls.hasProtocol ? applicationProtocol : nil))
            if state == .open { sendWrites(context) }
        }
        if received.plain.readableBytes > 0, state == .open {
            owesRead = false
            context.fireChannelRead(wrapInboundOut(received.plain))
        }
        switch received.end {
        case .needsInput: break
        case .closed: clientClosed(context)
        case .failed(let error): fail(error, context)
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        // The bytes of a handshake or a part of a record satisfy no read; and when closing, nobody
        // above reads any more.
        if owesRead || state == .closing { context.read() }
    }

    package func read(context: ChannelHandlerContext) {
        owesRead = true
        context.read()
    }

    private func clientClosed(_ context: ChannelHandlerContext) {
        guard state != .closed else { return }
        tls.close()
        sendOutput(context)
        end(context)
    }

    private func fail(_ error: ServerTLSError, _ context: ChannelHandlerContext) {
        guard state != .closed else { return }
        // Before anybody above can close: the alert is in the channel already.
        state = .closed
        context.fireErrorCaught(error)
        end(context)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        state = .closed
        release(ChannelError.eof)
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        release(ChannelError.ioOnClosedChannel)
    }

    // MARK: Sending

    package func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        guard state == .handshaking || state == .open, !isOutputClosed else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        writes.append((unwrapOutboundIn(data), promise))
    }

    package func flush(context: ChannelHandlerContext) {
        flushedCount = writes.count
        if state == .open { sendWrites(context) } else { context.flush() }
    }

    /// Sends what is to be sent as one text, because each write would be a record of its own.
    private func sendWrites(_ context: ChannelHandlerContext) {
        guard flushedCount > 0 else { return }
        var (bytes, promise) = writes.removeFirst()
        if flushedCount > 1 {
            let all = promise ?? context.eventLoop.makePromise()
            for _ in 1..<flushedCount {
                var (more, next) = writes.removeFirst()
                bytes.writeBuffer(&more)
                if let next { all.futureResult.cascade(to: next) }
            }
            promise = all
        }
        flushedCount = 0
        var last: ByteBuffer?
        let isUsable = tls.encrypt(bytes, context.channel.allocator) { encrypted in
            if let before = last { context.write(wrapOutboundOut(before), promise: nil) }
            last = encrypted
        }
        // Without bytes there is nothing to send, but its turn is after what was written before.
        context.writeAndFlush(wrapOutboundOut(last ?? ByteBuffer()), promise: promise)
        if !isUsable { fail(.failed("cannot encrypt"), context) }
    }

    private func sendOutput(_ context: ChannelHandlerContext) {
        guard let output = tls.takeOutput(context.channel.allocator) else { return }
        context.writeAndFlush(wrapOutboundOut(output), promise: nil)
    }

    // MARK: Closing

    package func close(
        context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
    ) {
        switch (mode, state) {
        case (.input, _), (_, .closed), (.all, .handshaking):
            if mode == .all { state = .closed }
            context.close(mode: mode, promise: promise)
        case (.output, _):
            isOutputClosed = true
            tls.close()
            sendOutput(context)
            context.close(mode: .output, promise: promise)
        case (.all, .open):
            state = .closing
            if let promise { closePromises.append(promise) }
            tls.close()
            sendOutput(context)
            closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: closeTimeout) {
                self.end(context)
            }
            context.read()
        case (.all, .closing): if let promise { closePromises.append(promise) }
        }
    }

    /// Closes the channel below TLS.
    private func end(_ context: ChannelHandlerContext) {
        state = .closed
        let promises = closePromises
        closePromises = []
        release(ChannelError.ioOnClosedChannel)
        let promise = promises.isEmpty ? nil : context.eventLoop.makePromise(of: Void.self)
        for each in promises { promise?.futureResult.cascade(to: each) }
        context.close(mode: .all, promise: promise)
    }

    /// Ends what still waits.
    private func release(_ error: ChannelError) {
        closeTimer?.cancel()
        closeTimer = nil
        let promises = closePromises
        closePromises = []
        for promise in promises { promise.succeed() }
        flushedCount = 0
        while let (_, promise) = writes.popFirst() { promise?.fail(error) }
    }
}

/// Why a connection failed.
package enum ServerTLSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The client offers protocols by ALPN, and not the one that is served.
    case noSharedProtocol
    /// The client offers no protocol by ALPN, and the server requires one.
    case noProtocol
    /// The handshake or a record is wrong. OpenSSL's words for it, which quote no bytes; may be
    /// empty.
    case failed(String)

    /// The error as a sentence.
    package var description: String {
        switch self {
        case .noSharedProtocol: "The client offers other protocols by ALPN."
        case .noProtocol: "The client offers no protocol by ALPN."
        case .failed(let words): words.isEmpty ? "TLS failed." : "TLS failed: \(words)."
        }
    }
}
