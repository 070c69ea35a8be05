// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// How many findings there are of each severity, and in what.
public struct LintSummary: Hashable, Sendable {
    /// The files that were checked.
    public internal(set) var files = 0
    /// The pushes in them.
    public internal(set) var pushes = 0
    /// Findings that are errors.
    public internal(set) var errors = 0
    /// Findings that are warnings.
    public internal(set) var warnings = 0
    /// Findings that are notes.
    public internal(set) var notes = 0
    /// How many payloads were judged by what they hold, by the push type that they look like.
    public internal(set) var inferredTypes: [String: Int] = [:]
    /// The files that were fixed, or would be.
    public internal(set) var mendedFiles = 0
    /// The files with errors, or with warnings where those count.
    public internal(set) var failedFiles = 0
    /// Files in folders that have nothing to do with pushes.
    public internal(set) var foreignFiles = 0
    /// Files that were read and in which no push can be judged.
    public internal(set) var filesWithoutPush = 0
    /// Files in folders that the settings exclude.
    public internal(set) var excludedFiles = 0
    /// Findings that are not reported because a comment in their file ignores them.
    public internal(set) var ignoredFindings = 0
    /// Findings that are not reported because they are in the baseline.
    public internal(set) var knownFindings = 0

    /// Nothing checked.
    public init() {}

    mutating func count(_ severity: Severity) {
        switch severity {
        case .error: errors += 1
        case .warning: warnings += 1
        case .note: notes += 1
        }
    }

    /// Whether there are errors, or warnings where those count.
    public func isFailure(isStrict: Bool) -> Bool { errors > 0 || (isStrict && warnings > 0) }

    mutating func add(_ other: LintSummary) {
        files += other.files
        pushes += other.pushes
        errors += other.errors
        warnings += other.warnings
        notes += other.notes
        inferredTypes.merge(other.inferredTypes, uniquingKeysWith: +)
        mendedFiles += other.mendedFiles
        failedFiles += other.failedFiles
        foreignFiles += other.foreignFiles
        filesWithoutPush += other.filesWithoutPush
        excludedFiles += other.excludedFiles
        ignoredFindings += other.ignoredFindings
        knownFindings += other.knownFindings
    }
}
