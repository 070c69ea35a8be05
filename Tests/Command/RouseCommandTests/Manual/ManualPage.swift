// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A page of the manual, parts of which are generated from the code.
///
/// Such a part stands between `<!-- begin NAME -->` and `<!-- end NAME -->`; the rest of the page
/// is written by people.
struct ManualPage {
    /// What is wrong with a page.
    enum Fault: Error {
        /// The page lacks the marks of this part.
        case noMarks(part: String)
    }

    private let file: URL

    /// The page with this name in `Deploy/manual`.
    init(_ name: String) {
        file =
            URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../Deploy/manual/\(name)").standardized
    }

    /// Whether a part is what the code says. Where `ROUSE_REGENERATE_GOLDEN=1` asks for it, the
    /// part is written anew first.
    func hasPart(_ part: String, _ text: String) throws -> Bool {
        let page = try String(contentsOf: file, encoding: .utf8)
        let begin = "<!-- begin \(part) -->\n"
        let end = "<!-- end \(part) -->"
        guard let head = page.range(of: begin),
            let tail = page.range(of: end, range: head.upperBound..<page.endIndex)
        else { throw Fault.noMarks(part: part) }
        let generated = "\n" + text + "\n"
        if ProcessInfo.processInfo.environment["ROUSE_REGENERATE_GOLDEN"] == "1" {
            try page.replacingCharacters(
                in: head.upperBound..<tail.lowerBound, with: generated
            ).write(to: file, atomically: true, encoding: .utf8)
            return true
        }
        return page[head.upperBound..<tail.lowerBound] == generated
    }

    /// The whole page, with one space between two words.
    var words: String {
        get throws {
            try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isWhitespace)
                .joined(separator: " ")
        }
    }

    /// What to do about a page that is not what the code says.
    static let isStale: Comment =
        "It is stale: run this test with ROUSE_REGENERATE_GOLDEN=1 and commit the page."
}

/// A table in Markdown.
struct ManualTable {
    private var lines: [String]

    /// A table with these headings.
    init(_ headings: [String]) {
        lines = [Self.line(headings), Self.line(headings.map { _ in "---" })]
    }

    /// Adds a row.
    mutating func add(_ cells: [String]) {
        lines.append(Self.line(cells.map { Self.plain($0).replacing("|", with: "\\|") }))
    }

    /// The whole table, with a line break behind each row.
    var text: String { lines.joined() }

    /// Text that Markdown takes for no HTML: outside of code a "<" would begin a tag.
    static func plain(_ text: String) -> String {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .map { $0.isMultiple(of: 2) ? $1.replacing("<", with: "&lt;") : $1 }
            .joined(separator: "`")
    }

    private static func line(_ cells: [String]) -> String {
        "| " + cells.joined(separator: " | ") + " |\n"
    }
}
