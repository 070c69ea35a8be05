// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// Where no key is asked for, keeps pages of others away, which run in a browser on this machine
/// and reach the listener with whatever that browser may.
///
/// - A page that has its own name resolved to this machine (DNS rebinding) is known by `Host`: only
///   names of this machine are answered.
/// - A page that posts across sites is known by `Origin`: only the origin that `Host` names may.
struct BrowserCheck: RouterMiddleware {
    typealias Context = AdminRequestContext

    func handle(
        _ request: Request, context: AdminRequestContext,
        next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        try Self.check(authority: request.head.authority, origin: request.headers[values: .origin])
        return try await next(request, context)
    }

    /// Throws ``Problem`` for a request that was not meant for this machine by name.
    static func check(authority: String?, origin: [String]) throws(Problem) {
        guard let authority, isLocal(authority) else {
            throw Problem(
                .foreignOrigin,
                "Without API keys only localhost, 127.0.0.1 and [::1] are answered as Host.")
        }
        let ours = ["http://" + authority, "https://" + authority].map { $0.lowercased() }
        guard origin.allSatisfy({ ours.contains($0.lowercased()) }) else {
            throw Problem(
                .foreignOrigin,
                "Without API keys pages of another origin than the gateway's own are refused.")
        }
    }

    private static func isLocal(_ authority: String) -> Bool {
        let text = authority.lowercased()
        if text.hasPrefix("[") { return text == "[::1]" || text.hasPrefix("[::1]:") }
        let host = text.prefix { $0 != ":" }
        return host == "localhost" || host == "127.0.0.1" || host.hasSuffix(".localhost")
    }
}
