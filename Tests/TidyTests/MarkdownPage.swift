// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A Markdown file: its links, and what can be linked to in it.
struct MarkdownPage {
    /// Where a link leads, and where it stands.
    struct Link: Hashable {
        /// The line, from 1.
        let line: Int
        /// What stands in the brackets behind the text.
        let target: String
    }

    /// The path from the repository's root.
    let path: String
    /// All links and pictures; code is not looked into.
    private(set) var links: [Link] = []
    /// Names of pages of the same documentation catalog, as in `<doc:Name>`.
    private(set) var catalogLinks: [Link] = []
    /// The anchors that GitHub gives to the headings.
    private(set) var anchors: Set<String> = []

    /// The folder that relative links begin in; empty for the root.
    var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }

    init(path: String, text: String) {
        self.path = path
        var isCode = false
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isCode.toggle()
            } else if !isCode {
                read(line, index + 1)
            }
        }
    }

    private mutating func read(_ line: Substring, _ number: Int) {
        if let heading = line.wholeMatch(of: /#{1,6} +(.*?)#* */) {
            addAnchor(of: String(heading.1))
        }
        for mark in line.matches(of: /<a id="([^"]+)">/) { anchors.insert(String(mark.1)) }
        let prose = line.replacing(/`[^`]*`/, with: "")
        for link in prose.matches(of: /\]\(([^)\s]+)(?: "[^"]*")?\)/) {
            links.append(Link(line: number, target: String(link.1)))
        }
        for link in prose.matches(of: /<doc:([^>]+)>/) {
            catalogLinks.append(Link(line: number, target: String(link.1)))
        }
    }

    /// Lower case, without marks, with hyphens for spaces, and numbered where it is there already.
    private mutating func addAnchor(of heading: String) {
        // What is shown of a link is its text.
        let shown = heading.replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }
        let kept = shown.lowercased().unicodeScalars.filter {
            CharacterSet.alphanumerics.contains($0) || $0 == " " || $0 == "-" || $0 == "_"
        }
        let name = String(String.UnicodeScalarView(kept)).replacing(" ", with: "-")
        var anchor = name
        var count = 0
        while !anchors.insert(anchor).inserted {
            count += 1
            anchor = "\(name)-\(count)"
        }
    }
}
