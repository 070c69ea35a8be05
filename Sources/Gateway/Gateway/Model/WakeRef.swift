// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A caller's own name of a wake. iOS does not tell an app the `apns-id` of the push that launched
/// it; a name that is also in the payload can be returned with the receipt. Names need not be
/// unique.
public struct WakeRef: Hashable, Sendable, CustomStringConvertible {
    /// The most characters.
    public static let maximumCount = 64

    /// The name.
    public let value: String

    /// A name of 1 to 64 characters out of `A-Z`, `a-z`, `0-9`, `.`, `_` and `-`. Throws
    /// ``WakeModel/InvalidField``.
    public init(_ value: String) throws(InvalidField) {
        let isFine = value.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isFine, (1...Self.maximumCount).contains(value.utf8.count) else {
            throw InvalidField(
                field: "ref",
                problem: "is not 1 to \(Self.maximumCount) characters of A-Z a-z 0-9 . _ -",
                remedy: "Give a name of your own for the wake, such as a UUID.")
        }
        self.value = value
    }

    /// The name.
    public var description: String { value }
}
