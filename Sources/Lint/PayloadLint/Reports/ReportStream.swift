// SPDX-License-Identifier: Apache-2.0

/// Puts a report together from its parts, in order, and writes it as it grows.
package struct ReportStream {
    let style: any ReportStyle
    private let isStrict: Bool
    private let write: (String) -> Void
    /// What is said behind the findings so far.
    package private(set) var totals = ReportTotals()
    private var isFirstFile = true
    private var isFirstFinding = true
    /// The report so far, where it is held.
    private var held = ""
    /// The findings of the present file, where they are held.
    private var heldFindings = ""
    private var heldCount = 0

    /// Begins a report, which `write` takes in pieces.
    package init(_ settings: ReportSettings, write: @escaping (String) -> Void) {
        style = settings.style
        isStrict = settings.isStrict
        self.write = write
        if style.heldFindings == nil { write(style.opening(totals)) }
    }

    /// Adds a whole file of an app.
    package mutating func add(_ file: ReportedFile, _ findings: [Finding]) {
        var tally = FileTally()
        for finding in findings { tally.summary.count(finding.severity) }
        begin(file)
        add(style.joined(findings, in: file), count: findings.count)
        end(file, tally)
    }

    /// Adds what could not be read. Not inside of a file.
    package mutating func add(_ problem: ReportProblem) {
        totals.problems.append(problem)
        put(style.text(of: problem))
    }

    /// Says what was not judged and why, in a sentence.
    package mutating func say(notJudged sentence: String) { totals.notJudged.append(sentence) }

    /// Counts files without findings that are not in the report, files that are passed over, and
    /// findings that are not reported.
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

    /// Begins a file.
    mutating func begin(_ file: ReportedFile) {
        if !isFirstFile { put(style.fileSeparator) }
        isFirstFile = false
        if !style.joinsFiles { isFirstFinding = true }
        heldFindings = ""
        heldCount = 0
        put(style.beginning(of: file))
    }

    /// Adds findings of the present file, already written and joined.
    mutating func add(_ text: String, count: Int) {
        guard !text.isEmpty else { return }
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
    /// Findings as one text, and how many there are in it.
    func joined(_ findings: [Finding], in file: ReportedFile) -> String {
        guard !findings.isEmpty else { return "" }
        let shown = heldFindings.map { Array(findings.prefix($0)) } ?? findings
        return texts(of: shown, in: file).joined(separator: findingSeparator)
    }
}
