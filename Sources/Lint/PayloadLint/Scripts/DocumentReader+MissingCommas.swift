// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Reads blocks of a page that are JSON but for commas between the lines of members.
extension DocumentReader {
    /// Languages of which none accepts members without commas between them, so that such a block
    /// is neither JSON nor theirs.
    private static let languages: Set<String> = [
        "", "json", "jsonc", "json5", "swift", "objc", "objectivec", "objective-c", "javascript",
        "js", "typescript", "ts", "python", "py", "php", "ruby", "java", "kotlin", "dart",
    ]

    /// Reads a block of which nothing was left out, and reports the first comma that is missing,
    /// or the quotation marks. Returns `nil` for any other block, or if it is no push.
    func readWithCommas(
        _ text: IllustratedJSON, _ language: String, besideFile name: String
    ) -> PushDocument? {
        guard Self.languages.contains(language), !text.isAbridged, let complete = text.withCommas
        else { return nil }
        let document = try? JSONScanner.scan(complete.bytes)
        // The same key twice is a choice that a comment explains.
        if let document, Self.repeatsKey(document) { return nil }
        let pushes =
            document.map { readValue($0) } ?? readObjects(complete.bytes, besideFile: name)
        guard var result = pushes, !result.items.isEmpty else { return nil }
        for index in result.items.indices {
            result.items[index].places.isEditable = false
            guard text.hasComments else { continue }
            result.items[index].isIllustration = true
            result.items[index].draft.headersAreComplete = false
        }
        result.faults.append(
            text.typographicQuote.map { Self.typographicQuotes(at: .offset($0)) }
                ?? PushDocument.Fault(
                    message: "found `\"` where `,` or `}` was expected",
                    fix: "A comma is missing.", place: .offset(complete.key), pointer: ""))
        return result
    }

    /// Whether an object has a key twice.
    private static func repeatsKey(_ document: JSONDocument) -> Bool {
        document.nodes.indices.contains { node in
            guard document.kind(node) == .object else { return false }
            let keys = document.members(of: node).map { Array(document.text($0.key)) }
            return Set(keys).count < keys.count
        }
    }
}

extension IllustratedJSON {
    /// The text with commas in place of blanks before keys that begin the line behind a value,
    /// and the offset of the first of these keys; `nil` if there is none.
    var withCommas: (bytes: [UInt8], key: Int)? {
        var result = bytes
        var first: Int?
        var last = 0
        var isBehindValue = false
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            guard byte > 0x20 else {
                index += 1
                continue
            }
            var end = index
            if byte == UInt8(ascii: "\"") {
                guard let closing = closingQuote(of: index) else { return nil }
                end = closing
                let next = bytes[(end + 1)...].first { $0 > 0x20 }
                let isKey = next == UInt8(ascii: ":")
                // A comment on a line of its own may stand for what was left out.
                if isKey, isBehindValue, bytes[last..<index].count(where: { $0 == 0x0a }) == 1 {
                    result[last + 1] = UInt8(ascii: ",")
                    first = first ?? index
                }
                isBehindValue = !isKey
            } else {
                isBehindValue = !",:{[".utf8.contains(byte)
            }
            last = end
            index = end + 1
        }
        return first.map { (result, $0) }
    }

    /// The offset of the mark that closes a string; `nil` if its line has none.
    private func closingQuote(of start: Int) -> Int? {
        var index = start + 1
        while index < bytes.count, bytes[index] != 0x0a {
            if bytes[index] == UInt8(ascii: "\"") { return index }
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }
}
