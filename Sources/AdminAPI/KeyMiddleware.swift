// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// Lets a request pass that shows a valid API key (RFC 6750 §2.1).
struct KeyMiddleware: RouterMiddleware {
    typealias Context = AdminRequestContext

    let authentication: AdminConfiguration.Authentication

    func handle(
        _ request: Request, context: AdminRequestContext,
        next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        guard case .keys(let keys) = authentication else {
            return try await next(request, context)
        }
        guard let secret = Self.bearerToken(request.headers[.authorization]),
            let key = APIKey.match(secret, among: keys)
        else {
            var problem = Problem(
                .unauthorized, "Send the header Authorization: Bearer, with a valid key.")
            problem.headers[.wwwAuthenticate] = "Bearer realm=\"rouse\""
            throw problem
        }
        var context = context
        context.caller = key
        return try await next(request, context)
    }

    private static func bearerToken(_ field: String?) -> Substring? {
        guard let field, let space = field.firstIndex(of: " "),
            field[..<space].lowercased() == "bearer"
        else { return nil }
        return field[space...].drop { $0 == " " }
    }
}
