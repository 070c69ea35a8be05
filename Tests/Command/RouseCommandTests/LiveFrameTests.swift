// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RouseCommand

@Suite("Live pages on a terminal")
struct LiveFrameTests {
    private static let green = "\u{1b}[32m"
    private static let reset = "\u{1b}[0m"

    private func rows(_ page: [String], _ columns: Int, _ rows: Int = 24) -> [String] {
        LiveFrame(page, on: TerminalSize(columns: columns, rows: rows)).rows
    }

    @Test(
        "breaks what is too wide at a blank, and goes on below the text",
        arguments: [
            ("Gateway   ready", 16, ["Gateway   ready"]),
            ("Gateway   not-ready", 16, ["Gateway", "       not-read", "       y"]),
            (
                "Why       the disk is full and more", 24,
                ["Why       the disk is", "          full and more"]
            ),
            (
                "            further in than most", 30,
                ["            further in than", "            most"]
            ),
            ("", 16, [""]),
            ("abcdef", 4, ["abc", " de", " f"]),
            ("ab", 1, ["a", "b"]),
            ("          x", 6, ["", "  x"]),
        ])
    func wide(line: String, columns: Int, expected: [String]) {
        #expect(rows([line], columns) == expected)
    }

    @Test("counts columns: colours take none, signs of East Asia and emoji two, accents none")
    func columns() {
        let coloured = "ab \(Self.green)cd ef\(Self.reset)"
        #expect(rows([coloured], 9) == [coloured])
        // The colour ends with the row, and goes on in the next.
        #expect(
            rows([coloured], 7)
                == ["ab \(Self.green)cd\(Self.reset)", "   \(Self.green)ef\(Self.reset)"])
        #expect(rows(["漢字漢字"], 6) == ["漢字", "  漢", "  字"])
        for (text, width) in [
            ("e\u{301}", 1), ("漢", 2), ("한", 2), ("Ａ", 2), ("🙂", 2), ("👩‍👩‍👧", 2), ("❤️", 2),
            ("❤", 1), ("…", 1), ("\u{200b}", 0), ("ä", 1), ("", 0),
        ] {
            #expect(DisplayWidth.columns(of: text) == width, "\(text)")
        }
    }

    @Test("nothing in a line moves the cursor")
    func controls() {
        #expect(rows(["a\u{1b}[2Jb\u{7}\tc\nd\r\ne"], 40) == ["a\u{fffd}[2Jb\u{fffd} c d e"])
    }

    @Test(
        "shows the head of what is too tall, and how much is left out",
        arguments: [
            (5, ["1", "2", "3", "4"]), (4, ["1", "2", "… 2 more lines are not shown."]),
            (2, ["… 4 more lines are not shown."]), (1, ["… 4 more lines are not shown."]),
        ])
    func tall(height: Int, expected: [String]) {
        #expect(rows(["1", "2", "3", "4"], 80, height) == expected)
    }

    @Test("begins where the old frame did, on a screen of another size at its top")
    func repainting() {
        let size = TerminalSize(columns: 80, rows: 24)
        let frame = LiveFrame(["a", "b"], on: size)
        let rows = "\u{1b}[Ka\n\u{1b}[Kb\n\u{1b}[J"
        #expect(frame.text(over: nil) == rows)
        #expect(frame.text(over: LiveFrame(["1", "2", "3"], on: size)) == "\u{1b}[3A" + rows)
        #expect(frame.text(over: LiveFrame([], on: size)) == rows)
        let other = LiveFrame(["1"], on: TerminalSize(columns: 79, rows: 24))
        #expect(frame.text(over: other) == "\u{1b}[H\u{1b}[2J" + rows)
    }
}
