// SPDX-License-Identifier: Apache-2.0

/// Parses a shell script as far as the commands that send need it, `curl`, `simctl push` and
/// `aws sns publish`: quotes, escapes, variables that the script sets, here-documents and
/// `$(cat …)`. Nothing is executed.
struct ShellText {
    /// Replaces text that is not in the script: the value of a variable, the output of a command.
    static let unknown: UInt8 = 0x1a

    /// One word of a command.
    struct Word {
        var text = EmbeddedText()
        /// The offset of its start.
        let start: Int
        /// Whether it stands for a list of words, as `"$@"` does.
        var isList = false
        /// Whether a value with blanks stands in it without quotes, at which a shell splits it.
        var isSplit = false
        /// Whether an object begins in it whose quotation marks the shell takes for its own.
        var losesQuotes = false
        /// Whether a bundle id stands in it as a command whose output is put in.
        var runsBundleID = false
        /// Whether it stands in typographic quotation marks, which a shell takes as text.
        var hasTypographicQuotes = false

        /// Whether it begins with the value of a variable.
        var isVariable: Bool { !text.bytes.isEmpty && text.fileOffset(of: 0) < start }

        /// The word as a string.
        var string: String { String(decoding: text.bytes, as: UTF8.self) }
    }

    /// A command with its standard input.
    struct Command {
        var words: [Word] = []
        var input: EmbeddedText?
        /// The file for its output, and whether the output is appended.
        var output: (name: String, isAdded: Bool)?
        /// Whether its output is piped to the next command.
        var isPiped = false
        /// Whether the text does not show where it ends: a quote is not closed, nothing follows the
        /// backslash at the end of a line, or a bracket stands where a shell allows none.
        var isOpen = false
        /// The offset of a comment behind a backslash, at which a shell ends the command.
        var remark: Int?
        /// The offset of a line end without a backslash, at which a shell ends the command, though
        /// the next line goes on with an option.
        var gap: Int?
        /// The files that the script has written before.
        var files: [String: EmbeddedText] = [:]

        /// The command for each of its requests, between which `curl` has `--next`.
        var requests: [Command] {
            words.split { ["--next", "-:"].contains($0.string) }.enumerated().map { index, part in
                var request = self
                request.words = (index == 0 ? [] : Array(words.prefix(1))) + part
                if index > 0 { (request.remark, request.gap) = (nil, nil) }
                return request
            }
        }
    }

    let file: EmbeddedText
    var index = 0
    var variables: [String: EmbeddedText] = [:]
    /// The files that here-documents and `echo` are written to, by name.
    var files: [String: EmbeddedText] = [:]
    /// The `if` and `case` around the current line.
    var conditions: [Condition] = []
    /// The output of the command before a pipe, if it is known.
    private var piped: EmbeddedText?
    /// The `curl`, `simctl push` and `aws sns publish` commands, in order.
    private(set) var commands: [Command] = []
    /// The here-documents that are printed.
    private(set) var printed: [EmbeddedText] = []
    /// The here-documents after the current line: the delimiter, and whether it was quoted.
    var waiting: [(delimiter: String, isQuoted: Bool)] = []

    /// Whether a quote was not closed.
    var isQuoteOpen = false
    /// Whether a bundle id was read in the place of a command.
    var runsBundleID = false

    var bytes: [UInt8] { file.bytes }

    /// Reads a script.
    init(_ bytes: [UInt8]) {
        file = EmbeddedText(file: bytes)
        while index < bytes.count { readLine() }
    }

    /// Parses a line: an assignment, a command that sends, or nothing.
    private mutating func readLine() {
        let lineEnd = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let line = index..<lineEnd
        follow(line)
        guard let start = commandStart(in: line) else {
            if endsBranch(line) { endBranch(isCase: true) }
            index = lineEnd + 1
            return
        }
        index = start
        note(readCommand(until: nil))
        if index == start { index = lineEnd + 1 }
    }

