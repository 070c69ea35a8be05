// SPDX-License-Identifier: Apache-2.0

/// Formats a unified diff (POSIX `diff -u`), for `patch -p0`.
enum UnifiedDiff {
    /// The number of context lines around a change.
    private static let context = 3

    /// The two lines with the name of the file.
    static func header(_ path: String) -> String {
        let name = quoted(path)
        return "--- \(name)\n+++ \(name)\n"
    }

    /// A name in the notation of `git` and GNU `patch`: quoted with the escapes of C if it contains
    /// control characters, quotes or backslashes.
    private static func quoted(_ path: String) -> String {
        let isPlain = path.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && !(0x7f..<0xa0).contains($0.value) && $0 != "\"" && $0 != "\\"
        }
        guard !isPlain else { return path }
        var name: [UInt8] = []
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): name += [UInt8(ascii: "\\"), byte]
            case 0x20..<0x7f: name.append(byte)
            default:
                let digits = String(byte, radix: 8)
                name += "\\\(String(repeating: "0", count: 3 - digits.count))\(digits)".utf8
            }
        }
        return "\"\(String(decoding: name, as: UTF8.self))\""
    }

    /// The hunks between two texts whose first line has the number `firstLine`.
    static func hunks(_ old: [UInt8], _ new: [UInt8], firstLine: Int = 1) -> String {
        let steps = LineDiff.steps(LineDiff.lines(old), LineDiff.lines(new))
        var text = ""
        var start = 0
        while let range = nextHunk(in: steps, from: start) {
            let counts = count(steps[..<range.lowerBound])
            text += hunk(steps[range], oldLine: firstLine + counts.old, firstLine + counts.new)
            start = range.upperBound
        }
        return text
    }

    /// The next change with its context lines, and all changes that overlap them.
    private static func nextHunk(in steps: [LineDiff.Step], from start: Int) -> Range<Int>? {
        guard let first = steps[start...].firstIndex(where: \.isChange) else { return nil }
        var last = first
        var index = first
        while index < steps.count, index <= last + 2 * context {
            if steps[index].isChange { last = index }
            index += 1
        }
        return max(start, first - context)..<min(steps.count, last + context + 1)
    }

    private static func count(_ steps: ArraySlice<LineDiff.Step>) -> (old: Int, new: Int) {
        steps.reduce((0, 0)) { counts, step in
            switch step {
            case .keep: (counts.0 + 1, counts.1 + 1)
            case .remove: (counts.0 + 1, counts.1)
            case .add: (counts.0, counts.1 + 1)
            }
        }
    }

    private static func hunk(
        _ steps: ArraySlice<LineDiff.Step>, oldLine: Int, _ newLine: Int
    ) -> String {
        let counts = count(steps)
        var text = "@@ -\(range(oldLine, counts.old)) +\(range(newLine, counts.new)) @@\n"
        for step in ordered(steps) {
            switch step {
            case .keep(let line): text += " " + ended(line)
            case .remove(let line): text += "-" + ended(line)
            case .add(let line): text += "+" + ended(line)
            }
        }
        return text
    }

    /// An empty range has the number of the line before it.
    private static func range(_ line: Int, _ count: Int) -> String {
        switch count {
        case 0: "\(line - 1),0"
        case 1: "\(line)"
        default: "\(line),\(count)"
        }
    }

    /// Puts the removed lines first in each run of changes.
    private static func ordered(_ steps: ArraySlice<LineDiff.Step>) -> [LineDiff.Step] {
        var ordered: [LineDiff.Step] = []
        var added: [LineDiff.Step] = []
        for step in steps {
            switch step {
            case .add: added.append(step)
            case .remove: ordered.append(step)
            case .keep:
                ordered += added + [step]
                added = []
            }
        }
        return ordered + added
    }

    private static func ended(_ line: ArraySlice<UInt8>) -> String {
        let text = String(decoding: line, as: UTF8.self)
        return line.last == UInt8(ascii: "\n") ? text : text + "\n\\ No newline at end of file\n"
    }
}

extension LineDiff.Step {
    /// Whether the line is in only one of the texts.
    var isChange: Bool {
        if case .keep = self { return false }
        return true
    }
}
