// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeModel

extension PushItem {
    /// Takes headers that the text of a page gives for it.
    mutating func take(_ statements: [PageSections.Statement]) {
        for statement in statements {
            draft.headers.append(statement.header)
            places.headers.append(
                PlaceMap.Header(
                    name: statement.header.name, place: .offset(statement.offset), pointer: ""))
        }
        isJoined = true
        isOfOtherType = statements.contains { $0.header.value == "voip" }
    }
}

/// What the text beside a block says of the headers of the push in it.
extension PageSections {
    /// A header that the text names with its value.
    struct Statement {
        let header: PushDraft.Header
        let offset: Int
    }

    /// The push type that the paragraph before a block gives for it, and the priority with it, each
    /// alone on its line of a list, a table or headers: `apns-push-type: voip`. Empty if anything
    /// else is in that paragraph, if the text before it is about other pushes too, or if the type
    /// does not fit the payload.
    func headers(
        statedFor block: Range<Int>, after previous: Int, _ payload: [UInt8]
    ) -> [Statement] {
        let section = section(of: block)
        // The text behind another block may be about that one.
        guard previous <= section.lowerBound else { return [] }
        let start = max(section.lowerBound, block.lowerBound - Self.reach)
        guard
            let fields = fields(
                in: start..<block.lowerBound, isCut: start > section.lowerBound,
                hasTitle: !areTogether(0, block.lowerBound))
                ?? quotedFields(in: start..<block.lowerBound),
            let type = fields.only("apns-push-type"), fits(type.header.value, payload),
            !namesOthers(in: start..<type.offset),
            type.header.value != "voip" || !namesVisiblePush(in: start..<block.lowerBound)
        else { return [] }
        let others = Set(PushType.all.map(\.rawValue)).subtracting([type.header.value])
        guard
            !fields.contains(where: { field in
                field.header.value.split { !$0.isLetter }.contains { others.contains(String($0)) }
            })
        else { return [] }
        let priority = fields.only("apns-priority")
            .flatMap { ["1", "5", "10"].contains($0.header.value) ? $0 : nil }
        return [type] + [priority].compactMap(\.self)
    }

    /// Whether a payload can be one of the push type that the text names. Where its form is that of
    /// another type, the text is rather about another push.
    private func fits(_ type: String, _ payload: [UInt8]) -> Bool {
        switch type {
        case "voip": Self.speaksOfCall(payload)
        case "background":
            payload.contains(text: "\"content-available\"") && !payload.contains(text: "\"alert\"")
        default: false
        }
    }

    /// The headers in the last paragraph of a text; `nil` if it has any other line.
    private func fields(in text: Range<Int>, isCut: Bool, hasTitle: Bool) -> [Statement]? {
        let isBlank = { (line: ArraySlice<UInt8>) in
            line.allSatisfy { $0 <= 0x20 || $0 == UInt8(ascii: ">") }
        }
        let lines = bytes[text].split(separator: 0x0a, omittingEmptySubsequences: false)
            .reversed().drop(while: isBlank)
        var paragraph = lines.prefix { !isBlank($0) }
        if paragraph.count == lines.count {
            guard !isCut else { return nil }
            if hasTitle { paragraph = paragraph.dropLast() }
        }
        var found: [Statement] = []
        for line in paragraph where !Self.isFrame(line) {
            guard let field = Self.field(line) else { return nil }
            found.append(field)
        }
        return found
    }

