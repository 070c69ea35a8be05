// SPDX-License-Identifier: Apache-2.0

import Foundation
package import PushTransport

/// Requests such as a push client makes.
package enum TestPush {
    /// An ES256 token in form; its signature is none, which a server without keys does not mind.
    package static let authorization: String = {
        let header = Data(#"{"alg":"ES256","kid":"KEY1234567"}"#.utf8)
        let issued = Int(Date().timeIntervalSince1970)
        let claims = Data(#"{"iss":"TEAM123456","iat":\#(issued)}"#.utf8)
        let parts = [header, claims, Data(repeating: 7, count: 64)].map { part in
            part.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }
        return "bearer " + parts.joined(separator: ".")
    }()

    package static let shared = SharedHeaders([
        HeaderField(name: "authorization", value: authorization),
        HeaderField(name: "apns-topic", value: "com.example.app"),
        HeaderField(name: "apns-push-type", value: "background"),
        HeaderField(name: "apns-priority", value: "5"),
    ])

    /// The headers of a sender whose provider token is refused with 403.
    package static let unauthorized = SharedHeaders([
        HeaderField(name: "authorization", value: "bearer not-a-token"),
        HeaderField(name: "apns-topic", value: "com.example.app"),
        HeaderField(name: "apns-push-type", value: "background"),
        HeaderField(name: "apns-priority", value: "5"),
    ])

    /// A device token of 32 bytes that ends in a number.
    package static func token(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    /// A push to the device token with that number.
    package static func request(
        _ number: UInt64, shared: SharedHeaders = shared, body: [UInt8]? = nil,
        isUrgent: Bool = false
    ) -> WireRequest {
        WireRequest(
            path: "/3/device/" + token(number), sharedHeaders: shared,
            headers: [
                HeaderField(name: "apns-id", value: apnsID(number)),
                HeaderField(name: "apns-expiration", value: "0"),
            ], body: body ?? Array(#"{"aps":{"content-available":1},"n":\#(number)}"#.utf8),
            isUrgent: isUrgent)
    }

    package static func apnsID(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count)
            + digits
    }

    package static func submission(
        _ number: UInt64, timeout: Duration = .seconds(20), shared: SharedHeaders = shared,
        isUrgent: Bool = false
    ) -> Submission {
        Submission(
            id: number, request: request(number, shared: shared, isUrgent: isUrgent),
            timeout: timeout)
    }

    package static func batch(
        _ numbers: some Sequence<Int>, timeout: Duration = .seconds(20)
    )
        -> [Submission]
    {
        numbers.map { submission(UInt64($0), timeout: timeout) }
    }
}
