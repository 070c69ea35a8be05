// SPDX-License-Identifier: Apache-2.0

public import WakeModel

extension WallInstant {
    /// Numbers from here on are milliseconds, smaller ones seconds: 10^11 seconds are the year
    /// 5138, 10^11 milliseconds are 1973.
    private static let firstMilliseconds = 100_000_000_000.0

    /// Reads a time: RFC 3339 (`2026-11-21T09:34:00Z`, with a fraction and an offset if need be),
    /// or a number of seconds or milliseconds since 1970.
    public init?(timeText text: String) {
        if let number = Double(text) {
            self.init(sinceEpoch: number)
            return
        }
        var reader = TimeReader(text)
        guard let instant = reader.read() else { return nil }
        self = instant
    }

    private init?(sinceEpoch number: Double) {
        let milliseconds = number.magnitude < Self.firstMilliseconds ? number * 1000 : number
        guard let whole = Int64(exactly: milliseconds.rounded(.down)) else { return nil }
        self.init(millisecondsSinceEpoch: whole)
    }
}

/// Reads a time by RFC 3339 §5.6. A space may stand for the `T`, as the standard's note has it.
private struct TimeReader {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text.utf8[...] }

    mutating func read() -> WallInstant? {
        guard let year = number(4, 0...9999), take("-"), let month = number(2, 1...12), take("-"),
            let day = number(2, 1...31), take("T") || take("t") || take(" "),
            let hour = number(2, 0...23), take(":"), let minute = number(2, 0...59), take(":"),
            // 60 is a leap second.
            let second = number(2, 0...60), let milliseconds = fraction(), let offset = offset(),
            rest.isEmpty
        else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        return WallInstant(secondsSinceEpoch: seconds).advanced(byMilliseconds: milliseconds)
    }

    /// Takes a character, if it is the next one.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func number(_ width: Int, _ range: ClosedRange<Int64>) -> Int64? {
        let digits = rest.prefix(width)
        guard digits.count == width, digits.allSatisfy(Self.isDigit) else { return nil }
        rest = rest[digits.endIndex...]
        let number = Int64(Substring(digits)) ?? -1
        return range.contains(number) ? number : nil
    }

    /// Whole milliseconds of a fraction; 0 without one, `nil` for a point without digits.
    private mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        let digits = rest.prefix(while: Self.isDigit)
        rest = rest[digits.endIndex...]
        return digits.isEmpty ? nil : Int64((String(Substring(digits)) + "00").prefix(3))
    }

    /// Seconds east of Greenwich.
    private mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let isWest = take("-")
        guard isWest || take("+"), let hours = number(2, 0...23) else { return nil }
        _ = take(":")
        guard let minutes = number(2, 0...59) else { return nil }
        return (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Howard Hinnant's `days_from_civil`: days since 1970 in the proleptic Gregorian calendar.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
