// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization
import WakeModel

/// A route whose plain requests are answered on the connection's event loop, without a task for
/// each, by ``Route/direct``.
///
/// A plain request has the route's path without a query, a `Content-Length` within the route's
/// limit, no `Expect`, and an accepted key; the router has the same checks for the others.
struct DirectRoute: Sendable {
    /// A plain request, whose body is being read.
    struct PlainRequest {
        let headers: HTTPFields
        fileprivate let grant: KeyGrant?
        /// Why its key may not use the route; `nil` if it may.
        fileprivate let refusal: Problem?
        fileprivate let start: ContinuousClock.Instant
        var body: [UInt8] = []
    }

    private let route: Route
    private let handler: Route.DirectHandler
    private let limit: Int
    private let access: AccessControl
    private let middleware: ProblemMiddleware
    private let date = ResponseDate()
    private let logger: Logger

    /// The busiest route of a table; `nil` if no route has a handler of plain requests.
    init?(_ table: RouteTable, _ middleware: ProblemMiddleware, _ logger: Logger) {
        guard let route = table.routes.first(where: { $0.direct != nil }),
            let handler = route.direct, let body = route.operation.body
        else { return nil }
        self.route = route
        self.handler = handler
        limit = body.limit
        access = table.access
        self.middleware = middleware
        self.logger = logger
    }

    /// Whether requests with this method and target are of this route.
    func fits(method: some StringProtocol, target: some StringProtocol) -> Bool {
        target == route.path && method == route.method.rawValue
    }

    /// The request, if it is a plain one with an accepted key.
    func plain(_ head: HTTPRequest, _ connection: ListenerConnection?) -> PlainRequest? {
        guard head.method == route.method, head.path == route.path else { return nil }
        return plain(head.headerFields, authority: head.authority, connection)
    }

    /// The same for a request of which ``fits(method:target:)`` holds.
    func plain(
        _ headers: HTTPFields, authority: String?, _ connection: ListenerConnection?
    ) -> PlainRequest? {
        guard let length = headers[.contentLength].flatMap({ Int($0) }), length <= limit,
            headers[.expect] == nil
        else { return nil }
        let start = ContinuousClock.now
        do throws(Problem) {
            if access.isOpen {
                try BrowserCheck.check(authority: authority, origin: headers[values: .origin])
            }
            let grant = try access.check(headers, route.access, isQuick: true)
            connection?.isAuthenticated = true
            return PlainRequest(headers: headers, grant: grant, refusal: nil, start: start)
        } catch {
            // The router finds the same, and answers; but it would count a known key again.
            guard error.code == .forbidden else { return nil }
            return PlainRequest(headers: headers, grant: nil, refusal: error, start: start)
        }
    }

    /// Answers a request whose body is complete. Must be called on the channel's event loop, and
    /// calls `receive` there once, immediately or later.
    func answer(
        _ request: PlainRequest, on channel: any Channel, _ connection: ListenerConnection?,
        _ receive: @escaping (BufferedResponse) -> Void
    ) {
        let state = AdminRequestContext(
            source: ApplicationRequestContextSource(channel: channel, logger: logger))
        state.coreContext.endpointPath.value = route.path
        state.grant = request.grant
        let loop = channel.eventLoop
        let start = request.start
        let receiver = NIOLoopBound(receive, eventLoop: loop)
        do throws(Problem) {
            if let refusal = request.refusal { throw refusal }
            _ = try request.headers.mediaType()
            if let grant = request.grant, grant.isOver { throw AccessControl.over(grant) }
            try handler(request.body, request.headers, state) { [self, state] answer in
                loop.execute {
                    receiver.value(complete(Result { try answer() }, start, state, connection))
                }
            }
        } catch {
            receive(complete(.failure(error), start, state, connection))
        }
    }

    /// The whole answer, which is counted and logged.
    private func complete(
        _ result: Result<BufferedResponse, any Error>, _ start: ContinuousClock.Instant,
        _ state: AdminRequestContext, _ connection: ListenerConnection?
    ) -> BufferedResponse {
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
        response.headers[.date] = date.text
        response.headers[.server] = AdminAPI.serverName
        return response
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
