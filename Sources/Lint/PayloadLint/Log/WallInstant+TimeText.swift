// SPDX-License-Identifier: Apache-2.0

public import WakeModel

extension WallInstant {
    /// Numbers from here on are milliseconds, smaller ones seconds: 10^11 seconds is the year 5138,
    /// 10^11 milliseconds is 1973.
    private static let firstMilliseconds = 100_000_000_000.0

    /// Parses a time: RFC 3339 (`2026-11-21T09:34:00Z`, with an optional fraction and offset), or a
    /// number of seconds or milliseconds since 1970. Returns `nil` for other text.
    public init?(timeText text: String) {
        if let number = Double(text) {
            self.init(sinceEpoch: number)
            return
        }
        self.init(rfc3339: text, isLenient: true)
    }

    private init?(sinceEpoch number: Double) {
        let milliseconds = number.magnitude < Self.firstMilliseconds ? number * 1000 : number
        guard let whole = Int64(exactly: milliseconds.rounded(.down)) else { return nil }
        self.init(millisecondsSinceEpoch: whole)
    }
}
