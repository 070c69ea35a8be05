// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Checks whole files; runs in a worker.
struct FileChecker: Sendable {
    let style: any ReportStyle
    let mode: FixMode
    let showsDiff: Bool
    let forcedKind: InputKind?
    /// The baseline to write; `nil` if none is written.
    let recorder: Baseline?

    /// The result for one file.
    enum Outcome: Sendable {
        case checked(CheckedText)
        /// A file of lines that is too large to be checked as a whole.
        case long
        /// A file of a folder without a sign of pushes.
        case foreign
        case failed(LintProblem)
    }

    /// The bytes of an input that are needed to determine its kind.
    enum Reading: ~Copyable {
        case document([UInt8])
        case lines([UInt8])
        /// Lines of which only the first bytes were read.
        case longLines(head: [UInt8], OpenFile)
    }

    /// Reads an input and determines its kind.
    func read(_ path: String) throws(LintProblem) -> Reading {
        let file = try OpenFile(path: path)
        var bytes = try file.readAll(limit: LintLimits.headBytes)
        let isWhole = bytes.count <= LintLimits.headBytes
        switch InputSniffer.judge(bytes, isWhole: isWhole, name: path) {
        case .binary:
            throw LintProblem(
                .notText,
                "\(path) is no text, so it is no payload. Payloads are JSON in UTF-8, not "
                    + "compressed.", path: path)
        case .lines where forcedKind == nil || forcedKind == .lines,
            .document where forcedKind == .lines:
            return isWhole ? .lines(bytes) : .longLines(head: bytes, file)
        case .lines, .document:
            if !isWhole {
                bytes += try file.readAll(limit: LintLimits.documentBytes - bytes.count)
            }
            return .document(bytes)
        }
    }

    /// Checks a file, and fixes it.
    func check(_ input: LintInput, by checker: PushChecker) -> Outcome {
        do throws(LintProblem) {
            switch try read(input.path) {
            case .longLines(let head, _):
                return isForeign(head, input) ? .foreign : .long
            case .lines(let bytes):
                if isForeign(bytes, input) { return .foreign }
                return .checked(checkLines(bytes, input, checker))
            case .document(let bytes):
                return checkDocument(bytes, input, checker)
            }
        } catch {
            return .failed(error)
        }
    }

    /// Whether a file of lines that was not given by name is unrelated to pushes.
    private func isForeign(_ lines: [UInt8], _ input: LintInput) -> Bool {
        !input.isNamed && forcedKind == nil && !DocumentReader.mentionsPush(lines)
    }

    /// Checks one document, unless it has no sign of pushes and was not given by name.
    func checkDocument(
        _ bytes: [UInt8], _ input: LintInput, _ checker: PushChecker
    ) -> Outcome {
        var document = checker.reader.read(bytes, name: input.path)
        if document.isForeign, !input.isNamed { return .foreign }
        var change = Change()
        var bytes = bytes
        if mode != .nothing {
            let mended = Fixer(checker: checker, mode: mode).mended(bytes, name: input.path)
            change = apply(mended, to: bytes, input)
            if change.isMade {
                bytes = mended
                document = checker.reader.read(bytes, name: input.path)
            }
        }
        let text = SourceText(bytes, of: document)
        var result = checker.check(document, in: text)
        let file = ReportedFile(
            path: input.path, kind: document.kind,
            types: result.types, isInferred: result.isInferred)
        let entries =
            recorder?.entries(of: result.findings, at: input.path)
            ?? checker.leaveOutKnown(from: &result, at: input.path)
        var tally = FileTally()
        tally.add(result)
        tally.summary.mendedFiles = change.isMendable ? 1 : 0
        // A page may be about such comments.
        if !PageBlock.isPage(input.path) {
            tally.misreadComments = text.ignores.misreadClauses(at: input.path)
        }
        return .checked(
            CheckedText(
                file: file, tally: tally, text: style.joined(result.findings, in: file),
                count: result.findings.count, entries: entries, change: change))
    }

    private func checkLines(
        _ bytes: [UInt8], _ input: LintInput, _ checker: PushChecker
    ) -> CheckedText {
        var change = Change()
        var bytes = bytes
        let lines = LineChecker(checker: checker, style: style, mode: mode, recorder: recorder)
        if mode != .nothing {
            let mended = lines.mended(bytes)
            change = apply(mended, to: bytes, input)
            if change.isMade { bytes = mended }
        }
        let file = LineChecker.file(input.path)
        let part = lines.check(LineBlocks.Block(bytes: bytes, firstLine: 1), of: file)
        var tally = part.tally
        tally.summary.mendedFiles = change.isMendable ? 1 : 0
        return CheckedText(
            file: file, tally: tally, text: part.text, count: part.count, entries: part.entries,
            change: change)
    }

    private func apply(_ mended: [UInt8], to bytes: [UInt8], _ input: LintInput) -> Change {
        guard mended != bytes else { return Change() }
        if showsDiff {
            let diff = UnifiedDiff.header(input.path) + UnifiedDiff.hunks(bytes, mended)
            return Change(isMendable: true, diff: diff)
        }
        do throws(LintProblem) {
            let file = try ReplacementFile(replacing: input.path)
            try file.write(mended)
            try file.commit()
            return Change(isMendable: true, isMade: true)
        } catch {
            return Change(problem: error)
        }
    }
}

/// The result of a file's repairs.
struct Change: Sendable {
    /// Whether there was something to fix.
    var isMendable = false
    /// Whether the file was replaced.
    var isMade = false
    /// The diff, if it is shown.
    var diff = ""
    /// The reason why the file could not be replaced.
    var problem: LintProblem?
}

/// A checked file, with its part of the report.
struct CheckedText: Sendable {
    let file: ReportedFile
    let tally: FileTally
    /// The formatted findings.
    let text: String
    /// The number of findings in the text.
    let count: Int
    /// The entries for a baseline, if one is written, and otherwise those that the baseline has.
    let entries: [Baseline.Entry]
    let change: Change
}
