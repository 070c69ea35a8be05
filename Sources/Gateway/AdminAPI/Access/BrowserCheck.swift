// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// Refuses requests of web pages of other origins if no API key is required. Such a page runs in a
/// browser on this machine and could otherwise use the API.
///
/// - DNS rebinding, a page whose own name resolves to this machine, is detected by `Host`: only
///   names of this machine are accepted.
/// - A cross-site request is detected by `Origin`: only the origin that `Host` names is accepted.
struct BrowserCheck: RouterMiddleware {
    typealias Context = AdminRequestContext

    func handle(
        _ request: Request, context: AdminRequestContext,
        next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        try Self.check(authority: request.head.authority, origin: request.headers[values: .origin])
        return try await next(request, context)
    }

    /// Throws ``Problem`` with `foreign-origin` if `Host` is not a name of this machine, or if
    /// `Origin` is another origin.
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
