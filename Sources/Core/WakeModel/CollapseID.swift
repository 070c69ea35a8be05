// SPDX-License-Identifier: Apache-2.0

/// The value of `apns-collapse-id`: notifications that share it are shown as one.
public struct CollapseID: Hashable, Sendable, CustomStringConvertible {
    /// The most UTF-8 bytes that APNs accepts: 64 (rule H016).
    public static let maximumByteCount = 64

    /// The header's value.
    public let value: String

    /// Checks length and characters.
    ///
    /// Throws ``InvalidField`` when `value` is empty, has over 64 bytes, holds a control character
    /// (libcurl would send the text after a line break as another header), or begins or ends with a
    /// space, which HTTP/2 forbids in a field value (RFC 9113 §8.2.1).
    public init(_ value: String) throws(InvalidField) {
        try Self.check(value, field: "apns-collapse-id", maximumByteCount: Self.maximumByteCount)
        self.value = value
    }

    /// The value itself.
    public var description: String { value }

    /// The check for every free text that becomes a header value.
    static func check(
        _ value: String, field: String, maximumByteCount: Int
    ) throws(InvalidField) {
        guard !value.isEmpty else {
            throw InvalidField(field: field, problem: "is empty", remedy: "Leave it out instead.")
        }
        guard value.utf8.count <= maximumByteCount else {
            throw InvalidField(
                field: field,
                problem: "has \(value.utf8.count) bytes in UTF-8, more than \(maximumByteCount)",
                remedy: "Shorten it, for example to a digest.")
        }
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw InvalidField(
                field: field, problem: "holds a control character",
                remedy: "Remove line breaks and other control characters.")
        }
        guard value.utf8.first != 0x20, value.utf8.last != 0x20 else {
            throw InvalidField(
                field: field, problem: "begins or ends with a space", remedy: "Remove the space.")
        }
    }
}
