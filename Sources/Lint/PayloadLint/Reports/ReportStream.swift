// SPDX-License-Identifier: Apache-2.0

/// Puts a report together from its parts, in order, and writes it as it grows.
struct ReportStream {
    private let style: any ReportStyle
    private let isStrict: Bool
    private let write: (String) -> Void
    /// What is counted in all files so far.
    private(set) var summary = LintSummary()
    private var isFirstFile = true
    private var isFirstFinding = true
    /// The report so far, where it is held.
    private var held = ""
    /// The findings of the present file, where they are held.
    private var heldFindings = ""
    private var heldCount = 0

    /// Begins a report.
    init(_ style: any ReportStyle, isStrict: Bool, write: @escaping (String) -> Void) {
        self.style = style
        self.isStrict = isStrict
        self.write = write
        if style.heldFindings == nil { write(style.opening(summary)) }
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
        summary.add(tally.summary)
        summary.files += 1
        if tally.summary.isFailure(isStrict: isStrict) { summary.failedFiles += 1 }
    }

    /// Notes a file that has nothing to do with pushes.
    mutating func passOver() { summary.foreignFiles += 1 }

    /// Ends the report.
    mutating func end() {
        if style.heldFindings != nil { write(style.opening(summary) + held) }
        write(style.closing(summary))
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
