// SPDX-License-Identifier: Apache-2.0

public import PayloadRules

/// The result of an audit.
public struct AuditReport: Hashable, Sendable {
    /// The kind of a file.
    public enum FileKind: String, Hashable, Sendable {
        case infoPlist = "info-plist"
        case entitlements
        case xcodeProject = "xcode-project"
        case buildSettings = "build-settings"
        case swift
        case objectiveC = "objective-c"
        case kotlin
        /// A signed program, whose entitlements were read.
        case program

        /// Whether it is source text.
        var isSourceText: Bool { [.swift, .objectiveC, .kotlin].contains(self) }

        /// The kind of a file of source text, by the ending of its path.
        static func sourceText(_ path: String) -> FileKind {
            if path.hasSuffix(".kt") { return .kotlin }
            return SourceText.isObjectiveC(path) ? .objectiveC : .swift
        }
    }

    /// A file with its findings.
    public struct File: Hashable, Sendable {
        /// The path, as found.
        public var path: String
        /// The kind of the file.
        public var kind: FileKind
        /// The findings, ordered by place.
        public var findings: [AppFinding]
    }

    /// A file that could not be read, with the place of the error.
    public struct Problem: Hashable, Sendable {
        /// The place of the error.
        public var place: AppPlace
        /// The error, as a clause without a full stop.
        public var message: String
    }

    /// Rules that were not checked, and the reason.
    public struct Unjudged: Hashable, Sendable {
        /// The targets; empty if there are none.
        public var targets: [String]
        /// The reason, as a clause without a full stop: "3 packages (A, B, C) were not read".
        public var reason: String
        /// The rules that require the missing input.
        public var rules: [RuleID]
        /// Those of them that found something in what is there.
        public var partlyJudged: Set<RuleID> = []

        /// The targets, the reason and the rules as a sentence.
        public var description: String {
            let owner = targets.isEmpty ? "" : targets.joined(separator: ", ") + ": "
            let names = { (rules: [RuleID]) in
                rules.map(\.rawValue).joined(separator: ", ")
            }
            let open = names(rules.filter { !partlyJudged.contains($0) })
            let partly = names(rules.filter(partlyJudged.contains))
            let clauses = [
                open.isEmpty ? nil : open + " not judged",
                partly.isEmpty ? nil : partly + " judged only in part",
            ]
            let verdict = clauses.compactMap(\.self).joined(separator: ", ")
            return owner + reason + (verdict.isEmpty ? "." : ": \(verdict).")
        }
    }

    /// The property lists, projects and programs that were read, and the source files with
    /// findings, ordered by path.
    public var files: [File]
    /// The number of files that were read, including source files without findings.
    public var fileCount: Int
    /// The number of build configurations; 0 if there are none.
    public var configurationCount: Int
    /// The files that could not be read; the findings do not cover them.
    public var problems: [Problem]
    /// The rules that were not checked.
    public var unjudged: [Unjudged] = []
    /// The number of findings that comments in their files ignore at each of their places.
    public var ignoredFindings = 0
    /// The number of findings whose remaining places a baseline holds.
    public var knownFindings = 0

    /// The files that were read and understood, with or without findings.
    package var judgedFiles: Set<String> = []
    /// The files with settings in the folders of the audit, whether they were read or not.
    package var settingsFiles: [String] = []

    /// All findings, ordered by file and place.
    public var findings: [AppFinding] { files.flatMap(\.findings) }

    /// Adds what was not read: "the settings in B were not read".
    package mutating func say(notJudged reason: String) {
        unjudged.append(Unjudged(targets: [], reason: reason, rules: []))
    }

    /// The number of findings with this severity.
    public func count(_ severity: Severity) -> Int {
        findings.count { $0.diagnostic.severity == severity }
    }
}

/// The reason why there is no report.
public enum AuditFailure: Error, Hashable, Sendable {
    /// There is no file at this path.
    case missing(path: String)
    /// There is no file of an app at the paths.
    case nothingToAudit
    /// There is no file of an app at the paths besides what the settings exclude.
    case allExcluded
    /// The projects at the paths build no app and no app extension; this is one of them.
    case noApp(project: String)
    /// There is no target with this name; `known` lists the existing ones.
    case unknownTarget(String, known: [String])
    /// There is no build configuration with this name; `known` lists the existing ones.
    case unknownConfiguration(String, known: [String])
}
