// SPDX-License-Identifier: Apache-2.0

import Foundation
import WakeModel

extension WallInstant {
    /// Parses a date and time of RFC 3339, with or without a fraction of the second. Throws
    /// ``WakeModel/InvalidField`` that blames `field`.
    init(rfc3339 text: String, field: String) throws(InvalidField) {
        let whole = Date.ISO8601FormatStyle()
        let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard
            let date = (try? Date(text, strategy: whole)) ?? (try? Date(text, strategy: fractional))
        else {
            throw InvalidField(
                field: field, problem: "is not a time of RFC 3339",
                remedy: "Write it as 2026-11-21T09:34:00Z.")
        }
        self.init(
            millisecondsSinceEpoch: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
}
