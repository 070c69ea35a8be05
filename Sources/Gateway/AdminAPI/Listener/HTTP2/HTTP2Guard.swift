// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK
import NIOHTTP2

/// Enforces the limits of one HTTP/2 connection that NIO does not enforce, and answers plain
/// requests of one route (``DirectRoute``) itself. Everything else goes on to the multiplexer, and
/// from there to the router. It is for streams what ``ConnectionGuard`` is for a connection of
/// HTTP/1.1:
///
/// - The body of a request has a time limit; after it the caller gets 408. A connection without a
///   request has an idle timeout, whatever else comes, the part of a head for example.
/// - A head that is too large gets a 431, and one that two programs could read differently a 400.
/// - A caller without an accepted key has fewer requests at a time and a shorter idle timeout.
/// - On a reserved place only health and metrics are answered, and the connection ends.
/// - An answer before the end of the request is followed by `RST_STREAM` with `NO_ERROR`
///   (RFC 9113 §8.1), after which the caller sends no more of it; a moment later, because callers
///   may lose an answer that comes together with it.
/// - The stream of a caller that does not take its answer is reset, and the connection of one that
///   reads nothing ends.
/// - The bodies of a connection's requests together have as much memory as one request of HTTP/1.1;
///   more counts against the ``BodyBudget``. Requests beyond the number for all connections, and
///   those of a caller that does not take many answers, are refused with `REFUSED_STREAM`.
/// - A shutdown waits for running requests for a limited time.
/// - The frames that carry no part of a request have a budget (``FrameBudget``), and so have the
///   faults of streams. NIO has limits too, but its GOAWAY says that no request was processed.
///
/// Confined to its channel's event loop.
final class HTTP2Guard: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// The size of answers that a caller may leave untaken before its next request is refused, in
    /// bytes.
    static let untakenByteCount = 4_194_304
    /// The time for which a connection is kept so that the caller can read why it ends, and for
    /// which the rest of a request that was answered is discarded.
    private static let linger = TimeAmount.seconds(ConnectionGuard.lingerSeconds)
    /// The time for which a connection is kept that ends; what its caller sends is refused.
    private static let goAwayDelay = TimeAmount.milliseconds(500)
    /// The interval at which the time limits of streams are checked.
    private static let checkInterval = TimeAmount.seconds(1)

    private let limits: AdminConfiguration
    private let connections: ListenerConnections
    private let connection: ListenerConnection
    private let access: AccessControl
    private let direct: DirectRoute?
    private let queue: StreamQueue
    /// Counts the frames before NIO handles them.
    let frameLimit = FrameLimit()

    private var context: ChannelHandlerContext?
    var streams: [HTTP2StreamID: HTTP2Request] = [:]
    private var held: HeldBodies
    /// The number of streams whose answers have not ended.
    private var unanswered = 0
    /// The bytes of answers on open streams.
    var untakenByteCount = 0
    /// Since when there is no stream.
    private var silenceStart = NIODeadline.now()
    private var checkTimer: (task: Scheduled<Void>, time: NIODeadline)?
    private var stallTimer: Scheduled<Void>?
    private var closeTimer: Scheduled<Void>?
    private var shutdownTimer: Scheduled<Void>?
    private var isReadHeld = false
    private var mustFlush = false
    /// The highest stream that a request came on.
    private var lastStream = HTTP2StreamID.rootStream
    /// Whether the caller was told to send no further request.
    private var isEnding = false
    /// Whether the connection is closed when it has no request.
    private var isLast = false
    /// Whether nothing more is read, and the connection is being closed.
    private var isOver = false
    /// Whether the connection was ended because of a fault of the caller.
    var isBroken = false

    init(
        limits: AdminConfiguration, connections: ListenerConnections,
        connection: ListenerConnection, bodies: BodyBudget, access: AccessControl,
        direct: DirectRoute?, streams: StreamQueue
    ) {
        self.limits = limits
        self.connections = connections
        self.connection = connection
        held = HeldBodies(within: bodies)
        self.access = access
        self.direct = direct
        queue = streams
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        setCheckTimer()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        queue.finish()
        checkTimer?.task.cancel()
        stallTimer?.cancel()
        closeTimer?.cancel()
        shutdownTimer?.cancel()
        for id in Array(streams.keys) { forget(id) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        connection.presence.end()
        context.fireChannelInactive()
        queue.finish()
    }

    // MARK: Reading

    func read(context: ChannelHandlerContext) {
        // A caller that does not read its answers is not read, because they fill the memory.
        if context.channel.isWritable { context.read() } else { isReadHeld = true }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isBroken, !isOver else { return }
        let frame = unwrapInboundIn(data)
        guard frame.streamID != .rootStream else { return context.fireChannelRead(data) }
        switch frame.payload {
        case .headers(let headers):
            if streams[frame.streamID] == nil {
                begin(frame.streamID, headers, context)
            } else {
                // Trailers, of which no route reads any.
                receive(frame, headers.endStream, context)
            }
        case .data(let content):
            receive(frame, content.endStream, byteCount: content.data.readableBytes, context)
        default: context.fireChannelRead(data)
        }
    }

    /// Begins a request.
    private func begin(
        _ id: HTTP2StreamID, _ frame: HTTP2Frame.FramePayload.Headers,
        _ context: ChannelHandlerContext
    ) {
        // NIO refuses it by itself once the GOAWAY has left.
        guard !isEnding else { return reset(id, .refusedStream, context) }
        lastStream = max(lastStream, id)
        // The first one always has room, so that a caller with many requests leaves some to others.
        guard streams.isEmpty || connections.beginRequest() else {
            return reset(id, .refusedStream, context)
        }
        var request = HTTP2Request(now: .now())
        request.isCounted = !streams.isEmpty
        request.isReading = !frame.endStream
        let head: HTTP2Head
        do throws(Problem) {
            head = try HTTP2Head(frame.headers, limits)
            request.isOfHead = head.method == "HEAD"
            if let shortage = connection.shortage, !ConnectionGuard.isOfReserve(path: head.target) {
                throw ConnectionGuard.noPlace(shortage)
            }
        } catch {
            add(request, id)
            return refuse(id, error, context)
        }
        let isCrowd =
            streams.count >= limits.strangerStreamCount && !connection.isAuthenticated
            && !access.isKnown(authorization: head.authorization)
        guard !isCrowd, untakenByteCount <= Self.untakenByteCount else {
            if request.isCounted { connections.endRequest() }
            return reset(id, .refusedStream, context)
        }
        if let direct, head.canBeDirect, direct.fits(method: head.method, target: head.target),
            let plain = direct.plain(head.fields, authority: head.authority, connection)
        {
            request.receiver = .direct(plain)
            add(request, id)
            if frame.endStream { answer(id, plain, context) }
            return
        }
        add(request, id)
        var frame = frame
        if head.isChanged { frame.headers = head.headers }
        context.fireChannelRead(
            wrapInboundOut(HTTP2Frame(streamID: id, payload: .headers(frame))))
    }

    private func add(_ request: HTTP2Request, _ id: HTTP2StreamID) {
        let isFirst = streams.isEmpty
        streams[id] = request
        unanswered += 1
        connection.isBusy = true
        if isFirst { setCheckTimer() }
    }

    /// Records that an answer has ended, or never will: its connection may be replaced, and the
    /// memory of its body is free.
    private func answerEnded(_ request: inout HTTP2Request) {
        unanswered -= 1
        connection.isBusy = unanswered > 0
        held.release(&request.heldByteCount)
    }

    /// Receives a part of a body, or its end.
    private func receive(
        _ frame: HTTP2Frame, _ endsStream: Bool, byteCount: Int = 0,
        _ context: ChannelHandlerContext
    ) {
        let id = frame.streamID
        // Taken out, so that the body has one owner and grows without a copy.
        guard var request = streams.removeValue(forKey: id) else { return }
        request.received(byteCount, at: .now())
        if endsStream { request.isReading = false }
        var plain: DirectRoute.PlainRequest?
        if case .direct(var content) = request.receiver {
            if case .data(let data) = frame.payload, case .byteBuffer(let buffer) = data.data {
                request.receiver = .nobody
                content.body.append(contentsOf: buffer.readableBytesView)
                request.receiver = .direct(content)
            }
            plain = content
        }
        let isHeld = request.isAnswered || held.hold(byteCount, &request.heldByteCount)
        streams[id] = request
        switch request.receiver {
        case .nobody: return
        case _ where !isHeld: refuse(id, .noRoomForBody, context)
        case .direct: if endsStream, let plain { answer(id, plain, context) }
        case .router: context.fireChannelRead(wrapInboundOut(frame))
        }
    }

    // MARK: Answering

    private func answer(
        _ id: HTTP2StreamID, _ plain: DirectRoute.PlainRequest, _ context: ChannelHandlerContext
    ) {
        streams[id]?.receiver = .nobody
        direct?.answer(plain, on: context.channel, connection) { [self] response in
            // The stream may have ended meanwhile.
            if let context = self.context { send(response, to: id, context) }
        }
    }

    /// Writes a whole answer.
    private func send(
        _ response: BufferedResponse, to id: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        guard let request = streams[id], request.answer == .none else { return }
        let head = HTTP2Frame.FramePayload.Headers(
            headers: HPACKHeaders(response), endStream: request.isOfHead)
        write(id, .headers(head), context, promise: nil)
        if !request.isOfHead {
            let data = HTTP2Frame.FramePayload.Data(
                data: .byteBuffer(response.body), endStream: true)
            write(id, .data(data), context, promise: nil)
        }
        flushSoon(context)
    }

    /// Refuses a request, of which nothing more is read.
    private func refuse(_ id: HTTP2StreamID, _ problem: Problem, _ context: ChannelHandlerContext) {
        let hasAnswer = streams[id]?.answer != HTTP2Request.Answer.none
        if hasAnswer { return reset(id, .cancel, context) }
        let response = problem.buffered
        streams[id]?.receiver = .nobody
        send(response, to: id, context)
    }

    private func reset(
        _ id: HTTP2StreamID, _ code: NIOHTTP2.HTTP2ErrorCode, _ context: ChannelHandlerContext
    ) {
        context.write(
            wrapOutboundOut(HTTP2Frame(streamID: id, payload: .rstStream(code))), promise: nil)
        flushSoon(context)
    }

    /// Flushes once after all that is written meanwhile.
    private func flushSoon(_ context: ChannelHandlerContext) {
        guard !mustFlush else { return }
        mustFlush = true
        context.eventLoop.assumeIsolated().execute { [weak self] in
            self?.mustFlush = false
            self?.context?.flush()
        }
    }

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        let frame = unwrapOutboundIn(data)
        switch streams[frame.streamID]?.receiver {
        case nil: context.write(data, promise: promise)
        case .router:
            var payload = frame.payload
            if case .headers(var head) = payload {
                head.headers = HPACKHeaders(tabling: head.headers)
                payload = .headers(head)
            }
            write(frame.streamID, payload, context, promise: promise)
        // The router's answer comes after a refusal.
        case .direct, .nobody: promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    private func write(
        _ id: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload, _ context: ChannelHandlerContext,
        promise: EventLoopPromise<Void>?
    ) {
        guard var request = streams[id] else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        var endsStream = false
        switch payload {
        case .headers(let head):
            endsStream = head.endStream
            if head.headers.first(name: ":status")?.hasPrefix("1") == false {
                request.answer = .begun
            }
        case .data(let content):
            endsStream = content.endStream
            request.wrote(content.data.readableBytes, at: .now())
            untakenByteCount += content.data.readableBytes
            frameLimit.wroteBody(byteCount: content.data.readableBytes)
        case .windowUpdate(let count): request.granted(count, at: .now())
        default: break
        }
        if endsStream {
            request.answer = .ended
            answerEnded(&request)
        }
        streams[id] = request
        context.write(
            wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: promise)
        if endsStream, connection.isReserve { end(context) }
    }

    // MARK: The connection

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as StreamClosedEvent: forget(event.streamID)
        case is ChannelShouldQuiesceEvent:
            shutdownTimer = context.eventLoop.assumeIsolated().scheduleTask(
                in: .seconds(Int64(limits.shutdownSeconds))
            ) { context.close(promise: nil) }
            end(context)
        case ChannelEvent.inputClosed:
            connection.presence.end()
            isEnding = true
            isLast = true
            if isOver { context.close(promise: nil) } else { closeIfLast() }
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func forget(_ id: HTTP2StreamID) {
        guard var request = streams.removeValue(forKey: id) else { return }
        if !request.isAnswered { answerEnded(&request) }
        if request.isCounted { connections.endRequest() }
        untakenByteCount -= request.untakenByteCount
        guard streams.isEmpty else { return }
        silenceStart = .now()
        closeIfLast()
        setCheckTimer()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is FrameLimit.Exceeded: break
        // NIO answers other faults itself, those of a stream with a reset.
        case is any NIOHTTP2Error, is NIOHTTP2Errors.StreamError:
            if isBroken || frameLimit.permitsFault() { break }
        default: return context.close(promise: nil)
        }
        if frameLimit.isExceeded, !isBroken, !isOver {
            isBroken = true
            sendGoAway(context, .enhanceYourCalm, promise: nil)
        }
        guard isBroken, !isOver else { return }
        isOver = true
        closeSoon(context, after: Self.linger)
    }

    /// Tells the caller that no further request is answered, and closes the connection after those
    /// that it has. What is on its way NIO refuses, so that it can be sent again (RFC 9113 §6.8).
    private func end(_ context: ChannelHandlerContext) {
        guard !isEnding, !isBroken else { return }
        isEnding = true
        guard !streams.isEmpty else {
            isLast = true
            return closeIfLast(lingering: Self.goAwayDelay)
        }
        sendGoAway(context, promise: nil)
        // To close at once would reset the connection of a caller that is sending, which may lose
        // the GOAWAY.
        let this = NIOLoopBound(self, eventLoop: context.eventLoop)
        closeTimer = context.eventLoop.scheduleTask(in: Self.goAwayDelay) {
            this.value.isLast = true
            this.value.closeIfLast()
        }
    }

    /// Closes the connection when the socket has taken everything: first its sending half, because
    /// what the caller may still send would reset the connection, and answers that are under way
    /// would be lost. A caller that then does not close has this time to read why it ends.
    private func closeIfLast(lingering time: TimeAmount = linger) {
        guard let context, isLast, !isBroken, !isOver, streams.isEmpty else { return }
        isOver = true
        closeSoon(context, after: .seconds(Int64(limits.stallSeconds)))
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { [weak self] _ in
            guard let self, let context = self.context else { return }
            context.close(mode: .output, promise: nil)
            closeSoon(context, after: time)
        }
        sendGoAway(context, promise: written)
    }

    private func sendGoAway(
        _ context: ChannelHandlerContext, _ code: NIOHTTP2.HTTP2ErrorCode = .noError,
        promise: EventLoopPromise<Void>?
    ) {
        let payload = HTTP2Frame.FramePayload.goAway(
            lastStreamID: lastStream, errorCode: code, opaqueData: nil)
        context.writeAndFlush(
            wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: promise)
    }

    private func closeSoon(_ context: ChannelHandlerContext, after time: TimeAmount) {
        closeTimer?.cancel()
        closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            context.close(promise: nil)
        }
    }

    // MARK: Time

    /// The time at which the connection ends if no request comes.
    private var silenceDeadline: NIODeadline {
        let seconds = connection.isAuthenticated ? limits.idleSeconds : limits.strangerSeconds
        return silenceStart + .seconds(Int64(seconds))
    }

    /// Ensures that the time limits are checked when the next one may have passed.
    private func setCheckTimer() {
        guard let context else { return }
        let time = streams.isEmpty ? silenceDeadline : .now() + Self.checkInterval
        if let checkTimer {
            guard checkTimer.time > time else { return }
            checkTimer.task.cancel()
        }
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) {
            [weak self] () -> Void in self?.check()
        }
        checkTimer = (task, time)
    }

    private func check() {
        checkTimer = nil
        guard let context, !isBroken, !isOver else { return }
        if streams.isEmpty {
            if silenceDeadline <= .now() { return end(context) }
        } else {
            let now = NIODeadline.now()
            for (id, request) in streams {
                if request.isLate(at: now, limits) {
                    refuse(
                        id, Problem(.requestTimeout, "Send the whole request without a pause."),
                        context)
                } else if request.isStalled(at: now, limits) {
                    reset(id, .cancel, context)
                } else if request.isSuperfluous(at: now, after: Self.linger) {
                    reset(id, .noError, context)
                }
            }
        }
        setCheckTimer()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stallTimer?.cancel()
        stallTimer = nil
        if !context.channel.isWritable {
            stallTimer = context.eventLoop.assumeIsolated().scheduleTask(
                in: .seconds(Int64(limits.stallSeconds))
            ) { context.close(promise: nil) }
        } else if isReadHeld {
            isReadHeld = false
            context.read()
        }
        context.fireChannelWritabilityChanged()
    }
}