    /// The offset in a line where an assignment or a command that sends starts.
    private func commandStart(in line: Range<Int>) -> Int? {
        var start = line.lowerBound
        while start < line.upperBound, " \t$".utf8.contains(bytes[start]) { start += 1 }
        // A comment.
        if start < line.upperBound, bytes[start] == UInt8(ascii: "#") { return nil }
        for prefix in ["export ", "local ", "readonly "] where matches(prefix, at: start) {
            start += prefix.utf8.count
        }
        // Commands that read a here-document into a variable, or may write a body to a file.
        if ["read ", "IFS= read ", "cat ", "echo ", "printf ", "tee "]
            .contains(where: { matches($0, at: start) }),
            bytes[start..<line.upperBound].contains(where: { "<{".utf8.contains($0) })
                || passesVariableOn(start..<line.upperBound)
        {
            return start
        }
        var end = start
        while end < line.upperBound, Self.isName(bytes[end]) { end += 1 }
        if end > start, matches("=", at: end) || matches("+=", at: end) { return start }
        var place = line.lowerBound
        while place + 4 <= line.upperBound {
            let isCurl =
                matches("curl", at: place)
                && (place + 4 == line.upperBound || " \t\\".utf8.contains(bytes[place + 4]))
            if isCurl || matches("simctl push ", at: place) || publishes(from: place, in: line),
                place == line.lowerBound || " \t|;&(`$/".utf8.contains(bytes[place - 1])
            {
                // A here-document before a pipe is the input of the command.
                let isFed = Array(bytes[line.lowerBound..<place]).contains(text: "<<")
                return isFed ? line.lowerBound : place
            }
            place += 1
        }
        return nil
    }

    /// Whether a command for Amazon SNS begins in a line.
    private func publishes(from place: Int, in line: Range<Int>) -> Bool {
        bytes[place] == UInt8(ascii: "a") && matches("aws ", at: place)
            && bytes[place..<line.upperBound].firstRange(of: "sns publish".utf8) != nil
    }

    /// The texts of the files that the script writes and none of its ``commands`` names.
    var unnamedFiles: [EmbeddedText] {
        let lastPart = { (name: String) in
            name.split { "@/=".contains($0) }.last.map(String.init) ?? name
        }
        let named = Set(commands.flatMap(\.words).map { lastPart($0.string) })
        return files.filter { !named.contains(lastPart($0.key)) }.map(\.value)
            .sorted { $0.fileOffset(of: 0) < $1.fileOffset(of: 0) }
    }

    mutating func note(_ command: Command) {
        guard let first = command.words.first else { return }
        let name = first.string.prefix { Self.isName($0.utf8.first ?? 0) }
        let rest = first.string.dropFirst(name.count)
        if command.words.count == 1, !name.isEmpty, let equals = rest.firstIndex(of: "="),
            ["", "+"].contains(rest[..<equals])
        {
            let isAdded = rest.hasPrefix("+")
            let start = name.utf8.count + (isAdded ? 2 : 1)
            let value = first.text.slice(start..<first.text.bytes.count)
            // What is left empty is for the user to fill in.
            if isAdded {
                variables[String(name)]?.append(value)
            } else {
                variables[String(name)] = value.bytes.isEmpty ? nil : value
            }
        }
        if let read = command.words.prefix(2).firstIndex(where: { $0.string == "read" }),
            let name = Self.variable(ofRead: command.words[(read + 1)...])
        {
            variables[name] = command.input ?? piped
        }
        if let output = command.output, let text = text(writtenBy: command) {
            var whole = output.isAdded ? files[output.name] ?? EmbeddedText() : EmbeddedText()
            whole.append(text)
            files[output.name] = whole
        }
        if command.words.count == 1, first.string == "cat", command.output == nil,
            !command.isPiped, let text = command.input
        {
            printed.append(text)
        }
        if command.words.count == 2, first.string == "tee", let text = command.input ?? piped {
            files[Self.fileName(command.words[1].string)] = text
        }
        if let sender = command.words.indices.first(where: { index in
            let name = command.words[index].string
            return name == "curl" || name.hasSuffix("/curl")
                || name == "simctl" && command.words.dropFirst(index + 1).first?.string == "push"
                || name == "sns" && command.words.dropFirst(index + 1).first?.string == "publish"
        }) {
            var own = command
            own.words = Array(command.words[sender...])
            own.input = command.input ?? piped
            own.files = files
            commands.append(own)
        }
        piped = command.isPiped ? text(writtenBy: command) : nil
    }

