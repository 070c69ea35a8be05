// SPDX-License-Identifier: Apache-2.0

import Foundation
package import PushTransport
package import WakeModel

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

    /// What must come back with the outcome of the submission with that number.
    package final class Context: Sendable {
        package let number: UInt64
        init(_ number: UInt64) { self.number = number }
    }

    /// A push to the device token with that number.
    package static func request(
        _ number: UInt64, shared: SharedHeaders = shared, body: [UInt8]? = nil,
        isUrgent: Bool = false
    ) -> WireRequest {
        WireRequest(
            to: try? DeviceToken(hex: token(number)), sharedHeaders: shared, apnsID: id(number),
            expiration: .immediately,
            body: body ?? Array(#"{"aps":{"content-available":1},"n":\#(number)}"#.utf8),
            isUrgent: isUrgent)
    }

    /// The `apns-id` of the push with that number, which is in its last digits.
    package static func id(_ number: UInt64) -> APNsID {
        APNsID(high: 0x4000, low: 0x8000_0000_0000_0000 | number)
    }

    /// The same, as in the header.
    package static func apnsID(_ number: UInt64) -> String { id(number).description }

    package static func submission(
        _ number: UInt64, timeout: Duration = .seconds(20), shared: SharedHeaders = shared,
        isUrgent: Bool = false
    ) -> TransportRequest {
        submission(
            number, of: request(number, shared: shared, isUrgent: isUrgent), timeout: timeout)
    }

    package static func submission(
        _ number: UInt64, of request: WireRequest, timeout: Duration
    ) -> TransportRequest {
        TransportRequest(id: number, request: request, timeout: timeout, context: Context(number))
    }

    package static func batch(
        _ numbers: some Sequence<Int>, timeout: Duration = .seconds(20)
    )
        -> [TransportRequest]
    {
        numbers.map { submission(UInt64($0), timeout: timeout) }
    }
}
