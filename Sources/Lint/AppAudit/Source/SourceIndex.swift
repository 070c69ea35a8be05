// SPDX-License-Identifier: Apache-2.0

/// The words in source files, for all targets and rules.
///
/// Each file is read once, and kept as a sketch of its words. It is read again only for a word that
/// the sketch has, and that was not asked for before, unless its text is still kept.
final class SourceIndex {
    /// The way in which a text uses a word.
    enum Use: UInt8 {
        case named
        case made
        case mentioned
        case declared
        case function
        case constant
    }

    /// A word to look for.
    struct Word {
        let text: String
        fileprivate let number: UInt32
        fileprivate let hash: UInt64
    }

    private struct Question: Hashable {
        let use: Use
        let word: UInt32
        let file: UInt32
    }

    /// A file that was read.
    private struct File {
        let number: UInt32
        let sketch: WordSketch
        /// Whether it contains a word that rules need.
        let mayMatter: Bool
    }

    private var files: [String: Result<File, FileFailure>] = [:]
    private var numbers: [String: UInt32] = [:]
    private var answers: [Question: Bool] = [:]
    /// The text of the files that were read last.
    private var kept: [String: [UInt8]] = [:]
    private var keptBytes = 0
    private let keptLimit: Int
    /// The number of times that a file was read.
    private(set) var readCount = 0

    /// Creates an index that keeps text up to this size.
    init(keptBytes: Int = AuditLimits.keptBytes) { keptLimit = keptBytes }

    /// Whether a file contains a word that rules need.
    func mayMatter(_ path: String) throws(FileFailure) -> Bool { try file(path).mayMatter }

    private func file(_ path: String) throws(FileFailure) -> File {
        if let known = files[path] { return try known.get() }
        do throws(FileFailure) {
            let (mayMatter, sketch) = WordFilter.rules.look(at: try text(of: path))
            let file = File(
                number: UInt32(files.count), sketch: sketch, mayMatter: mayMatter)
            files[path] = .success(file)
            return file
        } catch {
            files[path] = .failure(error)
            throw error
        }
    }

    /// The text of a file.
    func text(of path: String) throws(FileFailure) -> [UInt8] {
        if let known = kept[path] { return known }
        readCount += 1
        let bytes = try FileTree.read(path, limit: AuditLimits.filteredBytes)
        guard bytes.count <= keptLimit else { return bytes }
        keptBytes += bytes.count
        if keptBytes > keptLimit {
            kept = [:]
            keptBytes = bytes.count
        }
        kept[path] = bytes
        return bytes
    }

    /// Some words to look for in files.
    func words(_ texts: Set<String>) -> [Word] {
        texts.map { text in
            let number = numbers[text] ?? UInt32(numbers.count)
            numbers[text] = number
            return Word(
                text: text, number: number,
                hash: text.utf8.reduce(WordSketch.start, WordSketch.hash))
        }
    }

    /// Those of some words that a file uses in this way; `nil` if it cannot be read.
    func words(_ wanted: [Word], _ use: Use, in path: String) -> Set<String>? {
        guard let file = try? file(path) else { return nil }
        var found: Set<String> = []
        var new: [String: Question] = [:]
        for word in wanted where file.sketch.mayContain(word.hash) {
            let question = Question(use: use, word: word.number, file: file.number)
            switch answers[question] {
            case true?: found.insert(word.text)
            case false?: continue
            case nil: new[word.text] = question
            }
        }
        guard !new.isEmpty else { return found }
        guard let bytes = try? text(of: path) else { return nil }
        let here = Self.words(WordFilter(Set(new.keys)), use, in: bytes)
        for (text, question) in new { answers[question] = here.contains(text) }
        return found.union(here)
    }

    private static func words(_ filter: WordFilter, _ use: Use, in bytes: [UInt8]) -> Set<String> {
        switch use {
        case .named: filter.words(in: bytes)
        case .made: filter.madeTypes(in: bytes)
        case .mentioned: filter.mentions(in: bytes)
        case .declared: filter.declaredTypes(in: bytes)
        case .function: filter.functions(in: bytes)
        case .constant: filter.constants(in: bytes)
        }
    }
}