    /// The variable that `read` sets, given its arguments.
    private static func variable(ofRead words: ArraySlice<Word>) -> String? {
        var words = words
        while let word = words.popFirst()?.string {
            guard word.hasPrefix("-") else { return word }
            // The last of several letters may take the next word: `-rd ''`.
            if let letter = word.last, "dnNptui".contains(letter) { _ = words.popFirst() }
        }
        return nil
    }

    /// The output of `cat`, `echo` or `printf`; `nil` for other commands, or if it is unknown.
    func text(writtenBy command: Command) -> EmbeddedText? {
        var words = command.words[...]
        switch words.popFirst()?.string {
        case "cat":
            guard let name = words.first?.string, words.count == 1 else { return command.input }
            return name == "-" ? command.input : files[Self.fileName(name)]
        case "echo":
            while let option = words.first?.string, ["-n", "-e", "-ne"].contains(option) {
                words = words.dropFirst()
            }
        case "printf":
            guard let format = words.first?.string else { return nil }
            if ["%s", "%s\\n"].contains(format) { words = words.dropFirst() }
        default: return nil
        }
        return words.first?.text
    }

    /// Parses words until the end of a command: a line end, a separator, or `close`.
    mutating func readCommand(until close: UInt8?) -> Command {
        var command = Command()
        isQuoteOpen = false
        defer { isQuoteOpen = false }
        // The number of words before a backslash at the end of a line.
        var continued: Int?
        let isInArray = isInArray
        var hasRemark = false
        while index < bytes.count {
            let byte = bytes[index]
            if byte == close { break }
            switch byte {
            case 0x20, 0x09, 0x0d: index += 1
            case UInt8(ascii: "\\") where isContinuation(at: index):
                command.remark = command.remark ?? remark(at: index)
                index = (bytes[index...].firstIndex(of: 0x0a) ?? bytes.count - 1) + 1
                continued = command.words.count
            case UInt8(ascii: "#"):
                index = bytes[index...].firstIndex(of: 0x0a) ?? bytes.count
                hasRemark = true
            case 0x0a:
                let isContinued = continued == command.words.count
                if waiting.isEmpty, let next = rest(of: command, isContinued: isContinued) {
                    if !isContinued, !isInArray, !hasRemark { command.gap = command.gap ?? index }
                    hasRemark = false
                    index = next
                    continue
                }
                index += 1
                command.isOpen = isContinued || isQuoteOpen
                if !waiting.isEmpty { command.input = readHereDocuments() }
                return command
            case UInt8(ascii: "&") where isEntity(at: index):
                command.words.append(readWord(until: close))
            case UInt8(ascii: ";"), UInt8(ascii: "|"), UInt8(ascii: "&"), UInt8(ascii: "("),
                UInt8(ascii: ")"):
                command.isOpen = isQuoteOpen || byte == UInt8(ascii: "(")
                index += 1
                if !waiting.isEmpty, command.input == nil { continue }
                command.isPiped = byte == UInt8(ascii: "|") && !matches("|", at: index)
                return command
            case UInt8(ascii: "<") where isPlaceholder(at: index, isInWord: false):
                command.words.append(readWord(until: close))
            case UInt8(ascii: "<"), UInt8(ascii: ">"): readRedirection(of: &command)
            default: command.words.append(readWord(until: close))
            }
        }
        command.isOpen = isQuoteOpen || continued == command.words.count
        if !waiting.isEmpty { command.input = readHereDocuments() }
        return command
    }

    /// Where a `curl` command goes on behind a line end at which a shell ends it: pages leave out
    /// backslashes, and have comments and empty lines between the options. A command that begins
    /// with a hyphen is none.
    private func rest(of command: Command, isContinued: Bool) -> Int? {
        guard command.words.contains(where: { $0.string.hasSuffix("curl") }) else { return nil }
        var place = index
        while place < bytes.count {
            while place < bytes.count, " \t\r\n".utf8.contains(bytes[place]) { place += 1 }
            guard place < bytes.count, bytes[place] == UInt8(ascii: "#") else { break }
            place = bytes[place...].firstIndex(of: 0x0a) ?? bytes.count
        }
        let isOption = { matches("-", at: place) && place + 1 < bytes.count && isLetter(place + 1) }
        let isLong = {
            matches("--", at: place) && place + 2 < bytes.count && isLetter(place + 2)
        }
        let isAddress = ["http", "\"http", "'http"].contains { matches($0, at: place) }
        return isOption() || isLong() || isContinued && isAddress ? place : nil
    }

