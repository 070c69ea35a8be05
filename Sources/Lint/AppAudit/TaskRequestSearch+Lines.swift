// SPDX-License-Identifier: Apache-2.0

extension TaskRequestSearch {
    /// The lines of source files that import modules, include headers or use macros.
    struct Lines: Sendable {
        /// The modules that files import; `#` for what cannot be read, and for macros of others.
        private(set) var imports: Set<String> = []
        /// The headers that files include and that are not there, without a folder.
        private(set) var headers: Set<String> = []
        /// The files of Objective-C with macros of their own.
        private(set) var withMacros: Set<String> = []

        /// The lines that were read: most files import what others do.
        private var known: Set<String> = []

        /// No lines.
        init() {}

        /// Reads a source file.
        init(of file: String) {
            guard let bytes = try? FileTree.read(file, limit: AuditLimits.filteredBytes) else {
                imports = ["#"]
                return
            }
            read(bytes, file)
        }

        /// Adds the lines of other files.
        mutating func add(_ other: Lines) {
            imports.formUnion(other.imports)
            headers.formUnion(other.headers)
            withMacros.formUnion(other.withMacros)
        }

        /// Leaves out the headers that are there.
        mutating func leaveOutHeaders(of files: [String]) {
            if !headers.isEmpty { headers.subtract(files.map(Paths.name)) }
        }

        /// Reads the lines that import modules, include headers or may use macros. Few lines do, so
        /// that the others are not looked at.
        mutating func read(_ bytes: [UInt8], _ path: String) {
            let isSwift = path.hasSuffix(".swift")
            let marks: [(text: StaticString, rare: Int)] = [
                ("#", 0), ("import", 2), ("include", 4),
            ]
            var places = marks.map { bytes.offset(of: $0.text, by: $0.rare) ?? bytes.count }
            while let place = places.min(), place < bytes.count {
                let start = (bytes[..<place].lastIndex(where: Self.endsLine) ?? -1) + 1
                let end = bytes[place...].firstIndex(where: Self.endsLine) ?? bytes.count
                let hasHash = places[0] < end
                let mayImport = places[1] < end || places[2] < end
                for (index, mark) in marks.enumerated() where places[index] < end {
                    places[index] =
                        bytes.offset(of: mark.text, by: mark.rare, from: end) ?? bytes.count
                }
                guard hasHash || end - start < Self.lineLimit else { continue }
                let text = String(decoding: bytes[start..<end], as: UTF8.self)
                if mayImport, Self.mayStartImport(bytes[start..<end]), isNew(text) {
                    readImport(text)
                }
                guard hasHash else { continue }
                if isSwift {
                    if Self.usesMacro(text) { imports.insert("#") }
                } else if text.drop(while: { $0 == " " || $0 == "#" }).hasPrefix("define") {
                    withMacros.insert(path)
                }
            }
        }

        /// Whether a line starts as one of `import`, `@testable import`, `public import`, or
        /// `#import`: most that have the word are comments.
        private static func mayStartImport(_ line: ArraySlice<UInt8>) -> Bool {
            line.first { !" \t;".utf8.contains($0) }.map("fip@#".utf8.contains) == true
        }

        /// Whether a line was not read before, as far as is known.
        private mutating func isNew(_ line: String) -> Bool {
            guard line.utf8.count < Self.lineLimit else { return true }
            if known.count >= Self.knownLines { known = [] }
            return known.insert(line).inserted
        }

        /// Forgets the lines that were read: only what they import is kept of many files.
        mutating func forget() { known = [] }

        /// The number of lines that are known.
        private static let knownLines = 256

        /// The length from which on lines without `#` import nothing, in bytes.
        private static let lineLimit = 200

        private static func endsLine(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0d }

        /// Reads a line such as `@testable import struct Module.Type` or `#import
        /// <Module/Header.h>`.
        private mutating func readImport(_ line: String) {
            let words = line.split { " \t;".contains($0) }.map(String.init)
            guard
                let keyword = words.prefix(4).firstIndex(where: { word in
                    ["import", "@import", "#import", "#include", "#include_next"].contains(word)
                })
            else {
                // `#import<Module/Header.h>` and `# import` are rare.
                if line.drop(while: { $0 == " " }).hasPrefix("#i"), !line.contains("#if") {
                    imports.insert("#")
                }
                return
            }
            let isOwn = words[..<keyword].allSatisfy { word in
                word.hasPrefix("@") || word == "#"
                    || ["public", "internal", "private", "fileprivate", "package"].contains(word)
            }
            let kinds = ["struct", "class", "enum", "protocol", "func", "let", "var", "typealias"]
            guard isOwn, var name = words[(keyword + 1)...].first(where: { !kinds.contains($0) })
            else {
                return
            }
            if name.hasPrefix("\"") {
                headers.insert(Paths.name(of: name.filter { $0 != "\"" }))
            } else if name.hasPrefix("<") {
                name.removeAll { "<>".contains($0) }
                let parts = name.split(separator: "/")
                // Headers of C have no folder, and neither have some of pods.
                imports.insert(parts.count > 1 ? String(parts[0]) : name)
            } else {
                imports.insert(String(name.prefix { $0 != "." }))
            }
        }

        /// Whether a line of Swift has a macro that is not the system's: `#schedule("a.b")`.
        private static func usesMacro(_ line: String) -> Bool {
            line.split(separator: "#", omittingEmptySubsequences: false).dropFirst().contains {
                part in
                let name = part.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                guard name.first?.isLetter == true, part[name.endIndex...].first == "(" else {
                    return false
                }
                return !systemMacros.contains(String(name))
            }
        }

        private static let systemMacros: Set = [
            "available", "unavailable", "selector", "keyPath", "warning", "error", "sourceLocation",
            "colorLiteral", "imageLiteral", "fileLiteral", "Predicate", "Preview", "if", "elseif",
        ]
    }
}
