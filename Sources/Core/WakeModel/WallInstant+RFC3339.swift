// SPDX-License-Identifier: Apache-2.0

extension WallInstant {
    /// Parses a date and time of RFC 3339 §5.6, with or without a fraction of the second, of which
    /// milliseconds are kept; `nil` for other text. A leap second is the first second of the next
    /// minute.
    ///
    /// In logs, which other programs write, `isLenient` also allows a space for the `T` (the note
    /// in §5.6) and an offset without its colon (ISO 8601).
    package init?(rfc3339 text: some StringProtocol, isLenient: Bool = false) {
        guard let milliseconds = Self.milliseconds(Text(text, isLenient: isLenient)) else {
            return nil
        }
        self.init(millisecondsSinceEpoch: milliseconds)
    }

    private static func milliseconds(_ text: Text) -> Int64? {
        var text = text
        guard let year = text.number(4), text.mark("-"), let month = text.number(2),
            text.mark("-"), let day = text.number(2), text.separator(),
            let hour = text.number(2), text.mark(":"), let minute = text.number(2),
            text.mark(":"), let second = text.number(2), let fraction = text.fraction(),
            let offset = text.offsetMinutes(), text.rest.isEmpty,
            (1...12).contains(month), (1...daysOf(month, year)).contains(day), hour < 24,
            minute < 60, second <= 60
        else { return nil }
        let minutes = (daysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute - offset
        return (minutes * 60 + second) * 1000 + fraction
    }

    /// What is left to read.
    private struct Text {
        var rest: ArraySlice<UInt8>
        let isLenient: Bool

        init(_ text: some StringProtocol, isLenient: Bool) {
            rest = Array(text.utf8)[...]
            self.isLenient = isLenient
        }

        /// The separator of date and time.
        mutating func separator() -> Bool {
            mark("T") || mark("t") || (isLenient && mark(" "))
        }

        /// A number of so many digits.
        mutating func number(_ count: Int) -> Int64? {
            var number: Int64 = 0
            for _ in 0..<count {
                guard let digit = digit() else { return nil }
                number = number * 10 + digit
            }
            return number
        }

        /// Whether this character comes next; it is taken then.
        mutating func mark(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        /// The milliseconds of a fraction, 0 without one; `nil` for a point without digits.
        mutating func fraction() -> Int64? {
            guard mark(".") else { return 0 }
            guard var milliseconds = digit().map({ $0 * 100 }) else { return nil }
            milliseconds += (digit() ?? 0) * 10
            milliseconds += digit() ?? 0
            while digit() != nil {}
            return milliseconds
        }

        /// The minutes that local time is ahead of UTC.
        mutating func offsetMinutes() -> Int64? {
            if mark("Z") || mark("z") { return 0 }
            let isBehind = mark("-")
            guard isBehind || mark("+"), let hours = number(2), mark(":") || isLenient,
                let minutes = number(2), hours < 24, minutes < 60
            else { return nil }
            return (hours * 60 + minutes) * (isBehind ? -1 : 1)
        }

        private mutating func digit() -> Int64? {
            guard let byte = rest.first, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
                return nil
            }
            rest.removeFirst()
            return Int64(byte - UInt8(ascii: "0"))
        }
    }

    private static func daysOf(_ month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// Howard Hinnant's `days_from_civil`: eras of 400 years that begin on 1 March. No year is
    /// below 0 here.
    private static func daysSinceEpoch(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // Year 0 is the first of its era; March 1 of the year -400 begins the one of its winter.
        let shifted = (month <= 2 ? year - 1 : year) + 400
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (era - 1) * 146_097 + dayOfEra - 719_468
    }
}
