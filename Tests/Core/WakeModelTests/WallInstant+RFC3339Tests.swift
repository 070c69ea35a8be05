// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@Suite("Times of RFC 3339")
struct RFC3339Tests {
    @Test(
        "everything that the RFC allows is read",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-21T09:34:00Z", 1_795_253_640_000),
            ("2026-11-21t09:34:00.25z", 1_795_253_640_250),
            ("2026-11-21T09:34:00.123456789Z", 1_795_253_640_123),
            ("2026-11-21T11:04:00+01:30", 1_795_253_640_000),
            ("2026-11-20T10:53:00-22:41", 1_795_253_640_000),
            ("1990-12-31T23:59:60Z", 662_688_000_000), ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("1969-12-31T23:59:59.999Z", -1), ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        ] as [(String, Int64)])
    func read(text: String, milliseconds: Int64) throws {
        let instant = try #require(WallInstant(rfc3339: text))
        #expect(instant.millisecondsSinceEpoch == milliseconds)
    }

    @Test("every day has its number", arguments: [1, 1999, 2000, 2023, 2024, 2100])
    func days(year: Int64) throws {
        let first = try #require(WallInstant(rfc3339: Self.text(year, "01-01")))
        for day in 0..<365 {
            let instant = first.advanced(bySeconds: Int64(day) * 86_400)
            #expect(WallInstant(rfc3339: instant.description) == instant)
        }
    }

    private static func text(_ year: Int64, _ rest: String) -> String {
        let digits = String(year)
        return String(repeating: "0", count: 4 - digits.count) + "\(digits)-\(rest)T00:00:00Z"
    }

    @Test(
        "what is none is refused",
        arguments: [
            "", "tomorrow", "2026-11-21", "2026-11-21T09:34Z", "2026-11-21T09:34:00",
            "2026-11-21 09:34:00Z", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
            "2026-00-10T00:00:00Z", "2026-11-00T00:00:00Z", "2026-11-21T24:00:00Z",
            "2026-11-21T09:60:00Z", "2026-11-21T09:34:61Z", "2026-11-21T09:34:00.Z",
            "2026-11-21T09:34:00+24:00", "2026-11-21T09:34:00+01:60", "2026-11-21T09:34:00+0100",
            "2026-11-21T09:34:00Zx", "+2026-11-21T09:34:00Z", "２026-11-21T09:34:00Z",
        ])
    func refused(text: String) {
        #expect(WallInstant(rfc3339: text) == nil)
    }

    @Test("a log may write a space for the T, and an offset without its colon")
    func lenient() {
        let expected = WallInstant(millisecondsSinceEpoch: 1_795_253_640_000)
        for text in [
            "2026-11-21 09:34:00Z", "2026-11-21T11:04:00+0130", "2026-11-21T09:34:00Z",
        ] {
            #expect(WallInstant(rfc3339: text, isLenient: true) == expected)
        }
        #expect(WallInstant(rfc3339: "2026-11-21_09:34:00Z", isLenient: true) == nil)
        #expect(WallInstant(rfc3339: "2026-11-21T09:34:00+01", isLenient: true) == nil)
    }
}
