// SPDX-License-Identifier: Apache-2.0

/// An app's bundle id, the root of every topic it can be pushed to.
///
/// The value of `apns-topic` is the bundle id plus a suffix that depends on the push type
/// (facts §2.3); ``topic(for:)`` is the one place where the two are joined, so a request with
/// the wrong suffix cannot be built (rules H007, BG009, VO001).
public struct BundleID: Hashable, Sendable, CustomStringConvertible {
    /// Longer than any bundle id that Apple registers; keeps a header bounded.
    public static let maximumByteCount = 255

    /// The id, for example `com.example.app`.
    public let value: String

    /// Checks the characters: ASCII letters, digits, `-`, `.` and `_`.
    ///
    /// Throws ``InvalidField`` for an empty or overlong id, for other characters, and for an id
    /// that already carries a push type's suffix, naming the suffix.
    public init(_ value: String) throws(InvalidField) {
        guard !value.isEmpty else {
            throw Self.invalid("is empty", "Give the app's bundle id, such as com.example.app.")
        }
        guard value.utf8.count <= Self.maximumByteCount else {
            throw Self.invalid(
                "has \(value.utf8.count) bytes, more than \(Self.maximumByteCount)",
                "Give the app's bundle id alone.")
        }
        guard value.utf8.allSatisfy(Self.isAllowed) else {
            throw Self.invalid(
                "holds a character that no bundle id has",
                "Use letters, digits, dots, hyphens and underscores only.")
        }
        for (type, suffix) in Self.suffixes {
            guard !value.utf8.suffix(suffix.count).elementsEqual(suffix) else {
                throw Self.invalid(
                    "already ends in \(type.topicSuffix), the suffix of \(type) pushes",
                    "Give the bundle id without it; it is added for each push type.")
            }
        }
        self.value = value
    }

    /// The topic for pushes of this type: the bundle id with the type's suffix.
    public func topic(for type: PushType) -> Topic {
        let suffix = type.topicSuffix
        // Most pushes have none, and then their topic is this text and no copy of it.
        return Topic(suffix.isEmpty ? value : value + suffix)
    }

    /// The bundle id.
    public var description: String { value }

    /// The push types whose topic has a suffix. Bytes, for each wake brings a bundle id, and to
    /// compare strings takes their normal forms into account.
    private static let suffixes: [(type: PushType, suffix: [UInt8])] =
        PushType.all.filter { !$0.topicSuffix.isEmpty }.map { ($0, Array($0.topicSuffix.utf8)) }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func invalid(_ problem: String, _ remedy: String) -> InvalidField {
        InvalidField(field: "bundle id", problem: problem, remedy: remedy)
    }
}

/// The value of `apns-topic`. Made only by ``BundleID/topic(for:)``.
public struct Topic: Hashable, Sendable, CustomStringConvertible {
    /// The header's value, for example `com.example.app.voip`.
    public let value: String

    fileprivate init(_ value: String) { self.value = value }

    /// The header's value.
    public var description: String { value }
}
