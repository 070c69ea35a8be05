// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text with U+FFFD in place of each character that a terminal would obey, line ends
    /// included: keys, names and paths are other people's.
    var withoutControls: String {
        guard unicodeScalars.contains(where: Excerpt.isControl) else { return self }
        var visible = ""
        for scalar in unicodeScalars {
            visible.unicodeScalars.append(Excerpt.isControl(scalar) ? "\u{fffd}" : scalar)
        }
        return visible
    }
}
