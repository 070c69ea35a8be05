// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// Authenticates and authorizes requests: an API key (RFC 6750 §2.1) with the route's scope and
/// within its rate limit. Needs only the head of a request, so that an unauthorized caller is
/// answered before the body is read.
struct AccessControl: Sendable {
    let authentication: AdminConfiguration.Authentication

    /// Whether no key is required.
    var isOpen: Bool {
        if case .disabled = authentication { true } else { false }
    }

    /// Returns the grant of the caller's key; `nil` if no key is required. Throws ``Problem`` with
    /// `unauthorized`, `forbidden` or `rate-limited`. The keys may be read again for a secret that
    /// is not known, unless it is to be `isQuick`.
    func check(
        _ headers: HTTPFields, _ access: Route.Access, isQuick: Bool = false
    ) throws(Problem) -> KeyGrant? {
        guard case .scope(let scope) = access, case .keys(let ring) = authentication else {
            return nil
        }
        guard let secret = Self.bearerToken(headers[.authorization]) else {
            throw Self.unauthorized("Send the header Authorization: Bearer, with an API key.", nil)
        }
        switch ring.use(secret, isQuick: isQuick) {
        case .unknown:
            throw Self.unauthorized("This API key is not known, or was revoked.", "invalid_token")
        case .tooMany(let key, let seconds):
            throw Self.rateLimited(key, retryAfterSeconds: seconds)
        case .expired(let key, let end):
            throw Self.unauthorized(
                "The API key \(key.name), or this secret of it, has expired at \(end).",
                "invalid_token")
        case .known(let grant):
            let key = grant.key
            guard key.scopes.allows(scope) else {
                var problem = Problem(
                    .forbidden, "The key \(key.name) lacks the scope \(scope.rawValue).")
                problem.headers[.wwwAuthenticate] =
                    "Bearer realm=\"rouse\", error=\"insufficient_scope\", "
                    + "scope=\"\(scope.rawValue)\""
                problem.callerName = key.name
                throw problem
            }
            return grant
        }
    }

    /// Whether a request has a key that is known, or needs none. It counts against no rate limit.
    func isKnown(authorization: String?) -> Bool {
        guard case .keys(let ring) = authentication else { return true }
        return Self.bearerToken(authorization).map(ring.knows) ?? false
    }

    /// Counts further requests against the rate limit of the caller's key: each item of a batch
    /// counts as one. Throws ``Problem`` with `rate-limited` if earlier batches have overdrawn the
    /// limit.
    func debit(_ caller: APIKey?, for count: Int) throws(Problem) {
        guard let caller, case .keys(let ring) = authentication else { return }
        if let seconds = ring.debit(caller, for: count) {
            throw Self.rateLimited(caller, retryAfterSeconds: seconds)
        }
    }

    private static func rateLimited(_ key: APIKey, retryAfterSeconds seconds: Int) -> Problem {
        var problem = Problem(
            .rateLimited, "The key \(key.name) makes more requests than its rate allows."
        ).retrying(afterSeconds: seconds)
        problem.callerName = key.name
        return problem
    }

    /// The problem for a key that was accepted at the start of the request and is no longer valid.
    static func over(_ grant: KeyGrant) -> Problem {
        unauthorized(
            "The API key \(grant.key.name) was revoked or changed, or has expired, while the "
                + "request came in.", "invalid_token")
    }

    private static func unauthorized(_ detail: String, _ error: String?) -> Problem {
        var problem = Problem(.unauthorized, detail)
        problem.headers[.wwwAuthenticate] =
            "Bearer realm=\"rouse\"" + (error.map { ", error=\"\($0)\"" } ?? "")
        return problem
    }

    private static func bearerToken(_ field: String?) -> Substring? {
        guard let field, let space = field.firstIndex(of: " "),
            field[..<space].lowercased() == "bearer"
        else { return nil }
        let token = field[space...].drop { $0 == " " }
        return token.isEmpty ? nil : token
    }
}
