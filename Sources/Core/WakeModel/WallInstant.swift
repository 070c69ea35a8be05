// SPDX-License-Identifier: Apache-2.0

/// A point of wall time, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Wall time is the time in Apple's headers (`apns-expiration`, `iat`, the 410 timestamp) and what
/// is written to disk. It may jump; spans inside one process are measured on a monotonic clock
/// instead.
public struct WallInstant: Hashable, Comparable, Sendable {
    /// Milliseconds since the epoch; negative before it.
    public var millisecondsSinceEpoch: Int64

    /// An instant from milliseconds since the epoch.
    public init(millisecondsSinceEpoch: Int64) {
        self.millisecondsSinceEpoch = millisecondsSinceEpoch
    }

    /// An instant from whole seconds since the epoch; seconds beyond the range of milliseconds are
    /// held at its ends.
    public init(secondsSinceEpoch: Int64) {
        let (product, overflow) = secondsSinceEpoch.multipliedReportingOverflow(by: 1000)
        millisecondsSinceEpoch = overflow ? (secondsSinceEpoch < 0 ? .min : .max) : product
    }

    /// Whole seconds since the epoch, rounded towards the past.
    public var secondsSinceEpoch: Int64 {
        let (quotient, remainder) = millisecondsSinceEpoch.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// The instant so many milliseconds later (earlier when negative), held at the ends of the
    /// range.
    public func advanced(byMilliseconds milliseconds: Int64) -> WallInstant {
        let (sum, overflow) = millisecondsSinceEpoch.addingReportingOverflow(milliseconds)
        return WallInstant(
            millisecondsSinceEpoch: overflow ? (milliseconds < 0 ? .min : .max) : sum)
    }

    /// The instant so many seconds later (earlier when negative).
    public func advanced(bySeconds seconds: Int64) -> WallInstant {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return advanced(byMilliseconds: overflow ? (seconds < 0 ? .min : .max) : product)
    }

    /// Milliseconds from `other` to this instant, held at the ends of the range.
    public func milliseconds(since other: WallInstant) -> Int64 {
        let (difference, overflow) =
            millisecondsSinceEpoch.subtractingReportingOverflow(other.millisecondsSinceEpoch)
        return overflow ? (millisecondsSinceEpoch < 0 ? .min : .max) : difference
    }

    /// Orders by time.
    public static func < (left: WallInstant, right: WallInstant) -> Bool {
        left.millisecondsSinceEpoch < right.millisecondsSinceEpoch
    }
}

extension WallInstant: CustomStringConvertible {
    /// RFC 3339 in UTC with milliseconds, `2026-11-21T09:34:00.000Z`, by proleptic Gregorian
    /// arithmetic: this module does not import Foundation.
    public var description: String {
        let days = Self.floorDivide(secondsSinceEpoch, 86_400)
        let secondOfDay = secondsSinceEpoch - days * 86_400
        // Near the range's lower end the product wraps, and the difference wraps back.
        let millisecond = millisecondsSinceEpoch &- secondsSinceEpoch &* 1000
        let date = Self.civilDate(daysSinceEpoch: days)
        // Bytes rather than substrings: every answer about a wake formats two or three instants.
        var text: [UInt8] = []
        text.reserveCapacity(24)
        func append(_ number: Int64, _ width: Int, _ mark: Unicode.Scalar) {
            Self.append(number, width, to: &text)
            text.append(UInt8(ascii: mark))
        }
        append(date.year, 4, "-")
        append(date.month, 2, "-")
        append(date.day, 2, "T")
        append(secondOfDay / 3600, 2, ":")
        append(secondOfDay / 60 % 60, 2, ":")
        append(secondOfDay % 60, 2, ".")
        append(millisecond, 3, "Z")
        return String(decoding: text, as: UTF8.self)
    }

    /// Howard Hinnant's `civil_from_days`: eras of 400 years that begin on 1 March.
    private static func civilDate(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64)
    {
        let shifted = daysSinceEpoch + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floorDivide(_ dividend: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// Appends a number in decimal, with zeros in front up to so many digits.
    private static func append(_ number: Int64, _ width: Int, to text: inout [UInt8]) {
        if number < 0 { text.append(UInt8(ascii: "-")) }
        let magnitude = number.magnitude
        var divisor: UInt64 = 1
        for _ in 1..<width { divisor *= 10 }
        while magnitude / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            text.append(UInt8(ascii: "0") + UInt8(magnitude / divisor % 10))
            divisor /= 10
        }
    }
}
