// SPDX-License-Identifier: Apache-2.0

/// How findings are written.
public enum ReportFormat: String, CaseIterable, Sendable {
    /// For people.
    case text
    /// One JSON document.
    case json
    /// Workflow commands of GitHub Actions, which show findings in a pull request.
    case github
    /// SARIF 2.1.0 (OASIS).
    case sarif
    /// JUnit XML, one test case a file.
    case junit
    /// A Code Quality report of GitLab.
    case gitlab
}
