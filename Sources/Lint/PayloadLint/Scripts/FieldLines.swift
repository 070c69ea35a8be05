// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Lines of headers as pages show them, without a request line, and what is behind them:
/// `apns-topic: com.example.app`.
struct FieldLines {
    /// The headers, with their offsets.
    private(set) var fields: [CurlCommand.Header] = []
    /// The offset of the object or the list behind them; `nil` if there is none.
    private(set) var bodyStart: Int?

    /// Whether one of the headers is Apple's, of a request: an answer has ids only.
    var hasAppleField: Bool {
        fields.contains {
            $0.name.hasPrefix("apns-") && !["apns-id", "apns-unique-id"].contains($0.name)
        }
    }

    /// Reads a block. Returns `nil` if something else is in it.
    init?(_ block: [UInt8]) {
        var start = 0
        while start < block.count, bodyStart == nil {
            let end = block[start...].firstIndex(of: 0x0a) ?? block.count
            guard read(block, start..<end) else { return nil }
            start = end + 1
        }
        if fields.isEmpty { return nil }
    }

    /// Reads an object of JSON. Returns `nil` if it holds anything but headers, or none of Apple's.
    init?(_ document: JSONDocument) {
        guard document.kind(0) == .object else { return nil }
        for member in document.members(of: 0) {
            let name = String(decoding: document.text(member.key), as: UTF8.self).lowercased()
            guard let value = document.scalarText(member.value),
                name.hasPrefix("apns-") || name.hasPrefix(":") || Self.others.contains(name)
            else { return nil }
            fields.append(
                CurlCommand.Header(
                    name: name, value: value, offset: Int(document.nodes[member.value].start)))
        }
        guard hasAppleField else { return nil }
    }

    /// Headers of requests that are not Apple's.
    private static let others: Set<String> = [
        "authorization", "content-type", "content-length", "host", "user-agent", "accept",
    ]

    /// Reads a line, which may be a label such as `Headers:`. Returns whether it is none of other
    /// text.
    private mutating func read(_ block: [UInt8], _ line: Range<Int>) -> Bool {
        guard let start = block[line].firstIndex(where: { $0 > 0x20 }) else { return true }
        if "{[".utf8.contains(block[start]) {
            bodyStart = start
            return true
        }
        let text = String(decoding: block[start..<line.upperBound], as: UTF8.self)
            .replacing("\r", with: "")
        if let label = HTTPRequests.label(text[...]) {
            if label < text.utf8.count { bodyStart = start + label }
            return true
        }
        let name = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        guard !name.isEmpty, text.dropFirst(name.count).first == ":" else { return false }
        let value = HTTPRequests.withoutRemark(text.dropFirst(name.count + 1))
        let trimmed = value.drop { " \t".contains($0) }
        let length = trimmed.lastIndex { !" \t".contains($0) }.map { trimmed[...$0] } ?? ""
        fields.append(
            CurlCommand.Header(name: name.lowercased(), value: String(length), offset: start))
        return true
    }

    /// The push that has these headers, and others that the page may not show; its payload is in
    /// another place.
    func item(_ assumptions: PushAssumptions) -> PushItem {
        var known: [PushDraft.Header] = []
        var opaque: Set<String> = ["authorization"]
        var places = PlaceMap()
        for field in fields {
            places.headers.append(
                PlaceMap.Header(name: field.name, place: .offset(field.offset), pointer: ""))
            if !field.value.isEmpty, let value = Placeholder.known(field.value, of: field.name) {
                known.append(PushDraft.Header(field.name, value))
            } else {
                opaque.insert(field.name)
            }
        }
        places.missingHeaders = (.offset(fields.first?.offset ?? 0), "")
        var draft = assumptions.draft(payload: [], knownHeaders: known)
        draft.opaqueHeaders = opaque
        return PushItem(draft: draft, places: places)
    }
}
