// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The repository on disk, as the rules look at it.
struct SourceTree {
    let root: URL

    /// The checkout that this file was compiled from.
    static let checkout = SourceTree(
        root: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent())

    /// The names in a folder, sorted, hidden ones included.
    func entries(of folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .sorted()
    }

    /// Every Swift file below a folder, by its path from the root.
    func swiftFiles(below folder: String) throws -> [SourceFile] {
        try files(below: folder) { $0.hasSuffix(".swift") }
            .map { SourceFile(path: $0, text: try text(of: $0)) }
    }

    /// Every Markdown file below a folder, by its path from the root.
    func markdownFiles(below folder: String) -> [String] {
        files(below: folder) { $0.hasSuffix(".md") }
    }

    /// The files below a folder, by their paths from the root, sorted. What a build of a package
    /// inside the tree has left is not part of it.
    func files(below folder: String, where isWanted: (String) -> Bool) -> [String] {
        let start = root.appending(path: folder).path
        let paths = FileManager.default.enumerator(atPath: start)?.compactMap { $0 as? String }
        return (paths ?? []).filter { isWanted($0) && !("/" + $0).contains("/.build") }.sorted()
            .map { folder + "/" + $0 }
    }

    func text(of path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}

/// One Swift file: its lines as written, and its lines with comments and literals blanked out.
struct SourceFile {
    let path: String
    let lines: [String]
    let codeLines: [String]

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        codeLines = SwiftLexer.code(of: text).split(
            separator: "\n", omittingEmptySubsequences: false
        ).map(String.init)
    }

    /// The module that the file belongs to: the third component of its path.
    var module: String { path.split(separator: "/").dropFirst(2).first.map(String.init) ?? "" }

    /// The modules that the file imports.
    var imports: [String] { imports(of: nil) }

    /// The modules that the file imports, or those that it imports with this access.
    func imports(of access: String?) -> [String] {
        codeLines.compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard let place = words.firstIndex(of: "import"), words.count > place + 1,
                words[..<place].allSatisfy({ Self.importPrefixes.contains($0) }),
                access.map(words[..<place].contains) ?? true
            else { return nil }
            let isKind = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
                .contains(words[place + 1])
            let module = isKind ? words[place + 2] : words[place + 1]
            return module.split(separator: ".").first.map(String.init)
        }
    }

    private static let importPrefixes: Set = [
        "public", "internal", "package", "private", "fileprivate", "@testable", "@preconcurrency",
    ]
}

/// A finding, as a line that an editor can jump to.
func place(_ file: SourceFile, _ index: Int, _ words: String) -> String {
    "\(file.path):\(index + 1): \(words)"
}
