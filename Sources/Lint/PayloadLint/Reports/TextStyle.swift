// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Text for a terminal: place, rule and message; the source line with a caret; the fix.
///
/// No other format shows source lines, which may contain values of a payload.
struct TextStyle: ReportStyle {
    /// Whether to use colours.
    let usesColour: Bool

    /// The colours (ECMA-48).
    private enum Colour: String {
        case bold = "\u{1b}[1m"
        case red = "\u{1b}[31m"
        case yellow = "\u{1b}[33m"
        case blue = "\u{1b}[34m"
        case green = "\u{1b}[32m"
    }

    func texts(of findings: [Finding], in file: ReportedFile) -> [String] {
        findings.map { text(of: $0, in: file) }
    }

    func ending(of file: ReportedFile, _ tally: FileTally, held: String) -> String {
        let counts = tally.summary
        guard counts.errors + counts.warnings + counts.notes > 0, file.isInferred,
            let type = file.types.single
        else { return "" }
        return "\(Self.name(of: file)): judged as a push of type \(type), "
            + "because no push type was read with it (--push-type says otherwise)\n\n"
    }

    func closing(_ totals: ReportTotals) -> String {
        let summary = totals.summary
        var text = "Checked " + Self.count(summary.files, "file")
        if summary.pushes > summary.files {
            text += " with " + Self.count(summary.pushes, "push", "pushes")
        }
        if summary.errors + summary.warnings + summary.notes > 0 {
            text += ": "
            text += [
                coloured(Self.count(summary.errors, "error"), summary.errors > 0 ? .red : nil),
                coloured(
                    Self.count(summary.warnings, "warning"), summary.warnings > 0 ? .yellow : nil),
                Self.count(summary.notes, "note"),
            ].joined(separator: ", ")
        } else if summary.pushes > 0 || summary.filesNotJudged < summary.files {
            text += ": " + coloured("nothing found", .green)
        }
        text += ".\n"
        for (type, count) in summary.inferredTypes.sorted(by: { $0.key < $1.key }) {
            text +=
                "\(Self.count(count, "payload")) judged as \(type): "
                + "no push type was read with \(count == 1 ? "it" : "them") "
                + "(--push-type says otherwise).\n"
        }
        if summary.mendedFiles > 0 {
            text += "Fixed \(Self.count(summary.mendedFiles, "file")).\n"
        }
        for statement in totals.statements { text += statement.withoutControls + "\n" }
        return text
    }

    /// The path of a file at the start of a line, where it could be a command of a runner:
    /// `::error`.
    private static func name(of file: ReportedFile) -> String {
        let path = file.path.withoutControls
        let first = path.first { !$0.isWhitespace }
        return first == ":" || first == "#" ? "./" + path : path
    }

    private func text(of finding: Finding, in file: ReportedFile) -> String {
        let place = finding.header == nil ? ":\(finding.line):\(finding.column)" : ""
        let colour: Colour =
            switch finding.severity {
            case .error: .red
            case .warning: .yellow
            case .note: .blue
            }
        let subject = finding.header ?? finding.pointer.withoutControls
        var text =
            coloured(Self.name(of: file) + place, .bold) + ": "
            + coloured("\(finding.severity) \(finding.rule)", colour)
            + (subject.isEmpty ? "" : " \(subject)") + ": \(finding.clause.withoutControls)\n"
        var indent = "  "
        if let source = finding.source, !source.bytes.isEmpty {
            let excerpt = Excerpt(source.bytes, column: source.column)
            let number = "\(finding.line)"
            indent = String(repeating: " ", count: number.count + 3)
            text +=
                "  \(number) | \(excerpt.line)\n\(indent)| "
                + String(repeating: " ", count: excerpt.caretIndent) + coloured("^", colour) + "\n"
        }
        return text + "\(indent)= \(finding.fix.withoutControls)\n\n"
    }

    private func coloured(_ text: String, _ colour: Colour?) -> String {
        guard usesColour, let colour else { return text }
        return "\(colour.rawValue)\(text)\u{1b}[0m"
    }

    private static func count(_ number: Int, _ noun: String, _ nouns: String? = nil) -> String {
        "\(number) \(number == 1 ? noun : nouns ?? noun + "s")"
    }
}
