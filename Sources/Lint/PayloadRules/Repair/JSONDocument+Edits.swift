// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Edits of a text that do not change other bytes.
extension JSONDocument {
    /// Replaces a value, or a key with its quotes.
    func replacing(_ node: Int, with text: String) -> Repair.Edit {
        Repair.Edit(
            range: Int(nodes[node].start)..<Int(nodes[node].end), replacement: Array(text.utf8))
    }

    /// Removes a member of an object with its comma: the one before it, or the one after the first
    /// member.
    func removing(memberWithKey key: Int, of object: Int) -> Repair.Edit {
        var previous: Int?
        var next: Int?
        for member in members(of: object) {
            if member.key < key { previous = member.value }
            if member.key > key, next == nil { next = member.key }
        }
        let valueEnd = Int(nodes[key + 1].end)
        let keyStart = Int(nodes[key].start)
        let range =
            if let previous {
                Int(nodes[previous].end)..<valueEnd
            } else if let next {
                keyStart..<Int(nodes[next].start)
            } else {
                keyStart..<valueEnd
            }
        return Repair.Edit(range: range, replacement: [])
    }

    /// Adds a member at the end of an object, with the same white space as before its first member.
    func inserting(_ member: [UInt8], intoObject object: Int) -> Repair.Edit {
        let start = Int(nodes[object].start) + 1
        var place = start
        var replacement = member
        var isFirst = true
        for existing in members(of: object) {
            if isFirst {
                replacement =
                    [UInt8(ascii: ",")] + bytes[start..<Int(nodes[existing.key].start)] + member
                isFirst = false
            }
            place = Int(nodes[existing.value].end)
        }
        return Repair.Edit(range: place..<place, replacement: replacement)
    }

    /// The edits that replace each avoidable `\u` escape of a string by the character.
    func replacingEscapes(of string: Int) -> [Repair.Edit] {
        let content = content(string)
        var edits: [Repair.Edit] = []
        var index = content.lowerBound
        while index < content.upperBound {
            guard bytes[index] == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            guard bytes[index + 1] == UInt8(ascii: "u") else {
                index += 2
                continue
            }
            let isLead = UTF16.isLeadSurrogate(JSONText.unit(in: bytes[...], at: index + 2))
            var end = index + 6
            if isLead, end + 6 <= content.upperBound, bytes[end] == UInt8(ascii: "\\"),
                bytes[end + 1] == UInt8(ascii: "u"),
                UTF16.isTrailSurrogate(JSONText.unit(in: bytes[...], at: end + 2))
            {
                end += 6
            }
            let text = JSONText.unescaped(bytes[index..<end])
            if JSONText.canStandUnescaped(text) {
                edits.append(Repair.Edit(range: index..<end, replacement: text))
            }
            index = end
        }
        return edits
    }
}

extension JSONText {
    /// Whether a character may be in a string unescaped: not a control character, quote, backslash
    /// or surrogate.
    fileprivate static func canStandUnescaped(_ character: [UInt8]) -> Bool {
        guard let first = character.first else { return false }
        guard first >= 0x80 else {
            return first >= 0x20 && first != 0x22 && first != 0x5c && first != 0x7f
        }
        return multibyteLength(character, at: 0) == character.count
    }
}
