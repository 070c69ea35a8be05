// SPDX-License-Identifier: Apache-2.0

package import SeedKit

/// Writes valid JSON texts of every shape the grammar has, from a seed.
package struct RandomJSON {
    /// Where its choices come from.
    package var generator: SeededGenerator
    private var text: [UInt8] = []

    /// Texts of a seed.
    package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// One text whose containers stand at most `depth` deep.
    package mutating func document(depth: Int = 5) -> [UInt8] {
        text = []
        space()
        value(depth: depth)
        space()
        return text
    }

    /// Up to 60 bytes, mostly of those that the grammar uses.
    package mutating func bytes() -> [UInt8] {
        let alphabet = Array("{}[]\",:\\u0123456789abcdefnrtls -+.eE\n\r\t".utf8)
        let isWild = generator.chance(oneIn: 3)
        return (0..<Int.random(in: 0...60, using: &generator)).map { _ in
            isWild ? UInt8.random(in: 0...255, using: &generator) : generator.pick(alphabet)
        }
    }

    /// A text with one to three changes: a byte more, less or other, or its end cut off.
    package mutating func changed(_ bytes: [UInt8]) -> [UInt8] {
        var changed = bytes
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let place = Int.random(in: 0...changed.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: changed.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            case 1 where place < changed.count: changed.remove(at: place)
            case 2 where place < changed.count:
                changed[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            default: changed.removeSubrange(place...)
            }
        }
        return changed
    }

    private mutating func value(depth: Int) {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &generator) {
        case 0: put("true")
        case 1: put("false")
        case 2: put("null")
        case 3: number()
        case 4, 5: string()
        case 6, 7: object(depth: depth)
        default: array(depth: depth)
        }
    }

    private mutating func object(depth: Int) {
        put("{")
        space()
        for index in 0..<Int.random(in: 0...4, using: &generator) {
            if index > 0 { separator() }
            string()
            space()
            put(":")
            space()
            value(depth: depth - 1)
            space()
        }
        put("}")
    }

    private mutating func array(depth: Int) {
        put("[")
        space()
        for index in 0..<Int.random(in: 0...4, using: &generator) {
            if index > 0 { separator() }
            value(depth: depth - 1)
            space()
        }
        put("]")
    }

    private mutating func number() {
        if generator.chance(oneIn: 3) { put("-") }
        put(generator.pick(["0", "1", "9", "10", "42", "9007199254740991", "123456789012345678"]))
        if generator.chance(oneIn: 3) { put(generator.pick([".0", ".5", ".125", ".000001"])) }
        if generator.chance(oneIn: 4) { put(generator.pick(["e0", "E5", "e+9", "E-7", "e00"])) }
    }

    private mutating func string() {
        put("\"")
        for _ in 0..<Int.random(in: 0...6, using: &generator) {
            put(
                generator.pick([
                    "a", "Z", "0", " ", "/", "aps", "content-available", "{", "]", ",", "é", "ß",
                    "漢", "👍", "\u{7f}", "\u{2028}", "\u{10ffff}", "\u{e000}", "\\\"", "\\\\",
                    "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0041", "\\u00e9",
                    "\\uD83D\\uDE00",
                    "\\u0000", "\\uffff", "\\u002F",
                ]))
        }
        put("\"")
    }

    private mutating func separator() {
        put(",")
        space()
    }

    private mutating func space() {
        guard generator.chance(oneIn: 4) else { return }
        put(generator.pick([" ", "\t", "\n", "\r", "\r\n", "   "]))
    }

    private mutating func put(_ part: String) { text += part.utf8 }
}
