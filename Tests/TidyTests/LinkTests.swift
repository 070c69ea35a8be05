// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Links between the repository's documents: none is dead, and nothing of the manual is hidden.
@Suite("Links")
struct LinkTests {
    private static let manual = "Deploy/manual"
    private static let maximumPictureByteCount = 200_000

    private static let pages = Result {
        let tree = SourceTree.checkout
        let paths =
            ["README.md"] + tree.markdownFiles(below: "Deploy")
            + tree.markdownFiles(below: "Sources")
        return try paths.map { MarkdownPage(path: $0, text: try tree.text(of: $0)) }
    }

    @Test("every relative link leads to a file, and every anchor to a heading")
    func links() throws {
        let pages = try Self.pages.get()
        let byPath = Dictionary(uniqueKeysWithValues: pages.map { ($0.path, $0) })
        var findings: [String] = []
        var count = 0
        for page in pages {
            for link in page.links {
                count += 1
                if let problem = Self.problem(link.target, in: page, byPath) {
                    findings.append("\(page.path):\(link.line): \(link.target) \(problem)")
                }
            }
        }
        #expect(findings == [])
        #expect(count > 50)
    }

    private static func problem(
        _ target: String, in page: MarkdownPage, _ pages: [String: MarkdownPage]
    ) -> String? {
        if target.contains("://") {
            return target.hasPrefix("https://") && URL(string: target) != nil
                ? nil : "is not a link by https"
        }
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = resolved(String(parts[0]), in: page) else {
            return "leads out of the repository"
        }
        let file = SourceTree.checkout.root.appending(path: path).path
        guard FileManager.default.fileExists(atPath: file) else { return "does not exist" }
        guard parts.count == 2 else { return nil }
        guard let other = pages[path] else { return "has an anchor and is no page" }
        return other.anchors.contains(String(parts[1])) ? nil : "has no such heading"
    }

    /// A relative path as one from the root; `nil` for one that leads out of it.
    private static func resolved(_ target: String, in page: MarkdownPage) -> String? {
        guard !target.isEmpty else { return page.path }
        var parts = page.folder.split(separator: "/")
        for part in target.split(separator: "/") {
            switch part {
            case ".": continue
            case ".." where parts.isEmpty: return nil
            case "..": parts.removeLast()
            default: parts.append(part)
            }
        }
        return parts.joined(separator: "/")
    }

    @Test("every page of a catalog that another names is in the catalog")
    func catalogs() throws {
        let pages = try Self.pages.get()
        let paths = Set(pages.map(\.path))
        var findings: [String] = []
        for page in pages {
            for link in page.catalogLinks where !paths.contains("\(page.folder)/\(link.target).md")
            {
                findings.append("\(page.path):\(link.line): there is no page \(link.target)")
            }
        }
        #expect(findings == [])
    }

    @Test("every page of the manual can be reached from its index, and the index from the README")
    func reach() throws {
        let pages = try Self.pages.get().filter { $0.path.hasPrefix(Self.manual) }
        let byPath = Dictionary(uniqueKeysWithValues: pages.map { ($0.path, $0) })
        var reached: Set<String> = []
        var waiting = [Self.manual + "/README.md"]
        while let path = waiting.popLast() {
            guard let page = byPath[path], reached.insert(path).inserted else { continue }
            waiting += page.links.compactMap {
                Self.resolved(String($0.target.prefix { $0 != "#" }), in: page)
            }
        }
        #expect(Set(byPath.keys).subtracting(reached) == [])
        let readme = try SourceTree.checkout.text(of: "README.md")
        #expect(readme.contains("](Deploy/manual/README.md)"))
    }

    @Test("every picture and file of the manual is linked, and pictures are small")
    func files() throws {
        let tree = SourceTree.checkout
        let linked = try Set(
            Self.pages.get().flatMap { page in
                page.links.compactMap { Self.resolved($0.target, in: page) }
            })
        for folder in ["pictures", "app"] {
            for name in try tree.entries(of: "\(Self.manual)/\(folder)") {
                let path = "\(Self.manual)/\(folder)/\(name)"
                #expect(linked.contains(path), "no page links \(path)")
                let size = try Data(contentsOf: tree.root.appending(path: path)).count
                #expect(size <= Self.maximumPictureByteCount, "\(path) has \(size) bytes")
            }
        }
    }
}

/// What is taken for a link, and which anchors headings get.
@Suite("Markdown")
struct MarkdownPageTests {
    @Test("links outside of code are found, with their lines")
    func links() {
        let page = MarkdownPage(
            path: "a/b.md",
            text: """
                [one](x.md) and ![two](p/y.svg "title") `[no](code.md)`
                ```
                [no](fence.md)
                ```
                <doc:Three> [four](#here)
                """)
        #expect(page.links.map(\.target) == ["x.md", "p/y.svg", "#here"])
        #expect(page.links.map(\.line) == [1, 1, 5])
        #expect(page.catalogLinks.map(\.target) == ["Three"])
        #expect(page.folder == "a")
    }

    @Test(
        "anchors are GitHub's",
        arguments: [
            ("## What `APNs` says", "what-apns-says"),
            ("# 400 BadDeviceToken", "400-baddevicetoken"),
            ("### A, b & c – d", "a-b--c--d"),
            ("## See [the page](x.md)", "see-the-page"),
        ])
    func anchors(heading: String, anchor: String) {
        #expect(MarkdownPage(path: "a.md", text: heading).anchors == [anchor])
    }

    @Test("the second of two headings gets a number")
    func twice() {
        #expect(MarkdownPage(path: "a.md", text: "# A\n# A").anchors == ["a", "a-1"])
    }
}
