// SPDX-License-Identifier: Apache-2.0

import CCurlCalls
import CCurlShims

/// Makes HTTP/1.1 requests, one at a time, and waits for each: for the client commands, and for
/// webhooks on a separate thread.
///
/// A call blocks the calling thread. A program with other tasks makes it on a thread of its own; a
/// client command has none, and calls from where it is. One thread or task uses it at a time,
/// because it is neither copyable nor `Sendable`.
public struct HTTPCaller: ~Copyable {
    /// A request.
    public struct Request {
        /// `GET`, `POST`, `PUT` or `DELETE`.
        public var method: String
        /// The whole URL, `http://` or `https://`.
        public var url: String
        /// Header fields. A value never shows in an error.
        public var headers: [(name: String, value: String)] = []
        /// The body, if any.
        public var body: [UInt8]?
        /// A Unix domain socket to connect to, instead of the URL's host.
        public var unixSocketPath: String?
        /// A file of certificate authorities in PEM, instead of the system's.
        public var certificateAuthorityPath: String?
        /// How long the connection may take, in milliseconds.
        public var connectMilliseconds = 5_000
        /// How long the whole request may take, in milliseconds.
        public var milliseconds = 30_000
        /// The most bytes of an answer.
        public var answerByteCount = 16_777_216

        /// Creates a request without a body.
        public init(_ method: String, _ url: String) {
            self.method = method
            self.url = url
        }
    }

    /// An answer, whatever its status.
    public struct Answer: Sendable {
        /// The HTTP status.
        public let status: Int
        /// The value of `Retry-After` in seconds; 0 without one.
        public let retryAfterSeconds: Int
        /// The whole URL that a redirect leads to; `nil` if it is none. It was not followed.
        public let redirectURL: String?
        /// The body.
        public let body: [UInt8]
    }

    /// The reason why there is no answer.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// libcurl's message, without secrets: hosts, ports, reasons.
        public let description: String
        /// Whether the server may have seen the request, or some of it.
        public var isSent = false
        /// Whether the answer was larger than the caller reads.
        public var isTooLarge = false
    }

    private let caller: OpaquePointer

    /// Creates a caller without connections. Throws when memory is exhausted, or libcurl cannot be
    /// initialised.
    public init() throws(Failure) {
        guard CCurl_global_init() == 0, let caller = CCurlCaller_create() else {
            throw Failure(description: "libcurl cannot be initialised")
        }
        self.caller = caller
    }

    deinit { CCurlCaller_destroy(caller) }

    /// Whether the host of a URL is this machine: a loopback address in any notation, `localhost`
    /// or a name below it. No proxy is used for such a URL. False for what is no URL.
    public static func isLoopback(url: String) -> Bool { CCurl_is_loopback(url) }

    /// Makes a request and waits for its answer.
    public func call(_ request: Request) throws(Failure) -> Answer {
        CCurlCaller_clear_headers(caller)
        defer { CCurlCaller_clear_headers(caller) }
        for (name, value) in request.headers {
            // A line break would begin another header.
            guard !value.utf8.contains(where: { $0 < 0x20 }),
                CCurlCaller_append_header(caller, "\(name): \(value)")
            else { throw Failure(description: "the header \(name) cannot be sent") }
        }
        // libcurl waits a second for a server that does not answer the expectation.
        _ = CCurlCaller_append_header(caller, "Expect:")
        let answer = perform(request)
        guard answer.code == 0 else {
            let words =
                answer.isTooLarge ? "the answer is too large" : String(cString: answer.error)
            throw Failure(description: words, isSent: answer.isSent, isTooLarge: answer.isTooLarge)
        }
        return Answer(
            status: Int(answer.status), retryAfterSeconds: Int(answer.retryAfterSeconds),
            redirectURL: answer.redirectURL.map { String(cString: $0) },
            // SAFETY: the shim's buffer has this length, and is valid until the next call.
            body: Array(UnsafeBufferPointer(start: answer.body, count: answer.bodyLength)))
    }

    private func perform(_ request: Request) -> CCurlAnswer {
        // A POST without a body says so by its length; GET and DELETE have none.
        let body = request.body ?? (request.method == "POST" ? [] : nil)
        // SAFETY: every pointer of the call is to a value that is valid until the closures return,
        // and the shim keeps none of them.
        return request.url.withCString { url in
            request.method.withCString { method in
                withOptionalCString(request.unixSocketPath) { socket in
                    withOptionalCString(request.certificateAuthorityPath) { authorities in
                        // SAFETY: as above.
                        withOptionalBytes(body) { body in
                            var call = CCurlCall(
                                url: url, method: method, body: body?.baseAddress,
                                bodyLength: body?.count ?? 0, unixSocket: socket,
                                certificateAuthorityFile: authorities,
                                connectTimeoutMilliseconds: Int64(request.connectMilliseconds),
                                timeoutMilliseconds: Int64(request.milliseconds),
                                answerLimit: request.answerByteCount)
                            return CCurlCaller_call(caller, &call)
                        }
                    }
                }
            }
        }
    }
}

/// Calls `body` with a C string, or with nothing.
private func withOptionalCString<Value>(
    _ text: String?, _ body: (UnsafePointer<CChar>?) -> Value
) -> Value {
    guard let text else { return body(nil) }
    return text.withCString(body)
}

/// Calls `body` with bytes, or with nothing.
private func withOptionalBytes<Value>(
    _ bytes: [UInt8]?, _ body: (UnsafeBufferPointer<UInt8>?) -> Value
) -> Value {
    guard let bytes else { return body(nil) }
    // SAFETY: the buffer is valid until the closure returns, and is not kept.
    return bytes.withUnsafeBufferPointer { body($0) }
}
