// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads each file once, and remembers what it was and what went wrong.
final class FileLibrary {
    let tree = FileTree()
    private let progress: ((Int, Int) -> Void)?
    /// How many files of source text there may be to examine; more, where projects name others.
    var expectedCount = 0
    private(set) var problems: [AuditReport.Problem] = []
    private var unread: [(target: String, sources: UnreadSources)] = []
    /// The files that a project names and that are not there.
    private var missing: Set<String> = []
    /// The files of source text that are too large to be taken apart.
    private var oversized: Set<String> = []
    /// Whether the targets were chosen, so that each of their files has to be there.
    private let isChosen: Bool
    private var kinds: [String: AuditReport.FileKind] = [:]
    private var properties: [String: AppProperties?] = [:]
    private var digests: [String: SourceDigest?] = [:]
    private var constants: [String: SourceConstants] = [:]

    /// Reports at intervals how many files were examined, and how many there are.
    init(isChosen: Bool = false, _ progress: ((Int, Int) -> Void)? = nil) {
        self.isChosen = isChosen
        self.progress = progress
    }

    /// The dictionary that a property list holds; `nil` where that fails, and a problem, unless it
    /// is optional.
    func properties(
        _ path: String, _ kind: AuditReport.FileKind, isOptional: Bool = false
    ) -> AppProperties? {
        if let known = properties[path] { return known }
        let limit =
            kind == .xcodeProject ? AuditLimits.projectBytes : AuditLimits.propertyListBytes
        var result: AppProperties?
        if let bytes = bytes(path, kind, limit: limit) {
            do throws(ReadingFailure) {
                result = try PropertyList.readProperties(bytes, file: path)
            } catch {
                if !isOptional { note(error) }
            }
        }
        properties[path] = .some(result)
        return result
    }

    /// The bytes of a file; `nil`, and a problem, where it cannot be read.
    func bytes(_ path: String, _ kind: AuditReport.FileKind, limit: Int) -> [UInt8]? {
        do throws(FileFailure) {
            let bytes = try FileTree.read(path, limit: limit)
            kinds[path] = kind
            return bytes
        } catch {
            if error.reason != .missing || (isChosen && kind != .swift) {
                note(ReadingFailure(place: AppPlace(file: path), message: error.message))
            } else if kind != .swift {
                // A build or a generator may make it, and samples of others are never built. For
                // source text, what depends on it is left open by `isComplete`.
                missing.insert(path)
            }
            return nil
        }
    }

    /// The bytes of a file that may be missing or mean nothing.
    func optionalBytes(_ path: String, _ kind: AuditReport.FileKind, limit: Int) -> [UInt8]? {
        guard let bytes = try? FileTree.read(path, limit: limit) else { return nil }
        kinds[path] = kind
        return bytes
    }

    /// Notes what was built into an app and not read.
    func noteUnread(_ sources: UnreadSources, target: String) {
        guard !sources.isEmpty else { return }
        unread.append((target, sources))
    }

    /// Reads files of build settings. One that is not there is no problem: those of CocoaPods are
    /// made before a build.
    var settingsFiles: SettingsFiles {
        SettingsFiles { [self] path in
            let bytes = try? FileTree.read(path, limit: AuditLimits.settingsBytes)
            if bytes != nil { kinds[path] = .buildSettings }
            return bytes
        }
    }

    /// Notes what could not be read, once.
    func note(_ failure: ReadingFailure) {
        let problem = AuditReport.Problem(place: failure.place, message: failure.message)
        if !problems.contains(problem) { problems.append(problem) }
    }

    /// Notes the folders that could not be looked into.
    func noteUnreadableFolders() {
        for folder in tree.unreadableFolders.sorted() {
            note(
                ReadingFailure(
                    place: AppPlace(file: folder), message: "the folder cannot be looked into"))
        }
    }

    /// Sorts findings by their files.
    func report(_ findings: [AppFinding], configurationCount: Int) -> AuditReport {
        let byFile = Dictionary(grouping: findings, by: \.file)
        let files = kinds.sorted { $0.key < $1.key }.compactMap { path, kind in
            let findings = byFile[path] ?? []
            return kind == .swift && findings.isEmpty
                ? nil : AuditReport.File(path: path, kind: kind, findings: findings)
        }
        return AuditReport(
            files: files, fileCount: kinds.count,
            configurationCount: configurationCount, problems: problems, unjudged: unjudged)
    }

