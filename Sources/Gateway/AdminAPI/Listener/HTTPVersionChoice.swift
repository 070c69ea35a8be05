// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOTLS

/// Chooses the version of HTTP of an accepted connection: over TLS by ALPN (RFC 9113 §3.2),
/// without TLS by the client's connection preface, which a caller with prior knowledge sends first
/// (§3.3).
///
/// Until then it enforces the time limits: a handshake counts against the time for the first head.
///
/// Confined to its channel's event loop.
final class HTTPVersionChoice: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The name of HTTP/2 in ALPN.
    static let http2Name = "h2"
    /// The client's connection preface (RFC 9113 §3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private let limits: AdminConfiguration
    private let watch: FirstByteWatch
    /// Adds the handlers of HTTP/2, or else of HTTP/1.1, behind this one.
    private let choose: (_ isHTTP2: Bool) throws -> Void
    /// Called when the connection ends before the choice.
    private let abandon: () -> Void
    private var context: ChannelHandlerContext?
    private var received = ByteBuffer()
    private var isChosen = false
    private var timer: Scheduled<Void>?

    init(
        limits: AdminConfiguration, watch: FirstByteWatch,
        choose: @escaping (_ isHTTP2: Bool) throws -> Void, abandon: @escaping () -> Void
    ) {
        self.limits = limits
        self.watch = watch
        self.choose = choose
        self.abandon = abandon
    }

    private var isOverTLS: Bool { limits.tls != nil }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        watch.sawBytes = { [weak self] in self?.sawFirstByte() }
        setTimer(seconds: limits.strangerSeconds)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        timer?.cancel()
        if !isChosen { abandon() }
    }

    private func sawFirstByte() {
        watch.sawBytes = {}
        setTimer(seconds: min(limits.headerSeconds, limits.strangerSeconds))
    }

    private func setTimer(seconds: Int) {
        timer?.cancel()
        timer = context?.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(seconds))) {
            [weak self] () -> Void in self?.timeIsUp()
        }
    }

    private func timeIsUp() {
        guard let context else { return }
        // The part of a preface is also the part of a head, whose guard answers.
        if received.readableBytes > 0 {
            finish(isHTTP2: false)
        } else {
            context.close(promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        guard !isOverTLS else { return }
        let count = min(received.readableBytes, Self.preface.count)
        if !received.readableBytesView.prefix(count).elementsEqual(Self.preface.prefix(count)) {
            finish(isHTTP2: false)
        } else if count == Self.preface.count {
            finish(isHTTP2: true)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted(let name): finish(isHTTP2: name == Self.http2Name)
        case is ChannelShouldQuiesceEvent, ChannelEvent.inputClosed:
            if received.readableBytes > 0 {
                finish(isHTTP2: false)
                context.fireUserInboundEventTriggered(event)
            } else {
                context.close(promise: nil)
            }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func finish(isHTTP2: Bool) {
        guard !isChosen, let context else { return }
        isChosen = true
        timer?.cancel()
        do {
            try choose(isHTTP2)
        } catch {
            abandon()
            return context.close(promise: nil)
        }
        if received.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(received)) }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
}

/// Reports received bytes. It is before all other handlers, TLS included.
///
/// Confined to its channel's event loop.
final class FirstByteWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    /// When the connection's first byte came.
    private(set) var firstByte: NIODeadline?
    /// Called before the bytes are passed on.
    var sawBytes: () -> Void = {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if firstByte == nil { firstByte = .now() }
        sawBytes()
        context.fireChannelRead(data)
    }
}
