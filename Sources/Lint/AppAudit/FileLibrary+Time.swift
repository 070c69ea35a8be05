// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Looks for time in the background in other files.
extension FileLibrary {
    /// The functions of the system that ask for time.
    private static let askers: Set = [
        "beginBackgroundTask", "beginBackgroundTaskWithName",
        "beginBackgroundTaskWithExpirationHandler", "performExpiringActivity",
        "performExpiringActivityWithReason",
    ]

    /// Takes back the timers that start when the app leaves the foreground, if a source file or a
    /// header asks for time, or what was not read may: it may do so at the same moment.
    func dropTimers(
        in digests: inout [SourceDigest], besides files: [String], _ mayAsk: Bool = false
    ) {
        let hasTimers = digests.contains { digest in
            digest.entries.contains { $0.observation.subject == .fault(.timerInBackground) }
        }
        guard hasTimers else { return }
        let words = tree.index.words(Self.askers)
        let asks = { [tree] (path: String) in
            tree.index.words(words, .named, in: path)?.isEmpty != true
        }
        guard mayAsk || files.contains(where: asks) || headers.contains(where: asks) else {
            return
        }
        for index in digests.indices {
            digests[index].drop { $0.observation.subject == .fault(.timerInBackground) }
        }
    }

    /// Settles that only its expiration handler ends some time, or nothing does, where no other
    /// file can end it. That of files which other targets share is left open, unless `ofShared` is
    /// set.
    func settleTime(in digests: inout [SourceDigest], _ files: [String], ofShared: Bool) {
        let uses = digests.flatMap { $0.entries.compactMap(\.others) }
        let others = uses.reduce(into: Set<String>()) { $0.formUnion($1.words) }
        let identifiers = uses.reduce(into: Set<String>()) { $0.formUnion($1.identifiers) }
        guard !others.isEmpty else { return }
        let words = tree.index.words(others)
        // A macro or an inline function may end what it is given, and Swift may know a function of
        // Objective-C by another name.
        let end = tree.index.words([SourceDigest.OtherUses.endOfTime, "NS_SWIFT_NAME"])
        guard headers.allSatisfy({ tree.index.words(end, .named, in: $0)?.isEmpty == true }) else {
            return
        }
        var counts = Dictionary(uniqueKeysWithValues: others.map { ($0, 0) })
        for (number, path) in files.enumerated() {
            tree.index.lookAhead(words, .named, in: files, from: number)
            guard let found = tree.index.words(words, .named, in: path) else { return }
            for word in found { counts[word, default: 0] += 1 }
            // What was not read may end what it is given.
            if !found.isDisjoint(with: identifiers),
                !TaskRequestSearch.knowsModules(of: path, modules)
            {
                counts[SourceDigest.OtherUses.endOfTime] = 2
            }
        }
        for index in digests.indices where ofShared || !digests[index].isShared {
            digests[index].settle(counts)
        }
    }

    /// Whether a file of Objective-C or its header has macros other than a number or a literal,
    /// which may end time in the background.
    func mayHideEnd(in path: String) -> Bool {
        let header = header(named: Paths.stem(of: path) + ".h", besides: path)
        return ([path] + (header.map { [$0] } ?? [])).contains { file in
            guard let bytes = try? tree.index.text(of: file),
                WordFilter(["define"]).finds(in: bytes)
            else { return false }
            return bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }).contains { line in
                Self.definesCode(String(decoding: line, as: UTF8.self))
            }
        }
    }

    /// Whether a line defines a macro that stands for more than a number or a literal.
    private static func definesCode(_ line: String) -> Bool {
        let start = line.drop { " \t".contains($0) }
        let words = start.dropFirst().split(maxSplits: 2) { " \t".contains($0) }
        guard start.first == "#", words.first == "define" else { return line.contains("#define") }
        guard words.count > 2 else { return false }
        let value = words[2].filter { !" \t".contains($0) }.drop { $0 == "@" }
        let isNumber = value.allSatisfy { $0.isHexDigit || ".xXuUlLfF".contains($0) }
        let isLiteral =
            value.count > 1 && value.first == "\"" && value.last == "\""
            && !value.dropFirst().dropLast().contains("\"")
        return words[1].contains("(") || !isLiteral && !(isNumber && value.first?.isNumber == true)
    }

    /// The headers below the folders of the projects.
    private var headers: [String] {
        folders.flatMap { tree.files(below: $0) }.filter(Self.isHeader)
    }

    /// Whether sources include a file, by its name.
    private static func isHeader(_ path: String) -> Bool {
        [".h", ".hpp", ".pch"].contains(where: path.hasSuffix)
    }
}
