// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Whether a name has these letters. `contains` compares characters, and takes many times as
    /// long, which is felt where each name of a file is looked at.
    func hasLetters(_ letters: String) -> Bool {
        var rest = utf8[...]
        while rest.count >= letters.utf8.count {
            if rest.starts(with: letters.utf8) { return true }
            rest.removeFirst()
        }
        return false
    }
}
