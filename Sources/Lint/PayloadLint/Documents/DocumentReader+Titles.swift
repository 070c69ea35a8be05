// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Reads the objects of JSON in notes, each behind a title: a line that ends with a colon.
extension DocumentReader {
    /// Reads a text of titles and objects. Returns `nil` for any other text, or if it is not about
    /// pushes.
    func readTitled(_ bytes: [UInt8]) -> PushDocument? {
        guard Self.brokenTextMentionsPush(bytes) || Self.mentionsService(bytes),
            let objects = Self.objects(behindTitlesIn: bytes)
        else { return nil }
        var result = PushDocument(kind: .request)
        for object in objects {
            // Blanks in place of the rest keep all offsets.
            var text = bytes
            for index in bytes.indices where !object.contains(index) && bytes[index] != 0x0a {
                text[index] = 0x20
            }
            let title = Self.title(before: object.lowerBound, in: bytes)
            let readable = IllustratedJSON(text)
            let inner: PushDocument
            if readable.hasComments || (try? JSONScanner.scan(text)) != nil {
                // A comment may say what is wrong.
                guard !readable.hasComments || Self.namesPayload(title) && !Self.isOther(title),
                    case .pushes(let pushes) = read(text, "json", besideFile: "")
                else { continue }
                inner = pushes
            } else {
                // Another title may stand for another language, or for what is wrong.
                guard Self.looksLikeJSON(text), !readable.isAbridged, Self.namesPayload(title)
                else { return nil }
                inner = broken(text, name: "")
                guard !inner.isForeign else { continue }
            }
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

    /// The last line before an offset, in lower case.
    private static func title(before offset: Int, in bytes: [UInt8]) -> String {
        let line =
            bytes[..<offset].split(separator: 0x0a)
            .last { $0.contains { $0 > 0x20 } } ?? []
        return String(decoding: line, as: UTF8.self).lowercased()
    }

    /// Whether a title says that a payload follows.
    private static func namesPayload(_ title: String) -> Bool {
        ["json", "payload", "notification", "push", "example"].contains { title.contains($0) }
    }

    /// Whether a title has a word for what is wrong, or not sent as it stands.
    private static func isOther(_ title: String) -> Bool {
        title.split { !$0.isLetter && $0 != "'" }.map(String.init)
            .contains { PageSections.conditions.contains($0) }
    }

    /// Whether a line begins as a word does, and ends with a colon.
    private static func isTitle(_ line: ArraySlice<UInt8>) -> Bool {
        guard let first = line.first, line.last == UInt8(ascii: ":") else { return false }
        return (97...122 ~= first | 0x20 || first >= 0x80)
            && !line.contains { "{}\"".utf8.contains($0) }
    }
}
