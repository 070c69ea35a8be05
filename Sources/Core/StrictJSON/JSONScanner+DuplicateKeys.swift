// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
    /// Up to this many members, keys are compared pairwise in place; more are sorted first.
    private static let pairwiseMemberLimit = 16

    /// Notes each key of a closed object that an earlier key of the same object equals, escapes
    /// resolved.
    mutating func noteDuplicateKeys(ofObject object: Int) {
        let notedBefore = duplicateKeys.count
        // One bit for each length that was seen: a key of a new length has no twin, unless escapes
        // are about.
        var lengths: UInt64 = 0
        var hasEscapes = false
        var count = 0
        var key = object + 1
        while key < nodes.count {
            if count >= Self.pairwiseMemberLimit {
                duplicateKeys.removeSubrange(notedBefore...)
                noteDuplicateKeysBySorting(ofObject: object)
                return
            }
            let node = nodes[key]
            let length: UInt64 = 1 &<< UInt64(node.end - node.start)
            hasEscapes = hasEscapes || node.traits.contains(.escaped)
            if hasEscapes || lengths & length != 0, hasEarlierTwin(key, inObject: object) {
                duplicateKeys.append(key)
            }
            lengths |= length
            count += 1
            key = Int(nodes[key + 1].next)
        }
    }

    private func hasEarlierTwin(_ key: Int, inObject object: Int) -> Bool {
        let node = nodes[key]
        var earlier = object + 1
        while earlier < key {
            let other = nodes[earlier]
            if other.traits.union(node.traits).contains(.escaped) {
                let isTwin =
                    JSONText.unescaped(bytes[content(earlier)])
                    == JSONText.unescaped(bytes[content(key)])
                if isTwin { return true }
            } else if node.end - node.start == other.end - other.start, hasSameBytes(node, other) {
                return true
            }
            earlier = Int(nodes[earlier + 1].next)
        }
        return false
    }

    private func hasSameBytes(_ left: JSONNode, _ right: JSONNode) -> Bool {
        let text = bytes.span
        for index in 0..<Int(left.end - left.start)
        where text[Int(left.start) + index] != text[Int(right.start) + index] {
            return false
        }
        return true
    }

    private func content(_ string: Int) -> Range<Int> {
        Int(nodes[string].start) + 1..<Int(nodes[string].end) - 1
    }

    /// The same for a large object, in n log n comparisons: hostile input must not make the scanner
    /// quadratic.
    private mutating func noteDuplicateKeysBySorting(ofObject object: Int) {
        var keys: [(text: [UInt8], node: Int)] = []
        var key = object + 1
        while key < nodes.count {
            keys.append((JSONText.unescaped(bytes[content(key)]), key))
            key = Int(nodes[key + 1].next)
        }
        keys.sort { left, right in
            left.text == right.text
                ? left.node < right.node : left.text.lexicographicallyPrecedes(right.text)
        }
        for index in keys.indices.dropFirst() where keys[index].text == keys[index - 1].text {
            duplicateKeys.append(keys[index].node)
        }
    }
}
