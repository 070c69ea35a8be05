// SPDX-License-Identifier: Apache-2.0

import CurlTransport
import HTTP2Transport
package import PushTransport
import Testing

/// A transport under the contract: how one is made.
package struct TransportMaker: Sendable, CustomTestStringConvertible {
    package let testDescription: String
    package let make:
        @Sendable (TransportConfiguration, @escaping CompletionSink) throws -> any PushTransport
    /// Whether it detects with certainty what the server refused, and sends that again by itself.
    package let knowsRefusals: Bool

    /// On libcurl.
    package static let curl = TransportMaker(
        testDescription: "CurlTransport", make: { try CurlTransport($0, sink: $1) },
        knowsRefusals: false)
    /// On libssl and nghttp2.
    package static let native = TransportMaker(
        testDescription: "HTTP2Transport", make: { try HTTP2Transport($0, sink: $1) },
        knowsRefusals: true)
    /// Every transport there is; each runs the whole contract.
    package static let all = [curl, native]
}
