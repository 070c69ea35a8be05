// SPDX-License-Identifier: Apache-2.0

public import PayloadRules

/// What an audit found.
public struct AuditReport: Hashable, Sendable {
    /// What a file that was read is.
    public enum FileKind: String, Hashable, Sendable {
        case infoPlist = "info-plist"
        case entitlements
        case xcodeProject = "xcode-project"
        case buildSettings = "build-settings"
        case swift
        /// A signed program, whose entitlements were read.
        case program
    }

    /// A file that was read, and what was found in it.
    public struct File: Hashable, Sendable {
        /// The path, as it was found.
        public var path: String
        /// What the file is.
        public var kind: FileKind
        /// What was found, by place.
        public var findings: [AppFinding]
    }

    /// A file that could not be understood, and where it stops to make sense.
    public struct Problem: Hashable, Sendable {
        /// Where.
        public var place: AppPlace
        /// What is wrong, as a clause without a full stop.
        public var message: String
    }

    /// Rules that were not asked, and why.
    public struct Unjudged: Hashable, Sendable {
        /// The targets; empty where there are none.
        public var targets: [String]
        /// Why, as a clause without a full stop: "3 packages (A, B, C) were not read".
        public var reason: String
        /// The rules that need what is missing.
        public var rules: [RuleID]

        /// All of it as a sentence.
        public var description: String {
            let names = rules.map(\.rawValue).joined(separator: ", ")
            let owner = targets.isEmpty ? "" : targets.joined(separator: ", ") + ": "
            return rules.isEmpty ? "\(owner)\(reason)." : "\(owner)\(reason): \(names) not judged."
        }
    }

    /// The property lists, projects and programs that were read, and the source files in which
    /// something was found, by path.
    public var files: [File]
    /// How many files were read, source files without findings included.
    public var fileCount: Int
    /// How many build configurations were looked at; 0 where there are none.
    public var configurationCount: Int
    /// What could not be read. The findings do not speak for it.
    public var problems: [Problem]
    /// What was not judged, and why.
    public var unjudged: [Unjudged] = []

    /// All findings, by file and place.
    public var findings: [AppFinding] { files.flatMap(\.findings) }

    /// How many findings weigh this much.
    public func count(_ severity: Severity) -> Int {
        findings.count { $0.diagnostic.severity == severity }
    }
}

/// Why there is no report.
public enum AuditFailure: Error, Hashable, Sendable {
    /// There is nothing at this path.
    case missing(path: String)
    /// The paths hold nothing of an app.
    case nothingToAudit
    /// No target has this name; these are there.
    case unknownTarget(String, known: [String])
    /// No build configuration has this name; these are there.
    case unknownConfiguration(String, known: [String])
}
