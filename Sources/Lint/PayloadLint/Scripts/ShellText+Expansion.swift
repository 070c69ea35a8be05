// SPDX-License-Identifier: Apache-2.0

/// Expansions: the values of variables, and the output of commands.
extension ShellText {
    /// Parses `$name`, `${name}`, `${name:-word}`, `$(command)` and a command in backquotes.
    mutating func readExpansion() -> EmbeddedText {
        let start = index
        var unknown = EmbeddedText()
        unknown.append(String(decoding: [Self.unknown], as: UTF8.self), standingAt: start)
        index += 1
        guard start < bytes.count, bytes[start] == UInt8(ascii: "$") else {
            let end = bytes[index...].firstIndex(of: UInt8(ascii: "`")) ?? bytes.count
            noteBundleID(bytes[min(index, end)..<end])
            index = min(end + 1, bytes.count)
            return unknown
        }
        guard index < bytes.count else { return file.slice(start..<start + 1) }
        switch bytes[index] {
        case UInt8(ascii: "(") where matches("((", at: index):
            skipArithmetic()
            return unknown
        case UInt8(ascii: "("): return readSubstitution() ?? unknown
        case UInt8(ascii: "{"):
            let end = closingBrace()
            let inside = String(decoding: bytes[(index + 1)..<end], as: UTF8.self)
            index = min(end + 1, bytes.count)
            let name = inside.prefix { Self.isName($0.utf8.first ?? 0) }
            if inside.dropFirst(name.count).first == "/", let value = variables[String(name)] {
                return replaced(value, inside.dropFirst(name.count + 1), at: start) ?? unknown
            }
            // A part of the value is unknown.
            let rest = inside.dropFirst(name.count).drop { $0 == ":" }
            guard inside.count == name.count || rest.first.map({ "-=?".contains($0) }) == true
            else { return unknown }
            return variables[String(name)] ?? unknown
        case let byte where Self.isName(byte):
            let end = bytes[index...].firstIndex { !Self.isName($0) } ?? bytes.count
            let name = String(decoding: bytes[index..<end], as: UTF8.self)
            index = end
            return variables[name] ?? unknown
        case let byte where "@*#?!-".utf8.contains(byte):
            index += 1
            return unknown
        default: return file.slice(start..<start + 1)
        }
    }

    /// Notes a command in backquotes that is a bundle id, or a variable whose value is one.
    private mutating func noteBundleID(_ command: ArraySlice<UInt8>) {
        let words = command.count < 256 ? command.split { $0 <= 0x20 } : []
        guard words.count == 1 else { return }
        let word = words[0].filter { $0 != UInt8(ascii: "\"") }
        guard word.first == UInt8(ascii: "$") else {
            runsBundleID = runsBundleID || Self.isBundleID(word[...])
            return
        }
        let name = String(decoding: word.filter { !"${}".utf8.contains($0) }, as: UTF8.self)
        if let value = variables[name] {
            runsBundleID = runsBundleID || Self.isBundleID(value.bytes[...])
        }
    }

    /// Whether a text is a bundle id of three parts or more, and not the name of a script.
    private static func isBundleID(_ text: ArraySlice<UInt8>) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count > 2, let last = parts.last else { return false }
        return parts.allSatisfy { part in
            !part.isEmpty && part.allSatisfy { isName($0) || $0 == UInt8(ascii: "-") }
        } && !["sh", "py", "rb", "js", "pl"].contains(String(decoding: last, as: UTF8.self))
    }

    /// The value of `${name/text/other}` or `${name//text/other}`; `nil` if the text is a pattern.
    private func replaced(
        _ value: EmbeddedText, _ change: Substring, at start: Int
    ) -> EmbeddedText? {
        let isOnce = !change.hasPrefix("/")
        let parts = change.drop { $0 == "/" }
            .split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let text = Array(parts[0].utf8)
        let marks = "*?[\\\"'$#%"
        guard parts.count == 2, !text.isEmpty, !parts[0].contains(where: { marks.contains($0) })
        else {
            return nil
        }
        let isKnown = !parts[1].contains { "$`\"'\\".contains($0) }
        let other = isKnown ? String(parts[1]) : String(decoding: [Self.unknown], as: UTF8.self)
        var result = EmbeddedText()
        var rest = 0
        while let found = value.bytes[rest...].firstRange(of: text) {
            result.append(value.slice(rest..<found.lowerBound))
            result.append(other, standingAt: start)
            rest = found.upperBound
            if isOnce { break }
        }
        result.append(value.slice(rest..<value.bytes.count))
        return result
    }

    /// The end of `{…}`, which may contain expansions.
    private func closingBrace() -> Int {
        var depth = 1
        for place in bytes.indices.suffix(from: index + 1) {
            if matches("${", at: place) { depth += 1 }
            if bytes[place] == UInt8(ascii: "}") { depth -= 1 }
            if depth == 0 { return place }
        }
        return bytes.count
    }

    /// Skips `((…))`.
    private mutating func skipArithmetic() {
        var depth = 0
        repeat {
            if bytes[index] == UInt8(ascii: "(") { depth += 1 }
            if bytes[index] == UInt8(ascii: ")") { depth -= 1 }
            index += 1
        } while depth > 0 && index < bytes.count
    }

    /// Parses `$(…)`: the output of `cat` with a here-document, or `nil`.
    private mutating func readSubstitution() -> EmbeddedText? {
        let outer = waiting
        waiting = []
        defer { waiting = outer }
        index += 1
        var commands: [Command] = []
        while index < bytes.count, bytes[index] != UInt8(ascii: ")") {
            let start = index
            let command = readCommand(until: UInt8(ascii: ")"))
            note(command)
            if !command.words.isEmpty { commands.append(command) }
            if index == start { index += 1 }
        }
        index = min(index + 1, bytes.count)
        if commands.count == 1, commands[0].words.count == 1 {
            runsBundleID = Self.isBundleID(commands[0].words[0].text.bytes[...])
        }
        return commands.count == 1 ? text(writtenBy: commands[0]) : nil
    }
}
