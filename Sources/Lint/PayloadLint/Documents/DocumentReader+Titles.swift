// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Reads the objects of JSON in notes, each behind a title: a line that ends with a colon.
extension DocumentReader {
    /// Reads a text of titles and objects. Returns `nil` for any other text, or if it is not about
    /// pushes.
    func readTitled(_ bytes: [UInt8]) -> PushDocument? {
        guard Self.brokenTextMentionsPush(bytes), let objects = Self.objects(behindTitlesIn: bytes)
        else { return nil }
        var result = PushDocument(kind: .request)
        for object in objects {
            // Blanks in place of the rest keep all offsets.
            var text = bytes
            for index in bytes.indices where !object.contains(index) && bytes[index] != 0x0a {
                text[index] = 0x20
            }
            let inner: PushDocument
            do throws(JSONSyntaxError) {
                inner = read(try JSONScanner.scan(text))
            } catch {
                // Another title may stand for another language, or for what is wrong.
                let readable = IllustratedJSON(text)
                guard Self.looksLikeJSON(text), !readable.hasComments, !readable.isAbridged,
                    Self.titleNamesPayload(bytes[..<object.lowerBound])
                else { return nil }
                inner = broken(text, name: "")
            }
            guard !inner.isForeign else { continue }
            result.items += inner.items
            result.faults += inner.faults
        }
        return result.items.isEmpty && result.faults.isEmpty ? nil : result
    }

    /// The lines of each object behind a title. Returns `nil` if anything else is in the text.
    private static func objects(behindTitlesIn bytes: [UInt8]) -> [Range<Int>]? {
        var objects: [Range<Int>] = []
        var object: Range<Int>?
        var hasTitle = false
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0a) ?? bytes.count
            defer { start = end + 1 }
            let line = bytes[start..<end]
            guard let first = line.firstIndex(where: { $0 > 0x20 }),
                let last = line.lastIndex(where: { $0 > 0x20 })
            else { continue }
            if let open = object {
                guard bytes[open.upperBound - 1] == UInt8(ascii: "}"), isTitle(line[first...last])
                else {
                    object = open.lowerBound..<last + 1
                    continue
                }
                objects.append(open)
                object = nil
            } else if hasTitle, bytes[first] == UInt8(ascii: "{") {
                object = first..<last + 1
            } else {
                guard isTitle(line[first...last]) else { return nil }
                hasTitle = true
            }
        }
        if let object { objects.append(object) }
        let areWhole = objects.allSatisfy { bytes[$0.upperBound - 1] == UInt8(ascii: "}") }
        return areWhole && 1...mostObjects ~= objects.count ? objects : nil
    }

    /// Whether the last line of a text says that a payload follows.
    private static func titleNamesPayload(_ text: ArraySlice<UInt8>) -> Bool {
        guard let line = text.split(separator: 0x0a).last(where: { $0.contains { $0 > 0x20 } })
        else { return false }
        let title = String(decoding: line, as: UTF8.self).lowercased()
        return ["json", "payload", "notification", "push", "example"]
            .contains { title.contains($0) }
    }

    /// Whether a line begins as a word does, and ends with a colon.
    private static func isTitle(_ line: ArraySlice<UInt8>) -> Bool {
        guard let first = line.first, line.last == UInt8(ascii: ":") else { return false }
        return (97...122 ~= first | 0x20 || first >= 0x80)
            && !line.contains { "{}\"".utf8.contains($0) }
    }
}
