// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// The text without the white space at its ends.
    package var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }),
            let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
