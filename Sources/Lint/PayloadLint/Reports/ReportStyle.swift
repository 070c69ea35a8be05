// SPDX-License-Identifier: Apache-2.0

/// The push types of a file's pushes.
enum PushTypeTally: Hashable, Sendable {
    case none
    case one(String)
    case several

    mutating func add(_ type: String) {
        switch self {
        case .none: self = .one(type)
        case .one(let other): if other != type { self = .several }
        case .several: break
        }
    }

    mutating func add(_ other: PushTypeTally) {
        switch other {
        case .none: break
        case .one(let type): add(type)
        case .several: self = .several
        }
    }

    /// The type; `nil` if there are none or several.
    var single: String? {
        if case .one(let type) = self { return type }
        return nil
    }
}

/// A file in a report.
package struct ReportedFile: Sendable {
    /// The path, as given or found.
    package let path: String
    /// The kind of the file, in one word.
    package let kind: String
    /// Its push types, if they are known before the findings.
    let types: PushTypeTally
    /// Whether ``types`` was inferred from the payload.
    let isInferred: Bool
    /// Whether the file contains pushes.
    let isPush: Bool
    /// Whether the file has one document per line.
    let isManyLines: Bool

    /// Creates a file with pushes.
    init(path: String, kind: InputKind, types: PushTypeTally, isInferred: Bool) {
        self.path = path
        self.kind = kind.rawValue
        self.types = types
        self.isInferred = isInferred
        isPush = true
        isManyLines = kind == .lines || kind == .log
    }

    /// Creates an app's file.
    package init(path: String, kind: String) {
        self.path = path
        self.kind = kind
        types = .none
        isInferred = false
        isPush = false
        isManyLines = false
    }
}

/// The implementation of a report format. All parts are texts, so that workers can format findings
/// while the report is written in order.
protocol ReportStyle: Sendable {
    /// The text between two findings.
    var findingSeparator: String { get }
    /// The text between two files.
    var fileSeparator: String { get }
    /// Whether the findings of all files are in one list.
    var joinsFiles: Bool { get }
    /// The maximum number of findings of a file that are buffered, together with the report, until
    /// the totals are known; `nil` if the report is not buffered.
    var heldFindings: Int? { get }

    /// The text at the beginning; gets the totals if the report is buffered.
    func opening(_ totals: ReportTotals) -> String
    /// The text before a file's findings.
    func beginning(of file: ReportedFile) -> String
    /// The findings of a file, or of some of its lines.
    func texts(of findings: [Finding], in file: ReportedFile) -> [String]
    /// The text after a file's findings, which are passed if they are buffered.
    func ending(of file: ReportedFile, _ tally: FileTally, held: String) -> String
    /// The text of a problem, between two files; empty if ``closing(_:)`` contains it.
    func text(of problem: ReportProblem) -> String
    /// The text at the end.
    func closing(_ totals: ReportTotals) -> String
}

/// The counts of one file.
struct FileTally: Sendable {
    var summary = LintSummary()
    var types = PushTypeTally.none
    /// The lines of the blocks and commands that are about pushes and cannot be read.
    var unreadLines: [PushDocument.Unread.Reason: [Int]] = [:]
    /// What comments name that is no rule, as clauses.
    var misreadComments: [String] = []

    mutating func add(_ other: FileTally) {
        summary.add(other.summary)
        types.add(other.types)
        unreadLines.merge(other.unreadLines, uniquingKeysWith: +)
        misreadComments += other.misreadComments
    }

    /// Adds the result of one document.
    mutating func add(_ result: PushChecker.Result) {
        let isEmpty = result.pushCount == 0 && result.findings.isEmpty
        summary.pushes += isEmpty ? 0 : max(1, result.pushCount)
        if result.isOfUnknownFormat {
            summary.filesOfUnknownFormat += 1
        } else if isEmpty, result.knownCount == 0 {
            if !result.unreadLines.isEmpty {
                summary.filesNotReadable += 1
            } else if result.isText {
                summary.textsWithoutPush += 1
            } else {
                summary.filesWithoutPush += 1
            }
        }
        unreadLines.merge(result.unreadLines, uniquingKeysWith: +)
        types.add(result.types)
        for type in result.inferredTypes { summary.inferredTypes[type, default: 0] += 1 }
        summary.ignoredFindings += result.ignoredCount
        summary.knownFindings += result.knownCount
        for finding in result.findings { summary.count(finding.severity) }
    }
}

extension ReportStyle {
    var findingSeparator: String { "" }
    var fileSeparator: String { "" }
    var joinsFiles: Bool { false }
    var heldFindings: Int? { nil }
    func opening(_ totals: ReportTotals) -> String { "" }
    func beginning(of file: ReportedFile) -> String { "" }
    func ending(of file: ReportedFile, _ tally: FileTally, held: String) -> String { "" }
    func text(of problem: ReportProblem) -> String { "" }
    func closing(_ totals: ReportTotals) -> String { "" }
}