    /// Headers in backquotes, each with its value, in the one line before a block, which ends with
    /// a colon: two of Apple's or more, so that it is about one request. `nil` for any other line.
    private func quotedFields(in text: Range<Int>) -> [Statement]? {
        let mark = UInt8(ascii: "`")
        let lines = bytes[text].split(separator: 0x0a, omittingEmptySubsequences: false)
        let trimmed = lines.reversed().drop { line in line.allSatisfy { $0 <= 0x20 } }
        guard let line = trimmed.first,
            trimmed.dropFirst().first.map({ line in line.allSatisfy { $0 <= 0x20 } }) != false,
            line.last(where: { $0 > 0x20 && $0 != UInt8(ascii: "*") }) == UInt8(ascii: ":")
        else { return nil }
        let parts = line.split(separator: mark, omittingEmptySubsequences: false)
        guard parts.count.isMultiple(of: 2) == false else { return nil }
        // Other words than those before the first may be about another push.
        let prose = stride(from: 0, to: parts.count, by: 2).map { place in
            String(decoding: parts[place], as: UTF8.self).lowercased()
                .split { !$0.isLetter && $0 != "'" }.map(String.init)
        }
        guard !parts[0].contains(where: { ".;!?".utf8.contains($0) }),
            !prose[0].contains(where: { ["after", "where", "once", "then"].contains($0) }),
            prose.dropFirst().joined().allSatisfy({ $0 == "and" || Self.frameWords.contains($0) })
        else { return nil }
        let found = stride(from: 1, to: parts.count, by: 2).compactMap { Self.field(parts[$0]) }
            .filter { $0.header.name.hasPrefix("apns-") }
        return found.count > 1 ? found : nil
    }

    /// The header that is alone on a line: a name, a separator and a value.
    private static func field(_ line: ArraySlice<UInt8>) -> Statement? {
        guard line.contains(where: { ":=|".utf8.contains($0) }) else { return nil }
        var words = line.split { $0 <= 0x20 || "`*|\"':=>,;".utf8.contains($0) }[...]
        let isMark =
            words.first.map { word in
                word.elementsEqual("-".utf8) || word.elementsEqual("+".utf8)
                    || word.count > 1 && ".)".utf8.contains(word[word.endIndex - 1])
                        && word.dropLast().allSatisfy { 0x30...0x39 ~= $0 }
            } == true
        if isMark { words.removeFirst() }
        guard let first = words.first else { return nil }
        let name = String(decoding: first, as: UTF8.self).lowercased()
        let isAlone = words.count == 2
        switch name {
        case "apns-push-type", "apns-priority":
            guard isAlone else { return nil }
        default:
            // A kind of authorization has a word of its own.
            guard isAlone || words.count == 3,
                name.hasPrefix("apns-") || Self.fieldNames.contains(name)
            else { return nil }
        }
        let value = words.dropFirst().map { String(decoding: $0, as: UTF8.self) }
        return Statement(
            header: PushDraft.Header(name, value.joined(separator: " ")), offset: first.startIndex)
    }

    /// Whether a line is the rule of a table, or says no more than that headers follow.
    private static func isFrame(_ line: ArraySlice<UInt8>) -> Bool {
        if line.allSatisfy({ $0 <= 0x20 || "-|:+=>".utf8.contains($0) }) { return true }
        return String(decoding: line, as: UTF8.self).lowercased()
            .split { !$0.isLetter && !$0.isNumber }
            .allSatisfy { frameWords.contains(String($0)) }
    }

    /// Whether a text names the header itself, or has words for what is not the push that follows.
    private func namesOthers(in text: Range<Int>) -> Bool {
        let text = String(decoding: bytes[text], as: UTF8.self).lowercased()
        return text.contains("push-type")
            || text.split { !$0.isLetter && $0 != "'" }
                .contains { Self.conditions.contains(String($0)) }
    }

    private static let fieldNames: Set<String> = [
        "authorization", "content-type", "method", "scheme", "path", "host",
    ]

    private static let frameWords: Set<String> = [
        "header", "headers", "http", "request", "apns", "name", "key", "field", "value",
    ]

    /// Words for what is not, or no longer, or not for this push.
    static let conditions: Set<String> = [
        "if", "when", "unless", "not", "never", "no", "without", "instead", "don't", "doesn't",
        "isn't", "mustn't", "wrong", "unlike", "before", "was", "than", "otherwise", "missing",
        "legacy", "old", "bad", "avoid", "rejects", "rejected", "others", "also",
    ]
}

extension [PageSections.Statement] {
    /// The statement of this name, if there is one only.
    fileprivate func only(_ name: String) -> PageSections.Statement? {
        let found = filter { $0.header.name == name }
        return found.count == 1 ? found[0] : nil
    }
}