    /// What was not judged, by what was not read.
    private var unjudged: [AuditReport.Unjudged] {
        let rules = AppRules.table.filter(\.needsAllSources).map(\.id)
        var texts: [String] = []
        var targets: [String: [String]] = [:]
        for (target, sources) in unread {
            let text = sources.description
            if targets[text] == nil {
                texts.append(text)
                targets[text] = []
            }
            if !target.isEmpty, targets[text]?.contains(target) != true {
                targets[text, default: []].append(target)
            }
        }
        let absent = missing.sorted().map { path in
            AuditReport.Unjudged(
                targets: [], reason: "\(path) is not there, and may be made by a build", rules: [])
        }
        let tooLarge = oversized.sorted().map { path in
            AuditReport.Unjudged(
                targets: [],
                reason: "\(path) has more than \(AuditLimits.sourceBytes) bytes and was not read",
                rules: rules)
        }
        let oddlyNamed = tree.foldersOfOddNames.sorted().map { folder in
            AuditReport.Unjudged(
                targets: [],
                reason: "what has a name that is not UTF-8 in \(folder) was not looked at",
                rules: rules)
        }
        return absent + tooLarge + oddlyNamed
            + texts.map { text in
                AuditReport.Unjudged(targets: targets[text] ?? [], reason: text, rules: rules)
            }
    }
}

extension FileLibrary {
    /// What the source files of a bundle say. `nil` where there are none.
    func facts(of list: SourceList) -> AppFacts.Sources? {
        guard !list.files.isEmpty || !list.unread.isEmpty else { return nil }
        var digests: [SourceDigest] = []
        if progress != nil {
            let new = list.files.count { self.digests[$0] == nil }
            expectedCount = max(expectedCount, self.digests.count + new)
        }
        for path in list.files {
            guard var digest = digest(path) else { continue }
            if list.isShared(path) { digest.markShared() }
            digests.append(digest)
        }
        let wanted = digests.reduce(into: Set<String>()) { $0.formUnion($1.wantedNames) }
        let constants = self.constants(named: wanted, in: list.files)
        let isComplete =
            list.unread.isEmpty && digests.count == list.files.count && !tree.isExhausted
            && tree.foldersOfOddNames.isEmpty
        return AppFacts.Sources(
            digests.flatMap { $0.observations(constants) }, isComplete: isComplete)
    }

    /// Whether a file of source text was examined for a target.
    func wasExamined(_ path: String) -> Bool { digests[path] != nil }

    /// What each of some files proves by itself, as a bundle: files that belong to no known target.
    /// `nil` where that is nothing.
    func bundle(ofStrays files: [String]) -> AppFacts.Bundle? {
        var list = SourceList()
        list.add(files)
        let proven = facts(of: list)?.observations.filter(\.isProvenByFile) ?? []
        guard !proven.isEmpty else { return nil }
        return AppFacts.Bundle(
            role: .other, sources: AppFacts.Sources(proven, isComplete: false))
    }

    /// What a file of source text says; `nil`, and a problem, where it cannot be read. Each file is
    /// examined once, however many targets it is built into.
    private func digest(_ path: String) -> SourceDigest? {
        if let known = digests[path] { return known }
        var digest: SourceDigest?
        if let bytes = bytes(path, .swift, limit: AuditLimits.filteredBytes) {
            // Most files hold none of the words that a rule asks for.
            if !WordFilter.rules.finds(in: bytes) {
                digest = SourceDigest()
            } else if bytes.count <= AuditLimits.sourceBytes {
                digest = SourceReader.digest(of: SourceText(bytes, path: path))
            } else {
                oversized.insert(path)
            }
        }
        digests[path] = .some(digest)
        if digests.count.isMultiple(of: 64) { progress?(digests.count, expectedCount) }
        return digest
    }

    /// The constants with these names that files define.
    private func constants(named names: Set<String>, in files: [String]) -> SourceConstants {
        var all = SourceConstants()
        guard !names.isEmpty else { return all }
        let filter = WordFilter(names)
        for path in files {
            let key = names.sorted().joined(separator: " ") + "\0" + path
            if let known = constants[key] {
                all.add(known)
                continue
            }
            var found = SourceConstants()
            if let bytes = try? FileTree.read(path, limit: AuditLimits.sourceBytes),
                filter.finds(in: bytes)
            {
                found.add(SourceText(bytes, path: path), wanted: names)
            }
            constants[key] = found
            all.add(found)
        }
        return all
    }
}
