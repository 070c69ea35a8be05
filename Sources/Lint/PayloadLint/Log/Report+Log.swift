// SPDX-License-Identifier: Apache-2.0

import PayloadRules

extension Report {
    /// Checks a log of sent pushes. Its lines are processed in order, because findings depend on
    /// earlier lines.
    func add(log path: String, _ configuration: LintConfiguration, _ checker: PushChecker) {
        var history = PushHistory(configuration: configuration.validator)
        let reader = LogReader(reader: checker.reader)
        let file = ReportedFile(path: path, kind: .log, types: .none, isInferred: false)
        do throws(LintProblem) {
            let blocks = LineBlocks(try OpenFile(path: path))
            begin(file)
            defer { endFile() }
            while let block = try blocks.next() {
                var part = LineChecker.Part()
                var findings: [Finding] = []
                LineChecker.forEachLine(of: block.bytes) { line, number in
                    let bytes = Array(line)
                    let text = SourceText(
                        bytes, firstLine: block.firstLine + number, isSingleLine: true)
                    let read = reader.read(bytes)
                    var result = PushChecker.Result()
                    if let push = read.push, let item = read.document.items.first {
                        result = checker.result(history.examine(push), of: item, in: text)
                        result.pushCount = 1
                        if let type = push.draft.pushType { result.note(type, isInferred: false) }
                    }
                    checker.report(read.document.faults, in: text, &result)
                    part.entries +=
                        recorder?.entries(of: result.findings, at: path, isManyLines: true)
                        ?? checker.leaveOutKnown(from: &result, at: path, isManyLines: true)
                    part.tally.add(result)
                    findings += result.findings
                }
                part.count = findings.count
                part.text = style.joined(findings, in: file)
                add(part, byteCount: block.bytes.count)
            }
        } catch {
            note(error)
        }
    }
}

extension PushDraft {
    /// The value of `apns-push-type`, if there is one.
    fileprivate var pushType: String? {
        headers.first { $0.name.lowercased() == "apns-push-type" }?.value
    }
}
