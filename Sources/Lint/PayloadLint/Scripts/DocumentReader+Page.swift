// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Reads pushes from pages in Markdown, reStructuredText and AsciiDoc.
extension DocumentReader {
    /// What a block of a page is.
    private enum Reading {
        case pushes(PushDocument)
        /// About pushes, and not readable: abridged, or not JSON.
        case unread
        case other
    }

    /// Reads the commands of a text, and, if it is a page, its blocks with payloads and requests.
    /// Returns `nil` if there are none.
    func readScript(_ bytes: [UInt8], name: String) -> PushDocument? {
        let commands = readCommands(bytes, name: name)
        guard PageBlock.isPage(name), forcedKind == nil else { return commands }
        var result = commands ?? PushDocument(kind: .request, hasComments: true)
        let blocks = PageBlock.all(in: bytes, name: name)
        result.blocks = blocks.map(\.whole)
        for block in blocks {
            switch read(block.text(in: bytes), block.language, besideFile: name) {
            case .other: continue
            case .unread: result.unreadBlocks.append(block.whole.lowerBound)
            case .pushes(let document):
                let start = block.content.lowerBound
                for var item in document.items {
                    item.places.shift(by: start)
                    if !block.quoteMarks.isEmpty { item.places.isEditable = false }
                    result.items.append(item)
                }
                for var fault in document.faults {
                    fault.place = fault.place.shifted(by: start)
                    result.faults.append(fault)
                }
            }
        }
        let isEmpty = commands == nil && result.items.isEmpty && result.faults.isEmpty
        result.isForeign = isEmpty
        return isEmpty && result.unreadBlocks.isEmpty ? nil : result
    }

    private func read(
        _ block: [UInt8], _ language: String, besideFile name: String
    ) -> Reading {
        if HTTPRequests.isOne(block, name: "") { return readRequests(block, besideFile: name) }
        // In a string, a payload has escapes.
        let mentionsPush =
            Self.mentionsPush(block) || block.contains(text: #"\"aps\""#)
            || block.contains(text: "\"_contentAvailable\"")
        guard mentionsPush || Self.brokenTextMentionsPush(block),
            let block = Self.behindLogText(block, language)
        else { return .other }
        do throws(JSONSyntaxError) {
            guard var result = readValue(try JSONScanner.scan(block)) else { return .other }
            let count = result.items.count
            result.items.removeAll { Self.isIllustration($0.draft.payload) }
            if result.items.count < count { return .unread }
            // Anything else in which the word is a value.
            result.items.removeAll { $0.weightWithoutAPS == .note }
            // A payload in a string is passed over where it is a template.
            if result.items.isEmpty, result.faults.isEmpty, block.contains(text: #"\"aps\""#) {
                return .unread
            }
            return mentionsPush ? .pushes(result) : .other
        } catch {
            return readIllustration(block, language, error)
        }
    }

    /// Reads an object, or a list of payloads or requests.
    private func readValue(_ document: JSONDocument) -> PushDocument? {
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
        _ block: [UInt8], _ language: String, _ error: JSONSyntaxError
    ) -> Reading {
        let text = IllustratedJSON(block)
        let hasComments = text.hasComments || ["jsonc", "json5"].contains(language)
        if hasComments, !text.isAbridged, let document = try? JSONScanner.scan(text.bytes) {
            guard var result = readValue(document) else { return .other }
            for index in result.items.indices {
                result.items[index].isIllustration = true
                result.items[index].draft.headersAreComplete = false
            }
            return .pushes(result)
        }
        if ["", "json"].contains(language), !hasComments, !text.isAbridged, !Self.isTemplate(block),
            let next = block.dropFirst(error.offset).first, "}],:\"".utf8.contains(next),
            // Several objects one after another.
            (try? JSONScanner.scan(Array(block.prefix(error.offset)))) == nil
        {
            return .pushes(bare(block, .payload))
        }
        return ["", "json", "jsonc", "json5"].contains(language) ? .unread : .other
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
        result.items.removeAll { $0.draft.payload.isEmpty }
        let count = result.items.count
        result.items.removeAll { dots || Self.isIllustration($0.draft.payload) }
        for index in result.items.indices {
            result.items[index].draft.opaqueHeaders.insert("authorization")
        }
        if result.items.count < count || isCut { return .unread }
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
