// SPDX-License-Identifier: Apache-2.0

/// The format of a report.
public enum ReportFormat: String, CaseIterable, Sendable {
    /// Text for a terminal.
    case text
    /// One JSON document.
    case json
    /// Workflow commands of GitHub Actions, which GitHub shows in a pull request.
    case github
    /// SARIF 2.1.0 (OASIS).
    case sarif
    /// JUnit XML with one test case per file.
    case junit
    /// A Code Quality report for GitLab.
    case gitlab
}
