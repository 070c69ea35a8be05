// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /`: the dashboard, for people.
///
/// The page is open to everybody who reaches the listener, because it holds no data. What it shows
/// it fetches with the key that the person types, from routes that ask for the scope `read`.
struct DashboardRoute {
    /// Put together when it is asked for first, which a start need not wait for.
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
                status: .ok, headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: page.document)))
        }
    }

    /// What goes with the page, and with the news that it is the same.
    private var headers: HTTPFields {
        var headers = HTTPFields()
        headers[.contentSecurityPolicy] = page.contentSecurityPolicy
        headers[.xContentTypeOptions] = "nosniff"
        for (name, value) in [
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        // A browser asks each time whether the page is current, so that a new gateway's page is
        // never mixed with an old one.
        headers[.cacheControl] = "no-cache"
        headers[.eTag] = page.entityTag
        return headers
    }

    /// Whether a caller has what this tag names (RFC 9110 §13.1.2).
    static func isCurrent(_ tag: String, _ ifNoneMatch: String?) -> Bool {
        guard let ifNoneMatch else { return false }
        return ifNoneMatch.split(separator: ",").contains { entry in
            let entry = entry.trimmingCharacters(in: .whitespaces)
            return entry == "*" || entry == tag || entry == "W/\(tag)"
        }
    }
}
