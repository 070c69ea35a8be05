// SPDX-License-Identifier: Apache-2.0

/// The id of a broadcast channel, as APNs made it: base64, of a size that Apple does not fix (facts
/// §2.5).
///
/// Not a secret: apps need it to subscribe, and sending to it requires the app's key.
public struct ChannelID: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes that an id may have: 256, over ten times the observed size (24).
    public static let maximumByteCount = 256

    /// The value of `apns-channel-id`.
    public let value: String

    /// Checks length and characters: those of base64, `+ / =` or `- _` among them.
    ///
    /// Throws ``InvalidField`` for an empty or overlong text, and for other characters.
    public init(_ value: String) throws(InvalidField) {
        guard !value.isEmpty else {
            throw Self.invalid("is empty", "Give the id that APNs answered when it was made.")
        }
        guard value.utf8.count <= Self.maximumByteCount else {
            throw Self.invalid(
                "has \(value.utf8.count) bytes, more than \(Self.maximumByteCount)",
                "Give the id of one channel.")
        }
        guard value.utf8.allSatisfy(Self.isAllowed) else {
            throw Self.invalid(
                "holds a character that base64 does not have",
                "Copy the id as it is; in a URL, write / as %2F and + as %2B.")
        }
        self.value = value
    }

    /// The value itself.
    public var description: String { value }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"),
            UInt8(ascii: "="), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func invalid(_ problem: String, _ remedy: String) -> InvalidField {
        InvalidField(field: "channel id", problem: problem, remedy: remedy)
    }
}

/// What APNs stores of a channel for devices that are offline: its `message-storage-policy`. Chosen
/// when the channel is made, and never changed (facts §2.5).
public enum ChannelStorage: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// 0: nothing. Every broadcast is one attempt, and Apple grants more of them.
    case none
    /// 1: the most recent broadcast, for at most eight hours.
    case latest

    /// The number in the JSON of APNs.
    public var policy: Int { self == .none ? 0 : 1 }

    /// The storage with this number; `nil` for any other.
    public init?(policy: Int) {
        switch policy {
        case 0: self = .none
        case 1: self = .latest
        default: return nil
        }
    }

    /// The word.
    public var description: String { rawValue }
}
