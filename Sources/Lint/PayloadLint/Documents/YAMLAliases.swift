// SPDX-License-Identifier: Apache-2.0

package import Yams

/// Finds YAML whose aliases expand to more than anybody wrote.
///
/// A reader of YAML keeps what an alias names once, however often it is named: a text of a few
/// lines can stand for a billion values ("billion laughs"). Whoever visits each of them does not
/// come to an end.
package enum YAMLAliases {
    /// The most values that a text may stand for.
    package static let maximumValues = 1_000_000

    /// What is wrong with a text that ``areEndless(_:)`` or ``areTooMany(in:)`` found.
    package static let problem =
        "the aliases of the YAML text stand for more than \(maximumValues) values"

    /// Whether reading the text could take for ever: Yams compares the keys of each mapping, and
    /// visits all that an alias in a key stands for. Any text for which that is so is found; one
    /// for which it is not so may be found as well, if its aliases are many and nested.
    package static func areEndless(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.contains(UInt8(ascii: "*")) && mayBeInKeys(bytes)
            && mayExpand(bytes) > Double(maximumValues)
    }

    /// Whether a node stands for more than the most values.
    package static func areTooMany(in node: Node) -> Bool {
        var rest = maximumValues
        return !count(node, &rest)
    }

    /// Takes the values of a node from the rest; whether it sufficed.
    private static func count(_ node: Node, _ rest: inout Int) -> Bool {
        rest -= 1
        guard rest >= 0 else { return false }
        switch node {
        case .scalar, .alias: return true
        case .sequence(let sequence):
            for element in sequence where !count(element, &rest) { return false }
        case .mapping(let mapping):
            for (key, value) in mapping where !count(key, &rest) || !count(value, &rest) {
                return false
            }
        }
        return true
    }

    /// Whether a key may hold an alias: behind `?`, as in `*a : b`, in a collection that is a key,
    /// or in the braces of a mapping.
    private static func mayBeInKeys(_ bytes: [UInt8]) -> Bool {
        var before = UInt8(ascii: "\n")
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "?"): return true
            case UInt8(ascii: ":") where before == UInt8(ascii: "]"): return true
            case UInt8(ascii: "*"):
                let end = nameEnd(bytes, index + 1)
                let next = bytes[end...].first { !isSpace($0) }
                if end > index + 1, next == UInt8(ascii: ":") { return true }
            default: break
            }
            if !isSpace(byte) { before = byte }
        }
        return false
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0d).contains(byte)
    }

    /// At most as many values as the text stands for: what an alias names is between its anchor
    /// and the first alias of it, so no more than stands there.
    private static func mayExpand(_ bytes: [UInt8]) -> Double {
        struct Anchor {
            let start: Double
            /// What an alias of it stands for at most; `nil` until one comes.
            var size: Double?
        }
        var anchors: [ArraySlice<UInt8>: Anchor] = [:]
        var total = 0.0
        for (index, byte) in bytes.enumerated() {
            guard byte == UInt8(ascii: "&") || byte == UInt8(ascii: "*") else {
                // No value is shorter than a byte.
                total += 1
                continue
            }
            let name = bytes[index + 1..<nameEnd(bytes, index + 1)]
            // As in `a && b`, or in a pattern of files.
            if name.isEmpty { continue }
            if byte == UInt8(ascii: "&") {
                // Of several anchors with one name the next alias may name any.
                anchors[name] = Anchor(start: anchors[name]?.start ?? total)
            } else if let anchor = anchors[name] {
                let size = anchor.size ?? (total - anchor.start)
                anchors[name]?.size = size
                total += size
            }
        }
        return total
    }

    /// Where the name of an anchor or alias ends that begins at `start`: libyaml takes letters,
    /// digits, `-` and `_`.
    private static func nameEnd(_ bytes: [UInt8], _ start: Int) -> Int {
        bytes[start...].firstIndex { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                false
            default: true
            }
        } ?? bytes.endIndex
    }
}
