// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Checks blocks of a file with one document per line.
struct LineChecker: Sendable {
    let checker: PushChecker
    let style: any ReportStyle
    let mode: FixMode
    let recorder: Baseline?

    /// The result for some lines.
    struct Part: Sendable {
        var tally = FileTally()
        /// The formatted findings.
        var text = ""
        var count = 0
        /// The entries for a baseline, if one is written, and otherwise those that the baseline
        /// has.
        var entries: [Baseline.Entry] = []
    }

    /// A file of lines, for reports.
    static func file(_ path: String) -> ReportedFile {
        ReportedFile(path: path, kind: .lines, types: .none, isInferred: false)
    }

    /// Checks some lines.
    func check(_ block: LineBlocks.Block, of file: ReportedFile) -> Part {
        var part = Part()
        var findings: [Finding] = []
        Self.forEachLine(of: block.bytes) { line, number in
            let bytes = Array(line)
            let text = SourceText(
                bytes, firstLine: block.firstLine + number, isSingleLine: true)
            var result = checker.check(checker.reader.readLine(bytes), in: text)
            part.entries +=
                recorder?.entries(of: result.findings, at: file.path, isManyLines: true)
                ?? checker.leaveOutKnown(from: &result, at: file.path, isManyLines: true)
            part.tally.add(result)
            findings += result.findings
        }
        part.count = findings.count
        part.text = style.joined(findings, in: file)
        return part
    }

    /// Returns the lines with repairs applied; line ends and empty lines do not change.
    func mended(_ bytes: [UInt8]) -> [UInt8] {
        let mender = Fixer(checker: checker, mode: mode)
        var mended: [UInt8] = []
        mended.reserveCapacity(bytes.count)
        var copied = 0
        Self.forEachLine(of: bytes) { line, _ in
            mended += bytes[copied..<line.startIndex]
            mended += mender.mendedLine(Array(line))
            copied = line.endIndex
        }
        mended += bytes[copied...]
        return mended
    }

    /// Calls `body` with each line that is not empty, without its line end, and its index from 0.
    static func forEachLine(of bytes: [UInt8], _ body: (ArraySlice<UInt8>, Int) -> Void) {
        var start = 0
        var number = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            var line = bytes[start..<end]
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            if line.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0d }) {
                body(line, number)
            }
            start = end + 1
            number += 1
        }
    }
}
