// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Comments cite facts by the sections of one page, which every reader of the repository has.
@Suite("Facts")
struct FactsTests {
    private static let page = "Deploy/manual/facts.md"
    private static let readable: Set<Substring> = ["c", "h", "md", "swift"]

    /// The files that may cite, with their text.
    private static let files = Result {
        try ["Sources", "Tests"].flatMap { folder in
            let tree = SourceTree.checkout
            return try tree.files(below: folder) { path in
                path.split(separator: ".").last.map(readable.contains) ?? false
            }.map { (path: $0, text: try tree.text(of: $0)) }
        }
    }

    /// The sections that a text cites: `1.2` of "facts §1.2"; a comment may break the line before
    /// the sign.
    private static func citations(in text: String) -> [String] {
        text.matches(of: /[Ff]acts(?:\s+\/{2,3})?\s+(§[0-9.]+(?:(?:, | and )§[0-9.]+)*)/)
            .flatMap { $0.1.matches(of: /[0-9]+(?:\.[0-9]+)*/).map { String($0.output) } }
    }

    @Test("every section that is cited is on the page")
    func sections() throws {
        let headings = try SourceTree.checkout.text(of: Self.page)
            .matches(of: #/(?m)^[#]{2,3} ([0-9.]+) /#).map { String($0.1) }
        let sections = Set(headings)
        #expect(sections.count == headings.count, "two headings have one number")
        var count = 0
        for file in try Self.files.get() {
            for section in Self.citations(in: file.text) {
                count += 1
                #expect(sections.contains(section), "\(file.path) cites facts §\(section)")
            }
        }
        #expect(count > 100)
    }

    @Test("nothing is cited that a reader does not have")
    func others() throws {
        for file in try Self.files.get() {
            let found = file.text.firstMatch(of: /(?i)\b(?:reference|design),?\s+(?:\/{2,3}\s+)?§/)
            #expect(found == nil, "\(file.path): \(found?.output ?? "")")
        }
    }

    @Test("a citation is found with its neighbours, and over the end of a line")
    func citations() {
        let several = Self.citations(in: "(facts §1.1, §9) Facts §4.2 and §4.3.")
        #expect(several == ["1.1", "9", "4.2", "4.3"])
        #expect(Self.citations(in: "so (facts\n    /// §1.6). RFC 9113 §8.1") == ["1.6"])
    }
}
