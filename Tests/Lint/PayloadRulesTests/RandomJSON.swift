// SPDX-License-Identifier: Apache-2.0

import SeedKit

/// Writes valid JSON texts of every shape the grammar has, from a seed.
struct RandomJSON {
    var generator: SeededGenerator
    private var text: [UInt8] = []

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// One text whose containers stand at most `depth` deep.
    mutating func document(depth: Int = 5) -> [UInt8] {
        text = []
        space()
        value(depth: depth)
        space()
        return text
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
