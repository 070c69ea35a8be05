// SPDX-License-Identifier: Apache-2.0

/// Reads JSON text (RFC 8259) in one pass into a flat tape of nodes, strictly, and keeps positions.
///
/// There is no recursion and no stack: an open container's node refers back to the enclosing
/// container. For valid text the tape is the only allocation; pointers, lines and columns are
/// computed when a diagnostic needs them. Every byte is read once, except for keys, which are
/// compared with the other keys of their object.
package struct JSONScanner {
    /// The deepest nesting of containers that is read: 512 (rule G008).
    package static let maximumDepth = 512
    /// The longest text that is read: 16 MiB, far above any payload; offsets fit into 32 bits.
    package static let maximumByteCount = 16_777_216

    let bytes: [UInt8]
    var position = 0
    var nodes: [JSONNode] = []
    /// The index of the innermost open container, or −1.
    var openContainer: Int32 = -1
    var depth = 0
    var summary = JSONDocument.Summary()
    var duplicateKeys: [Int] = []

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // Sparse text has a node in eight bytes and more; dense text grows the tape as it goes.
        nodes.reserveCapacity(min(bytes.count / 4 + 4, 512))
    }

    /// Reads one text. Throws ``JSONSyntaxError`` at the first fault.
    package static func scan(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONDocument {
        var scanner = JSONScanner(bytes)
        try scanner.scanDocument()
        return scanner.finish()
    }

    private consuming func finish() -> JSONDocument {
        summary.hasDuplicateKeys = !duplicateKeys.isEmpty
        return JSONDocument(
            bytes: bytes, nodes: nodes, duplicateKeys: duplicateKeys, summary: summary)
    }

    /// The byte at the position; 0 at the end, which no rule of the grammar takes.
    var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func scanDocument() throws(JSONSyntaxError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw fault(
                .size, at: 0, found: "a text of \(bytes.count) bytes",
                expected: "at most \(Self.maximumByteCount) bytes")
        }
        try refuseOtherEncodings()
        skipWhitespace()
        try scanValue(expected: "a JSON value")
        while openContainer >= 0 {
            skipWhitespace()
            if nodes[Int(openContainer)].kind == .object {
                try scanMember()
            } else {
                try scanElement()
            }
        }
        skipWhitespace()
        guard position == bytes.count else {
            throw unexpected("the end of the text", hint: trailingHint)
        }
    }

    @inline(__always)
    mutating func skipWhitespace() {
        if current <= 0x20 { skipWhitespaceThatIsThere() }
    }

    private mutating func skipWhitespaceThatIsThere() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0a, 0x0d, 0x09: position += 1
            default: return
            }
        }
    }

    /// One member of the open object with the comma before it, or the object's end. The member's
    /// value is left open if it is a container.
    private mutating func scanMember() throws(JSONSyntaxError) {
        let isFirst = nodes.count - 1 == Int(openContainer)
        if current == UInt8(ascii: "}") {
            closeContainer()
            return
        }
        if !isFirst {
            guard current == UInt8(ascii: ",") else {
                throw unexpected("`,` or `}`", hint: separatorHint)
            }
            position += 1
            skipWhitespace()
        }
        guard current == UInt8(ascii: "\"") else {
            throw unexpected(
                isFirst ? "a key in double quotes or `}`" : "a key in double quotes", hint: keyHint)
        }
        try scanString(as: .key)
        skipWhitespace()
        guard current == UInt8(ascii: ":") else { throw unexpected("`:` after the key") }
        position += 1
        skipWhitespace()
        try scanValue(expected: "a value")
    }

    /// One element of the open array with the comma before it, or the array's end.
    private mutating func scanElement() throws(JSONSyntaxError) {
        let isFirst = nodes.count - 1 == Int(openContainer)
        if current == UInt8(ascii: "]") {
            closeContainer()
            return
        }
        if !isFirst {
            guard current == UInt8(ascii: ",") else {
                throw unexpected("`,` or `]`", hint: separatorHint)
            }
            position += 1
            skipWhitespace()
        }
        try scanValue(expected: isFirst ? "a value or `]`" : "a value")
    }

    private mutating func scanValue(expected: StaticString) throws(JSONSyntaxError) {
        switch current {
        case UInt8(ascii: "{"): try openContainer(.object)
        case UInt8(ascii: "["): try openContainer(.array)
        case UInt8(ascii: "\""): try scanString(as: .string)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): try scanNumber()
        case UInt8(ascii: "-"):
            guard !isInfinity(at: position + 1) else { throw notANumber() }
            try scanNumber()
        case UInt8(ascii: "t") where hasWord("true"): append(.trueLiteral, byteCount: 4)
        case UInt8(ascii: "f") where hasWord("false"): append(.falseLiteral, byteCount: 5)
        case UInt8(ascii: "n") where hasWord("null"): append(.null, byteCount: 4)
        default: throw badValue(expected: expected)
        }
    }

    func hasWord(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { word in
            guard position + word.count <= bytes.count else { return false }
            for index in 0..<word.count where bytes[position + index] != word[index] {
                return false
            }
            return true
        }
    }

    private mutating func append(_ kind: JSONNode.Kind, byteCount: Int) {
        append(kind, from: position, to: position + byteCount)
        position += byteCount
    }

    mutating func append(
        _ kind: JSONNode.Kind, from start: Int, to end: Int, traits: JSONNode.Traits = []
    ) {
        // The conversions cannot trap: offsets and counts are within maximumByteCount.
        nodes.append(
            JSONNode(
                start: Int32(start), end: Int32(end), next: Int32(nodes.count + 1), kind: kind,
                traits: traits))
        summary.traits.formUnion(traits)
        summary.kinds |= 1 &<< kind.rawValue
    }

    private mutating func openContainer(_ kind: JSONNode.Kind) throws(JSONSyntaxError) {
        depth += 1
        guard depth <= Self.maximumDepth else {
            throw fault(
                .depth, at: position, found: "a container at depth \(depth)",
                expected: "a nesting of at most \(Self.maximumDepth)")
        }
        summary.deepest = max(summary.deepest, depth)
        append(kind, from: position, to: position + 1)
        nodes[nodes.count - 1].next = openContainer
        openContainer = Int32(nodes.count - 1)
        position += 1
    }

    private mutating func closeContainer() {
        let index = Int(openContainer)
        position += 1
        let around = nodes[index].next
        nodes[index].end = Int32(position)
        nodes[index].next = Int32(nodes.count)
        if nodes[index].kind == .object { noteDuplicateKeys(ofObject: index) }
        openContainer = around
        depth -= 1
    }
}
