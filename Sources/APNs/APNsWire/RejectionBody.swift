// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// The two members of APNs' error body: `{"reason":"Unregistered","timestamp":1700000000000}`.
struct RejectionBody: Hashable {
    /// The value of `reason`, verbatim.
    private(set) var reason: String?
    /// The value of `timestamp`, in milliseconds since the epoch.
    private(set) var timestamp: Int64?

    /// Reads as far as the body is a JSON object, and keeps the members up to that point: a body
    /// that was cut behind its reason has one. Other members are skipped, whatever their values.
    init(_ body: [UInt8]) {
        var members = AnswerMembers(body)
        while let (name, value) = members.next() {
            switch name {
            case "reason": reason = JSONText.decode(value) ?? reason
            case "timestamp":
                timestamp = Int64(String(decoding: value, as: UTF8.self)) ?? timestamp
            default: break
            }
        }
    }
}
