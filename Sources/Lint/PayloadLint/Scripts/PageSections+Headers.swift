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

    /// The push type that the text of a block's section gives for it, and the priority with it:
    /// `apns-push-type: voip`. Empty if the text names none or several, or does not fit a payload.
    func headers(
        statedFor block: Range<Int>, between previous: Int, and next: Int, _ payload: [UInt8]
    ) -> [Statement] {
        let section = section(of: block)
        let start = max(startOfPush(at: block), previous, block.lowerBound - Self.reach)
        // The text behind a block may be about the next one.
        let isLast = next >= section.upperBound
        let end = min(section.upperBound, block.upperBound + Self.reach / 2)
        let parts = [start..<block.lowerBound] + (isLast ? [block.upperBound..<end] : [])
        let types = PushType.all.map(\.rawValue)
        guard let type = stated("apns-push-type", in: parts, as: types.contains),
            fits(type.header.value, payload),
            // `aps` is for no service of other platforms, whatever the text says of them.
            type.header.value != "voip" || !namesVisiblePush(in: parts[0], except: Self.services)
        else { return [] }
        let priority = stated("apns-priority", in: parts, as: ["1", "5", "10"].contains)
        return [type] + [priority].compactMap(\.self)
    }

    /// Whether a payload can be one of the push type that the text names.
    private func fits(_ type: String, _ payload: [UInt8]) -> Bool {
        switch type {
        case "voip": Self.speaksOfCall(payload)
        case "alert", "background": payload.contains(text: "\"content-available\"")
        default: false
        }
    }

    /// The header of this name whose value is in the same line of text; `nil` if no line has one,
    /// or if there are several.
    private func stated(
        _ name: String, in parts: [Range<Int>], as isValue: (String) -> Bool
    ) -> Statement? {
        var found: [Statement] = []
        for part in parts where !part.isEmpty {
            var start = part.lowerBound
            while start < part.upperBound {
                let end = bytes[start..<part.upperBound].firstIndex(of: 0x0a) ?? part.upperBound
                defer { start = end + 1 }
                guard let place = bytes[start..<end].firstRange(of: name.utf8) else { continue }
                let line = String(decoding: bytes[start..<end], as: UTF8.self).lowercased()
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "'" }
                // A condition, or what is not to be done.
                guard !words.contains(where: { Self.conditions.contains(String($0)) }) else {
                    return nil
                }
                let rest = String(decoding: bytes[place.upperBound..<end], as: UTF8.self)
                let values = rest.split { !$0.isLetter && !$0.isNumber }.map(String.init)
                    .filter(isValue)
                found += values.map {
                    Statement(header: PushDraft.Header(name, $0), offset: place.lowerBound)
                }
            }
        }
        guard let first = found.first, Set(found.map(\.header.value)).count == 1 else { return nil }
        return first
    }

    private static let services: Set<String> = ["fcm", "firebase", "android"]

    private static let conditions: Set<String> = [
        "if", "when", "unless", "not", "never", "no", "without", "instead", "don't", "doesn't",
        "isn't", "mustn't", "wrong", "unlike", "before", "was", "than", "otherwise", "missing",
    ]
}
