// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Keeps one connection within its limits, as far as neither NIO nor Hummingbird does it.
///
/// - The head and the body of a request have a time; after it the caller gets 408 and is cut off.
/// - What is not HTTP gets a problem document too, and too large a head a 431.
/// - An answer that is ready before the whole request was read (a wrong key, too large a body) says
///   `Connection: close`; the rest of the request is not read but let run dry for a moment, because
///   closing at once would reset the connection and could destroy the answer on its way.
/// - A caller who does not take its answer is cut off.
/// - A shutdown waits for the request under way, but not for ever: whoever sends or reads slowly
///   would hold it for minutes, and the gateway, which ends after its listener, would be killed
///   before it has drained.
///
/// It lives on its channel's event loop.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long the rest of a refused request may run dry, in seconds.
    static let lingerSeconds: Int64 = 2

    /// What of a request is being read.
    private enum Reading {
        case nothing
        case head
        case body
    }

    /// Whether the caller still listens, for those who answer it.
    let presence = CallerPresence()

    private let limits: AdminConfiguration
    private let connections: ConnectionCount
    private var reading = Reading.nothing
    /// Requests whose head was read and whose answer has not ended.
    private var unanswered = 0
    private var answerHasBegun = false
    /// The answer under way is the last one of this connection.
    private var isLastAnswer = false
    /// Nothing is read or answered any more.
    private var isOver = false
    private var bodyStart = NIODeadline.distantPast
    private var bodyByteCount = 0
    /// When the time is up for what is being read; `nil` while nothing is.
    private var readDeadline: NIODeadline?
    /// Fires at the deadline or before it: a timer for each request would cost more than the
    /// rest of this handler, so one stays when its request is over, and looks again when it fires.
    private var readTimer: (task: Scheduled<Void>, time: NIODeadline)?
    private var lingerTimer: Scheduled<Void>?
    private var stallTimer: Scheduled<Void>?
    private var shutdownTimer: Scheduled<Void>?

    init(limits: AdminConfiguration, connections: ConnectionCount) {
        self.limits = limits
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        connections.opened()
        let watch = FirstByteWatch { [weak self] in self?.sawBytes(context) }
        // In front of everything, TLS included: a handshake takes from the time for the head.
        do {
            try context.pipeline.syncOperations.addHandler(watch, position: .first)
        } catch {
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        connections.closed()
        presence.end()
        readTimer?.task.cancel()
        lingerTimer?.cancel()
        stallTimer?.cancel()
        shutdownTimer?.cancel()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            shutdownTimer = context.eventLoop.assumeIsolated().scheduleTask(
                in: .seconds(Int64(limits.shutdownSeconds))
            ) { context.close(promise: nil) }
        }
        if case ChannelEvent.inputClosed = event { presence.end() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        presence.end()
        context.fireChannelInactive()
    }

    // MARK: Reading

    private func sawBytes(_ context: ChannelHandlerContext) {
        guard reading == .nothing, !isOver else { return }
        reading = .head
        allowReading(context, for: .seconds(Int64(limits.headerSeconds)), from: .now())
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        guard !isOver else {
            if case .end = part { context.close(promise: nil) }
            return
        }
        switch part {
        case .head:
            reading = .body
            unanswered += 1
            bodyStart = .now()
            bodyByteCount = 0
            allowReading(context, for: .seconds(Int64(limits.bodySeconds)), from: bodyStart)
        case .body(let buffer):
            bodyByteCount += buffer.readableBytes
        case .end:
            reading = .nothing
            readDeadline = nil
        }
        context.fireChannelRead(data)
    }

    private func allowReading(
        _ context: ChannelHandlerContext, for time: TimeAmount, from start: NIODeadline
    ) {
        readDeadline = start + time
        startReadTimer(context)
    }

    /// Sees to it that a timer fires at the deadline or before it.
    private func startReadTimer(_ context: ChannelHandlerContext) {
        guard let deadline = readDeadline else { return }
        if let readTimer {
            guard readTimer.time > deadline else { return }
            readTimer.task.cancel()
        }
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            [weak self] () -> Void in self?.readTimerFired(context)
        }
        readTimer = (task, deadline)
    }

    private func readTimerFired(_ context: ChannelHandlerContext) {
        readTimer = nil
        guard let deadline = readDeadline else { return }
        if deadline > .now() { startReadTimer(context) } else { timeIsUp(context) }
    }

    private func timeIsUp(_ context: ChannelHandlerContext) {
        guard !isOver else { return }
        if reading == .body {
            let seconds = limits.bodySeconds + bodyByteCount / limits.bodyBytesPerSecond
            let rest = bodyStart + .seconds(Int64(seconds)) - .now()
            if rest > .seconds(0) {
                return allowReading(context, for: rest, from: .now())
            }
        }
        refuse(context, Problem(.requestTimeout, "Send the whole request without a pause."))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow:
            refuse(
                context,
                Problem(
                    .headersTooLarge,
                    "All header fields together may have \(limits.headerListByteCount) bytes."))
        case is HTTPParserError, is HTTP1TypeConversionError:
            refuse(context, Problem(.malformedRequest, "This is not HTTP/1.1."))
        default:
            context.fireErrorCaught(error)
        }
    }

    // MARK: Answering

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        guard !isOver else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.kind == .informational:
            context.write(data, promise: promise)
        case .head(var head):
            answerHasBegun = true
            if reading == .body, unanswered == 1 {
                isLastAnswer = true
                head.headerFields[.connection] = "close"
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            context.write(data, promise: promise)
        case .end:
            answerHasBegun = false
            unanswered -= 1
            context.write(data, promise: promise)
            if isLastAnswer { runDry(context) }
        }
    }

    /// Answers by itself and ends the connection, unless an answer is under way: then it is cut.
    private func refuse(_ context: ChannelHandlerContext, _ problem: Problem) {
        guard !isOver else { return }
        // An earlier request has its turn first, and this one has no place behind it.
        let isInTurn = unanswered == 0 || unanswered == 1 && reading == .body
        guard isInTurn, !answerHasBegun else {
            isOver = true
            return context.close(promise: nil)
        }
        let response = problem.response
        var head = response.head
        head.headerFields[.connection] = "close"
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(
            wrapOutboundOut(.body(ByteBuffer(bytes: problem.document.bytes))), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        runDry(context)
    }

    /// Sends what is written, says that nothing more comes, and closes a moment later.
    private func runDry(_ context: ChannelHandlerContext) {
        isOver = true
        readDeadline = nil
        context.flush()
        if reading == .nothing { return context.close(promise: nil) }
        context.close(mode: .output, promise: nil)
        lingerTimer = context.eventLoop.assumeIsolated().scheduleTask(
            in: .seconds(Self.lingerSeconds)
        ) { context.close(promise: nil) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stallTimer?.cancel()
        stallTimer = nil
        if !context.channel.isWritable {
            stallTimer = context.eventLoop.assumeIsolated().scheduleTask(
                in: .seconds(Int64(limits.stallSeconds))
            ) { context.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }
}

/// Tells of bytes that come in, whatever they are.
private final class FirstByteWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let sawBytes: () -> Void

    init(_ sawBytes: @escaping () -> Void) { self.sawBytes = sawBytes }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        sawBytes()
        context.fireChannelRead(data)
    }
}
