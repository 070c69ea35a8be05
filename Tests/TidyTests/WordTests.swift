// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// One word for one thing: words that were given up do not come back.
@Suite("Words")
struct WordTests {
    /// A word that was given up, and the one that took its place.
    static let givenUp = [
        "courier": "webhook worker", "desk": "connection", "hall": "gateway context",
        "lane": "queue", "stand-in": "simulator", "household": "housekeeping",
        "bell": "signal", "called off": "cancelled", "foretell": "predict",
        "halted": "paused or held", "himself": "itself", "sentinel": "monitor",
    ]
    /// Names in stores that exist, which only a migration changes; and this list.
    static let exempt = [
        "Sources/Gateway/StoreSQLite/", "Tests/Gateway/StoreSQLiteTests/",
        "Tests/TidyTests/WordTests.swift", "Tests/Benchmarks/", "Deploy/CHANGELOG.md",
        // The name of an icon at GitHub.
        "Deploy/ci/github/action.yml",
        // The control character.
        "Console.swift", "TerminalTests.swift",
    ]
    static let readable: Set<Substring> = [
        "c", "css", "h", "html", "js", "md", "py", "sh", "swift", "txt", "yaml", "yml",
    ]

    /// Whether a line says the word alone, or as a part of a name such as `heldLanes`.
    static func says(_ word: String, _ line: String) throws -> Bool {
        let first = word.prefix(1).uppercased() + word.dropFirst()
        let pattern = "(?i:\\b\(word)s?\\b)|[a-z]\(first)s?(?![a-z])|\\b\(word)s?(?=[A-Z])"
        return line.firstMatch(of: try Regex(pattern)) != nil
    }

    @Test("no text says a word that was given up")
    func words() throws {
        let tree = SourceTree.checkout
        var findings: [String] = []
        for folder in ["Sources", "Tests", "Deploy"] {
            let paths = tree.files(below: folder) { path in
                path.split(separator: ".").last.map(Self.readable.contains) ?? false
            }
            for path in paths where !Self.exempt.contains(where: { path.contains($0) }) {
                let text = try tree.text(of: path)
                for (word, instead) in Self.givenUp {
                    // The whole file first: nearly none has any of them.
                    guard text.range(of: word, options: .caseInsensitive) != nil else { continue }
                    for (index, line) in text.split(
                        separator: "\n", omittingEmptySubsequences: false
                    ).enumerated() where try Self.says(word, String(line)) {
                        findings.append("\(path):\(index + 1): says \(word); say \(instead)")
                    }
                }
            }
        }
        #expect(findings == [])
    }

    @Test(
        "a word is found alone and in names, not inside another word",
        arguments: [
            ("the lanes wait", true), ("Lane(app)", true), ("heldLanes", true),
            ("laneRows", true), ("airplane", false), ("planes", false),
        ])
    func found(line: String, isSaid: Bool) throws {
        #expect(try Self.says("lane", line) == isSaid)
    }
}
