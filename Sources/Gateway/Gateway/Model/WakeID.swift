// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The name of one accepted wake: a UUID of version 7 (RFC 9562 §5.7).
///
/// Version 7 begins with the time, so ids grow with time and a store appends to its tables instead
/// of writing all over them. The twelve bits behind the time are a counter (RFC 9562 §6.2,
/// method 1), so that time and counter together number the wakes of one store. The same UUID is
/// the wake's `apns-id` in every attempt, so that one search finds a wake in the gateway's log, in
/// the answer to its request and in APNs' tools.
public struct WakeID: Hashable, Sendable, CustomStringConvertible {
    /// The id as the value of `apns-id`.
    public let apnsID: APNsID

    /// The id of the wake with this number and these random bits, of which 62 are used.
    public init(number: Int64, entropy: UInt64) {
        let bits = UInt64(bitPattern: number)
        apnsID = APNsID(
            high: (bits >> 12) << 16 | 0x7000 | (bits & 0x0fff),
            low: (entropy & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000)
    }

    /// The id with these bits.
    public init(_ apnsID: APNsID) { self.apnsID = apnsID }

    /// Parses the 8-4-4-4-12 form. Throws ``WakeModel/InvalidField`` for anything else.
    public init(_ text: some StringProtocol) throws(InvalidField) {
        do throws(InvalidField) {
            apnsID = try APNsID(String(text))
        } catch {
            throw InvalidField(
                field: "wake id", problem: error.problem,
                remedy: "Use the id that the answer to the request gave.")
        }
    }

    /// The canonical lower-case form.
    public var description: String { apnsID.description }
}

extension WakeID {
    /// The number of the first wake of an instant: the instant's milliseconds, and twelve bits of
    /// counter behind them.
    public static func firstNumber(at instant: WallInstant) -> Int64 {
        max(1, (instant.millisecondsSinceEpoch & 0xffff_ffff_ffff) << 12)
    }

    /// When the wake was accepted, from its number: exact, unless more wakes than the counter can
    /// number came within a millisecond, or the clock was set back.
    var acceptedAt: WallInstant { WallInstant(millisecondsSinceEpoch: number >> 12) }

    /// The number that the id encodes: its time and counter.
    public var number: Int64 {
        Int64(bitPattern: (apnsID.high >> 16) << 12 | (apnsID.high & 0x0fff))
    }
}
