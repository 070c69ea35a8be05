// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Reads pushes from pages in Markdown, reStructuredText and AsciiDoc.
extension DocumentReader {
    /// What a block of a page is.
    enum Reading {
        case pushes(PushDocument)
        /// Headers, whose payload is elsewhere.
        case headers(PushItem)
        /// About pushes, and not readable.
        case unread(PushDocument.Unread.Reason)
        case other

        var isHeaders: Bool { if case .headers = self { true } else { false } }

        /// Whether it may be a part of a push: headers, or a payload.
        func isPart(assuming assumptions: PushAssumptions) -> Bool {
            guard case .pushes(let document) = self else { return isHeaders }
            return document.barePayload(assuming: assumptions) != nil
        }
    }

    /// Reads the commands of a text, and, if it is a page, its blocks with payloads and requests.
    /// Returns `nil` if there are none.
    func readScript(_ bytes: [UInt8], name: String) -> PushDocument? {
        let commands = readCommands(bytes, name: name)
        guard PageBlock.isPage(name), forcedKind == nil else { return commands }
        var result = commands ?? PushDocument(kind: .request, hasComments: true)
        let blocks = PageBlock.all(in: bytes, name: name)
        result.blocks = blocks.map(\.whole)
        let sections = PageSections(bytes, blocks: blocks)
        var readings = blocks.map { block in
            moved(read(block.text(in: bytes), block.language, besideFile: name), of: block)
        }
        join(&readings, of: blocks, in: sections)
        joinCalls(&readings, of: blocks, in: sections, bytes)
        var hasOwn = commands != nil
        for (index, (block, reading)) in zip(blocks, readings).enumerated() {
            switch reading {
            case .other: continue
            case .headers(let item):
                if item.draft.headersAreComplete {
                    result.unread.append(.init(start: block.whole.lowerBound, .headers))
                }
            case .unread(let reason):
                let isRead = commands?.items.contains { item in
                    item.places.payloadStart.map(block.whole.contains) == true
                }
                if isRead == true { continue }
                result.unread.append(.init(start: block.whole.lowerBound, reason))
            case .pushes(var document):
                if let payload = document.barePayload(assuming: assumptions)?.draft.payload {
                    let stated =
                        assumptions.pushType != nil
                        ? []
                        : sections.headers(
                            statedFor: block.whole,
                            after: index > 0 ? blocks[index - 1].whole.upperBound : 0,
                            payload)
                    if !stated.isEmpty {
                        document.items[0].take(stated)
                    } else if assumptions.pushType == nil,
                        sections.isForCalls(block.whole, payload)
                    {
                        let type = PushDraft.Header("apns-push-type", "voip")
                        document.items[0].draft.headers.append(type)
                        document.items[0].hasTypeOfTitle = true
                        document.items[0].isOfOtherType = true
                    } else if !payload.contains(text: "\"content-available\"") {
                        // A payload that says what it is needs no words around it.
                        document.items[0].isOfOtherType =
                            sections.namesOtherType(around: block.whole)
                    }
                }
                for index in document.items.indices { document.items[index].isInPage = true }
                result.unread += document.unread.map { unread in
                    PushDocument.Unread(start: block.whole.lowerBound, unread.reason)
                }
                result.items += document.items
                result.faults += document.faults
                hasOwn = hasOwn || !document.isForeign
            }
        }
        let isEmpty = commands == nil && result.items.isEmpty && result.faults.isEmpty
        result.isForeign = isEmpty || !hasOwn
        return isEmpty && result.unread.isEmpty ? nil : result
    }

    /// A reading with the places in the page.
    func moved(_ reading: Reading, of block: PageBlock) -> Reading {
        let start = block.content.lowerBound
        switch reading {
        case .other, .unread: return reading
        case .headers(var item):
            item.places.shift(by: start)
            return .headers(item)
        case .pushes(var document):
            for index in document.items.indices {
                document.items[index].places.shift(by: start)
                if !block.quoteMarks.isEmpty { document.items[index].places.isEditable = false }
            }
            for index in document.faults.indices {
                document.faults[index].place = document.faults[index].place.shifted(by: start)
            }
            return .pushes(document)
        }
    }

