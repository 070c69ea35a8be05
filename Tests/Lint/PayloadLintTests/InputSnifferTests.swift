// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

@Suite("What an input is")
struct InputSnifferTests {
    @Test(
        "is told by its content",
        arguments: [
            ("", "a.json", InputSniffer.Judgement.document),
            ("{}", "a.json", .document), ("{}\n", "a.json", .document),
            ("{}\n", "a.jsonl", .lines), ("{}", "a.NDJSON", .lines),
            ("{}\n{}", "a.json", .lines), ("\n\n{}\r\n{}\r\n", "-", .lines),
            ("\u{feff}{}\n{}\n", "a.json", .lines), ("\u{feff}{\n}\n", "a.json", .document),
            // One of the first two lines is faulty.
            ("{}\n{oops", "a.json", .lines), ("{oops\n{}\n{}\n", "a.json", .lines),
            ("{oops\n{oops\n", "a.json", .document),
            ("{\n\"aps\": {}\n}\n", "a.json", .document), ("{\n}\n", "a.json", .document),
            ("{\"aps\":\n{}\n}\n", "a.json", .document), ("[\n{}\n]\n", "a.json", .document),
            ("{}\nText\n", "a.md", .document), ("1\n2\n", "a.json", .document),
            ("headers:\n  a: 1\n", "a.yaml", .document),
        ])
    func content(text: String, name: String, judgement: InputSniffer.Judgement) {
        #expect(InputSniffer.judge(Array(text.utf8), isWhole: true, name: name) == judgement)
    }

    @Test("a head of lines is enough, and a long document is none")
    func head() {
        let lines = Array("{}\n{\"aps\":".utf8)
        #expect(InputSniffer.judge(lines, isWhole: false, name: "a") == .lines)
        let document = Array("{\"aps\":{\"alert\":\"".utf8) + [UInt8](repeating: 0x61, count: 5000)
        #expect(InputSniffer.judge(document, isWhole: false, name: "a") == .document)
    }

    @Test(
        "text in a wrong encoding is text, and what is no text is not",
        arguments: [
            (Array("{\"a\":\"é\"}".utf8), false), ([0x7b, 0xff, 0x7d, 0x20, 0x20, 0x20], false),
            ([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00], false), ([0x7b, 0x00, 0x7d, 0x00], false),
            ([0x00, 0x7b, 0x00, 0x7d], false), ([0xef, 0xbb, 0xbf, 0x7b, 0x7d], false),
            ([0x7f, 0x45, 0x4c, 0x46, 0x02, 0x01, 0x01, 0x00], true),
            ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00], true),
            ([0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00], true), ([0xff, 0xd8, 0xff, 0xe0, 0x80], true),
            ([], false),
        ] as [([UInt8], Bool)])
    func binary(bytes: [UInt8], isBinary: Bool) {
        #expect(InputSniffer.isBinary(bytes[...]) == isBinary)
    }
}