    /// Whether a character is written as in HTML: `&lt;token&gt;`.
    private func isEntity(at place: Int) -> Bool {
        ["&lt;", "&gt;", "&quot;", "&amp;", "&#"].contains { matches($0, at: place) }
    }

    /// Whether a name in angle brackets is a placeholder: `/3/device/<token>`. A shell would parse
    /// it as redirections.
    private func isPlaceholder(at place: Int, isInWord: Bool) -> Bool {
        guard let end = placeholderEnd(from: place) else { return false }
        return isInWord || end == bytes.count || !Self.isName(bytes[end])
    }

    /// The offset behind `<name>`, `<<name>>`, `<% code %>`, `<? code ?>`, `[a name]` or
    /// `{a name}`; `nil` if it is none.
    private func placeholderEnd(from place: Int) -> Int? {
        for (start, close) in [("<%", "%>"), ("<?", "?>")] where matches(start, at: place) {
            let line = bytes[place...].prefix { $0 != 0x0a }
            return line.firstRange(of: Array(close.utf8))?.upperBound
        }
        let depth = matches("<<", at: place) ? 2 : 1
        let start = place + depth
        var end = start
        // An apostrophe is between letters.
        while end < bytes.count,
            isLetter(end) || "-. (),:/".utf8.contains(bytes[end])
                || bytes[end] == UInt8(ascii: "'") && end + 1 < bytes.count && isLetter(end - 1)
                    && isLetter(end + 1)
        {
            end += 1
        }
        guard end > start, isLetter(start),
            isLetter(end - 1) || bytes[end - 1] == UInt8(ascii: ")")
        else { return nil }
        let closing = ["[": "]", "{": "}"].first { matches($0.key, at: place) }?.value
        guard matches(closing ?? (depth == 2 ? ">>" : ">"), at: end) else { return nil }
        return end + depth
    }

    /// Whether a byte can be part of a name in angle brackets, in any language.
    private func isLetter(_ place: Int) -> Bool {
        Self.isName(bytes[place]) || bytes[place] >= 0x80
    }

    private mutating func readRedirection(of command: inout Command) {
        let isText = matches("<<<", at: index)
        let isHere = matches("<<", at: index) && !isText
        // In `2>&1`, the number is no word of the command, and the output is no file.
        let number = command.words.last.map { $0.start..<max(index, $0.start) } ?? index..<index
        let hasNumber =
            !number.isEmpty && bytes[number].allSatisfy { 0x30...0x39 ~= $0 }
            && command.words.last?.text.bytes.elementsEqual(bytes[number]) == true
        if hasNumber { command.words.removeLast() }
        let isOutput = !hasNumber || bytes[number].elementsEqual("1".utf8)
        let isWritten =
            bytes[index] == UInt8(ascii: ">") && isOutput && !matches(">&", at: index)
        let isAdded = matches(">>", at: index)
        while index < bytes.count, "<>&-".utf8.contains(bytes[index]) { index += 1 }
        while index < bytes.count, bytes[index] == 0x20 { index += 1 }
        guard index < bytes.count, bytes[index] != 0x0a else { return }
        let isQuoted = "'\"\\".utf8.contains(bytes[index])
        let word = readWord(until: nil)
        if isHere { waiting.append((word.string, isQuoted)) }
        if isText { command.input = word.text }
        if isWritten { command.output = (Self.fileName(word.string), isAdded) }
        if !isHere, !isText, !isWritten, let text = files[Self.fileName(word.string)] {
            command.input = text
        }
    }

    /// The name of a file in the current folder, in a uniform notation.
    static func fileName(_ name: String) -> String {
        name.hasPrefix("./") ? String(name.dropFirst(2)) : name
    }

