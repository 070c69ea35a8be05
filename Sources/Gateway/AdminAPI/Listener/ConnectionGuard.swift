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
/// - Who has shown no key yet has less time than others, and may not be silent for long.
/// - On a place of the reserve only health and metrics are answered, and the connection ends.
/// - No other protocol is spoken: a request that asks for one is answered, and the connection ends.
/// - A request that says `Connection: close` is the last one, whatever comes behind it.
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

    private let limits: AdminConfiguration
    private let connections: ListenerConnections
    /// Who this connection is; `nil` once it has lost its place.
    private var connection: ListenerConnection?
    private var reading = Reading.nothing
    /// Requests whose head was read and whose answer has not ended.
    private var unanswered = 0
    private var answerHasBegun = false
    /// The answer under way is the last one of this connection.
    private var isLastAnswer = false
    /// What the request behind those that are being answered is refused with.
    private var waitingRefusal: Problem?
    /// Nothing that comes behind the present request is read.
    private var isDeaf = false
    /// Something came, or comes, that is not read: closing at once would reset the connection.
    private var lingers = false
    /// The request that is read, or was refused, asks for a head alone.
    private var isHeadOnly = false
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

    init(limits: AdminConfiguration, connections: ListenerConnections) {
        self.limits = limits
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        connection = connections.connection(on: context.channel)
        let watch = FirstByteWatch { [weak self] in self?.sawBytes(context) }
        // In front of everything, TLS included: a handshake takes from the time for the head.
        do {
            let pipeline = context.pipeline.syncOperations
            try pipeline.addHandler(watch, position: .first)
            // Behind NIO's parser, in front of what knows one Host only.
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(FramingCheck(), position: .before(codec))
        } catch {
            context.close(promise: nil)
        }
        allowSilence(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        connection?.presence.end()
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
        if case ChannelEvent.inputClosed = event { connection?.presence.end() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        connection?.presence.end()
        context.fireChannelInactive()
    }

    // MARK: Reading

    private func sawBytes(_ context: ChannelHandlerContext) {
        guard reading == .nothing, !isOver, !isDeaf else { return }
        reading = .head
        let seconds =
            isStranger ? min(limits.headerSeconds, limits.strangerSeconds) : limits.headerSeconds
        allowReading(context, for: .seconds(Int64(seconds)), from: .now())
    }

    private var isStranger: Bool { connection?.isAuthenticated != true }

    /// Gives a caller that has shown no key a short time until its next request.
    private func allowSilence(_ context: ChannelHandlerContext) {
        guard isStranger, reading == .nothing, unanswered == 0 else { return }
        allowReading(context, for: .seconds(Int64(limits.strangerSeconds)), from: .now())
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        guard !isOver else {
            if case .end = part { context.close(promise: nil) }
            return
        }
        // What belongs to a request that is refused, or stands behind it.
        guard waitingRefusal == nil, !isDeaf || reading == .body else {
            lingers = true
            return
        }
        switch part {
        case .head(let head):
            isHeadOnly = head.method == .head
            if let shortage = connection?.shortage, !Self.isOfReserve(head) {
                return refuse(context, Self.noPlace(shortage))
            }
            reading = .body
            lingers = lingers || Self.asksForUpgrade(head)
            isDeaf = isDeaf || lingers || Self.isLast(head)
            unanswered += 1
            connection?.isBusy = true
            bodyStart = .now()
            bodyByteCount = 0
            allowReading(context, for: .seconds(Int64(limits.bodySeconds)), from: bodyStart)
        case .body(let buffer):
            bodyByteCount += buffer.readableBytes
        case .end:
            reading = .nothing
            isHeadOnly = false
            readDeadline = nil
        }
        context.fireChannelRead(data)
    }

    private static func noPlace(_ shortage: ListenerConnection.Shortage) -> Problem {
        let detail =
            switch shortage {
            case .placesOfPeer:
                "The connections that the gateway may have from one address are all in use: "
                    + "send more requests over each, or close some."
            case .places: "The connections that the gateway may have are all in use."
            case .files: "The files that the system lets the gateway open are nearly all in use."
            }
        return Problem(.unavailable, detail).retrying(afterSeconds: 1)
    }

    /// Whether NIO's parser reads nothing behind this request, because another protocol might come.
    private static func asksForUpgrade(_ head: HTTPRequest) -> Bool {
        head.method == .connect
            || head.headerFields[.upgrade] != nil
                && head.headerFields[.connection]?.lowercased().contains("upgrade") == true
    }

    /// Whether the caller sends nothing behind this request (RFC 9112 §9.6).
    private static func isLast(_ head: HTTPRequest) -> Bool {
        head.headerFields[values: .connection].contains { value in
            value.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.contains("close")
        }
    }

    /// Whether a request may have a place of the reserve.
    private static func isOfReserve(_ head: HTTPRequest) -> Bool {
        ["/healthz", "/readyz", "/metrics"].contains(head.path)
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
        if reading == .nothing {
            isOver = true
            return context.close(promise: nil)
        }
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
        let isOfParser =
            error is HTTPParserError || error is FramingFault || error is HTTP1TypeConversionError
        if isOfParser, isDeaf, reading == .nothing {
            // The parser refuses whatever stands behind a request that is the last one.
            lingers = true
            return
        }
        switch error {
        case HTTPParserError.headerOverflow:
            refuse(
                context,
                Problem(
                    .headersTooLarge,
                    "All header fields together may have \(limits.headerListByteCount) bytes."))
        case let fault as FramingFault:
            isHeadOnly = fault.isHeadOnly
            refuse(context, Problem(.malformedRequest, fault.message))
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
            let isWanted = reading != .body && !isDeaf && connection?.isReserve != true
            if unanswered == 1, !isWanted {
                isLastAnswer = true
                head.headerFields[.connection] = "close"
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            context.write(data, promise: promise)
        case .end:
            answerHasBegun = false
            unanswered -= 1
            connection?.isBusy = unanswered > 0
            context.write(data, promise: promise)
            if isLastAnswer { return runDry(context) }
            if unanswered == 0, let problem = waitingRefusal { return refuse(context, problem) }
            allowSilence(context)
        }
    }

    /// Answers by itself and ends the connection, unless an answer is under way: then it is cut.
    private func refuse(_ context: ChannelHandlerContext, _ problem: Problem) {
        guard !isOver else { return }
        if unanswered > 0, reading != .body {
            // Earlier requests, which were read in whole, have their answers first.
            readDeadline = nil
            waitingRefusal = waitingRefusal ?? problem
            return
        }
        // A head that came behind another request in one piece is read as well.
        if reading == .nothing { reading = .head }
        let isInTurn = unanswered == 0 || unanswered == 1 && reading == .body
        guard isInTurn, !answerHasBegun else {
            isOver = true
            return context.close(promise: nil)
        }
        let response = problem.response
        var head = response.head
        head.headerFields[.connection] = "close"
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !isHeadOnly {
            let body = ByteBuffer(bytes: problem.document.bytes)
            context.write(wrapOutboundOut(.body(body)), promise: nil)
        }
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        runDry(context)
    }

    /// Sends what is written, says that nothing more comes, and closes a moment later.
    private func runDry(_ context: ChannelHandlerContext) {
        isOver = true
        readDeadline = nil
        context.flush()
        if reading == .nothing, !lingers { return context.close(promise: nil) }
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

/// Tells of bytes that come in, whatever they are. It stands in front of everything, TLS included.
final class FirstByteWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let sawBytes: () -> Void

    init(_ sawBytes: @escaping () -> Void) { self.sawBytes = sawBytes }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        sawBytes()
        context.fireChannelRead(data)
    }
}
