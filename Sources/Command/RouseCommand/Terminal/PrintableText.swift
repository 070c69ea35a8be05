// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text with U+FFFD in place of each character that a terminal would interpret instead of
    /// showing it: control characters (C0, DEL and C1), line ends and Unicode's separators of lines
    /// and paragraphs included, and those that reorder the surrounding text (UAX #9, explicit
    /// directional formatting).
    var printable: String { replacingControls(keepingLines: false) }

    /// As ``printable``, but with line feeds.
    var printableLines: String { replacingControls(keepingLines: true) }

    /// An equivalent JSON document with escapes in place of those characters. Line feeds stay. Tabs
    /// and carriage returns between its tokens become spaces.
    var printableJSON: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\t", "\r": text.unicodeScalars.append(" ")
            case _ where scalar.isObeyed && scalar != "\n":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The same JSON document, with each of its texts as ``printableLines``, keys included.
    var printableTexts: String {
        var text = ""
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "\\", let kind = rest.popFirst() else {
                // Between texts there may be tabs and carriage returns, and in none of them.
                let isKept = scalar.value < 0x20 || !scalar.isObeyed
                text.unicodeScalars.append(isKept ? scalar : "\u{fffd}")
                continue
            }
            let digits = rest.prefix(kind == "u" ? 4 : 0)
            rest = rest.dropFirst(digits.count)
            let isObeyed =
                switch kind {
                case "b", "f", "r", "t": true
                case "u":
                    UInt32(String(Substring(digits)), radix: 16).flatMap { Unicode.Scalar($0) }
                        .map { $0.isObeyed && $0 != "\n" } ?? false
                default: false
                }
            text += isObeyed ? "\u{fffd}" : "\\\(kind)\(Substring(digits))"
        }
        return text
    }

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
    /// Whether a terminal interprets it.
    fileprivate var isObeyed: Bool {
        switch value {
        case 0..<0x20, 0x7f...0x9f: true
        case 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
