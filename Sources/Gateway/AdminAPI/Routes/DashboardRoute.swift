// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore
import WakeModel

/// `GET /`: the dashboard.
///
/// The page requires no key, because it contains no data. It fetches data with the key that the
/// user enters, from routes that require the scope `read`.
struct DashboardRoute {
    /// Assembled on the first request, so that it does not delay the start.
    private var page: DashboardPage { .embedded }

    var route: Route {
        Route(
            .get, "/", .open,
            Operation(
                id: "getDashboard", summary: "The dashboard, for people",
                description: "One HTML page without data, which asks for an API key with the "
                    + "scope `read` and fetches its figures from the other routes.",
                answers: [
                    Operation.Answer(
                        200, "The page.", .string(), mediaType: DashboardPage.mediaType),
                    Operation.Answer(304, "The page that the caller has is current.", nil),
                ])
        ) { request, _ in
            if Self.isCurrent(page.entityTag, request.headers[.ifNoneMatch]) {
                return Response(status: .notModified, headers: headers)
            }
            var headers = headers
            headers[.contentType] = DashboardPage.mediaType
            return Response(
                status: .ok, headers: headers, body: ResponseBody(byteBuffer: page.document))
        }
    }

    /// The header fields of the page and of a 304 answer.
    private var headers: HTTPFields {
        var headers = HTTPFields()
        headers[.contentSecurityPolicy] = page.contentSecurityPolicy
        headers[.xContentTypeOptions] = "nosniff"
        for (name, value) in [
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        // The browser revalidates the page each time, so that pages of two versions are not mixed.
        headers[.cacheControl] = "no-cache"
        headers[.eTag] = page.entityTag
        return headers
    }

    /// Whether the caller has the version with this entity tag (RFC 9110 §13.1.2).
    static func isCurrent(_ tag: String, _ ifNoneMatch: String?) -> Bool {
        guard let ifNoneMatch else { return false }
        return ifNoneMatch.split(separator: ",").contains { entry in
            let entry = entry.trimmed
            return entry == "*" || entry == tag || entry == "W/\(tag)"
        }
    }
}
