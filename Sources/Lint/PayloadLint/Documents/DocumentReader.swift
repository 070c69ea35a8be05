// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Determines the kind of a text, and reads it.
struct DocumentReader: Sendable {
    /// The key of Xcode's `.apns` files for the simulated app.
    static let simulatorKey: StaticString = "Simulator Target Bundle"

    /// The headers of bare payloads, and what requests leave out.
    let assumptions: PushAssumptions
    /// The kind of the text; `nil` to determine it by its content.
    let forcedKind: InputKind?

    /// Reads one document. The extension of `name` decides between JSON and YAML if both are
    /// possible.
    func read(_ text: [UInt8], name: String) -> PushDocument {
        var document = document(in: text, name: name)
        // Only now, because such headers are no sign that a text is about pushes.
        assumptions.fill(&document)
        return document
    }

    private func document(in text: [UInt8], name: String) -> PushDocument {
        // Old editors end the lines of a page by a carriage return alone.
        let hasReturns = PageBlock.isPage(name) && !text.contains(0x0a)
        let bytes = hasReturns ? text.map { $0 == 0x0d ? 0x0a : $0 } : text
        let isYAML = looksLikeYAML(bytes, name: name)
        do throws(JSONSyntaxError) {
            let isPush = isNamedForPushes(name)
            var document = read(try JSONScanner.scan(bytes), isPush: isPush)
            if isPush {
                document.isForeign = false
                for index in document.items.indices {
                    document.items[index].isAddressed = false
                    document.items[index].weightWithoutAPS = nil
                }
            }
            return document
        } catch {
            // Such a text can only be a body: rule G005 reports it.
            guard !InputSniffer.isWideText(bytes[...]) else {
                return HTTPRequests.isOne(bytes, name: name)
                    ? broken(bytes, name: name)
                    : readDocument(bytes, name: name, isYAML: false)
            }
            if !Self.isNamedYAML(name),
                let commands = readHTTPFile(bytes, name: name) ?? readScript(bytes, name: name)
            {
                return commands
            }
            // A script or a page may be about pushes without containing one.
            if forcedKind == nil && Self.isScript(bytes, name: name)
                || forcedKind ?? .request == .request && HTTPRequests.isOne(bytes, name: name)
            {
                return PushDocument(kind: .request, isForeign: true, isText: true)
            }
            let document = readDocument(bytes, name: name, isYAML: isYAML)
            // The steps of a pipeline are commands in YAML.
            guard document.isForeign, Self.isNamedYAML(name),
                let inner = readCommands(bytes, name: name) ?? readLiterals(bytes)
            else { return document }
            return inner
        }
    }

    /// Reads YAML, or JSON with faults. Of a file whose name says neither, only what looks like
    /// JSON, or is YAML with a push, is a payload: most texts are valid YAML, or nearly.
    private func readDocument(_ bytes: [UInt8], name: String, isYAML: Bool) -> PushDocument {
        let isNamed = name == "-" || name.isEmpty || Self.hasExtension(Self.documents, name)
        let allowsComments = Self.hasExtension(["jsonc", "json5"], name)
        let isSource = allowsComments || Self.hasExtension(Self.sources, name)
        guard forcedKind == nil, !isNamed, isSource || !Self.looksLikeJSON(bytes) else {
            return isYAML ? readYAML(bytes) : broken(bytes, name: name)
        }
        if allowsComments, let document = try? JSONScanner.scan(IllustratedJSON(bytes).bytes) {
            var result = read(document)
            result.hasComments = true
            // They are no quotation marks in JSON with comments either.
            if IllustratedJSON(bytes).hasTypographicQuotes {
                result.faults.append(
                    Self.typographicQuotes(at: .offset(bytes.firstIndex(of: 0xe2) ?? 0)))
            }
            return result
        }
        if allowsComments,
            var result = readObjects(IllustratedJSON(bytes).bytes, besideFile: name)
        {
            result.hasComments = true
            return result
        }
        if isSource, !allowsComments, let objects = readCommentedObjects(bytes, name: name) {
            return objects
        }
        if !isSource, let titled = readTitled(bytes) { return titled }
        if isYAML, !allowsComments {
            let document = readYAML(bytes)
            let isPush =
                document.kind == .request
                || document.items.contains { item in
                    item.draft.payload.contains(text: "\"aps\":{")
                }
            if isPush, !document.isForeign, document.faults.isEmpty { return document }
        }
        return PushDocument(kind: .request, isForeign: true, isOfUnknownFormat: true)
    }

    /// The extensions of files that are documents in JSON or YAML.
    private static let documents = InputList.extensions.union(["har"])

