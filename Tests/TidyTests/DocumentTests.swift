// SPDX-License-Identifier: Apache-2.0

import Testing

/// What the repository says of itself: version, licence, and the way in for contributors.
@Suite("Documents")
struct DocumentTests {
    private static let versionFile = "Sources/Core/WakeModel/RouseVersion.swift"

    /// The version, from the one place where it is written.
    private static func version() throws -> String {
        let text = try SourceTree.checkout.text(of: versionFile)
        let match = try #require(text.firstMatch(of: /current = "(\d+\.\d+\.\d+)"/))
        return String(match.1)
    }

    @Test("every document that names the version names this one")
    func versions() throws {
        let version = try Self.version()
        let tree = SourceTree.checkout
        #expect(try tree.text(of: "README.md").contains("This is version \(version),"))
        let changes = try tree.text(of: "Deploy/CHANGELOG.md")
        let newest = try #require(changes.firstMatch(of: /\n## (\d+\.\d+\.\d+)/))
        #expect(newest.1 == version)
        let image = try tree.text(of: "Deploy/kubernetes/kustomization.yaml")
        #expect(image.contains("newTag: \(version)\n"))
    }

    @Test("no other source states a version")
    func oneVersion() throws {
        var findings: [String] = []
        for file in try SourceTree.checkout.swiftFiles(below: "Sources")
        where file.path != Self.versionFile {
            for (index, line) in file.lines.enumerated()
            where line.contains(/[vV]ersion\w* = "\d+\.\d+/) {
                findings.append(place(file, index, "states a version; use RouseVersion"))
            }
        }
        #expect(findings == [])
    }

    @Test("the licence is there in full, and the documents name it")
    func licence() throws {
        let tree = SourceTree.checkout
        let text = try tree.text(of: "Deploy/LICENSE")
        #expect(text.contains("Version 2.0, January 2004"))
        #expect(text.contains("9. Accepting Warranty or Additional Liability."))
        #expect(text.contains("END OF TERMS AND CONDITIONS"))
        for path in ["README.md", "Deploy/CONTRIBUTING.md", "Deploy/debian/copyright"] {
            #expect(try tree.text(of: path).contains("Apache License"), "\(path)")
        }
    }

    /// That the files exist is for the test of links to say.
    @Test("the guide for contributors leads to the code for each kind of addition")
    func contributing() throws {
        let path = "Deploy/CONTRIBUTING.md"
        let text = try SourceTree.checkout.text(of: path)
        let sections = text.split(separator: "\n## ").dropFirst()
        for subject in ["a rule", "a route", "a metric", "a store engine"] {
            let section = try #require(
                sections.first { $0.hasPrefix("Add \(subject)") }, "Add \(subject)")
            let links = MarkdownPage(path: path, text: String(section)).links.map(\.target)
            #expect(links.contains { $0.hasPrefix("../Sources/") }, "Add \(subject)")
        }
        let table = try #require(sections.first { $0.hasPrefix("Where is what") })
        let rows = table.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(rows.count >= 10)
        for row in rows { #expect(row.contains("]("), "\(row)") }
    }

    @Test("the guide for contributors follows one wake through few files, each step in its order")
    func walk() throws {
        let path = "Deploy/CONTRIBUTING.md"
        let tree = SourceTree.checkout
        let text = try tree.text(of: path)
        let section = try #require(
            text.split(separator: "\n## ").first { $0.hasPrefix("Follow one wake") })
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        let steps = rows.map { row in Int(row.dropFirst(2).prefix(while: \.isNumber)) }
        #expect(steps == Array(1...10))
        var files: [String] = []
        for row in rows {
            let links = MarkdownPage(path: path, text: String(row)).links.map(\.target)
            #expect(!links.isEmpty, "\(row)")
            for link in links {
                let file = String(link.dropFirst("../".count))
                #expect(try !tree.text(of: file).isEmpty, "\(link)")
                files.append(file)
            }
        }
        #expect(files.count <= 25 && Set(files).count == files.count)
    }
}
