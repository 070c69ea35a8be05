// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import Synchronization
import WakeModel

/// Answers plain requests of one route on the connection's event loop, without a task for each: see
/// ``Route/direct``. All others go on to the router.
///
/// A plain request has the route's path without a query, a `Content-Length` within the route's
/// limit, no `Expect`, and an accepted key; the router has the same checks for the others. The
/// requests of a connection are answered in order: what comes after a request that is being
/// answered waits here, and so does the end of the caller's side until all answers are written.
///
/// The benchmark `gateway-http` measures it: with 256 connections a third more requests are
/// accepted than by the router alone, with less than three quarters of the processor time.
///
/// Confined to its channel's event loop.
final class DirectRouteHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// A request whose body is being read.
    private struct Plain {
        let headers: HTTPFields
        let grant: KeyGrant?
        /// Why its key may not use the route; `nil` if it may.
        let refusal: Problem?
        let start: ContinuousClock.Instant
        var body: [UInt8] = []
    }

    private let route: Route
    private let handler: Route.DirectHandler
    private let limit: Int
    private let access: AccessControl
    private let middleware: ProblemMiddleware
    private let date: ResponseDate
    private let logger: Logger
    private let connection: ListenerConnection?
    private var context: ChannelHandlerContext?
    private var request: Plain?
    private var isAnswering = false
    /// The number of requests that the router has and has not answered.
    private var routed = 0
    /// The number of answers from here that are not written to the socket.
    private var unwritten = 0
    /// What was received and waits: see ``mustWait(_:)``.
    private var held: CircularBuffer<HTTPRequestPart> = []
    private var isInputClosed = false
    private var isReadHeld = false
    private var isReleasing = false

    init?(
        _ route: Route, _ access: AccessControl, _ middleware: ProblemMiddleware,
        _ date: ResponseDate, _ connection: ListenerConnection?, _ logger: Logger
    ) {
        guard let handler = route.direct, let body = route.operation.body else { return nil }
        self.route = route
        self.handler = handler
        limit = body.limit
        self.access = access
        self.middleware = middleware
        self.date = date
        self.connection = connection
        self.logger = logger
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if !held.isEmpty || mustWait(part, context) {
            held.append(part)
        } else {
            receive(part, context)
        }
    }

    /// Whether a part waits: while a request is being answered, and the next request while the
    /// caller does not read its answers, which would otherwise fill the memory.
    private func mustWait(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) -> Bool {
        if isAnswering { return true }
        guard case .head = part else { return false }
        return !context.channel.isWritable
    }

    private func receive(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let head):
            request = plain(head)
            if request != nil { return }
            routed += 1
        case .body(let buffer):
            if request?.body.append(contentsOf: buffer.readableBytesView) != nil { return }
        case .end:
            if let request {
                self.request = nil
                return answer(request, context)
            }
        }
        context.fireChannelRead(wrapInboundOut(part))
    }

    /// The request, if it is a plain one with an accepted key.
    private func plain(_ head: HTTPRequest) -> Plain? {
        let headers = head.headerFields
        guard routed == 0, head.method == route.method, head.path == route.path,
            let length = headers[.contentLength].flatMap({ Int($0) }), length <= limit,
            headers[.expect] == nil
        else { return nil }
        let start = ContinuousClock.now
        do throws(Problem) {
            if access.isOpen {
                try BrowserCheck.check(
                    authority: head.authority, origin: headers[values: .origin])
            }
            let grant = try access.check(headers, route.access, isQuick: true)
            connection?.isAuthenticated = true
            return Plain(headers: headers, grant: grant, refusal: nil, start: start)
        } catch {
            // The router finds the same, and answers; but it would count a known key again.
            guard error.code == .forbidden else { return nil }
            return Plain(headers: headers, grant: nil, refusal: error, start: start)
        }
    }

    /// Holds the next read while requests wait, so that a caller that sends many cannot fill the
    /// memory.
    func read(context: ChannelHandlerContext) {
        if held.isEmpty { context.read() } else { isReadHeld = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else {
            return context.fireUserInboundEventTriggered(event)
        }
        // Hummingbird closes the connection then, with what is not written to the socket.
        isInputClosed = true
        release(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        release(context)
        context.fireChannelWritabilityChanged()
    }

    // MARK: Answering

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { routed -= 1 }
        context.write(data, promise: promise)
    }

    private func answer(_ request: Plain, _ context: ChannelHandlerContext) {
        isAnswering = true
        let state = AdminRequestContext(
            source: ApplicationRequestContextSource(channel: context.channel, logger: logger))
        state.coreContext.endpointPath.value = route.path
        state.grant = request.grant
        let loop = context.eventLoop
        let this = NIOLoopBound(self, eventLoop: loop)
        do throws(Problem) {
            if let refusal = request.refusal { throw refusal }
            _ = try request.headers.mediaType()
            if let grant = request.grant, grant.isOver { throw AccessControl.over(grant) }
            try handler(request.body, request.headers, state) { [state] answer in
                loop.execute { this.value.send(Result { try answer() }, request.start, state) }
            }
        } catch {
            send(.failure(error), request.start, state)
        }
    }

    private func send(
        _ result: Result<BufferedResponse, any Error>, _ start: ContinuousClock.Instant,
        _ state: AdminRequestContext
    ) {
        var response: BufferedResponse
        var refusal: Problem?
        switch result {
        case .success(let success): response = success
        case .failure(let error):
            let problem = middleware.problem(for: error, state)
            if problem.code == .unauthorized { connection?.isAuthenticated = false }
            refusal = problem
            response = problem.buffered
        }
        middleware.complete(
            &response.headers, of: response.status, to: route.method, refusal, since: start, state)
        // The connection may have ended meanwhile.
        guard let context else { return }
        response.headers[.date] = date.text
        response.headers[.server] = AdminAPI.serverName
        let written = context.eventLoop.makePromise(of: Void.self)
        unwritten += 1
        written.futureResult.assumeIsolated().whenComplete { [weak self] _ in
            guard let self else { return }
            unwritten -= 1
            if let context = self.context { release(context) }
        }
        context.write(wrapOutboundOut(.head(response.head)), promise: nil)
        context.write(wrapOutboundOut(.body(response.body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        isAnswering = false
        release(context)
    }

    /// Goes on with what was received meanwhile.
    private func release(_ context: ChannelHandlerContext) {
        guard !isReleasing, context.channel.isActive else { return }
        isReleasing = true
        let routed = routed
        while let part = held.first, !mustWait(part, context) {
            held.removeFirst()
            receive(part, context)
        }
        // The end of these reads: what is behind this handler passes them on only then.
        if self.routed != routed { context.fireChannelReadComplete() }
        isReleasing = false
        guard held.isEmpty else { return }
        if isInputClosed, !isAnswering, unwritten == 0 {
            isInputClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if isReadHeld {
            isReadHeld = false
            context.read()
        }
    }
}

/// The value of `Date`, which is made once a second.
final class ResponseDate: Sendable {
    private let state = Mutex((second: Int64.min, text: ""))

    var text: String {
        let now = SystemGatewayClock().now()
        return state.withLock { state in
            if state.second != now.secondsSinceEpoch {
                state = (now.secondsSinceEpoch, now.httpDate)
            }
            return state.text
        }
    }
}
