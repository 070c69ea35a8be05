// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Whether a name has these letters. `contains` compares characters, and takes many times as
    /// long, which is felt where each name of a file is looked at.
    func hasLetters(_ letters: String) -> Bool {
        guard let first = letters.utf8.first else { return true }
        var rest = utf8[...]
        while let start = rest.firstIndex(of: first) {
            if rest[start...].starts(with: letters.utf8) { return true }
            rest = rest[rest.index(after: start)...]
        }
        return false
    }
}
