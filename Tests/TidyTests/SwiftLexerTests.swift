// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("Telling code from comments and literals")
struct SwiftLexerTests {
    @Test(
        "only code is left",
        arguments: [
            ("let a = 1 // Date()", "let a = 1"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (#"print("Task // not a comment") + x"#, "print(                        ) + x"),
            (##"let s = #"a "quoted" b"# + y"##, "let s =                   + y"),
            (#"f("\(g("inner")) tail") + z"#, "f(                   ) + z"),
            (#"let e = "a\"b" + w"#, "let e =        + w"),
        ])
    func blanked(source: String, code: String) {
        let left = SwiftLexer.code(of: source)
        #expect(left.utf8.count == source.utf8.count)
        #expect(words(left) == words(code))
    }

    @Test("line numbers stay")
    func linesStay() {
        let source = "a\n\"\"\"\nTask\n\"\"\"\nb"
        #expect(SwiftLexer.code(of: source).split(separator: "\n").count == 5)
        #expect(!SwiftLexer.code(of: source).contains("Task"))
    }

    private func words(_ text: String) -> [Substring] { text.split(separator: " ") }
}
