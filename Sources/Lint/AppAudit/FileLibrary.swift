// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads each file once, and remembers what it was and what went wrong.
final class FileLibrary {
    let tree = FileTree()
    private(set) var problems: [AuditReport.Problem] = []
    private var kinds: [String: AuditReport.FileKind] = [:]
    private var properties: [String: AppProperties?] = [:]
    private var sources: [String: SourceText?] = [:]

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

    /// A file of source text; `nil`, and a problem, where it cannot be read.
    func source(_ path: String) -> SourceText? {
        if let known = sources[path] { return known }
        let text = bytes(path, .swift, limit: AuditLimits.sourceBytes).map {
            SourceText($0, path: path)
        }
        sources[path] = .some(text)
        return text
    }

    /// The bytes of a file; `nil`, and a problem, where it cannot be read.
    func bytes(_ path: String, _ kind: AuditReport.FileKind, limit: Int) -> [UInt8]? {
        do throws(FileFailure) {
            let bytes = try FileTree.read(path, limit: limit)
            kinds[path] = kind
            return bytes
        } catch {
            // Source text that a build makes is not there before the build; what depends on it is
            // left open by `isComplete`.
            if kind != .swift || error.reason != .missing {
                note(ReadingFailure(place: AppPlace(file: path), message: error.message))
            }
            return nil
        }
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
            configurationCount: configurationCount, problems: problems)
    }
}

extension FileLibrary {
    /// What the source files of a bundle say. `nil` where there are none.
    func facts(of list: SourceList) -> AppFacts.Sources? {
        let texts = list.swiftFiles.compactMap(source)
        guard !texts.isEmpty || list.hasForeignFiles else { return nil }
        var constants = SourceConstants()
        for text in texts { constants.add(text) }
        let observations = texts.flatMap { SourceReader.observations(in: $0, constants) }
        let isComplete =
            !list.hasForeignFiles && texts.count == list.swiftFiles.count && !tree.isExhausted
        return AppFacts.Sources(observations, isComplete: isComplete)
    }
}
