// SPDX-License-Identifier: Apache-2.0

/// JSON pointers (RFC 6901).
enum JSONPointer {
    /// A key as one step of a pointer: escapes resolved, `~` and `/` escaped. What is not Unicode
    /// (a lone surrogate) shows as U+FFFD.
    static func component(forKey key: JSONNode, in bytes: [UInt8]) -> String {
        let content = bytes[Int(key.start) + 1..<Int(key.end) - 1]
        var step: [UInt8] = []
        for byte in key.traits.contains(.escaped) ? JSONText.unescaped(content)[...] : content {
            switch byte {
            case UInt8(ascii: "~"): step += [UInt8(ascii: "~"), UInt8(ascii: "0")]
            case UInt8(ascii: "/"): step += [UInt8(ascii: "~"), UInt8(ascii: "1")]
            default: step.append(byte)
            }
        }
        return String(decoding: step, as: UTF8.self)
    }
}

extension JSONDocument {
    /// The pointer of a node; a key has that of its value.
    package func pointer(to node: Int) -> String {
        let target = kind(node) == .key ? node + 1 : node
        var pointer = ""
        var container = 0
        while container != target {
            let isObject = kind(container) == .object
            var child = container + 1
            var index = 0
            while target >= Int(nodes[isObject ? child + 1 : child].next) {
                child = Int(nodes[isObject ? child + 1 : child].next)
                index += 1
            }
            pointer +=
                isObject
                ? "/" + JSONPointer.component(forKey: nodes[child], in: bytes) : "/\(index)"
            container = isObject ? child + 1 : child
        }
        return pointer
    }

    /// The first container that has more than `depth` containers around it and itself, or `nil`.
    package func firstContainer(deeperThan depth: Int) -> Int? {
        guard summary.deepest > depth else { return nil }
        var ends: [Int32] = []
        for (index, node) in nodes.enumerated() where node.kind == .object || node.kind == .array {
            while let end = ends.last, end <= node.start { ends.removeLast() }
            ends.append(node.end)
            if ends.count > depth { return index }
        }
        return nil
    }
}