    /// The extensions of files in formats in which a text can begin and end as JSON does.
    private static let sources: Set<String> = [
        "c", "cc", "cpp", "cs", "css", "dart", "erb", "ex", "exs", "go", "gradle", "groovy", "h",
        "hbs", "hcl", "html", "j2", "java", "jinja", "jinja2", "js", "jsx", "kt", "kts", "liquid",
        "lua", "m", "mjs", "mm", "mustache", "nix", "php", "pl", "plist", "py", "r", "rb", "rs",
        "scala", "scss", "strings", "swift", "tf", "tmpl", "toml", "tpl", "ts", "tsx", "vue", "xml",
    ]

    private static func hasExtension(_ extensions: Set<String>, _ name: String) -> Bool {
        name.lastIndex(of: ".").map {
            extensions.contains(name[name.index(after: $0)...].lowercased())
        } ?? false
    }

    /// Whether a text begins and ends as an object of JSON does, or a list of objects. A brace by
    /// itself begins blocks of many languages.
    static func looksLikeJSON(_ bytes: [UInt8]) -> Bool {
        // In UTF-16 and UTF-32, ASCII has zero bytes, and the mark of the byte order is before it.
        let isWide = InputSniffer.isWideText(bytes[...])
        let text = (isWide ? bytes.filter { $0 != 0 && $0 < 0xfe } : bytes).afterByteOrderMark
        var rest = text.drop { $0 <= 0x20 }
        if rest.first == UInt8(ascii: "[") { rest = rest.dropFirst().drop { $0 <= 0x20 } }
        guard rest.first == UInt8(ascii: "{") else { return false }
        rest = rest.dropFirst().drop { $0 <= 0x20 }
        // Without its quotation marks beside keys that have them.
        let isOwnKey = rest.starts(with: "aps:".utf8) && bytes.contains(text: "\":")
        guard rest.first == UInt8(ascii: "\"") || isOwnKey else { return false }
        return text.last { $0 > 0x20 }.map("}]".utf8.contains) ?? false
    }

    /// A text that cannot be read; the rules find and report the fault.
    func broken(_ bytes: [UInt8], name: String) -> PushDocument {
        if forcedKind == nil, !isNamedForPushes(name), Self.isTemplate(bytes) {
            var template = PushDocument(kind: .payload, isForeign: true)
            if Self.brokenTextMentionsPush(bytes) {
                template.unread = [.init(start: 0, .template)]
            }
            return template
        }
        if forcedKind == nil, let request = brokenRequest(bytes) { return request }
        var document = bare(bytes, forcedKind == .request ? .request : .payload)
        document.hasComments = IllustratedJSON(bytes).hasComments
        document.isForeign =
            forcedKind == nil && !isNamedForPushes(name) && !Self.brokenTextMentionsPush(bytes)
        return document
    }

    /// Reads a request to a service that is JSON but for commas before closing brackets, which stay
    /// faults. Returns `nil` for any other text.
    func brokenRequest(_ bytes: [UInt8]) -> PushDocument? {
        let text = IllustratedJSON(bytes)
        guard text.bracketBehindComma != nil, !text.isAbridged, !text.hasComments,
            let document = try? JSONScanner.scan(text.bytes), document.kind(0) == .object,
            document.last("aps", of: 0) == nil,
            var result = wrapped(document, EmbeddedText(file: text.bytes)),
            !result.items.isEmpty || !result.faults.isEmpty
        else { return nil }
        for index in result.items.indices { result.items[index].places.isEditable = false }
        var item = PushItem(draft: assumptions.draft(payload: bytes), places: PlaceMap())
        item.isTextOnly = true
        result.items.append(item)
        return result
    }

    /// Whether a text is no JSON because something is put in later, or was left out for brevity.
    static func isTemplate(_ bytes: [UInt8]) -> Bool {
        do throws(JSONSyntaxError) {
            _ = try JSONScanner.scan(bytes)
            return false
        } catch {
            let rest = bytes.dropFirst(error.offset)
            let marks = ["...", "…", "#{", "[["]
            if marks.contains(where: { rest.starts(with: $0.utf8) }) { return true }
            if beginsPlaceholder(rest) || error.offset > 0 && beginsCapitals(rest) { return true }
            // The first bracket of two begins an object.
            return bytes.dropFirst(max(0, error.offset - 1)).starts(with: "{{".utf8)
                || rest.starts(with: "{{".utf8)
        }
    }

    /// Whether a text begins with a name in capitals, and with no literal.
    private static func beginsCapitals(_ text: ArraySlice<UInt8>) -> Bool {
        let capitals = text.prefix { 65...90 ~= $0 || $0 == UInt8(ascii: "_") }
        let literals = ["NULL", "TRUE", "FALSE", "NONE", "NIL", "YES", "NO"]
        let next = text.dropFirst(capitals.count).first ?? 0
        return capitals.count > 1 && !(97...122 ~= next | 0x20)
            && !literals.contains(String(decoding: capitals, as: UTF8.self))
    }

