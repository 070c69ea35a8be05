// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Enforces the limits of one connection that neither NIO nor Hummingbird enforces.
///
/// - The head and the body of a request have a time limit; after it the caller gets 408 and the
///   connection ends.
/// - Input that is not HTTP gets a problem document too, and a head that is too large a 431.
/// - A caller without an accepted key has shorter time limits and a shorter idle timeout.
/// - On a reserved place only health and metrics are answered, and the connection ends.
/// - No other protocol is supported: a request for an upgrade is answered, and the connection ends.
/// - A request with `Connection: close` is the last one, regardless of bytes after it.
/// - An answer before the end of the request (a wrong key, a body that is too large) has
///   `Connection: close`; the rest of the request is discarded for a moment, because closing
///   immediately would reset the connection and could lose the answer.
/// - The connection of a caller that does not read its answer ends.
/// - A shutdown waits for running requests for a limited time: a slow caller would delay it for
///   minutes, and the gateway, which ends after its listener, would be killed before it has
///   drained.
///
/// Confined to its channel's event loop.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The time for which the rest of a refused request is discarded, in seconds.
    static let lingerSeconds: Int64 = 2

    /// The part of a request that is being read.
    private enum Reading {
        case nothing
        case head
        case body
    }

    private let limits: AdminConfiguration
    private let connections: ListenerConnections
    /// The connection's place; `nil` once it has lost it.
    private var connection: ListenerConnection?
    private var reading = Reading.nothing
    /// Since when the handlers behind this one do not want to read the rest of a request: they do
    /// not while answers wait. The caller's time does not include it.
    private var pauseStart: NIODeadline?
    /// Requests whose head was read and whose answer has not ended.
    private var unanswered = 0
    private var answerHasBegun = false
    /// Whether the present answer is the last one of this connection.
    private var isLastAnswer = false
    /// The refusal of the request after those that are being answered.
    private var waitingRefusal: Problem?
    /// Whether nothing after the present request is read.
    private var isDeaf = false
    /// Whether there are bytes that are not read, so that closing immediately would reset the
    /// connection.
    private var lingers = false
    /// Whether the request that is read, or was refused, is a `HEAD` request.
    private var isHeadOnly = false
    /// Whether nothing is read or answered any more.
    private var isOver = false
    private var bodyStart = NIODeadline.distantPast
    private var bodyByteCount = 0
    /// The deadline of what is being read; `nil` while nothing is.
    private var readDeadline: NIODeadline?
    /// Fires at the deadline or before it: a timer for each request would cost more than the rest
    /// of this handler, so it is kept after its request, and checks the deadline when it fires.
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
        do {
            let pipeline = context.pipeline.syncOperations
            let watch = try pipeline.handler(type: FirstByteWatch.self)
            watch.sawBytes = { [weak self] in self?.sawBytes(context, at: .now()) }
            // After NIO's parser, before the handlers that require exactly one Host.
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(FramingCheck(), position: .before(codec))
            // The choice of the version counts against the time for the first head.
            if let firstByte = watch.firstByte { sawBytes(context, at: firstByte) }
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

    private func sawBytes(_ context: ChannelHandlerContext, at instant: NIODeadline) {
        guard reading == .nothing, !isOver, !isDeaf else { return }
        reading = .head
        let seconds =
            isStranger ? min(limits.headerSeconds, limits.strangerSeconds) : limits.headerSeconds
        allowReading(context, for: .seconds(Int64(seconds)), from: instant)
    }

    private var isStranger: Bool { connection?.isAuthenticated != true }

    /// Sets the short idle timeout of a caller without an accepted key.
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
        // The rest of a refused request, or what follows it.
        guard waitingRefusal == nil, !isDeaf || reading == .body else {
            lingers = true
            return
        }
        switch part {
        case .head(let head):
            isHeadOnly = head.method == .head
            if let shortage = connection?.shortage, !Self.isOfReserve(path: head.path) {
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

    func channelReadComplete(context: ChannelHandlerContext) {
        if reading != .nothing, pauseStart == nil { pauseStart = .now() }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        endPause()
        context.read()
    }

    private func endPause() {
        guard let pauseStart else { return }
        let pause = NIODeadline.now() - pauseStart
        self.pauseStart = nil
        bodyStart = bodyStart + pause
        if let deadline = readDeadline { readDeadline = deadline + pause }
    }

    static func noPlace(_ shortage: ListenerConnection.Shortage) -> Problem {
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

    /// Whether NIO's parser reads nothing after this request, because of a possible upgrade.
    private static func asksForUpgrade(_ head: HTTPRequest) -> Bool {
        head.method == .connect
            || head.headerFields[.upgrade] != nil
                && head.headerFields[.connection]?.lowercased().contains("upgrade") == true
    }

    /// Whether the caller sends nothing after this request (RFC 9112 §9.6).
    private static func isLast(_ head: HTTPRequest) -> Bool {
        head.headerFields[values: .connection].contains { value in
            value.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.contains("close")
        }
    }

    /// Whether a request may use a reserved place.
    static func isOfReserve(path: String?) -> Bool {
        ["/healthz", "/readyz", "/metrics"].contains(path)
    }

    private static let otherFault = "This is no valid request of HTTP/1.1."

    /// What is wrong with a request that NIO's parser refuses, as a sentence.
    private static func words(for error: HTTPParserError) -> String {
        switch error {
        case .invalidContentLength, .unexpectedContentLength:
            "Send Content-Length once, as a number, and not beside Transfer-Encoding."
        case .invalidChunkSize: "A chunk of the body does not begin with its size in hexadecimal."
        case .invalidHeaderToken: "A header field has a character that may not be there."
        default: otherFault
        }
    }

    static func headersTooLarge(_ limits: AdminConfiguration) -> Problem {
        Problem(
            .headersTooLarge,
            "All header fields together may have \(limits.headerListByteCount) bytes.")
    }

    private func allowReading(
        _ context: ChannelHandlerContext, for time: TimeAmount, from start: NIODeadline
    ) {
        readDeadline = start + time
        startReadTimer(context)
    }

    /// Ensures that a timer fires at the deadline or before it.
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
        if pauseStart != nil {
            endPause()
            pauseStart = .now()
            return allowReading(context, for: .seconds(Int64(limits.bodySeconds)), from: .now())
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
            // The parser refuses bytes after a request that is the last one.
            lingers = true
            return
        }
        switch error {
        case HTTPParserError.headerOverflow:
            refuse(context, Self.headersTooLarge(limits))
        case let fault as FramingFault:
            isHeadOnly = fault.isHeadOnly
            refuse(context, Problem(.malformedRequest, fault.message))
        case let error as HTTPParserError:
            refuse(context, Problem(.malformedRequest, Self.words(for: error)))
        case is HTTP1TypeConversionError:
            refuse(context, Problem(.malformedRequest, Self.otherFault))
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
            if beginAnswer() { head.headerFields[.connection] = "close" }
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

    /// Begins an answer. Returns whether it is the last one, which says `Connection: close`.
    func beginAnswer() -> Bool {
        answerHasBegun = true
        let isWanted = reading != .body && !isDeaf && connection?.isReserve != true
        if unanswered == 1, !isWanted { isLastAnswer = true }
        return isLastAnswer
    }

    /// Answers and ends the connection; if another answer has begun, the connection ends without
    /// this one.
    private func refuse(_ context: ChannelHandlerContext, _ problem: Problem) {
        guard !isOver else { return }
        if unanswered > 0, reading != .body {
            // Earlier requests, which were read completely, are answered first.
            readDeadline = nil
            waitingRefusal = waitingRefusal ?? problem
            return
        }
        // A head in the same buffer as an earlier request is read as well.
        if reading == .nothing { reading = .head }
        let isInTurn = unanswered == 0 || unanswered == 1 && reading == .body
        guard isInTurn, !answerHasBegun else {
            isOver = true
            return context.close(promise: nil)
        }
        let response = problem.buffered
        var head = response.head
        head.headerFields[.connection] = "close"
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !isHeadOnly { context.write(wrapOutboundOut(.body(response.body)), promise: nil) }
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        runDry(context)
    }

    /// Flushes, closes the sending half, and closes the connection a moment later.
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
