// SPDX-License-Identifier: Apache-2.0

/// The two members of APNs' error body: `{"reason":"Unregistered","timestamp":1700000000000}`.
///
/// A small reader of its own rather than a JSON library: the body has two known members, this
/// module has no Foundation, and anything else must be survived, not reported.
struct RejectionBody: Hashable {
    /// The value of `reason`, verbatim.
    private(set) var reason: String?
    /// The value of `timestamp`, in milliseconds since the epoch.
    private(set) var timestamp: Int64?

    /// Reads as far as the body is a valid JSON object, and keeps the members up to that point.
    /// Other members are skipped, whatever their values.
    init(_ body: [UInt8]) {
        var reader = AnswerReader(bytes: body)
        guard reader.skip(UInt8(ascii: "{")) else { return }
        while let name = reader.string(), reader.skip(UInt8(ascii: ":")),
            let value = reader.value()
        {
            switch (name, value) {
            case ("reason", .text(let text)): reason = text
            case ("timestamp", .scalar(let scalar)): timestamp = Int64(scalar)
            default: break
            }
            guard reader.skip(UInt8(ascii: ",")) else { return }
        }
    }
}
