// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeedKit
import Testing

@testable import PayloadLint

@Suite("Diffs")
struct DiffTests {
    private static func apply(_ steps: [LineDiff.Step]) -> (old: [UInt8], new: [UInt8]) {
        var (old, new): ([UInt8], [UInt8]) = ([], [])
        for step in steps {
            switch step {
            case .keep(let line):
                old += line
                new += line
            case .remove(let line): old += line
            case .add(let line): new += line
            }
        }
        return (old, new)
    }

    private static func text(_ generator: inout SeededGenerator, _ lines: Int) -> [UInt8] {
        var text: [UInt8] = []
        for _ in 0..<lines {
            text.append(UInt8.random(in: 0x61...0x64, using: &generator))
            text.append(0x0a)
        }
        if Bool.random(using: &generator), !text.isEmpty { text.removeLast() }
        return text
    }

    @Test("a name with control characters is quoted as git does")
    func hostileName() {
        #expect(UnifiedDiff.header("a b/ä.json") == "--- a b/ä.json\n+++ a b/ä.json\n")
        let name = #""a\033[31m\012\"\\\303\244.json""#
        #expect(
            UnifiedDiff.header("a\u{1b}[31m\n\"\\ä.json") == "--- \(name)\n+++ \(name)\n")
    }

    @Test("the steps lead from the one text to the other, and are few", arguments: 0..<200)
    func property(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let old = Self.text(&generator, Int.random(in: 0...20, using: &generator))
        let new = Self.text(&generator, Int.random(in: 0...20, using: &generator))
        let steps = LineDiff.steps(LineDiff.lines(old), LineDiff.lines(new))
        let (first, second) = Self.apply(steps)
        #expect(first == old, "seed \(seed)")
        #expect(second == new, "seed \(seed)")
        let kept = steps.count { !$0.isChange }
        let best = Self.longestCommon(LineDiff.lines(old), LineDiff.lines(new))
        #expect(kept == best, "seed \(seed)")
    }

    /// The length of a longest common subsequence, by the textbook's table.
    private static func longestCommon(
        _ left: [ArraySlice<UInt8>], _ right: [ArraySlice<UInt8>]
    ) -> Int {
        var row = [Int](repeating: 0, count: right.count + 1)
        for a in left {
            var next = [0]
            for (index, b) in right.enumerated() {
                next.append(a == b ? row[index] + 1 : max(row[index + 1], next[index]))
            }
            row = next
        }
        return row[right.count]
    }

    @Test("texts that differ everywhere are still right, and soon done")
    func large() {
        let old = (0..<5000).map { "old \($0)\n" }.joined()
        let same = (0..<5000).map { "new \($0)\n" }.joined()
        for new in [same, same + "more\n"] {
            let steps = LineDiff.steps(
                LineDiff.lines(Array(old.utf8)), LineDiff.lines(Array(new.utf8)))
            #expect(Self.apply(steps).new == Array(new.utf8))
        }
    }

    @Test("a hunk has three lines around a change, and near changes share one")
    func hunks() {
        let old = (1...20).map { "\($0)\n" }.joined()
        let new = old.replacingOccurrences(of: "\n5\n", with: "\nfive\n")
            .replacingOccurrences(of: "\n9\n", with: "\n")
            .replacingOccurrences(of: "20\n", with: "20")
        #expect(
            UnifiedDiff.hunks(Array(old.utf8), Array(new.utf8)) == """
                @@ -2,11 +2,10 @@
                 2
                 3
                 4
                -5
                +five
                 6
                 7
                 8
                -9
                 10
                 11
                 12
                @@ -17,4 +16,4 @@
                 17
                 18
                 19
                -20
                +20
                \\ No newline at end of file

                """)
        #expect(UnifiedDiff.hunks([], Array("a\n".utf8)) == "@@ -0,0 +1 @@\n+a\n")
        #expect(UnifiedDiff.hunks(Array("a\n".utf8), []) == "@@ -1 +0,0 @@\n-a\n")
        #expect(UnifiedDiff.hunks(Array("a".utf8), Array("a".utf8)) == "")
    }

    @Test(
        "the real patch program makes the new text of it",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/patch"), "needs patch"),
        arguments: 0..<20)
    func patch(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let folder = try TestFolder()
        let old = Self.text(&generator, 30)
        let new = Self.text(&generator, 30)
        let path = try folder.write(old, to: "x")
        let diff = UnifiedDiff.header(path) + UnifiedDiff.hunks(old, new)
        let patch = try folder.write(diff, to: "x.patch")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/patch")
        process.arguments = ["-s", "--posix", path, patch]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "seed \(seed)")
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(new), "seed \(seed)")
    }
}
