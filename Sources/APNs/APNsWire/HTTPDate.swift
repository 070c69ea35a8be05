// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Reads the value of a `date` header field: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
public enum HTTPDate {
    /// The instant, to the second; `nil` for anything but the preferred form of 29 characters with
    /// a date that the calendar has, from 1970 on. The day of the week is not compared with the
    /// date.
    public static func parse(_ text: some StringProtocol) -> WallInstant? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, hasSeparators(bytes), weekdays.contains(word(bytes[0..<3])),
            let month = months.firstIndex(of: word(bytes[8..<11])).map({ Int64($0) + 1 }),
            let day = number(bytes[5..<7]), let year = number(bytes[12..<16]), year >= 1970,
            (1...dayCount(year: year, month: month)).contains(day),
            let hour = number(bytes[17..<19]), hour < 24,
            let minute = number(bytes[20..<22]), minute < 60,
            // 60 is a leap second.
            let second = number(bytes[23..<25]), second <= 60
        else { return nil }
        let days = daysSinceEpoch(year: year, month: month, day: day)
        return WallInstant(secondsSinceEpoch: days * 86_400 + hour * 3600 + minute * 60 + second)
    }

    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// The form, with a digit or letter in place of each `_`.
    private static let form = Array("___, __ ___ ____ __:__:__ GMT".utf8)

    private static func hasSeparators(_ bytes: [UInt8]) -> Bool {
        zip(bytes, form).allSatisfy { $1 == UInt8(ascii: "_") || $0 == $1 }
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// The value of digits; `nil` when anything else is among them.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return value
    }

    private static func dayCount(year: Int64, month: Int64) -> Int64 {
        switch month {
        case 2:
            year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
                ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days of the proleptic Gregorian calendar, counted in eras of 400 years that begin in March.
    private static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
