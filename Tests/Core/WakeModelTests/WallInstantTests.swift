// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@Suite("Wall instant")
struct WallInstantTests {
    /// Seconds of each date as another calendar (Python's `datetime`) counts them.
    static let dates: [(seconds: Int64, text: String)] = [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.000Z"),
        (-2_208_988_800, "1900-01-01T00:00:00.000Z"),
        (-11_670_998_400, "1600-02-29T00:00:00.000Z"),
        (-62_135_596_800, "0001-01-01T00:00:00.000Z"),
        (951_782_399, "2000-02-28T23:59:59.000Z"),
        (951_782_400, "2000-02-29T00:00:00.000Z"),
        (951_868_800, "2000-03-01T00:00:00.000Z"),
        (1_709_208_000, "2024-02-29T12:00:00.000Z"),
        (1_795_253_640, "2026-11-21T09:34:00.000Z"),
        (2_147_483_647, "2038-01-19T03:14:07.000Z"),
        (2_147_483_648, "2038-01-19T03:14:08.000Z"),
        (4_107_542_399, "2100-02-28T23:59:59.000Z"),
        (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        (253_402_300_799, "9999-12-31T23:59:59.000Z"),
        (253_402_300_800, "10000-01-01T00:00:00.000Z"),
    ]

    @Test("the description is the date in UTC", arguments: dates)
    func description(seconds: Int64, text: String) {
        #expect(WallInstant(secondsSinceEpoch: seconds).description == text)
    }

    @Test(
        "milliseconds are whole, also before the epoch",
        arguments: [
            (1, "1970-01-01T00:00:00.001Z", 0), (999, "1970-01-01T00:00:00.999Z", 0),
            (1000, "1970-01-01T00:00:01.000Z", 1), (-1, "1969-12-31T23:59:59.999Z", -1),
            (-1000, "1969-12-31T23:59:59.000Z", -1), (-1001, "1969-12-31T23:59:58.999Z", -2),
        ] as [(Int64, String, Int64)])
    func milliseconds(milliseconds: Int64, text: String, seconds: Int64) {
        let instant = WallInstant(millisecondsSinceEpoch: milliseconds)
        #expect(instant.description == text)
        #expect(instant.secondsSinceEpoch == seconds)
    }

    @Test("the first and the last instant have a description, too")
    func ends() {
        let last = WallInstant(millisecondsSinceEpoch: .max).description
        #expect(last == "292278994-08-17T07:12:55.807Z")
        let first = WallInstant(millisecondsSinceEpoch: .min).description
        #expect(first == "-292275055-05-16T16:47:04.192Z")
    }

    @Test("every day of four centuries follows the day before")
    func calendar() {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var (year, month, day) = (1970, 1, 1)
        for number in 0..<Int64(400 * 366) {
            let text = WallInstant(secondsSinceEpoch: number * 86_400).description
            let date = "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
            guard text == date + "T00:00:00.000Z" else {
                Issue.record("day \(number) is \(date), not \(text)")
                return
            }
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            day += 1
            if day > lengths[month - 1] + (month == 2 && isLeap ? 1 : 0) {
                (month, day) = (month + 1, 1)
            }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
    }

    @Test("what is beyond the range is held at its ends")
    func saturation() {
        let first = WallInstant(millisecondsSinceEpoch: .min)
        let last = WallInstant(millisecondsSinceEpoch: .max)
        #expect(WallInstant(secondsSinceEpoch: .max) == last)
        #expect(WallInstant(secondsSinceEpoch: .min) == first)
        #expect(last.advanced(byMilliseconds: 1) == last)
        #expect(first.advanced(byMilliseconds: -1) == first)
        #expect(last.advanced(bySeconds: .max) == last)
        #expect(first.advanced(bySeconds: .min) == first)
        #expect(last.milliseconds(since: first) == .max)
        #expect(first.milliseconds(since: last) == .min)
    }

    @Test("spans add and subtract")
    func spans() {
        let start = WallInstant(secondsSinceEpoch: 1000)
        #expect(start.advanced(bySeconds: -5) == WallInstant(secondsSinceEpoch: 995))
        #expect(start.advanced(byMilliseconds: 5).milliseconds(since: start) == 5)
        #expect(start.milliseconds(since: start.advanced(bySeconds: 2)) == -2000)
        #expect(start < start.advanced(byMilliseconds: 1))
        #expect(!(start < start))
    }
}
