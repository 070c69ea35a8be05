// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

@Suite("Glob patterns")
struct GlobPatternTests {
    @Test(
        "a pattern matches what a shell's would",
        arguments: [
            ("*.json", "a.json", true), ("*.json", "a.yaml", false), ("*.json", "x/a.json", false),
            ("*.json", ".a.json", false), (".*.json", ".a.json", true),
            ("**/*.json", "a.json", true), ("**/*.json", "x/y/a.json", true),
            ("**/*.json", ".x/a.json", false), ("x/**", "x/y/z", true), ("x/**", "y/z", false),
            ("**/y/**/z", "a/y/b/c/z", true), ("**/y/**/z", "a/b/z", false),
            ("a?c", "abc", true), ("a?c", "aéc", true), ("a?c", "ac", false),
            ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false), ("[!a-c]x", "dx", true),
            ("[]]x", "]x", true), ("[a", "[a", true), ("a*b*c", "a1b2b3c", true),
            ("a*b*c", "a1c2b", false), ("*.{json,apns}", "a.apns", true),
            ("*.{json,apns}", "a.yaml", false), ("{a,b}/{c,d}", "b/c", true),
            ("{a}", "{a}", true), ("./a/*.json", "a/x.json", true), ("", "a", false),
        ])
    func matching(pattern: String, path: String, isMatch: Bool) {
        #expect(GlobPattern(pattern).matches(path) == isMatch)
    }

    @Test(
        "a pattern that means a folder covers what is in it",
        arguments: [
            ("a", "a/b/c", true), ("a/*", "a/b/c", true), ("a/b/c", "a/b/c", true),
            ("b", "a/b/c", false), ("**/b", "a/b/c", true), ("a/b/c/d", "a/b/c", false),
            ("{x,a}", "a/b", true), ("", "a", false),
        ])
    func covering(pattern: String, path: String, isCovered: Bool) {
        #expect(GlobPattern(pattern).covers(path) == isCovered)
    }

    @Test("a hostile pattern takes no long time")
    func hostile() {
        let pattern = String(repeating: "*a", count: 200) + "b"
        #expect(!GlobPattern(pattern).matches(String(repeating: "a", count: 2000)))
        let folders = String(repeating: "**/*/", count: 60) + "b"
        let path = String(repeating: "a/", count: 60) + "c"
        #expect(!GlobPattern(folders).matches(path) && !GlobPattern(folders).covers(path))
        let braces = String(repeating: "{a,b}", count: 40)
        #expect(GlobPattern(braces).alternatives.count <= 2 * LintLimits.patternAlternatives)
    }
}
