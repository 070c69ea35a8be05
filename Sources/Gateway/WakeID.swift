// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The name of one accepted wake: a UUID of version 7 (RFC 9562 §5.7).
///
/// Version 7 begins with the time, so ids grow with time and a store appends to its index instead
/// of writing all over it. The same UUID is the wake's `apns-id` in every attempt, so that one
/// search finds a wake in the gateway's log, in the answer to its request and in APNs' tools.
public struct WakeID: Hashable, Sendable, CustomStringConvertible {
    /// The id as the value of `apns-id`.
    public let apnsID: APNsID

    /// A new id from the time and 128 bits that the caller drew, of which 74 are used.
    public init(at instant: WallInstant, entropy high: UInt64, _ low: UInt64) {
        let milliseconds = UInt64(bitPattern: instant.millisecondsSinceEpoch) & 0xffff_ffff_ffff
        apnsID = APNsID(
            high: milliseconds << 16 | 0x7000 | (high & 0x0fff),
            low: (low & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000)
    }

    /// The id with these bits, as a store kept them.
    public init(_ apnsID: APNsID) { self.apnsID = apnsID }

    /// Parses the 8-4-4-4-12 form. Throws ``WakeModel/InvalidField`` for anything else.
    public init(_ text: some StringProtocol) throws(InvalidField) {
        do throws(InvalidField) {
            apnsID = try APNsID(text)
        } catch {
            throw InvalidField(
                field: "wake id", problem: error.problem,
                remedy: "Use the id that the answer to the request gave.")
        }
    }

    /// The canonical lower-case form.
    public var description: String { apnsID.description }
}
