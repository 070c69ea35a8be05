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

    /// What is known of a file before rules need it.
    struct Known: Sendable {
        /// Whether it contains a word that rules need; `nil` if it was not read.
        let mayMatter: Bool?
        /// The text, if it is still kept.
        let text: [UInt8]?
    }

    /// What is known of a file.
    func known(of path: String) -> Known {
        Known(mayMatter: (try? files[path]?.get())?.mayMatter, text: kept[path])
    }

    /// Adds what was seen in a file.
    func add(_ path: String, _ look: Result<SourceLook, FileFailure>) {
        switch look {
        case .failure(let failure): files[path] = .failure(failure)
        case .success(let look):
            if let bytes = look.bytes, kept[path] == nil {
                readCount += 1
                keep(bytes, of: path)
            }
            guard let (sketch, mayMatter) = look.words else { return }
            files[path] = .success(
                File(number: UInt32(files.count), sketch: sketch, mayMatter: mayMatter))
        }
    }

    /// The text of a file.
    func text(of path: String) throws(FileFailure) -> [UInt8] {
        if let known = kept[path] { return known }
        readCount += 1
        let bytes = try FileTree.read(path, limit: AuditLimits.filteredBytes)
        keep(bytes, of: path)
        return bytes
    }

    private func keep(_ bytes: [UInt8], of path: String) {
        guard bytes.count <= keptLimit else { return }
        keptBytes += bytes.count
        if keptBytes > keptLimit {
            kept = [:]
            keptBytes = bytes.count
        }
        kept[path] = bytes
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
        let (known, new) = asked(wanted, use, of: file)
        guard !new.isEmpty else { return known }
        guard let bytes = try? text(of: path) else { return nil }
        let here = Self.words(WordFilter(Set(new.keys)), use, in: bytes)
        note(here, new)
        return known.union(here)
    }

    /// Those of the next ``AuditLimits/filesAtOnce`` files, from `start` on, that use some words in
    /// this way, each with its words.
    func next(
        _ wanted: [Word], _ use: Use, in paths: [String], from start: Int
    ) -> [(path: String, words: Set<String>)] {
        lookAhead(wanted, use, in: paths, from: start)
        return paths[start...].prefix(AuditLimits.filesAtOnce).compactMap { path in
            guard let here = words(wanted, use, in: path), !here.isEmpty else { return nil }
            return (path, here)
        }
    }

    /// Finds out on all processors what a loop over files is about to ask of each, if it has come
    /// to one of each ``AuditLimits/filesAtOnce``.
    func lookAhead(_ wanted: [Word], _ use: Use, in paths: [String], from start: Int) {
        guard start.isMultiple(of: AuditLimits.filesAtOnce) else { return }
        var jobs: [(path: String, words: Set<String>)] = []
        var questions: [[String: Question]] = []
        for path in paths[start...].prefix(AuditLimits.filesAtOnce) where kept[path] == nil {
            guard let file = try? files[path]?.get() else { continue }
            let new = asked(wanted, use, of: file).new
            guard !new.isEmpty else { continue }
            jobs.append((path, Set(new.keys)))
            questions.append(new)
        }
        let found = jobs.mapInParallel { job in
            (try? FileTree.read(job.path, limit: AuditLimits.filteredBytes))
                .map { Self.words(WordFilter(job.words), use, in: $0) }
        }
        readCount += jobs.count
        for (here, new) in zip(found, questions) { if let here { note(here, new) } }
    }

    /// The answers to questions about parsed files, found out on all processors; `nil` for a file
    /// that cannot be read or is too large.
    func answers<Question: Sendable, Answer: Sendable>(
        to questions: [(path: String, question: Question)],
        _ answer: @escaping @Sendable (SourceText, Question) -> Answer
    ) -> [Answer?] {
        let jobs = questions.map { ($0.path, kept[$0.path], $0.question) }
        readCount += jobs.count { $0.1 == nil }
        return jobs.mapInParallel { path, kept, question in
            guard
                let bytes = kept ?? (try? FileTree.read(path, limit: AuditLimits.sourceBytes)),
                bytes.count <= AuditLimits.sourceBytes
            else { return nil }
            return answer(SourceText(bytes, path: path), question)
        }
    }

    /// Those of some words that a file is known to use in this way, and those to be asked for.
    private func asked(
        _ wanted: [Word], _ use: Use, of file: File
    ) -> (known: Set<String>, new: [String: Question]) {
        var known: Set<String> = []
        var new: [String: Question] = [:]
        for word in wanted where file.sketch.mayContain(word.hash) {
            let question = Question(use: use, word: word.number, file: file.number)
            switch answers[question] {
            case true?: known.insert(word.text)
            case false?: continue
            case nil: new[word.text] = question
            }
        }
        return (known, new)
    }

    private func note(_ here: Set<String>, _ questions: [String: Question]) {
        for (text, question) in questions { answers[question] = here.contains(text) }
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
