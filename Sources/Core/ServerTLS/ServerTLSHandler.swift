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
/// that is closed with unread bytes would make TCP discard what was sent last. A client's
/// close_notify closes the connection, too, but for channels with the option
/// `allowRemoteHalfClosure`: there it is `ChannelEvent.inputClosed`, as the end of TCP's bytes is,
/// and answers can still be written.
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
    private let closeTimeout: TimeAmount
    private var state = State.handshaking
    private var writes = CircularBuffer<(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)>()
    /// How many of the writes are to be sent.
    private var flushedCount = 0
    /// Whether something was asked for by a read and nothing was delivered since.
    private var owesRead = false
    private var isInputClosed = false
    /// Whether the channel was closed from here.
    private var isEnded = false
    /// Completed when the output is closed; `nil` as long as it is open.
    private var outputEnd: EventLoopFuture<Void>?
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
                TLSUserEvent.handshakeCompleted(negotiatedProtocol: tls.applicationProtocol))
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

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        // After the client's close_notify it says nothing new.
        guard !isInputClosed else { return }
        isInputClosed = true
        if state == .closing { endWhenSent(context) }
        context.fireUserInboundEventTriggered(event)
    }

    /// The client sent close_notify.
    private func clientClosed(_ context: ChannelHandlerContext) {
        guard state != .closed, !isInputClosed else { return }
        isInputClosed = true
        let options = context.channel.syncOptions
        let isHalf = (try? options?.getOption(.allowRemoteHalfClosure)) ?? false
        if state == .open, outputEnd == nil, isHalf {
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            return
        }
        startClosing(context)
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
        isEnded = true
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
        guard state == .handshaking || state == .open, outputEnd == nil else {
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
        guard let encrypted = tls.encrypt(bytes, context.channel.allocator) else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            fail(.failed("nothing can be encrypted"), context)
            return
        }
        for part in encrypted.dropLast() {
            context.write(wrapOutboundOut(part), promise: nil)
        }
        // Without bytes there is nothing to send, but its turn is after what was written before.
        context.writeAndFlush(wrapOutboundOut(encrypted.last ?? ByteBuffer()), promise: promise)
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
        case (.input, _): promise?.fail(ChannelError.operationUnsupported)
        case (_, .closed): context.close(mode: mode, promise: promise)
        case (.all, .handshaking):
            state = .closed
            context.close(mode: .all, promise: promise)
        case (.output, _):
            guard outputEnd == nil else {
                promise?.fail(ChannelError.outputClosed)
                return
            }
            tls.close()
            sendOutput(context)
            let closed = promise ?? context.eventLoop.makePromise(of: Void.self)
            outputEnd = closed.futureResult
            context.close(mode: .output, promise: closed)
            if isInputClosed { startClosing(context) }
        case (.all, .open), (.all, .closing):
            if let promise { closePromises.append(promise) }
            if state == .open { startClosing(context) }
        }
    }

    /// Sends close_notify, and ends when the client's is there and what was written is sent, or
    /// when the time for it is over.
    private func startClosing(_ context: ChannelHandlerContext) {
        tls.close()
        sendOutput(context)
        guard state != .closed else { return }
        if state != .closing {
            state = .closing
            closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: closeTimeout) {
                self.end(context)
            }
        }
        if isInputClosed { endWhenSent(context) } else { context.read() }
    }

    private func endWhenSent(_ context: ChannelHandlerContext) {
        let sent: EventLoopFuture<Void>
        if let outputEnd {
            sent = outputEnd
        } else {
            let promise = context.eventLoop.makePromise(of: Void.self)
            context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: promise)
            sent = promise.futureResult
        }
        sent.assumeIsolated().whenComplete { _ in self.end(context) }
    }

    /// Closes the channel below TLS.
    private func end(_ context: ChannelHandlerContext) {
        guard !isEnded else { return }
        isEnded = true
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