    private mutating func readHereDocuments() -> EmbeddedText? {
        var last: EmbeddedText?
        for here in waiting {
            let start = index
            var end: Int?
            while index < bytes.count {
                let lineEnd = bytes[index...].firstIndex(of: 0x0a) ?? bytes.count
                let line = String(decoding: bytes[index..<lineEnd], as: UTF8.self)
                let isEnd = line.drop { $0 == "\t" || $0 == " " } == here.delimiter[...]
                if isEnd { end = index }
                index = min(lineEnd + 1, bytes.count)
                if isEnd { break }
            }
            // A here-document without an end is none: pages contain such lines.
            guard let end else {
                index = start
                continue
            }
            let behind = index
            last = here.isQuoted ? file.slice(start..<end) : expanded(start..<end)
            index = behind
        }
        waiting = []
        return last
    }

    /// Returns a range with its variables replaced.
    private mutating func expanded(_ range: Range<Int>) -> EmbeddedText {
        var text = EmbeddedText()
        index = range.lowerBound
        while index < range.upperBound {
            if bytes[index] == UInt8(ascii: "$") || bytes[index] == UInt8(ascii: "`") {
                text.append(readExpansion())
            } else {
                let start = index
                if bytes[index] == UInt8(ascii: "\\"), index + 1 < range.upperBound,
                    "$`\\".utf8.contains(bytes[index + 1])
                {
                    index += 1
                }
                text.append(file.slice(index..<index + 1))
                index = max(index + 1, start + 1)
            }
        }
        return text
    }

    private mutating func readWord(until close: UInt8?) -> Word {
        var word = Word(start: index)
        let outer = runsBundleID
        runsBundleID = false
        defer { runsBundleID = outer }
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "<") && isPlaceholder(at: index, isInWord: index > word.start)
                || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{"),
                let end = placeholderEnd(from: index)
            {
                word.text.append(file.slice(index..<end))
                index = end
                continue
            }
            if word.text.bytes.isEmpty, readTypographic(into: &word) { continue }
            let isText = byte == UInt8(ascii: "&") && isEntity(at: index)
            if byte == close || !isText && " \t\r\n;|&()<>".utf8.contains(byte) { break }
            switch byte {
            case UInt8(ascii: "'"):
                let end = bytes[(index + 1)...].firstIndex(of: byte) ?? bytes.count
                word.text.append(file.slice(index + 1..<end))
                closeQuote(at: end)
            case UInt8(ascii: "\""):
                let isInObject = word.text.bytes.first == UInt8(ascii: "{")
                let isKey = isInObject && "{[,:".utf8.contains(bytes[index - 1])
                readQuoted(into: &word)
                let isBefore = index < bytes.count && Self.isName(bytes[index])
                if isKey || isBefore, word.text.bytes.first == UInt8(ascii: "{") {
                    word.losesQuotes = true
                }
            case UInt8(ascii: "\\"):
                if isLineEnd(at: index + 1) { return word }
                word.text.append(
                    file.slice(min(index + 1, bytes.count)..<min(index + 2, bytes.count)))
                index += 2
            case UInt8(ascii: "$") where matches("$'", at: index):
                index += 1
                readEscaped(into: &word)
            case UInt8(ascii: "$"), UInt8(ascii: "`"):
                let value = readExpansion()
                let text = value.trimmed.bytes
                if text.contains(where: { " \t\n".utf8.contains($0) }) { word.isSplit = true }
                word.text.append(value)
            default:
                word.text.append(file.slice(index..<index + 1))
                index += 1
            }
        }
        word.runsBundleID = runsBundleID
        word.isList = ["$@", "$*", "[@]", "[*]"].contains { list in
            bytes[word.start..<min(index, bytes.count)].contains(Array(list.utf8))
        }
        return word
    }

    func matches(_ text: String, at place: Int) -> Bool {
        place <= bytes.count && bytes[place...].starts(with: text.utf8)
    }

    static func isName(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte &- UInt8(ascii: "0") < 10
            || (byte | 0x20) &- UInt8(ascii: "a") < 26
    }
}
