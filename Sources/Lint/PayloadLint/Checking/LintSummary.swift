// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The counts of a run: findings by severity, files and pushes.
public struct LintSummary: Hashable, Sendable {
    /// The number of checked files.
    public internal(set) var files = 0
    /// The number of pushes in them.
    public internal(set) var pushes = 0
    /// The number of errors.
    public internal(set) var errors = 0
    /// The number of warnings.
    public internal(set) var warnings = 0
    /// The number of notes.
    public internal(set) var notes = 0
    /// The number of payloads whose push type was inferred, by that type.
    public internal(set) var inferredTypes: [String: Int] = [:]
    /// The number of files that were fixed, or would be.
    public internal(set) var mendedFiles = 0
    /// The number of files with errors, or with warnings if those count.
    public internal(set) var failedFiles = 0
    /// The number of files in folders without a sign of pushes.
    public internal(set) var foreignFiles = 0
    /// The number of files that were read and contain no push that can be checked.
    public internal(set) var filesWithoutPush = 0
    /// The number of pages and scripts without a push in a form that can be read.
    public internal(set) var textsWithoutPush = 0
    /// The number of files of which nothing could be judged: what they hold about pushes is
    /// abridged, or is no JSON.
    public internal(set) var filesNotReadable = 0
    /// The number of files that were given by name and are in a format that is not read.
    public internal(set) var filesOfUnknownFormat = 0
    /// The number of files in folders that the settings exclude.
    public internal(set) var excludedFiles = 0
    /// The number of findings that a comment in their file ignores.
    public internal(set) var ignoredFindings = 0
    /// The number of findings that are in the baseline.
    public internal(set) var knownFindings = 0

    /// The number of files that were read and not judged.
    var filesNotJudged: Int {
        filesWithoutPush + textsWithoutPush + filesNotReadable + filesOfUnknownFormat
    }

    /// Creates a summary of nothing.
    public init() {}

    mutating func count(_ severity: Severity) {
        switch severity {
        case .error: errors += 1
        case .warning: warnings += 1
        case .note: notes += 1
        }
    }

    /// Whether there are errors, or warnings if those count.
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
        textsWithoutPush += other.textsWithoutPush
        filesNotReadable += other.filesNotReadable
        filesOfUnknownFormat += other.filesOfUnknownFormat
        excludedFiles += other.excludedFiles
        ignoredFindings += other.ignoredFindings
        knownFindings += other.knownFindings
    }
}
