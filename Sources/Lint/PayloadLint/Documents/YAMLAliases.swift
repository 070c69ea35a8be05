// SPDX-License-Identifier: Apache-2.0

package import Yams

/// Detects YAML documents whose aliases expand to too many values.
///
/// A YAML parser stores the value of an alias once, so that a text of a few lines can represent a
/// billion values ("billion laughs"). Visiting each of them would take too long.
package enum YAMLAliases {
    /// The maximum number of values of a document.
    package static let maximumValues = 1_000_000

    /// The message for a text that ``areEndless(_:)`` or ``areTooMany(in:)`` detected.
    package static let problem =
        "the aliases of the YAML text stand for more than \(maximumValues) values"

    /// Whether parsing the text could take too long: Yams compares the keys of each mapping, and
    /// visits all values of an alias in a key. All such texts are detected; a text with many nested
    /// aliases may be detected although it is harmless.
    package static func areEndless(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.contains(UInt8(ascii: "*")) && mayBeInKeys(bytes)
            && mayExpand(bytes) > Double(maximumValues)
    }

    /// Whether a node has more than the maximum number of values.
    package static func areTooMany(in node: Node) -> Bool {
        var rest = maximumValues
        return !count(node, &rest)
    }

    /// Subtracts the values of a node from the rest. Returns whether the rest was sufficient.
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

    /// Whether a key may contain an alias: after `?`, as in `*a : b`, in a collection that is a
    /// key, or in a flow mapping.
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

    /// An upper bound for the number of values of the text: the value of an alias is between its
    /// anchor and its first alias.
    private static func mayExpand(_ bytes: [UInt8]) -> Double {
        struct Anchor {
            let start: Double
            /// The upper bound for the value of an alias; `nil` before the first alias.
            var size: Double?
        }
        var anchors: [ArraySlice<UInt8>: Anchor] = [:]
        var total = 0.0
        for (index, byte) in bytes.enumerated() {
            guard byte == UInt8(ascii: "&") || byte == UInt8(ascii: "*") else {
                // A value has at least one byte.
                total += 1
                continue
            }
            let name = bytes[index + 1..<nameEnd(bytes, index + 1)]
            // As in `a && b` or a glob pattern.
            if name.isEmpty { continue }
            if byte == UInt8(ascii: "&") {
                // If several anchors have the same name, the next alias may refer to any of them.
                anchors[name] = Anchor(start: anchors[name]?.start ?? total)
            } else if let anchor = anchors[name] {
                let size = anchor.size ?? (total - anchor.start)
                anchors[name]?.size = size
                total += size
            }
        }
        return total
    }

    /// The end of the name of an anchor or alias at `start`: libyaml accepts letters, digits, `-`
    /// and `_`.
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
