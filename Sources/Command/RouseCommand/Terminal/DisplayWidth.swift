// SPDX-License-Identifier: Apache-2.0

/// How many columns of a terminal characters take.
enum DisplayWidth {
    /// What Unicode calls wide or fullwidth (UAX #11), besides emoji: scripts and forms of East
    /// Asia.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xa960...0xa97f, 0xac00...0xd7a3,
        0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6,
        0x20000...0x3fffd,
    ]
    /// Asks for the picture of a character that is also a letter.
    private static let emojiSelector: Unicode.Scalar = "\u{fe0f}"

    /// The columns of one character: 0, 1 or 2.
    static func columns(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let base = scalars.first(where: { !takesNoRoom($0) }) else { return 0 }
        let isWide =
            base.properties.isEmojiPresentation || scalars.contains(emojiSelector)
            || wideRanges.contains { $0.contains(base.value) }
        return isWide ? 2 : 1
    }

    /// The columns of a text without control characters.
    static func columns(of text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + columns(of: $1) }
    }

    private static func takesNoRoom(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: false
        }
    }
}
