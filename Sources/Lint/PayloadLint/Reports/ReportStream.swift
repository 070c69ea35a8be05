// SPDX-License-Identifier: Apache-2.0

/// Writes a report piece by piece.
package struct ReportStream {
    let style: any ReportStyle
    private let isStrict: Bool
    private let write: (String) -> Void
    /// The totals so far, for the end of the report.
    package private(set) var totals = ReportTotals()
    private var isFirstFile = true
    private var isFirstFinding = true
    /// The report so far, if it is buffered.
    private var held = ""
    /// The findings of the current file, if they are buffered.
    private var heldFindings = ""
    private var heldCount = 0

    /// Starts a report; `write` receives it in pieces.
    package init(_ settings: ReportSettings, write: @escaping (String) -> Void) {
        style = settings.style
        isStrict = settings.isStrict
        self.write = write
        if style.heldFindings == nil { write(style.opening(totals)) }
    }

    /// Adds an app's file with its findings.
    package mutating func add(_ file: ReportedFile, _ findings: [Finding]) {
        var tally = FileTally()
        for finding in findings { tally.summary.count(finding.severity) }
        begin(file)
        add(style.joined(findings, in: file), count: findings.count)
        end(file, tally)
    }

    /// Adds a problem. Must not be called between the start and the end of a file.
    package mutating func add(_ problem: ReportProblem) {
        totals.problems.append(problem)
        put(style.text(of: problem))
    }

    /// Adds a sentence about what was not checked and why.
    package mutating func say(notJudged sentence: String) { totals.notJudged.append(sentence) }

    /// Counts files without findings that are not in the report, skipped files, and findings that
    /// are not reported.
    package mutating func count(
        cleanFiles: Int = 0, foreignFiles: Int = 0, excludedFiles: Int = 0,
        ignoredFindings: Int = 0, knownFindings: Int = 0
    ) {
        totals.summary.files += cleanFiles
        totals.summary.foreignFiles += foreignFiles
        totals.summary.excludedFiles += excludedFiles
        totals.summary.ignoredFindings += ignoredFindings
        totals.summary.knownFindings += knownFindings
    }

    /// Starts a file.
    mutating func begin(_ file: ReportedFile) {
        if !isFirstFile { put(style.fileSeparator) }
        isFirstFile = false
        if !style.joinsFiles { isFirstFinding = true }
        heldFindings = ""
        heldCount = 0
        put(style.beginning(of: file))
    }

    /// Adds formatted and joined findings of the current file.
    mutating func add(_ text: String, count: Int) {
        guard !text.isEmpty else { return }
        totals.hasFindings = true
        if let limit = style.heldFindings {
            guard heldCount < limit else { return }
            heldFindings += text
            heldCount += count
            return
        }
        if !isFirstFinding { put(style.findingSeparator) }
        isFirstFinding = false
        put(text)
    }

    /// Ends a file.
    mutating func end(_ file: ReportedFile, _ tally: FileTally) {
        put(style.ending(of: file, tally, held: heldFindings))
        totals.summary.add(tally.summary)
        totals.summary.files += 1
        totals.shownFiles += 1
        totals.note(unreadLines: tally.unreadLines, of: file.path)
        totals.note(misreadComments: tally.misreadComments)
        if tally.summary.isFailure(isStrict: isStrict) { totals.summary.failedFiles += 1 }
    }

    /// Ends the report.
    package mutating func end() {
        if style.heldFindings != nil { write(style.opening(totals) + held) }
        write(style.closing(totals))
    }

    private mutating func put(_ text: String) {
        guard !text.isEmpty else { return }
        if style.heldFindings == nil { write(text) } else { held += text }
    }
}

extension ReportStyle {
    /// Formats and joins findings; also returns their number.
    func joined(_ findings: [Finding], in file: ReportedFile) -> String {
        guard !findings.isEmpty else { return "" }
        let shown = heldFindings.map { Array(findings.prefix($0)) } ?? findings
        return texts(of: shown, in: file).joined(separator: findingSeparator)
    }
}
