// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Requests in HTTP notation, as in `.http` and `.rest` files, or of Bruno, as in `.bru` files,
/// converted to the `curl` commands that would send them.
struct HTTPRequests {
    /// The commands, in the order of the requests.
    private(set) var commands: [ShellText.Command] = []

    private let file: EmbeddedText
    /// The current request.
    private var command: ShellText.Command?
    /// Whether a field of the current request was read.
    private var hasFields = false
    /// The range of the current body so far; `nil` before the body.
    private var body: Range<Int>?
    /// The name of the current block of a `.bru` file; empty outside of blocks.
    private var block = ""
    /// The kind of the body that a `.bru` file says is sent.
    private var bodyMode: String?
    /// Where a `.bru` file says how its request is authorized: by a token in a block of its own, or
    /// in the collection's settings.
    private var authorization: Int?
    private var hasAuthorization = false
    /// Whether the current request is in the form of frames.
    private var isInFrames = false

    /// Reads a text.
    init(_ bytes: [UInt8], name: String) {
        file = EmbeddedText(file: bytes)
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0a) ?? bytes.count
            let hasReturn = end > start && bytes[end - 1] == 0x0d
            let line = start..<(hasReturn ? end - 1 : end)
            if Self.isBruno(name) { read(brunoLine: line) } else { read(line: line) }
            start = end + 1
        }
        finish()
    }

    /// Whether a text starts with a request, after comments and variables.
    static func isOne(_ bytes: [UInt8], name: String) -> Bool {
        if [".http", ".rest"].contains(where: { name.lowercased().hasSuffix($0) }) { return true }
        if isBruno(name) { return true }
        let first = bytes.prefix(LintLimits.headBytes).split(separator: 0x0a).lazy
            .map { String(decoding: $0, as: UTF8.self).drop { " \t\r".contains($0) } }
            .first { !$0.isEmpty && !isRemark($0) }
        return first.map { requestLine($0) != nil || beginsFrames($0) } ?? false
    }

    private static func isBruno(_ name: String) -> Bool { name.lowercased().hasSuffix(".bru") }

    private static let methods: Set<String> = [
        "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT",
    ]

    private static func isRemark(_ line: Substring) -> Bool {
        line.hasPrefix("#") || line.hasPrefix("//") || line.hasPrefix("@")
    }

    /// Whether a line of fields is another address for the same request.
    private static func isAddress(_ line: Substring) -> Bool {
        line.hasPrefix("https://") || line.hasPrefix("http://")
    }

    /// The method and the target of a request line (RFC 9112 §3). The version is optional in
    /// editors.
    private static func requestLine(_ line: Substring) -> (method: String, target: Substring)? {
        let line = withoutBrackets(withoutRemark(line))
        var words = line.split(whereSeparator: { " \t\r".contains($0) })
        if words.count > 2, words.last?.hasPrefix("HTTP/") == true { words.removeLast() }
        guard words.count >= 2, let last = words.last,
            methods.contains(String(words[0])),
            // A page may leave out the server.
            ["/", "http", "{{", ".../3/device/"].contains(where: { words[1].hasPrefix($0) })
        else { return nil }
        let target = line[words[1].startIndex..<last.endIndex]
        return hasBlanksInBracketsOnly(target) ? (String(words[0]), target) : nil
    }

    /// A line without a remark in brackets at its end: `POST /3/device/<token> (or another)`.
    private static func withoutBrackets(_ line: Substring) -> Substring {
        guard line.last(where: { !" \t\r".contains($0) }) == ")",
            let start = line.ranges(of: " (").last?.lowerBound
        else { return line }
        return line[..<start]
    }

    /// A line without a remark for people behind a blank: `// …`, `# …`, `← …`. Within a
    /// placeholder it is none.
    static func withoutRemark(_ line: Substring) -> Substring {
        var depth = 0
        var isBehindBlank = false
        for index in line.indices {
            let character = line[index]
            let rest = line[index...]
            if isBehindBlank, depth == 0, remarks.contains(where: { rest.hasPrefix($0) }) {
                return line[..<index]
            }
            if "<{".contains(character) { depth += 1 }
            if ">}".contains(character) { depth -= 1 }
            isBehindBlank = " \t".contains(character)
        }
        return line
    }

    /// How remarks begin.
    private static let remarks = ["//", "#", "←", "<-"]

    /// Whether blanks are only inside placeholders: `/3/device/<the device's token>`.
    private static func hasBlanksInBracketsOnly(_ target: Substring) -> Bool {
        var depth = 0
        for character in target {
            if "<{".contains(character) { depth += 1 }
            if ">}".contains(character) { depth -= 1 }
            if depth <= 0, " \t".contains(character) { return false }
        }
        return true
    }

    private mutating func read(line whole: Range<Int>) {
        // A block of a page may be indented as a whole.
        let indent = body == nil ? file.bytes[whole].prefix { $0 == 0x20 || $0 == 0x09 }.count : 0
        let line = whole.lowerBound + indent..<whole.upperBound
        let text = String(decoding: file.bytes[line], as: UTF8.self)[...]
        // No line of JSON begins with any of these, indented or not.
        let start = text.drop { " \t".contains($0) }
        if start.hasPrefix("###") {
            finish()
        } else if body == nil && isInFrames || Self.beginsFrames(start) {
            if Self.beginsFrames(start), body != nil { finish() }
            read(frame: start, line)
        } else if let body {
            // Instructions for the response, the response, and the end of an example in a page.
            if ["> ", "<> ", "```", "HTTP/"].contains(where: { start.hasPrefix($0) }) {
                finish()
            } else if Self.requestLine(text) != nil {
                finish()
                read(line: line)
            } else if body.isEmpty, let label = Self.label(start) {
                let blanks = text.utf8.count - start.utf8.count
                self.body = line.lowerBound + blanks + label..<line.upperBound
            } else if body.isEmpty, start.hasPrefix("+ ") || start.hasPrefix("- ") {
                // Flags of a frame.
                self.body = line.upperBound..<line.upperBound
            } else {
                self.body = body.lowerBound..<line.upperBound
            }
        } else if command == nil {
            guard let request = Self.requestLine(text) else { return }
            command = ShellText.Command(words: [])
            hasFields = false
            let target =
                line.lowerBound
                + text.utf8.distance(
                    from: text.startIndex, to: request.target.startIndex)
            add("curl", at: line.lowerBound)
            add("-X", request.method, at: line.lowerBound)
            add("--url", String(request.target), at: target)
        } else if text.allSatisfy({ " \t".contains($0) }) {
            // Some leave a line empty also between the request line and the fields.
            if hasFields { body = line.upperBound..<line.upperBound }
        } else if text.hasPrefix("{") {
            body = line
        } else if let label = Self.label(ofBody: text), !isField(behind: whole) {
            // What stands before it is UTF-8, whatever the body is.
            body = line.lowerBound + label..<line.upperBound
        } else if !Self.isRemark(text), !Self.isAddress(text), Self.label(text) != text.utf8.count {
            hasFields = true
            // Anything but a header stands for what was left out.
            if text.contains(":") { add("-H", at: line.lowerBound) }
            add(String(Self.withoutRemark(text)), at: line.lowerBound)
        }
    }

    /// The length in bytes of words that say what follows: `APNs headers:`, `Body: {`.
    static func label(_ line: Substring) -> Int? {
        let word = line.prefix { $0.isLetter || $0 == " " }
        guard word.first?.isLetter == true, line.dropFirst(word.count).first == ":" else {
            return nil
        }
        let rest = line.dropFirst(word.count + 1).drop { " \t".contains($0) }
        return rest.isEmpty || rest.hasPrefix("{") ? line.utf8.count - rest.utf8.count : nil
    }

    /// Whether the line behind another one is a field of the request, and no part of a body.
    private func isField(behind line: Range<Int>) -> Bool {
        let next = file.bytes[min(line.upperBound + 1, file.bytes.count)...]
            .prefix { $0 != 0x0a }.drop { $0 == 0x20 || $0 == 0x09 }
        let name = next.prefix { $0 != UInt8(ascii: ":") }
        return name.count < next.count && !name.isEmpty
            && name.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || byte == UInt8(ascii: "-")
            }
    }

    /// The length in bytes of the word for a body that begins in the same line: `body: {"aps": …`.
    private static func label(ofBody line: Substring) -> Int? {
        guard let length = label(line), length < line.utf8.count else { return nil }
        let word = line.prefix { $0 != ":" }.lowercased()
        return ["body", "payload", "json body", "request body"].contains(word) ? length : nil
    }

    /// Whether a line begins a request in the form of frames of HTTP/2, as Apple shows requests:
    /// fields as `:method = POST` below `HEADERS`, and the body below `DATA`.
    private static func beginsFrames(_ line: Substring) -> Bool {
        let line = line.drop { " \t".contains($0) }
        return line.split(whereSeparator: { " \t\r".contains($0) }) == ["HEADERS"]
            || [":method", ":status"].contains { line.hasPrefix($0) }
    }

    private mutating func read(frame text: Substring, _ line: Range<Int>) {
        isInFrames = true
        if text.hasPrefix("DATA") || text.hasPrefix("{") {
            // The response has none that matters.
            if command != nil {
                body = text.hasPrefix("{") ? line : line.upperBound..<line.upperBound
            }
            isInFrames = command == nil
            return
        }
        // Flags, as `+ END_STREAM`, have no value.
        guard let mark = text.dropFirst().firstIndex(where: { "=:".contains($0) }) else { return }
        let name = text[..<mark].filter { !" \t".contains($0) }
        let value = Self.withoutRemark(text[text.index(after: mark)...])
            .drop { " \t".contains($0) }
        switch name {
        case ":status": command = nil
        case ":method":
            if command != nil { finish() }
            isInFrames = true
            command = ShellText.Command(words: [])
            add("curl", "-X", String(value), at: line.lowerBound)
        case ":path": add("--url", String(value), at: line.lowerBound)
        case ":scheme", ":authority", "host": break
        default: add("-H", "\(name): \(value)", at: line.lowerBound)
        }
    }

    /// Reads a line of a `.bru` file: blocks `name {`, which end with a brace at the start of a
    /// line. A line of headers that begins with `~` is not sent.
    private mutating func read(brunoLine line: Range<Int>) {
        let text = String(decoding: file.bytes[line], as: UTF8.self)
        if block.isEmpty {
            guard text.last == "{", let name = text.split(separator: " ").first else { return }
            block = String(name)
            let method = block.uppercased()
            if Self.methods.contains(method) {
                command = ShellText.Command(words: [])
                add("curl", "-X", method, at: line.lowerBound)
            } else if isSentBody {
                body = line.upperBound..<line.upperBound
            }
        } else if text.hasPrefix("}") {
            block = ""
        } else if isSentBody, let body {
            self.body = body.lowerBound..<line.upperBound
        } else {
            let field = text.drop { " \t".contains($0) }
            if block == "headers", !field.hasPrefix("~") {
                if field.lowercased().hasPrefix("authorization:") { hasAuthorization = true }
                add("-H", String(field), at: line.lowerBound)
            } else if Self.methods.contains(block.uppercased()), field.hasPrefix("url:") {
                let url = field.dropFirst(4).drop { $0 == " " }
                add("--url", String(url), at: line.lowerBound)
            } else if Self.methods.contains(block.uppercased()) {
                read(brunoMode: field.split(separator: ":").map { $0.filter { $0 != " " } }, line)
            }
        }
    }

    private mutating func read(brunoMode words: [String], _ line: Range<Int>) {
        guard words.count == 2 else { return }
        if words[0] == "body" { bodyMode = words[1] }
        if words[0] == "auth", words[1] != "none" { authorization = line.lowerBound }
    }

    /// Whether the block is the body that is sent: editors keep those of other modes.
    private var isSentBody: Bool {
        block == "body" || block.hasPrefix("body:") && block.dropFirst(5) == bodyMode ?? "json"
    }

    private mutating func add(_ words: String..., at place: Int) {
        for word in words {
            var text = EmbeddedText()
            text.append(word, standingAt: place)
            command?.words.append(ShellText.Word(text: text, start: place))
        }
    }

    private mutating func finish() {
        if let authorization, !hasAuthorization {
            add("-H", "authorization: {{token}}", at: authorization)
        }
        if let body {
            var text = filled(body).trimmed
            if Self.describesBody(text.bytes) {
                text = EmbeddedText()
                text.append(
                    String(decoding: [ShellText.unknown], as: UTF8.self),
                    standingAt: body.lowerBound)
            }
            if !text.bytes.isEmpty {
                add("--data-raw", at: body.lowerBound)
                command?.words.append(ShellText.Word(text: text, start: body.lowerBound))
            }
        }
        if let command { commands.append(command) }
        command = nil
        body = nil
        isInFrames = false
    }

    /// Whether the text in place of a body is about it: `body: free-form`.
    private static func describesBody(_ text: [UInt8]) -> Bool {
        guard let colon = text.prefix(16).firstIndex(of: UInt8(ascii: ":")) else { return false }
        let word = String(decoding: text[..<colon], as: UTF8.self).lowercased()
        return ["body", "payload", "json body", "request body"].contains(word)
    }

    /// A body in which placeholders `{{name}}` of an editor are unknown, as is an included file.
    private func filled(_ range: Range<Int>) -> EmbeddedText {
        let unknown = String(decoding: [ShellText.unknown], as: UTF8.self)
        var text = EmbeddedText()
        let whole = file.slice(range).trimmed
        if whole.bytes.starts(with: "< ".utf8) || whole.bytes.starts(with: "<@".utf8) {
            text.append(unknown, standingAt: range.lowerBound)
            return text
        }
        var start = range.lowerBound
        while let place = pair(UInt8(ascii: "{"), in: start..<range.upperBound),
            let end = pair(UInt8(ascii: "}"), in: place..<range.upperBound)
        {
            text.append(file.slice(start..<place))
            text.append(unknown, standingAt: place)
            start = end + 2
        }
        text.append(file.slice(start..<range.upperBound))
        return Self.withoutRemarks(text)
    }

    /// A body without the lines that are remarks for the editor, which does not send them.
    private static func withoutRemarks(_ body: EmbeddedText) -> EmbeddedText {
        var isStart = true
        var isRemark = false
        return body.replacingBytes { index, byte in
            if byte == 0x0a {
                (isStart, isRemark) = (true, false)
            } else if isStart, byte > 0x20 {
                isStart = false
                isRemark =
                    byte == UInt8(ascii: "#")
                    || body.bytes[index...].starts(with: "//".utf8)
            }
            return isRemark ? 0x20 : byte
        }
    }

    /// The position of the first two consecutive bytes of this value.
    private func pair(_ byte: UInt8, in range: Range<Int>) -> Int? {
        range.dropLast().first { file.bytes[$0] == byte && file.bytes[$0 + 1] == byte }
    }
}
