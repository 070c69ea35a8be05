// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// How urgent a background wake is.
public enum Urgency: UInt8, Hashable, Sendable, CaseIterable, Comparable {
    /// Keeps one send of every hour free for others.
    case deferrable = 0
    /// The default.
    case normal = 1
    /// Ignores the spacing, but counts like the others. Only if a device confirms its launches and
    /// still holds the last push, it waits for twice the usual hold time, because it would only
    /// replace that push.
    case urgent = 2

    /// Orders by urgency.
    public static func < (left: Urgency, right: Urgency) -> Bool { left.rawValue < right.rawValue }
}

/// How a wake merges into one that already waits for the same device.
public enum Coalescing: UInt8, Hashable, Sendable, CaseIterable {
    /// The newest payload replaces the older.
    case replace = 0
    /// The top-level keys of both are sent, the newest value of each: see ``PayloadUnion``.
    case union = 1
}

/// The properties of a wake that a decision depends on; its payload is not among them.
public enum BudgetRequest: Hashable, Sendable {
    /// A silent push.
    case background(BackgroundRequest)
    /// An incoming call.
    case voip(CallFingerprint)
    /// A plain push, which expires at this instant.
    case plain(until: WallInstant)

    /// A silent push with these traits.
    public static func background(
        _ urgency: Urgency = .normal, coalescing: Coalescing = .replace,
        expiration: Expiration = .immediately
    ) -> BudgetRequest {
        .background(
            BackgroundRequest(urgency: urgency, coalescing: coalescing, expiration: expiration))
    }
}

/// The properties of a background wake that a decision depends on.
public struct BackgroundRequest: Hashable, Sendable {
    /// Its urgency.
    public var urgency: Urgency
    /// How it merges into a wake that waits.
    public var coalescing: Coalescing
    /// When it expires. `.immediately` concerns APNs, which then stores nothing; it does not limit
    /// the wait here.
    public var expiration: Expiration

    /// Creates a request.
    public init(
        urgency: Urgency = .normal, coalescing: Coalescing = .replace,
        expiration: Expiration = .immediately
    ) {
        self.urgency = urgency
        self.coalescing = coalescing
        self.expiration = expiration
    }
}

/// The fingerprint of a call id in a ledger: 42 bits of its 64-bit FNV-1a hash.
///
/// A call has the fingerprint of one of the at most eleven others of an hour with a probability
/// under 2⁻³⁸.
public struct CallFingerprint: Hashable, Sendable {
    /// How many bits there are.
    static let bitCount = 42

    /// The bits, in the low end.
    public let bits: UInt64

    /// The fingerprint with these bits, as a store kept them; bits beyond the low 42 are dropped.
    public init(bits: UInt64) { self.bits = bits & ((1 << UInt64(Self.bitCount)) - 1) }

    /// The fingerprint of a call id, as the payload names it.
    public init(_ callID: String) {
        let hash = FNV1a.hash(callID.utf8)
        bits = (hash ^ (hash >> UInt64(Self.bitCount))) & ((1 << UInt64(Self.bitCount)) - 1)
    }
}
