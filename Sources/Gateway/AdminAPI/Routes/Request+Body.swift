// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

extension Request {
    /// Reads the body of a request with one of these media types, up to `limit` bytes. The
    /// ``ConnectionGuard`` limits the duration. The bytes beyond
    /// ``AdminConfiguration/bodyByteCount`` count against `budget` until the request has ended.
    ///
    /// A body may take minutes, so the validity of the caller's key is checked again at the end.
    ///
    /// Returns the bytes and the media type, which is the first of `mediaTypes` if the request
    /// names none. Throws ``Problem``.
    func readBody(
        _ mediaTypes: [String] = [JSONValue.mediaType], limit: Int,
        within budget: BodyBudget? = nil, _ context: AdminRequestContext
    ) async throws -> (bytes: [UInt8], mediaType: String) {
        let mediaType = try headers.mediaType(among: mediaTypes)
        if let length = headers[.contentLength].flatMap({ Int($0) }) {
            guard length <= limit else { throw Problem.bodyTooLarge(limit) }
            guard budget?.hasRoom(for: length) ?? true else { throw Problem.noRoomForBody }
        }
        if headers[.expect]?.lowercased() == "100-continue" {
            // The caller waits for this response before it sends the body (RFC 9110 §10.1.1). An
            // unauthorized caller was refused before.
            context.channel.writeAndFlush(
                HTTPResponsePart.head(HTTPResponse(status: .continue)), promise: nil)
        }
        var bytes: [UInt8] = []
        for try await buffer in body {
            let count = bytes.count + buffer.readableBytes
            guard count <= limit else { throw Problem.bodyTooLarge(limit) }
            if let budget, let due = budget.due(from: bytes.count, to: count) {
                guard context.takeBodyBytes(due, of: budget) else { throw Problem.noRoomForBody }
            }
            bytes.append(contentsOf: buffer.readableBytesView)
        }
        if let grant = context.grant, grant.isOver { throw AccessControl.over(grant) }
        return (bytes, mediaType)
    }
}

extension HTTPFields {
    /// The media type of a body, which must be one of `known`; without a `Content-Type` the first
    /// of them. Throws ``Problem`` for another, and for an encoded body, which would otherwise be
    /// reported as invalid JSON.
    func mediaType(among known: [String] = [JSONValue.mediaType]) throws(Problem) -> String {
        let mediaType = try essence(among: known)
        if let encoding = self[.contentEncoding], encoding.lowercased() != "identity" {
            var problem = Problem(
                .unsupportedMediaType, "Send the body as it is, without Content-Encoding.")
            problem.field = "Content-Encoding"
            throw problem
        }
        return mediaType
    }

    private func essence(among known: [String]) throws(Problem) -> String {
        guard let field = self[.contentType] else { return known[0] }
        if known.contains(field) { return field }
        let essence = field.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
        guard known.contains(essence) else {
            var problem = Problem(
                .unsupportedMediaType,
                "Send Content-Type: \(known.joined(separator: " or ")).")
            problem.field = "Content-Type"
            throw problem
        }
        return essence
    }
}

extension Problem {
    /// The `Retry-After` of an answer while there is no room for a body, in seconds.
    private static let roomPauseSeconds = 1

    fileprivate static func bodyTooLarge(_ limit: Int) -> Problem {
        Problem(.bodyTooLarge, "The body has more than \(limit) bytes.")
    }

    static var noRoomForBody: Problem {
        Problem(
            .overloaded, "The large bodies that are being read leave no room for another."
        ).retrying(afterSeconds: roomPauseSeconds)
    }
}
