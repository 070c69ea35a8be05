// SPDX-License-Identifier: Apache-2.0

/// A text that ``JSONScanner`` has found to be JSON: its bytes and its tape.
///
/// Nodes are named by their index on the tape; 0 is the root. It never changes, and is a class only
/// because dozens of rules look at it: handing it on costs one reference.
package final class JSONDocument: Sendable {
    /// What the scanner counted on its way.
    package struct Summary: Hashable, Sendable {
        /// How deeply containers are nested at the deepest place; 0 for a lone scalar.
        package var deepest = 0
        /// The traits of all nodes together.
        package var traits: JSONNode.Traits = []
        /// One bit, `1 << rawValue`, for each kind of node that occurs.
        @usableFromInline var kinds: UInt8 = 0
        /// How many `\u` escapes encode characters that could have been written verbatim.
        package var avoidableEscapeCount = 0
        /// Whether an object has a key twice.
        package var hasDuplicateKeys = false

        /// The summary of no text.
        package init() {}

        /// Whether a node of this kind occurs.
        @inlinable package func contains(_ kind: JSONNode.Kind) -> Bool {
            kinds & (1 << kind.rawValue) != 0
        }
    }

    /// The text as it was given.
    package let bytes: [UInt8]
    /// The tape, in the order of the text.
    package let nodes: [JSONNode]
    /// Keys that equal an earlier key of their object, escapes resolved.
    package let duplicateKeys: [Int]
    /// What the scanner counted on its way.
    package let summary: Summary

    init(bytes: [UInt8], nodes: [JSONNode], duplicateKeys: [Int], summary: Summary) {
        self.bytes = bytes
        self.nodes = nodes
        self.duplicateKeys = duplicateKeys
        self.summary = summary
    }

    /// The kind of a node.
    @inlinable package func kind(_ node: Int) -> JSONNode.Kind { nodes[node].kind }

    /// The members of an object.
    @inlinable package func members(of object: Int) -> JSONMembers {
        JSONMembers(nodes: nodes, upcoming: object + 1, end: Int(nodes[object].next))
    }

    /// The member of an object with this key; the last one, as most parsers see it.
    @inlinable package func member(_ key: StaticString, of object: Int) -> (key: Int, value: Int)? {
        var found: (key: Int, value: Int)?
        for member in members(of: object) where hasText(member.key, key) { found = member }
        return found
    }

    /// The elements of an array.
    @inlinable package func elements(of array: Int) -> [Int] {
        var elements: [Int] = []
        var element = array + 1
        while element < Int(nodes[array].next) {
            elements.append(element)
            element = Int(nodes[element].next)
        }
        return elements
    }

    /// How many members or elements a container has.
    @inlinable package func childCount(of container: Int) -> Int {
        let isObject = kind(container) == .object
        var count = 0
        var child = container + 1
        while child < Int(nodes[container].next) {
            child = Int(nodes[isObject ? child + 1 : child].next)
            count += 1
        }
        return count
    }
}

extension JSONDocument {
    /// The text of a node verbatim, quotes and brackets included.
    @inlinable package func literal(_ node: Int) -> ArraySlice<UInt8> {
        bytes[Int(nodes[node].start)..<Int(nodes[node].end)]
    }

    /// The range of a string's or key's text, without its quotes and with its escapes.
    @inlinable package func content(_ node: Int) -> Range<Int> {
        Int(nodes[node].start) + 1..<Int(nodes[node].end) - 1
    }

    /// Whether the text of a string or key differs from its bytes.
    @inlinable package func isEscaped(_ node: Int) -> Bool { nodes[node].traits.contains(.escaped) }

    /// The text of a string or key with escapes resolved. Allocates only if there are any.
    @inlinable package func text(_ node: Int) -> ArraySlice<UInt8> {
        let content = bytes[content(node)]
        return isEscaped(node) ? JSONText.unescaped(content)[...] : content
    }

    /// Calls `body` with each byte of a string's or key's text, escapes resolved.
    @inlinable @inline(__always)
    package func forEachByte(of node: Int, _ body: (UInt8) -> Void) {
        if isEscaped(node) {
            for byte in text(node) { body(byte) }
        } else {
            let bytes = bytes
            let text = bytes.span.extracting(content(node))
            for index in text.indices { body(text[index]) }
        }
    }

    /// Whether a string or key has exactly this text, escapes resolved.
    @inlinable package func hasText(_ node: Int, _ text: StaticString) -> Bool {
        text.withUTF8Buffer { expected in
            guard !isEscaped(node) else { return self.text(node).elementsEqual(expected) }
            return hasBytes(content(node), expected)
        }
    }

    /// Whether the text of a string or key begins with these bytes, escapes resolved.
    @inlinable package func hasText(_ node: Int, beginningWith start: [UInt8]) -> Bool {
        guard !isEscaped(node) else { return text(node).starts(with: start) }
        let content = content(node)
        guard content.count >= start.count else { return false }
        for index in 0..<start.count where bytes[content.lowerBound + index] != start[index] {
            return false
        }
        return true
    }

    /// Whether a string or key is `""`.
    @inlinable package func isEmptyString(_ node: Int) -> Bool { content(node).isEmpty }

    /// Whether a number is written exactly like this.
    @inlinable package func isNumber(_ node: Int, _ literal: StaticString) -> Bool {
        guard kind(node) == .number else { return false }
        return literal.withUTF8Buffer {
            hasBytes(Int(nodes[node].start)..<Int(nodes[node].end), $0)
        }
    }

    /// The nearest `Double` of a number; infinite where it is too large for one.
    @inlinable package func double(_ node: Int) -> Double? {
        guard kind(node) == .number else { return nil }
        return Double(String(decoding: literal(node), as: UTF8.self))
    }

    @inlinable func hasBytes(
        _ range: Range<Int>, _ expected: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard range.count == expected.count else { return false }
        for index in 0..<expected.count where bytes[range.lowerBound + index] != expected[index] {
            return false
        }
        return true
    }
}

/// The members of an object, in the order of the text.
package struct JSONMembers: Sequence, IteratorProtocol {
    @usableFromInline let nodes: [JSONNode]
    @usableFromInline var upcoming: Int
    @usableFromInline let end: Int

    @inlinable init(nodes: [JSONNode], upcoming: Int, end: Int) {
        self.nodes = nodes
        self.upcoming = upcoming
        self.end = end
    }

    /// The next member: the index of its key, and that of its value.
    @inlinable package mutating func next() -> (key: Int, value: Int)? {
        guard upcoming < end else { return nil }
        let key = upcoming
        upcoming = Int(nodes[key + 1].next)
        return (key, key + 1)
    }
}
