// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The output of a command: results to standard output, diagnostics to standard error.
///
/// No text, from any source, moves the cursor or sounds the bell: see ``Swift/String/printable``. A
/// failed write is ``StandardOutput/failure``.
struct Console: Sendable {
    /// The widest line of wrapped text, in characters.
    static let lineWidth = 88
    /// The column at which the text of a field begins, from 0.
    static let fieldIndent = 10

    /// Whether standard output shows colours: a terminal, and no `NO_COLOR` (no-color.org).
    let usesColour: Bool
    /// Whether standard output is a terminal that lets a cursor be moved.
    let isLive: Bool
    private let complainsInColour: Bool

    /// The process's standard output and standard error.
    init(_ variables: Variables) {
        let allowsColour = variables["NO_COLOR"] == nil && variables["TERM"] != "dumb"
        usesColour = allowsColour && isatty(STDOUT_FILENO) == 1
        isLive = variables["TERM"] != "dumb" && isatty(STDOUT_FILENO) == 1
        complainsInColour = allowsColour && isatty(STDERR_FILENO) == 1
    }

    /// The colours that a word can have.
    enum Colour: String, CaseIterable, Sendable {
        case good = "\u{1b}[32m"
        case doubtful = "\u{1b}[33m"
        case bad = "\u{1b}[31m"
        case strong = "\u{1b}[1m"
    }

    /// The text in a colour, where colours are shown.
    func coloured(_ text: String, _ colour: Colour) -> String {
        usesColour ? "\(colour.rawValue)\(text.printableLines)\(Self.plain)" : text
    }

    /// Ends a colour.
    static let plain = "\u{1b}[0m"
    /// The escape sequences of ``coloured(_:_:)``: the only ones that are written to a terminal.
    static let colourSequences = Colour.allCases.map(\.rawValue) + [plain]

    /// Writes characters as they are to standard output: documents for programs, and what moves the
    /// cursor on purpose.
    func writeRaw(_ text: String) {
        StandardOutput.write(Array(text.utf8))
    }

    /// Writes lines to standard output. The colours of ``coloured(_:_:)`` stay in them.
    func say(_ line: String = "") {
        writeRaw(Self.printableLines(line, withColours: usesColour) + "\n")
    }

    /// Writes a label and a text, wrapped so that its lines are aligned.
    func say(_ label: String, _ text: String, _ colour: Colour? = nil) {
        for (index, line) in Self.wrapped(text.printableLines).enumerated() {
            let start = index == 0 ? label : ""
            let padding = String(repeating: " ", count: max(1, Self.fieldIndent - start.count))
            say(start + padding + (colour.map { coloured(line, $0) } ?? line))
        }
    }

    /// Writes a label and a text that stays in one line, so that it can be copied.
    func sayVerbatim(_ label: String, _ text: String) {
        say(label.padding(toWidth: Self.fieldIndent) + text.printable)
    }

    /// Writes lines to standard error.
    func remark(_ line: String) {
        complain(line.printableLines)
    }

    /// Writes the reason of the command's failure to standard error.
    func complain(_ failure: CommandFailure) {
        let word = complainsInColour ? "\(Colour.bad.rawValue)error:\(Self.plain)" : "error:"
        complain("\(word) \(failure.message.printableLines)")
    }

    private func complain(_ text: String) { StandardError.write(text + "\n") }

    private static func printableLines(_ text: String, withColours: Bool) -> String {
        guard withColours, text.contains("\u{1b}") else { return text.printableLines }
        var result = ""
        var rest = Substring(text)
        while let escape = rest.firstIndex(of: "\u{1b}") {
            result += String(rest[..<escape]).printableLines
            rest = rest[escape...]
            let own = colourSequences.first { rest.unicodeScalars.starts(with: $0.unicodeScalars) }
            result += own ?? "\u{fffd}"
            rest = rest.dropFirst(own?.count ?? 1)
        }
        return result + String(rest).printableLines
    }

    /// Writes a JSON document to standard output: keys in order, and in snake case where a standard
    /// does not name them. One of several, or of a command that keeps running, takes one line, so
    /// that a reader finds its end.
    func write(
        _ document: some Encodable, inSnakeCase: Bool = true, onOneLine: Bool = false
    ) throws(CommandFailure) {
        writeRaw(try Self.json(document, inSnakeCase: inSnakeCase, onOneLine: onOneLine) + "\n")
    }

    /// A JSON document as ``write(_:inSnakeCase:onOneLine:)`` writes it.
    static func json(
        _ document: some Encodable, inSnakeCase: Bool = true, onOneLine: Bool = false
    ) throws(CommandFailure) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if !onOneLine { encoder.outputFormatting.insert(.prettyPrinted) }
        encoder.keyEncodingStrategy = inSnakeCase ? .convertToSnakeCase : .useDefaultKeys
        guard let data = try? encoder.encode(document) else {
            throw CommandFailure(.bug, "A result could not be written as JSON.")
        }
        return String(decoding: data, as: UTF8.self).printableJSON
    }

    /// The text in lines that fit after a label. A word that is too long has a separate line.
    static func wrapped(_ text: String) -> [String] {
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = ""
            for word in paragraph.split(separator: " ") {
                if !line.isEmpty, line.count + word.count + 1 > lineWidth - fieldIndent {
                    lines.append(line)
                    line = ""
                }
                line += line.isEmpty ? word : " " + word
            }
            lines.append(line)
        }
        return lines
    }
}
