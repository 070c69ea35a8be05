// SPDX-License-Identifier: Apache-2.0

/// Unreadable input, as shown in reports.
package struct ReportProblem: Hashable, Sendable {
    /// The path; `nil` if the problem is not about a file.
    package let path: String?
    /// The line, from 1.
    package let line: Int
    /// The column in Unicode scalars, from 1.
    package let column: Int
    /// The message, without a line end.
    package let message: String

    /// Creates a problem.
    package init(path: String?, line: Int = 1, column: Int = 1, message: String) {
        self.path = path
        self.line = line
        self.column = column
        self.message = message
    }
}

/// The totals at the end of a report.
package struct ReportTotals: Sendable {
    /// The counts.
    package internal(set) var summary = LintSummary()
    /// The files that the report names, with or without findings.
    package internal(set) var shownFiles = 0
    /// Whether the report has a finding.
    package internal(set) var hasFindings = false
    /// The problems.
    package internal(set) var problems: [ReportProblem] = []
    /// What was not checked and why, as sentences.
    package internal(set) var notJudged: [String] = []
    /// The number of comments that were said to name no rule.
    private var misreadComments = 0

    /// Says that blocks of a page, or commands of a script, are not judged.
    mutating func note(
        unreadLines lines: [PushDocument.Unread.Reason: [Int]], of path: String
    ) {
        for reason in PushDocument.Unread.Reason.allCases {
            note(lines[reason] ?? [], reason, of: path)
        }
    }

    /// Says which comments ignore nothing, of the first files that have such.
    mutating func note(misreadComments clauses: [String]) {
        let left = LintLimits.misreadComments - misreadComments
        notJudged += clauses.prefix(left).map { "Not judged: \($0)." }
        misreadComments += min(clauses.count, left)
    }

    private mutating func note(
        _ lines: [Int], _ reason: PushDocument.Unread.Reason, of path: String
    ) {
        guard let last = lines.last else { return }
        let shown = lines.dropLast().prefix(Self.shownLines).map { "\($0), " }.joined()
        let more = lines.count - 1 > Self.shownLines ? "…, " : ""
        let isPage = PageBlock.isPage(path)
        let noun = isPage ? "block" : reason == .template ? "payload" : "command"
        let why =
            switch reason {
            case .source: "source code, a log, or a part without its braces"
            case .headers: "headers without a payload"
            case .part: "abridged"
            case .incomplete, .template:
                noun == "block" ? "abridged, or not JSON" : "not given in full, or not JSON"
            }
        let isNot = reason == .part ? "judged by its keys alone" : "not judged"
        let areNot = reason == .part ? "judged by their keys alone" : "not judged"
        notJudged.append(
            lines.count == 1
                ? "\(path): the \(noun) in line \(last) is \(isNot): it is \(why)."
                : "\(path): \(lines.count) \(noun)s are \(areNot), in lines "
                    + "\(shown)\(more)\(last): they are \(why).")
    }

    /// The maximum number of lines of blocks that are named before the last one.
    private static let shownLines = 20

    /// All that was not checked or is not reported, and why: first the counts of the summary.
    var statements: [String] {
        var statements: [String] = []
        let files = { (count: Int) in count == 1 ? "1 file" : "\(count) files" }
        let findings = { (count: Int) in count == 1 ? "1 finding" : "\(count) findings" }
        if summary.foreignFiles > 0 {
            statements.append(
                "\(files(summary.foreignFiles)) passed over: neither `aps` nor headers beside a "
                    + "payload. A file that is named is checked.")
        }
        if summary.filesWithoutPush > 0 {
            statements.append(
                "\(files(summary.filesWithoutPush)) not judged: no push to APNs was found in a "
                    + "form that is read. It may be a request to another service.")
        }
        if summary.textsWithoutPush > 0 {
            statements.append(
                "\(files(summary.textsWithoutPush)) not judged: no block of a page, and no command "
                    + "or request of a script, is a push to APNs in a form that is read.")
        }
        if summary.filesOfUnknownFormat > 0 {
            statements.append(
                "\(files(summary.filesOfUnknownFormat)) not judged: neither JSON nor YAML, and no "
                    + "`curl` command or HTTP request in it sends a push. Save a payload as .json, "
                    + "or say with --kind what it is.")
        }
        if summary.excludedFiles > 0 {
            statements.append(
                "\(files(summary.excludedFiles)) passed over: the settings exclude "
                    + (summary.excludedFiles == 1 ? "it." : "them."))
        }
        if summary.ignoredFindings > 0 {
            statements.append(
                "\(findings(summary.ignoredFindings)) not reported: a comment ignores "
                    + (summary.ignoredFindings == 1 ? "it." : "them."))
        }
        if summary.knownFindings > 0 {
            statements.append(
                "\(findings(summary.knownFindings)) not reported: "
                    + (summary.knownFindings == 1 ? "it is" : "they are") + " in the baseline.")
        }
        return statements + notJudged
    }
}
