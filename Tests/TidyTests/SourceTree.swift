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
        let start = root.appending(path: folder)
        let paths = FileManager.default.enumerator(atPath: start.path)?.compactMap { $0 as? String }
        return try (paths ?? []).filter { $0.hasSuffix(".swift") }.sorted().map { path in
            let text = try String(contentsOf: start.appending(path: path), encoding: .utf8)
            return SourceFile(path: folder + "/" + path, text: text)
        }
    }

    /// Every Markdown file below a folder, by its path from the root.
    func markdownFiles(below folder: String) -> [String] {
        let start = root.appending(path: folder)
        let paths = FileManager.default.enumerator(atPath: start.path)?.compactMap { $0 as? String }
        return (paths ?? []).filter { $0.hasSuffix(".md") }.sorted().map { folder + "/" + $0 }
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

    /// The target that the file belongs to: the second component of its path.
    var room: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }

    /// The modules that the file imports.
    var imports: [String] {
        codeLines.compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard let place = words.firstIndex(of: "import"), words.count > place + 1,
                words[..<place].allSatisfy({ Self.importPrefixes.contains($0) })
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
