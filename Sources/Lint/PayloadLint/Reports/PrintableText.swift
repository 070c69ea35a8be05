// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text with control characters, including line ends, replaced by U+FFFD: keys, names and
    /// paths are untrusted.
    var withoutControls: String {
        guard unicodeScalars.contains(where: Excerpt.isControl) else { return self }
        var visible = ""
        for scalar in unicodeScalars {
            visible.unicodeScalars.append(Excerpt.isControl(scalar) ? "\u{fffd}" : scalar)
        }
        return visible
    }
}