    /// Whether a text begins as `<name>`, `$name`, `${name}`, `%s` and the like do. A mark by
    /// itself, or those of a conflict of versions, is a fault.
    private static func beginsPlaceholder(_ text: ArraySlice<UInt8>) -> Bool {
        guard let mark = text.first, let next = text.dropFirst().first else { return false }
        let begins = { (others: String) in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= next | 0x20 || others.utf8.contains(next)
        }
        switch mark {
        case UInt8(ascii: "<"):
            let line = text.prefix { $0 != UInt8(ascii: "\n") }
            return begins("%?=_") && line.contains(UInt8(ascii: ">"))
        case UInt8(ascii: "$"): return begins("{(_")
        case UInt8(ascii: "%"): return begins("{(@%123456789")
        default: return false
        }
    }

    /// Whether a text that is not one JSON document says that it is about pushes.
    static func mentionsPush(_ bytes: [UInt8]) -> Bool {
        bytes.contains(text: "\"aps\"")
            || (bytes.contains(text: "\"headers\"") && bytes.contains(text: "apns-"))
    }

    /// Whether JSON that cannot be read says that it is about pushes, also without its quotes or
    /// in UTF-16.
    static func brokenTextMentionsPush(_ bytes: [UInt8]) -> Bool {
        let text = InputSniffer.isWideText(bytes[...]) ? bytes.filter { $0 != 0 } : bytes
        return mentionsPush(text) || text.hasYAMLKey("aps")
    }

    /// Whether YAML that cannot be read contains keys of pushes.
    static func mentionsPushInYAML(_ bytes: [UInt8]) -> Bool {
        mentionsPush(bytes) || bytes.contains(text: "apns-") || bytes.hasYAMLKey("aps")
    }

    /// Whether the file has Xcode's extension for payloads.
    private func isNamedForPushes(_ name: String) -> Bool { name.lowercased().hasSuffix(".apns") }

    /// Reads one line of JSON lines.
    func readLine(_ bytes: [UInt8]) -> PushDocument {
        // Only a line in which one of these stands, which writes a key with escapes, or which
        // begins with another key, can be more than a bare payload; the others are not scanned
        // twice.
        let marks: [StaticString] = ["\"headers\"", "\"Simulator ", "\\u"]
        let isBare = assumptions.pushType != nil || bytes.starts(with: "{\"aps\"".utf8)
        guard !isBare || marks.contains(where: { bytes.contains(text: $0) }) else {
            return bare(bytes, .payload)
        }
        do throws(JSONSyntaxError) {
            var document = read(try JSONScanner.scan(bytes))
            assumptions.fill(&document)
            return document
        } catch {
            return bare(bytes, .payload)
        }
    }

    /// `isPush` says that the document is about pushes, whatever it holds.
    func read(_ document: JSONDocument, isPush: Bool = false) -> PushDocument {
        guard document.kind(0) == .object else { return listed(document) ?? foreign(document) }
        var members = RequestMembers()
        var bundle: (key: Int, value: Int)?
        var hasAPS = false
        for member in document.members(of: 0) {
            members.look(at: member, in: document)
            if document.hasText(member.key, Self.simulatorKey) { bundle = member }
            if document.hasText(member.key, "aps") { hasAPS = true }
        }
        switch forcedKind {
        case .payload: return bare(document.bytes, .payload)
        case .request where members.payload == nil && !hasAPS:
            return wrapped(document, EmbeddedText(file: document.bytes))
                ?? request(members, in: document, isPush: true)
        case .request: return request(members, in: document, isPush: true)
        case .apns: return simulated(bundle, in: document)
        case .lines, .log, nil:
            if members.areComplete {
                return libraryConfiguration(document)
                    ?? request(members, in: document, isPush: isPush)
            }
            guard bundle == nil else { return simulated(bundle, in: document) }
            return wrapped(document, EmbeddedText(file: document.bytes))
                ?? (hasAPS ? bare(document.bytes, .payload) : foreign(document))
        }
    }

    /// A payload without a key of Apple's: it is for a call, or unrelated to pushes.
    private func foreign(_ document: JSONDocument) -> PushDocument {
        var result = bare(document.bytes, .payload)
        result.isForeign = forcedKind == nil
        guard forcedKind == nil else { return result }
        guard document.kind(0) == .object else {
            // A list of something else, whose elements are no payloads either.
            if !document.bytes.contains(text: "\"aps\"") { result.items = [] }
            return result
        }
        for index in result.items.indices {
            result.items[index].isAddressed =
                Self.isForAnother(document) || Self.namesPushType(document)
            if assumptions.pushType == nil {
                let isLikely = Self.looksLikePayload(document)
                result.items[index].weightWithoutAPS = isLikely ? .warning : .note
            }
        }
        return result
    }

