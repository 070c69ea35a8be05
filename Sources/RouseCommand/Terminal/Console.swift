// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Where a command writes: what was asked for to standard output, remarks to standard error.
///
/// A write that fails is disregarded: a reader that has seen enough closes its end of the pipe.
struct Console: Sendable {
    /// The widest line of wrapped text, in characters.
    static let lineWidth = 88
    /// Where the text of a field begins, counted from 0.
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
    enum Colour: String, Sendable {
        case good = "\u{1b}[32m"
        case doubtful = "\u{1b}[33m"
        case bad = "\u{1b}[31m"
        case strong = "\u{1b}[1m"
    }

    /// The text in a colour, where colours are shown.
    func coloured(_ text: String, _ colour: Colour) -> String {
        usesColour ? "\(colour.rawValue)\(text)\u{1b}[0m" : text
    }

    /// Writes characters as they are to standard output.
    func writeRaw(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    /// Writes one line to standard output.
    func say(_ line: String = "") {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Writes a label and a text, wrapped so that its lines stand under each other.
    func say(_ label: String, _ text: String, _ colour: Colour? = nil) {
        for (index, line) in Self.wrapped(text).enumerated() {
            let start = index == 0 ? label : ""
            let padding = String(repeating: " ", count: max(1, Self.fieldIndent - start.count))
            say(start + padding + (colour.map { coloured(line, $0) } ?? line))
        }
    }

    /// Writes a label and a text that stays in one line, so that it can be copied.
    func sayVerbatim(_ label: String, _ text: String) {
        say(label.padding(toLength: Self.fieldIndent, withPad: " ", startingAt: 0) + text)
    }

    /// Writes one line to standard error.
    func remark(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Writes why the command failed to standard error.
    func complain(_ failure: CommandFailure) {
        let word = complainsInColour ? "\(Colour.bad.rawValue)error:\u{1b}[0m" : "error:"
        remark("\(word) \(failure.message)")
    }

    /// Writes a JSON document to standard output: keys in order, and in snake case where a standard
    /// does not name them.
    func write(
        _ document: some Encodable, inSnakeCase: Bool = true
    ) throws(CommandFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = inSnakeCase ? .convertToSnakeCase : .useDefaultKeys
        guard let data = try? encoder.encode(document) else {
            throw CommandFailure(.bug, "A result could not be written as JSON.")
        }
        say(String(decoding: data, as: UTF8.self))
    }

    /// The text in lines that fit behind a label. A word that is too long has a line of its own.
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
