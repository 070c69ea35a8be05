// SPDX-License-Identifier: Apache-2.0

import Foundation
import WakeModel

@testable import RouseCommand

/// Every key of the configuration in Markdown: the words and examples of `Deploy/rouse.yaml`, with
/// what the reader of configurations says of each key when it is asked.
///
/// A default is what changes nothing when it is written down, and what a key takes is what its
/// error message asks for, so that neither can differ from the program.
struct ConfigurationReference {
    /// A key with the value that stands behind it.
    private struct Setting {
        /// The keys that lead to it, such as `apps[].server.port`.
        let path: String
        /// The value as written; empty for a key that holds others.
        let value: String
        /// Its line in the file, from 0.
        let line: Int
    }

    /// A comment, and the settings under it.
    private struct Paragraph {
        var words: [String]
        var settings: [Setting] = []
    }

    private let lines: [String]
    private var paragraphs: [Paragraph] = []

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../Deploy/rouse.yaml")
        lines = try String(contentsOf: file, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        readParagraphs()
    }

    // MARK: Reading

    /// A line with a setting that is switched on: a "#" before the key is gone.
    private static func switchedOn(_ line: String) -> Substring? {
        line.wholeMatch(of: /#?((?: {2,})?(?:- )?[a-z0-9-]+:.*)/)?.1
    }

    private mutating func readParagraphs() {
        var open: [(indentation: Int, name: String)] = []
        var comment: [String] = []
        for (number, line) in lines.enumerated() {
            if let setting = Self.switchedOn(line),
                let key = setting.wholeMatch(
                    of: /( *)(- )?([a-z0-9-]+): ?(.*)/)
            {
                if !comment.isEmpty || paragraphs.isEmpty {
                    paragraphs.append(Paragraph(words: comment))
                    comment = []
                }
                let indentation = key.1.count + (key.2 == nil ? 0 : 2)
                open.removeAll { $0.indentation >= indentation }
                if key.2 != nil, let last = open.indices.last, !open[last].name.hasSuffix("[]") {
                    open[last].name += "[]"
                }
                open.append((indentation, String(key.3)))
                paragraphs[paragraphs.count - 1].settings.append(
                    Setting(
                        path: open.map(\.name).joined(separator: "."), value: String(key.4),
                        line: number))
            } else if line.isEmpty {
                comment = []
            } else {
                comment.append(line.trimmingPrefix(/#\s*/).description)
            }
        }
    }

    // MARK: Asking

    /// The file with every setting switched on, but for one line that is replaced.
    private func text(replacing line: Int? = nil, by value: String = "") -> String {
        lines.enumerated().map { number, text in
            let setting = Self.switchedOn(text).map(String.init) ?? text
            guard number == line, let colon = setting.firstIndex(of: ":") else { return setting }
            return setting[...colon] + " " + value
        }.joined(separator: "\n")
    }

    private func read(_ yaml: String) throws(CommandFailure) -> ServeConfiguration {
        try ServeConfiguration(
            yaml: yaml, file: "rouse.yaml", folder: URL(filePath: "/etc/rouse/"),
            variables: Variables([:]))
    }

    /// Whether the value that stands there is what holds without the key. What a list holds has no
    /// default.
    private func isDefault(_ setting: Setting, in whole: ServeConfiguration) -> Bool {
        guard !setting.path.contains("[]"), !setting.path.hasPrefix("tls"),
            !setting.path.hasPrefix("webhook")
        else { return false }
        return (try? read(text(replacing: setting.line, by: ""))) == whole
    }

    /// What the key takes, out of the message that a value brings which no key takes.
    private func range(_ setting: Setting) -> String {
        do throws(CommandFailure) {
            _ = try read(text(replacing: setting.line, by: "\"?\""))
            return "text"
        } catch {
            if let range = Self.range(error) { return exactRange(range, setting) }
            if error.message.contains("is neither true nor false") { return "`true`, `false`" }
            if error.message.contains("is not a list") { return "a list" }
            if error.message.contains("is no time") { return "a date, or a time of RFC 3339" }
            let words = error.message.firstMatch(of: /(?:Write|Use) one of (.*)\.$/)
            return words.map { "one of " + String($0.1) } ?? "text"
        }
    }

    private static func range(_ error: CommandFailure) -> (lowest: Int, highest: Int)? {
        guard let range = error.message.firstMatch(of: /whole number from (-?\d+) to (\d+)/),
            let lowest = Int(range.1), let highest = Int(range.2)
        else { return nil }
        return (lowest, highest)
    }

    /// The range, unless only its ends count, or it depends on how long wakes are kept.
    private func exactRange(_ range: (lowest: Int, highest: Int), _ setting: Setting) -> String {
        do throws(CommandFailure) {
            let middle = (range.lowest + range.highest) / 2
            _ = try read(text(replacing: setting.line, by: "\(middle)"))
        } catch {
            if let ends = error.message.firstMatch(of: /Write (\d+ or \d+)\.$/) {
                return String(ends.1)
            }
        }
        let days = 365
        do throws(CommandFailure) {
            let text = text(replacing: setting.line, by: "\"?\"")
                .replacing(/\nretention-days: \d+/, with: "\nretention-days: \(days)")
            _ = try read(text)
        } catch {
            if let longest = Self.range(error), longest.highest != range.highest {
                return "\(longest.lowest) – \(longest.highest / days) × `retention-days`"
            }
        }
        return "\(range.lowest) – \(range.highest)"
    }

    // MARK: Writing

    /// The reference, with a heading for each key of the top.
    func markdown() throws -> String {
        let whole = try read(text())
        var result = ""
        var heading = ""
        for paragraph in paragraphs {
            let top = paragraph.settings[0].path.prefix { $0 != "." && $0 != "[" }
            if heading != top {
                heading = String(top)
                result += (result.isEmpty ? "" : "\n") + "### `\(heading)`\n\n"
            } else {
                result += "\n"
            }
            result += ManualTable.plain(paragraph.words.joined(separator: "\n")) + "\n"
            let settings = paragraph.settings.filter { !$0.value.isEmpty }
            guard !settings.isEmpty else { continue }
            var table = ManualTable(["Key", "Takes", "Default", "Example"])
            for setting in settings {
                let isDefault = isDefault(setting, in: whole)
                table.add([
                    "`\(setting.path)`", range(setting), isDefault ? "`\(setting.value)`" : "–",
                    isDefault ? "" : "`\(setting.value)`",
                ])
            }
            result += "\n" + table.text
        }
        return result
    }
}
