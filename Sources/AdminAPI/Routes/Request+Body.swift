// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

extension Request {
    /// Reads the body of a request, of one of these media types, up to `limit` bytes. How long it
    /// may take is the ``ConnectionGuard``'s to watch.
    ///
    /// Returns the bytes and the media type, which is the first of `mediaTypes` where the request
    /// names none. Throws ``Problem``.
    func readBody(
        _ mediaTypes: [String] = [JSONValue.mediaType], limit: Int, _ context: AdminRequestContext
    ) async throws -> (bytes: [UInt8], mediaType: String) {
        let mediaType = try checkMediaType(mediaTypes)
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw Problem(.bodyTooLarge, "The body has more than \(limit) bytes.")
        }
        if headers[.expect]?.lowercased() == "100-continue" {
            // The caller waits for this word before it sends what may be a large body (RFC 9110
            // §10.1.1); whoever may not call has been answered by now.
            context.channel.writeAndFlush(
                HTTPResponsePart.head(HTTPResponse(status: .continue)), promise: nil)
        }
        let buffer: ByteBuffer
        do {
            buffer = try await body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw Problem(.bodyTooLarge, "The body has more than \(limit) bytes.")
        }
        return (Array(buffer.readableBytesView), mediaType)
    }

    private func checkMediaType(_ known: [String]) throws(Problem) -> String {
        guard let field = headers[.contentType] else { return known[0] }
        let essence = field.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
        guard known.contains(essence) else {
            throw Problem(
                .unsupportedMediaType,
                "Send Content-Type: \(known.joined(separator: " or ")).")
        }
        return essence
    }
}
