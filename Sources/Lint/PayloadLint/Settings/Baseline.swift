// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// The known findings of a project, in a committed file: only other findings are reported.
///
/// The file is JSON: `version` 1 and `findings`, each with `path`, `rule` and `fingerprint` on one
/// line. Paths are relative to the file's folder, so that the working directory does not matter.
package struct Baseline: Sendable {
    /// A finding in the file.
    package struct Entry: Hashable, Sendable {
        let path: String
        let rule: String
        let fingerprint: String
    }

    private static let version = "1"

    /// The path of the file, as given.
    package let path: String
    /// The absolute path of the file's folder, without symbolic links.
    private let folder: String
    private var known: Set<Entry> = []

    /// What of a project a run judged, which decides what of a baseline it may replace.
    package struct Coverage {
        /// The rules of the command.
        package let rules: RuleTable
        /// The rules that were asked, and the severity that each has.
        package let policy: RulePolicy
        /// The paths that the run was for.
        package let paths: [String]
        /// The files that were judged.
        package let files: Set<String>
        /// Whether only some targets or build configurations were judged, or a project could not be
        /// read: the entries of other targets cannot be told from those of this run.
        package let isPartial: Bool

        /// Creates what a run judged.
        package init(
            rules: RuleTable, policy: RulePolicy, paths: [String], files: Set<String>,
            isPartial: Bool = false
        ) {
            self.rules = rules
            self.policy = policy
            self.paths = paths
            self.files = files
            self.isPartial = isPartial
        }
    }

    /// Creates a baseline for a file to write at `path`, with its present content, if there is any.
    /// Throws if that cannot be read: what others recorded would be lost.
    package init(at path: String) throws(LintProblem) {
        self.init(inFolderOf: path)
        guard PathKind(path: path) == .file,
            !(try OpenFile(path: path).readAll(limit: 1)).isEmpty
        else { return }
        known = try Baseline(readingFrom: path).known
    }

    private init(inFolderOf path: String) {
        self.path = path
        let cut = path.lastIndex(of: "/")
        let folder = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        self.folder = realPath(folder) ?? folder
    }

    /// Reads a file. Throws if it cannot be read or is invalid.
    package init(readingFrom path: String) throws(LintProblem) {
        self.init(inFolderOf: path)
        let file = try OpenFile(path: path)
        let bytes = try file.readAll(limit: LintLimits.baselineBytes)
        guard bytes.count <= LintLimits.baselineBytes else {
            throw LintProblem(
                .configuration,
                "\(path) has more than \(LintLimits.baselineBytes) bytes. Fix findings, and write "
                    + "the baseline anew.")
        }
        guard let document = try? JSONScanner.scan(bytes), document.kind(0) == .object,
            let version = document.member("version", of: 0),
            document.scalarText(version.value) == Self.version,
            let findings = document.member("findings", of: 0),
            document.kind(findings.value) == .array
        else {
            throw LintProblem(
                .configuration,
                "\(path) is no baseline of version \(Self.version). Mend it, or delete it and "
                    + "write it anew with --write-baseline.")
        }
        for element in document.elements(of: findings.value)
        where document.kind(element) == .object {
            let text = { (name: StaticString) in
                document.member(name, of: element).flatMap { document.scalarText($0.value) } ?? ""
            }
            known.insert(
                Entry(path: text("path"), rule: text("rule"), fingerprint: text("fingerprint")))
        }
    }

    /// The entries for the findings of a file, in order.
    package func entries(
        of findings: [Finding], at path: String, isManyLines: Bool = false
    ) -> [Entry] {
        guard !findings.isEmpty else { return [] }
        let path = own(path)
        var fingerprints = Fingerprints(path: path, isManyLines: isManyLines)
        return findings.map {
            Entry(path: path, rule: $0.rule.rawValue, fingerprint: fingerprints.next($0))
        }
    }

    /// Whether the file contains a finding.
    package func knows(_ entry: Entry) -> Bool { known.contains(entry) }

    /// The text of a file with these findings of a run, and with the present entries of what it did
    /// not judge: other rules, other paths, and files that are there and were not read.
    package func text(with entries: some Sequence<Entry>, of run: Coverage) -> String {
        let lines = known.subtracting(known(judgedBy: run)).union(entries).map { entry in
            "{\"path\":\(JSONLiteral.string(entry.path)),\"rule\":\"\(entry.rule)\","
                + "\"fingerprint\":\"\(entry.fingerprint)\"}"
        }
        return "{\"version\":\(Self.version),\"findings\":[\n"
            + lines.sorted().joined(separator: ",\n") + "\n]}\n"
    }

    /// A sentence about the findings of the file that a run with these ones judged and did not
    /// have; `nil` if there are none.
    package func statement(ofGoneBesides found: some Sequence<Entry>, of run: Coverage) -> String? {
        // A source file alone does not show what its functions are called for.
        guard
            run.rules.command != RuleTable.apps.command
                || run.paths.allSatisfy({ PathKind(path: $0) == .folder })
        else { return nil }
        let gone = known(judgedBy: run).subtracting(found)
        let places = Set(gone.map { "\($0.rule) in \($0.path)" }).sorted()
        guard !places.isEmpty else { return nil }
        let more = places.count - Self.namedPlaces
        return "\(path) holds findings that this run did not have: "
            + places.prefix(Self.namedPlaces).joined(separator: ", ")
            + (more > 0 ? " and \(more) more" : "") + ". Write it anew to leave them out."
    }

    /// The most places that a sentence names.
    private static let namedPlaces = 5

    /// The entries of what a run judged.
    private func known(judgedBy run: Coverage) -> Set<Entry> {
        guard !run.isPartial else { return [] }
        let files = Set(run.files.map(own))
        var roots: Set<[Substring]> = []
        var patterns: [GlobPattern] = []
        for path in run.paths {
            if realPath(path) == nil, GlobPattern.isPattern(path) {
                let start = path.hasPrefix("/") ? "" : (realPath(".") ?? "") + "/"
                patterns.append(GlobPattern(start + path))
            } else {
                let place = place(of: own(path))
                // A project describes what is beside it; a payload may have any name.
                let isOfApp = run.rules.command == RuleTable.apps.command
                roots.insert(isOfApp && Self.isProject(place.last) ? place.dropLast() : place)
            }
        }
        return known.filter { entry in
            let rule = RuleID(rawValue: entry.rule)
            guard run.rules.indices[rule] != nil, run.policy.severity(of: rule, .error) != nil
            else { return false }
            let place = place(of: entry.path)
            let path = "/" + place.joined(separator: "/")
            guard files.contains(entry.path) || PathKind(path: path) == nil else { return false }
            return (0...place.count).contains { roots.contains(Array(place.prefix($0))) }
                || patterns.contains { $0.matches(place.joined(separator: "/")) }
        }
    }

    /// Whether a file or folder of this name is a project.
    private static func isProject(_ name: Substring?) -> Bool {
        name.map { $0.hasSuffix(".xcodeproj") || ["project.yml", "app.json"].contains($0) } == true
    }

    /// The parts of the absolute path of what is at a path relative to the baseline's folder.
    private func place(of path: String) -> [Substring] {
        var parts = path.hasPrefix("/") ? [] : folder.split(separator: "/")
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return parts
    }

    /// A path relative to the baseline's folder, which need not be around it: `../App/A.swift`.
    private func own(_ path: String) -> String {
        guard path != "-", let real = realPath(path) else { return path }
        let file = real.split(separator: "/")
        let own = folder.split(separator: "/")
        let common = zip(file, own).prefix { $0 == $1 }.count
        let up = [Substring](repeating: "..", count: own.count - common)
        return (up + file.dropFirst(common)).joined(separator: "/")
    }
}
