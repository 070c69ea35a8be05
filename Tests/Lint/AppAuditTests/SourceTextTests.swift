// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AppAudit

/// The tokens of a file that may run.
@Suite("Source text")
struct SourceTextTests {
    /// The calls that are left of a method's body.
    private static func calls(_ body: String, path: String = "a.m") -> [String] {
        let source =
            "@implementation A\n- (void)f:(int)a {\n\(body)\n}\n- (void)g { last(); }\n@end"
        let text = SourceText(Array(source.utf8), path: path)
        return text.tokens.indices.filter { text.sees("(", ")", ";", at: $0 + 1) }
            .map { text.tokens[$0].text }
    }

    @Test("what is behind a `return;` that each path of a method comes to is no part of it")
    func unreachable() {
        #expect(Self.calls("first();\nreturn;\nnever();") == ["first", "last"])
        let asked = "if (a) { first(); }\nreturn;\nif (a) { never(); }"
        #expect(Self.calls(asked) == ["first", "last"])
        #expect(Self.calls("return;") == ["last"])
    }

    @Test(
        "what a path comes to is a part of it",
        arguments: [
            "if (a) return;\nnext();", "if (a) {\nreturn;\n}\nnext();",
            "if (a) first2(a);\nelse return;\nnext();", "run(^{\nreturn;\n});\nnext();",
            "#if DEBUG\nreturn;\n#endif\nnext();", "goto end;\nreturn;\nend: next();",
            "goto end;\nreturn;\n#if DEBUG\nlog2(a);\n#endif\nend: next();",
            "goto end;\nreturn;\n{ end: next(); }",
            "switch (a) { case 1: return; }\nnext();",
        ])
    func reachable(body: String) {
        #expect(Self.calls(body).suffix(2) == ["next", "last"], "\(body)")
    }

    @Test("Swift reads what follows as the value that is returned")
    func swift() {
        let source = "func f() {\nreturn\nnext()\n}"
        let text = SourceText(Array(source.utf8), path: "a.swift")
        #expect(!text.places(of: "next").isEmpty)
    }

    /// Whether a call at the end of a function of Swift is a part of the text.
    private static func isPart(_ body: String) -> Bool {
        let source = "func f() {\n\(body)\nnext()\n}\nfunc g() { last() }"
        let text = SourceText(Array(source.utf8), path: "a.swift")
        #expect(!text.places(of: "last").isEmpty)
        return !text.places(of: "next").isEmpty
    }

    @Test("many returns are looked at once")
    func manyReturns() {
        let text = String(repeating: "return\nlet a = 1\n", count: 20_000)
        #expect(Self.isPart("switch a { case 1:\n\(text)case 2: x() }"))
        #expect(SourceText(Array("func f() {\n\(text)".utf8), path: "a.swift").tokens.count > 9)
    }

    @Test("in Swift nothing runs behind a `return` that a statement follows, which is no value")
    func unreachableInSwift() {
        for statement in ["let a = 1", "var a = 1", "guard a else { x() }", "for a in b {}"] {
            #expect(!Self.isPart("first()\nreturn\n\(statement)"), "\(statement)")
        }
        #expect(!Self.isPart("return\nlet a = 1\nif a { return\nlet b = 2 }"))
        #expect(!Self.isPart("return\nlet a = NotificationCenter.default\nif case .b = a {}"))
        for body in [
            "if a {\nreturn\nlet b = 1\n}", "run {\nreturn\nlet b = 1\n}",
            "switch a {\ncase 1:\nreturn\nlet b = 1\ncase 2: x()\n}",
            "#if DEBUG\nreturn\n#endif\nlet b = 1", "return\n#if DEBUG\nlet b = 1\n#endif",
            "return\nif a { 1 } else { 2 }", "x.return\nlet b = 1", "guard a else {\nreturn\n}",
            "next2()\nreturn\nfunc next2() {}", "return\nlet b = 1\nfunc h() {}",
            "switch a {\ncase b,\n`return`\nlet c = 1 }", "log { x(\nreturn\nlet c = d }",
        ] {
            #expect(Self.isPart(body), "\(body)")
        }
    }
}
