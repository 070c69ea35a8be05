// SPDX-License-Identifier: Apache-2.0

public import WakeModel

extension WallInstant {
    /// Numbers from here on are milliseconds, smaller ones seconds: 10^11 seconds are the year 5138,
    /// 10^11 milliseconds are 1973.
    private static let firstMilliseconds = 100_000_000_000.0

    /// Reads a time: RFC 3339 (`2026-11-21T09:34:00Z`, with a fraction and an offset if need be), or
    /// a number of seconds or milliseconds since 1970.
    public init?(timeText text: String) {
        if let number = Double(text) {
            self.init(sinceEpoch: number)
            return
        }
        let pattern =
            /(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([-+])(\d\d):?(\d\d))/
        guard let match = text.wholeMatch(of: pattern)?.output else { return nil }
        let numbers = [match.1, match.2, match.3, match.4, match.5, match.6].compactMap { Int64($0) }
        guard numbers.count == 6, (1...12).contains(numbers[1]), (1...31).contains(numbers[2]),
            numbers[3] <= 23, numbers[4] <= 59, numbers[5] <= 60
        else { return nil }
        let days = Self.days(year: numbers[0], month: numbers[1], day: numbers[2])
        var seconds = days * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        if let sign = match.8, let hours = match.9.flatMap({ Int64($0) }),
            let minutes = match.10.flatMap({ Int64($0) })
        {
            seconds += (sign == "-" ? 1 : -1) * (hours * 3600 + minutes * 60)
        }
        let fraction = (match.7.map { String($0) } ?? "") + "000"
        self = WallInstant(secondsSinceEpoch: seconds)
            .advanced(byMilliseconds: Int64(fraction.prefix(3)) ?? 0)
    }

    private init?(sinceEpoch number: Double) {
        let milliseconds = number.magnitude < Self.firstMilliseconds ? number * 1000 : number
        guard let whole = Int64(exactly: milliseconds.rounded(.down)) else { return nil }
        self.init(millisecondsSinceEpoch: whole)
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
