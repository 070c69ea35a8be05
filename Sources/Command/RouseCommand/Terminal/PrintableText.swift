// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text with U+FFFD in place of each character that a terminal would obey instead of
    /// showing it: control characters (C0, DEL and C1), line ends included, and those that reorder
    /// what stands around them (UAX #9, explicit directional formatting).
    var printable: String { replacingControls(keepingLines: false) }

    /// As ``printable``, with line feeds left in.
    var printableLines: String { replacingControls(keepingLines: true) }

    private func replacingControls(keepingLines: Bool) -> String {
        guard unicodeScalars.contains(where: \.isObeyed) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            let isKept = !scalar.isObeyed || (keepingLines && scalar == "\n")
            text.unicodeScalars.append(isKept ? scalar : "\u{fffd}")
        }
        return text
    }
}

extension Unicode.Scalar {
    /// Whether a terminal acts on it.
    fileprivate var isObeyed: Bool {
        switch value {
        case 0..<0x20, 0x7f...0x9f: true
        case 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
