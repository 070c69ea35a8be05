// SPDX-License-Identifier: Apache-2.0

import AppAudit
import PayloadRules

/// `rouse audit --format json`, in the shape of `rouse validate`'s.
///
/// | Key | Value |
/// |---|---|
/// | `files` | property lists, projects and programs, and the source files with findings |
/// | `files[].diagnostics` | each with `rule`, `severity`, `message`, `fix`, `line`, `column`, |
/// | | `pointer`, and where there are targets with `target` and `configurations` |
/// | `problems` | what could not be read: `path`, `line`, `column`, `message` |
/// | `summary` | `files`, `errors`, `warnings`, `notes` |
struct AuditDocument: Encodable {
    let files: [FileDocument]
    let problems: [ProblemDocument]
    let summary: SummaryDocument

    /// Describes what was found.
    init(_ report: AuditReport) {
        files = report.files.map(FileDocument.init)
        problems = report.problems.map(ProblemDocument.init)
        summary = SummaryDocument(
            files: report.fileCount, errors: report.count(.error),
            warnings: report.count(.warning), notes: report.count(.note))
    }

    /// One file.
    struct FileDocument: Encodable {
        let path: String
        let kind: String
        let diagnostics: [DiagnosticDocument]

        init(_ file: AuditReport.File) {
            path = file.path
            kind = file.kind.rawValue
            diagnostics = file.findings.map(DiagnosticDocument.init)
        }
    }

    /// One finding.
    struct DiagnosticDocument: Encodable {
        let rule: String
        let severity: String
        let message: String
        let fix: String
        let line: Int
        let column: Int
        let pointer: String
        let target: String?
        let configurations: [String]?

        init(_ finding: AppFinding) {
            rule = finding.diagnostic.rule.rawValue
            severity = finding.diagnostic.severity.rawValue
            message = finding.diagnostic.message
            fix = finding.diagnostic.fix
            line = finding.diagnostic.line
            column = finding.diagnostic.column
            pointer = finding.diagnostic.pointer
            target = finding.target
            configurations = finding.configurations.isEmpty ? nil : finding.configurations
        }
    }

    /// One file that could not be read.
    struct ProblemDocument: Encodable {
        let path: String
        let line: Int
        let column: Int
        let message: String

        init(_ problem: AuditReport.Problem) {
            path = problem.place.file
            line = problem.place.line
            column = problem.place.column
            message = problem.message
        }
    }

    /// The counts.
    struct SummaryDocument: Encodable {
        let files: Int
        let errors: Int
        let warnings: Int
        let notes: Int
    }
}
