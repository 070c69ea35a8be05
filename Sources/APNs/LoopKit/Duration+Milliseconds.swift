// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// Whole milliseconds, rounded up and limited to what fits; 0 for a negative duration.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < Int64.max / 4000 else { return Int64.max / 4 }
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
