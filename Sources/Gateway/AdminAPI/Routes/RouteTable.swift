// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// All routes of the API, in the order of the documentation.
struct RouteTable: Sendable {
    let routes: [Route]
    let access: AccessControl

    init(_ services: Services) {
        access = AccessControl(authentication: services.configuration.authentication)
        var routes: [Route] = []
        routes += WakeRoutes(services: services).routes
        routes += BatchRoutes(services: services).routes
        routes += MulticastRoutes(services: services).routes
        routes += ValidateRoutes(services: services).routes
        routes += DeviceRoutes(services: services).routes
        routes += UserRoutes(services: services).routes
        routes += ReceiptRoutes(services: services).routes
        routes += ChannelRoutes(services: services).routes
        routes += FeedRoutes(services: services).routes
        routes += AppRoutes(services: services).routes
        routes += HealthRoutes(services: services).routes
        routes.append(DashboardRoute().route)
        let table = routes
        routes.append(OpenAPIRoute(documented: table).route)
        self.routes = routes
    }

    /// Makes the router. Each handler runs after the checks of access, query and body.
    func makeRouter(
        _ services: Services, _ middleware: ProblemMiddleware
    ) -> Router<AdminRequestContext> {
        let router = Router(
            context: AdminRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: middleware)
        if access.isOpen { router.add(middleware: BrowserCheck()) }
        for route in routes {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                let connection = services.connections.connection(on: context.channel)
                do {
                    context.grant = try access.check(request.headers, route.access)
                    if route.access != .open { connection?.isAuthenticated = true }
                    try Self.checkQuery(request, route)
                    try await Self.checkBody(request, route)
                    return try await route.handler(request, context)
                } catch let problem as Problem where problem.code == .unauthorized {
                    // A caller whose key was removed is not authenticated any more.
                    connection?.isAuthenticated = false
                    throw problem
                }
            }
        }
        return router
    }

    /// The methods that a path supports, for `Allow`; empty for an unknown path.
    func methods(for path: String) -> [String] {
        let segments = path.split(separator: "/")
        let matching = routes.filter { $0.matches(segments) }
        // A literal path takes precedence over one with parameters, as in the router.
        let literal = matching.filter { !$0.path.contains("{") }
        let methods = (literal.isEmpty ? matching : literal).map(\.method.rawValue)
        return Set(methods + (methods.contains("GET") ? ["HEAD"] : [])).sorted()
    }

    /// Whether an answer may repeat the name of an unknown parameter, which could be a device
    /// token.
    private static func isShowable(_ name: String) -> Bool {
        name.utf8.count <= 32
            && name.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                    || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            }
    }

    /// Throws for an unknown query parameter, because it is probably misspelt, and a list without
    /// its filter would be a wrong answer. Throws for a duplicate one too.
    private static func checkQuery(_ request: Request, _ route: Route) throws(Problem) {
        guard request.uri.query != nil else { return }
        let known = route.operation.parameters.filter { $0.place == .query }.map(\.name)
        var seen: Set<String> = []
        for (name, _) in request.uri.queryParameters {
            let name = String(name)
            guard known.contains(name), seen.insert(name).inserted else {
                let isTwice = known.contains(name)
                let shown = isTwice || isShowable(name) ? name : nil
                var problem = Problem(
                    .invalidField,
                    (shown.map { "\($0): " } ?? "")
                        + (isTwice
                            ? "duplicate query parameter. Give it once."
                            : "unknown query parameter. This route knows "
                                + (known.isEmpty ? "none." : known.joined(separator: ", ") + ".")))
                problem.field = shown
                throw problem
            }
        }
    }

    /// The maximum length of a body that counts as empty, in bytes.
    private static let emptyBodyByteCount = 64

    /// Throws if a request has a body that the route does not read, because it would be ignored. An
    /// empty object, array or `null`, which many clients send, is accepted.
    private static func checkBody(_ request: Request, _ route: Route) async throws {
        guard route.operation.body == nil, route.access != .open else { return }
        let length = request.headers[.contentLength]
        guard length != "0", length != nil || request.headers[.transferEncoding] != nil else {
            return
        }
        var body: [UInt8] = []
        var count = 0
        for try await buffer in request.body {
            count += buffer.readableBytes
            guard count <= Self.emptyBodyByteCount else { break }
            body += buffer.readableBytesView
        }
        let text = String(decoding: body, as: UTF8.self).filter { !$0.isWhitespace }
        guard
            count > Self.emptyBodyByteCount || !["", "{}", "[]", "null"].contains(text)
        else { return }
        let known = route.operation.parameters.filter { $0.place == .query }.map(\.name)
        var problem = Problem(
            .invalidField,
            "This route reads no body. "
                + (known.isEmpty
                    ? "Send none."
                    : "Give \(known.joined(separator: ", ")) as query parameters."))
        problem.field = "body"
        throw problem
    }
}