    func read(_ block: [UInt8], _ language: String, besideFile name: String) -> Reading {
        if HTTPRequests.isOne(block, name: "") { return readRequests(block, besideFile: name) }
        if ["", "text", "txt", "http", "headers", "plaintext"].contains(language),
            let lines = FieldLines(block)
        {
            return read(lines, of: block, besideFile: name)
        }
        if block.contains(text: "\"apns-"), let document = try? JSONScanner.scan(block),
            let lines = FieldLines(document)
        {
            return .headers(lines.item(assumptions))
        }
        let text =
            IllustratedJSON.hasTypographicQuotes(block) ? IllustratedJSON(block).bytes : block
        // In a string, a payload has escapes.
        let mentionsPush =
            Self.mentionsPush(text) || text.contains(text: #"\"aps\""#)
            || text.contains(text: "\"_contentAvailable\"") || Self.mentionsExpo(text)
        let isForPush = mentionsPush || Self.brokenTextMentionsPush(text)
        guard isForPush || Self.mentionsService(text) else { return .other }
        guard let block = Self.behindLogText(block, language) else {
            return Self.showsPayloadInCode(text) ? .unread(.source) : .other
        }
        guard isForPush else { return readService(block, language, besideFile: name) }
        do throws(JSONSyntaxError) {
            guard var result = readValue(try JSONScanner.scan(block)) else { return .other }
            let count = result.items.count
            result.items.removeAll { Self.isIllustration($0.draft.payload) }
            if result.items.count < count { return .unread(.incomplete) }
            // Anything else in which the word is a value.
            result.items.removeAll { $0.weightWithoutAPS == .note }
            // A payload in a string is passed over where it is a template.
            if result.items.isEmpty, result.faults.isEmpty, block.contains(text: #"\"aps\""#) {
                return .unread(.incomplete)
            }
            result.isForeign = false
            return mentionsPush ? .pushes(result) : .other
        } catch {
            return readSeveral(block, besideFile: name)
                ?? readIllustration(block, language, error, besideFile: name)
        }
    }

    /// Reads objects that stand one behind another in a file with comments. Returns `nil` for any
    /// other text, or if none of them is a push.
    func readObjects(_ bytes: [UInt8], besideFile name: String) -> PushDocument? {
        guard case .pushes(let result)? = readSeveral(bytes, besideFile: name) else { return nil }
        return result
    }

    /// Reads objects that stand one behind another. Returns `nil` for any other block, or if none
    /// of them is a push.
    private func readSeveral(_ block: [UInt8], besideFile name: String) -> Reading? {
        var result = PushDocument(kind: .request)
        var rest = block
        for _ in 0..<Self.mostObjects {
            var object = rest
            do throws(JSONSyntaxError) {
                _ = try JSONScanner.scan(rest)
                rest = []
            } catch {
                guard error.offset < rest.count, rest[error.offset] == UInt8(ascii: "{") else {
                    return nil
                }
                for index in rest.indices where rest[index] != 0x0a {
                    if index < error.offset { rest[index] = 0x20 } else { object[index] = 0x20 }
                }
                guard (try? JSONScanner.scan(object)) != nil else { return nil }
            }
            if case .pushes(let document) = read(object, "json", besideFile: name) {
                result.items += document.items
                result.faults += document.faults
            }
            if rest.isEmpty { return result.items.isEmpty ? nil : .pushes(result) }
        }
        return nil
    }

    /// How many objects of a block are read.
    static let mostObjects = 20

    /// Whether a block may be a request to a service without `aps`: a recipient, and something for
    /// it. What it is, its members tell.
    static func mentionsService(_ block: [UInt8]) -> Bool {
        if block.contains(text: "\"apns\""), block.contains(text: "\"payload\"") {
            return block.contains(text: "\"alert\"")
                || block.contains(text: "\"content-available\"")
        }
        let recipients: [StaticString] = [
            "\"to\"", "\"registration_ids\"", " in topics", "\"app_id\"", "\"tokens\"",
        ]
        // Names that much else has, where they are not in a message.
        let inMessages: [StaticString] = ["\"token\"", "\"topic\""]
        let contents: [StaticString] = [
            "\"notification\"", "\"content_available\"", "\"data\"", "\"contents\"",
            "\"message\"", "\"content-available\"",
        ]
        let isMessage =
            block.contains(text: "\"message\"") && block.contains(text: "\"notification\"")
        return (recipients + (isMessage ? inMessages : [])).contains { block.contains(text: $0) }
            && contents.contains { block.contains(text: $0) }
    }

    /// Whether a block may be a message of Expo.
    private static func mentionsExpo(_ block: [UInt8]) -> Bool {
        block.contains(text: "\"to\"")
            && (block.contains(text: "\"ExponentPushToken[")
                || block.contains(text: "\"ExpoPushToken["))
    }

    /// Whether a block that is not read as JSON has a payload in it, and no command that is read.
    private static func showsPayloadInCode(_ block: [UInt8]) -> Bool {
        guard !block.contains(text: "curl"), !block.contains(text: "simctl") else { return false }
        let text = block.filter { $0 > 0x20 }
        let keys: [StaticString] = ["\"aps\":", "'aps':", ",aps:{", "{aps:{"]
        return keys.contains { text.contains(text: $0) }
    }

    /// Reads a block that is a request to Firebase or unmistakably one to another service, or none
    /// that concerns APNs.
    private func readService(
        _ block: [UInt8], _ language: String, besideFile name: String
    ) -> Reading {
        let request = { (document: JSONDocument) -> PushDocument? in
            guard let result = wrapped(document, EmbeddedText(file: document.bytes)),
                !result.items.isEmpty || !result.faults.isEmpty,
                !result.isForeign || result.items.allSatisfy(\.draft.isForFirebase)
            else { return nil }
            return result
        }
        do throws(JSONSyntaxError) {
            return request(try JSONScanner.scan(block)).map { .pushes($0) } ?? .other
        } catch {
            let readable = try? JSONScanner.scan(IllustratedJSON(block).bytes)
            // Without its members, only names that no other service has tell what it is.
            let isOne =
                readable.map { request($0) != nil }
                ?? (block.contains(text: "\"registration_ids\"")
                    || block.contains(text: "\"content_available\""))
            guard isOne else {
                let isLike =
                    block.contains(text: "\"to\"") && block.contains(text: "\"notification\"")
                return readable == nil && isLike ? .unread(.incomplete) : .other
            }
            let reading = readIllustration(block, language, error, besideFile: name)
            guard case .pushes(var result) = reading else { return reading }
            result.isForeign = true
            return .pushes(result)
        }
    }

    /// Reads a block of headers, and what is behind them.
    private func read(
        _ lines: FieldLines, of block: [UInt8], besideFile name: String
    ) -> Reading {
        let headers = lines.item(assumptions)
        guard let start = lines.bodyStart else {
            return lines.hasAppleField ? .headers(headers) : .other
        }
        // A response may follow.
        let body = block.indices.map { $0 < start && block[$0] != 0x0a ? 0x20 : block[$0] }
        let hasJSON =
            (try? JSONScanner.scan(body)) != nil
            || (try? JSONScanner.scan(IllustratedJSON(body).bytes)) != nil
        guard hasJSON else {
            return Self.brokenTextMentionsPush(block) && lines.hasAppleField
                ? .unread(.incomplete) : .other
        }
        guard case .pushes(var document) = read(body, "", besideFile: name) else { return .other }
        if lines.hasAppleField, let payload = document.barePayload(assuming: assumptions) {
            document.items = [headers.joined(with: payload)]
        }
        return .pushes(document)
    }

    /// Reads an object, or a list of payloads or requests.
    func readValue(_ document: JSONDocument) -> PushDocument? {
        document.kind(0) == .object ? read(document) : listed(document)
    }

    /// A block that begins as an object or a list, with blanks in place of the text of a log around
    /// it: the first line ends with a colon and a brace. Returns `nil` for any other block.
    private static func behindLogText(_ block: [UInt8], _ language: String) -> [UInt8]? {
        let brace = UInt8(ascii: "{")
        guard let first = block.first(where: { $0 > 0x20 }) else { return nil }
        if first == brace || first == UInt8(ascii: "[") { return block }
        // A comment may stand in front.
        if first == UInt8(ascii: "/") {
            let text = IllustratedJSON(block).bytes.first { $0 > 0x20 }
            return text == brace || text == UInt8(ascii: "[") ? block : nil
        }
        // A key, whose outer braces were left out.
        guard first != UInt8(ascii: "\"") else { return nil }
        let lineEnd = block.firstIndex(of: 0x0a) ?? block.count
        let start = block[..<lineEnd].lastIndex { $0 > 0x20 } ?? 0
        guard ["", "text", "txt", "log", "console"].contains(language), block[start] == brace,
            block[..<start].last(where: { $0 > 0x20 }) == UInt8(ascii: ":"),
            let end = block.lastIndex(of: UInt8(ascii: "}"))
        else { return nil }
        var object = block
        for index in block.indices where !(start...end ~= index) && block[index] != 0x0a {
            object[index] = 0x20
        }
        return (try? JSONScanner.scan(object)) == nil ? nil : object
    }

    /// Reads a block that is no JSON. With comments it is read without them. Only one that says to
    /// be JSON, or nothing of what it is, and was not written for people, has errors of syntax.
    private func readIllustration(
        _ block: [UInt8], _ language: String, _ error: JSONSyntaxError, besideFile name: String
    ) -> Reading {
        let text = IllustratedJSON(block)
        let hasComments = text.hasComments || ["jsonc", "json5"].contains(language)
        if text.hasTypographicQuotes, !hasComments, !text.isAbridged,
            let document = try? JSONScanner.scan(text.bytes)
        {
            guard var result = readValue(document), !result.items.isEmpty else { return .other }
            for index in result.items.indices { result.items[index].places.isEditable = false }
            result.faults.append(Self.typographicQuotes(at: .offset(error.offset)))
            return .pushes(result)
        }
        if hasComments, !text.isAbridged, let document = try? JSONScanner.scan(text.bytes) {
            guard var result = readValue(document) else { return .other }
            for index in result.items.indices {
                result.items[index].isIllustration = true
                result.items[index].draft.headersAreComplete = false
            }
            if let quote = text.typographicQuote {
                for index in result.items.indices { result.items[index].places.isEditable = false }
                result.faults.append(Self.typographicQuotes(at: .offset(quote)))
            }
            if let bracket = text.bracketBehindComma, ["", "json"].contains(language) {
                result.faults.append(
                    PushDocument.Fault(
                        message: "a comma stands before a closing bracket",
                        fix: "JSON has no comma behind the last member.",
                        place: .offset(bracket), pointer: ""))
            }
            return .pushes(result)
        }
        if text.hasComments, !text.isAbridged,
            var result = readObjects(text.bytes, besideFile: name)
        {
            for index in result.items.indices {
                result.items[index].isIllustration = true
                result.items[index].draft.headersAreComplete = false
            }
            return .pushes(result)
        }
        if text.hasOthers, let document = try? JSONScanner.scan(text.bytes),
            var result = readValue(document),
            result.barePayload(assuming: assumptions) != nil
        {
            result.items[0].isCut = true
            result.items[0].places.isEditable = false
            result.unread = [.init(start: 0, .part)]
            return .pushes(result)
        }
        if !["", "json"].contains(language) || hasComments || text.hasTypographicQuotes,
            let result = readWithCommas(text, language, besideFile: name)
        {
            return .pushes(result)
        }
        if ["", "json"].contains(language), let result = brokenRequest(block) {
            return .pushes(result)
        }
        if ["", "json"].contains(language), !hasComments, !text.isAbridged, !Self.isTemplate(block),
            let next = block.dropFirst(error.offset).first, "}],:\"".utf8.contains(next),
            // Several objects one after another.
            (try? JSONScanner.scan(Array(block.prefix(error.offset)))) == nil
        {
            return .pushes(bare(block, .payload))
        }
        if ["", "json", "jsonc", "json5"].contains(language) { return .unread(.incomplete) }
        return Self.showsPayloadInCode(block) ? .unread(.source) : .other
    }

    /// The fault of a text that is JSON but for its quotation marks.
    static func typographicQuotes(at place: FilePlace) -> PushDocument.Fault {
        PushDocument.Fault(
            message: "typographic quotation marks are none in JSON",
            fix: "Write straight ones, as \"aps\".", place: place, pointer: "")
    }

    /// Reads a block of requests in HTTP notation. The body and a token that a page leaves out are
    /// not missed, nor is anything where it leaves out headers.
    private func readRequests(_ block: [UInt8], besideFile name: String) -> Reading {
        guard var result = readHTTP(Self.withoutComments(block), name: name) else { return .other }
        let lines = block.split(separator: UInt8(ascii: "\n"))
        let dots = lines.contains { line in
            let text = String(decoding: line.filter { $0 > 0x20 }, as: UTF8.self)
            return text == "..." || text == "…"
        }
        let isCut = result.items.isEmpty
        if result.items.count == 1, result.items[0].draft.payload.isEmpty, !dots,
            result.items[0].draft.showsAppleHeader
        {
            return .headers(result.items[0])
        }
        result.items.removeAll { $0.draft.payload.isEmpty }
        let count = result.items.count
        result.items.removeAll { dots || Self.isIllustration($0.draft.payload) }
        if result.items.count < count || isCut { return .unread(.incomplete) }
        return result.items.isEmpty && result.faults.isEmpty ? .other : .pushes(result)
    }

    /// Clears the comments in the body of a request: what is behind its first empty line.
    private static func withoutComments(_ block: [UInt8]) -> [UInt8] {
        var start = 0
        while start < block.count {
            let end = block[start...].firstIndex(of: 0x0a) ?? block.count
            if !block[start..<end].contains(where: { $0 > 0x20 }), start > 0 { break }
            start = end + 1
        }
        guard start < block.count else { return block }
        let body = Array(block[start...])
        guard body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return block }
        let text = IllustratedJSON(body)
        return text.hasComments ? block[..<start] + text.bytes : block
    }

    /// Whether a payload is no JSON because it was written for people.
    static func isIllustration(_ payload: [UInt8]) -> Bool {
        guard (try? JSONScanner.scan(payload)) == nil else { return false }
        let text = IllustratedJSON(payload)
        return text.hasComments || text.isAbridged || isTemplate(payload)
    }
}