    func bare(_ bytes: [UInt8], _ kind: InputKind) -> PushDocument {
        PushDocument(
            kind: forcedKind == .apns ? .apns : kind,
            items: [PushItem(draft: assumptions.draft(payload: bytes), places: PlaceMap())])
    }

    /// The payload without the key that only the simulator reads, which is not sent to APNs.
    private func simulated(
        _ bundle: (key: Int, value: Int)?, in document: JSONDocument
    ) -> PushDocument {
        guard let bundle else { return bare(document.bytes, .apns) }
        let cut = document.rangeToCut(bundle, of: 0)
        var payload = document.bytes
        payload.removeSubrange(cut)
        var places = PlaceMap()
        places.payload = .segments([
            PlaceMap.Segment(payloadStart: 0, fileStart: 0),
            PlaceMap.Segment(payloadStart: cut.lowerBound, fileStart: cut.upperBound),
        ])
        return PushDocument(
            kind: .apns,
            items: [PushItem(draft: assumptions.draft(payload: payload), places: places)])
    }

    /// Whether a text is a shell script, a makefile or a page.
    static func isScript(_ bytes: [UInt8], name: String) -> Bool {
        bytes.afterByteOrderMark.starts(with: "#!".utf8) || PageBlock.isPage(name)
            || isMakefile(name)
            || [".sh", ".bash", ".zsh", ".command"].contains { name.lowercased().hasSuffix($0) }
    }

    private static func isNamedYAML(_ name: String) -> Bool {
        [".yaml", ".yml"].contains { name.lowercased().hasSuffix($0) }
    }

    private func looksLikeYAML(_ bytes: [UInt8], name: String) -> Bool {
        guard forcedKind != .apns, forcedKind != .lines else { return false }
        // Rule G005 reports text in UTF-16 or UTF-32.
        guard !bytes.prefix(4).contains(0) else { return false }
        if Self.isNamedYAML(name) { return true }
        let text = bytes.afterByteOrderMark
        let start = text.firstIndex { !" \t\r\n".utf8.contains($0) } ?? text.endIndex
        let line = text[start...].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        // A comment of JSON begins with slashes.
        guard let first = line.first, !"{[\"/".utf8.contains(first) else { return false }
        return line.starts(with: "---".utf8) || first == UInt8(ascii: "#")
            || line.contains(UInt8(ascii: ":"))
    }
}

extension JSONDocument {
    /// The bytes to remove with a member, so that the rest is valid JSON.
    func rangeToCut(_ member: (key: Int, value: Int), of object: Int) -> Range<Int> {
        let next = Int(nodes[member.value].next)
        if next < Int(nodes[object].next) {
            return Int(nodes[member.key].start)..<Int(nodes[next].start)
        }
        let before = members(of: object).reduce(nil as Int?) { found, other in
            other.value < member.key ? other.value : found
        }
        let start = before.map { Int(nodes[$0].end) } ?? Int(nodes[member.key].start)
        return start..<Int(nodes[member.value].end)
    }
}

extension [UInt8] {
    /// The bytes after the byte order mark of UTF-8, if there is one. It is not allowed in JSON,
    /// which rule G005 reports, and must not affect the detection of the kind.
    var afterByteOrderMark: ArraySlice<UInt8> {
        starts(with: [0xef, 0xbb, 0xbf]) ? dropFirst(3) : self[...]
    }

    /// Whether the text contains this name as a key of YAML, plain or quoted: `aps:`, `{'aps': `.
    fileprivate func hasYAMLKey(_ name: String) -> Bool {
        let name = Array(name.utf8)
        let quotes = Set("\"'".utf8)
        let openings = Set("\n\r\t {,".utf8)
        var start = startIndex
        while let place = self[start...].firstIndex(of: name[0]) {
            start = place + 1
            guard self[place...].starts(with: name) else { continue }
            var (before, after) = (place - 1, place + name.count)
            if after < count, before >= 0, quotes.contains(self[before]),
                self[after] == self[before]
            {
                (before, after) = (before - 1, after + 1)
            }
            while after < count, self[after] == UInt8(ascii: " ") { after += 1 }
            guard after < count, self[after] == UInt8(ascii: ":") else { continue }
            if before < 0 || openings.contains(self[before]) { return true }
        }
        return false
    }

    /// Whether the bytes contain a text.
    func contains(text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            guard let first = text.first, count >= text.count else { return false }
            var index = 0
            while index <= count - text.count {
                if self[index] == first,
                    self[index..<index + text.count].elementsEqual(text)
                {
                    return true
                }
                index += 1
            }
            return false
        }
    }
}
