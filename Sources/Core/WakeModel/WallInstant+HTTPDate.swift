// SPDX-License-Identifier: Apache-2.0

extension WallInstant {
    /// The value of a `Date` header field: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    package var httpDate: String {
        let text = Array(description)  // 1994-11-06T08:49:37.000Z
        guard secondsSinceEpoch >= 0, text.count == 24, let month = Int(String(text[5..<7])) else {
            return description
        }
        // 1970-01-01 was a Thursday.
        let weekday = Int((secondsSinceEpoch / 86_400 + 4) % 7)
        let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        return "\(weekdays[weekday]), \(String(text[8..<10])) \(months[month - 1]) "
            + "\(String(text[0..<4])) \(String(text[11..<19])) GMT"
    }
}
