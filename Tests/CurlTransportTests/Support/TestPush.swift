// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushTransport

/// Requests such as a push client makes.
enum TestPush {
    /// An ES256 token in form; its signature is none, which a server without keys does not mind.
    static let authorization: String = {
        let header = Data(#"{"alg":"ES256","kid":"KEY1234567"}"#.utf8)
        let issued = Int(Date().timeIntervalSince1970)
        let claims = Data(#"{"iss":"TEAM123456","iat":\#(issued)}"#.utf8)
        let parts = [header, claims, Data(repeating: 7, count: 64)].map { part in
            part.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }
        return "bearer " + parts.joined(separator: ".")
    }()

    static let shared = SharedHeaders([
        HeaderField(name: "authorization", value: authorization),
        HeaderField(name: "apns-topic", value: "com.example.app"),
        HeaderField(name: "apns-push-type", value: "background"),
        HeaderField(name: "apns-priority", value: "5"),
    ])

    /// The headers of a sender whose provider token is refused with 403.
    static let unauthorized = SharedHeaders([
        HeaderField(name: "authorization", value: "bearer not-a-token"),
        HeaderField(name: "apns-topic", value: "com.example.app"),
        HeaderField(name: "apns-push-type", value: "background"),
        HeaderField(name: "apns-priority", value: "5"),
    ])

    /// A device token of 32 bytes that ends in a number.
    static func token(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    /// A push to the device token with that number.
    static func request(
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

    static func apnsID(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count)
            + digits
    }

    static func submission(
        _ number: UInt64, timeout: Duration = .seconds(20), shared: SharedHeaders = shared,
        isUrgent: Bool = false
    ) -> Submission {
        Submission(
            id: number, request: request(number, shared: shared, isUrgent: isUrgent),
            timeout: timeout)
    }

    static func batch(
        _ numbers: some Sequence<Int>, timeout: Duration = .seconds(20)
    )
        -> [Submission]
    {
        numbers.map { submission(UInt64($0), timeout: timeout) }
    }
}
