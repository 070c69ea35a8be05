// SPDX-License-Identifier: Apache-2.0

import SeedKit
import Testing
import WakeModel

@testable import PayloadRules

@Suite("Keys that are nearly Apple's")
struct NearMissTests {
    /// Optimal string alignment as its textbooks have it, without any bound.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [Array(0...right.count)]
        for (i, a) in left.enumerated() {
            var row = [i + 1]
            for (j, b) in right.enumerated() {
                var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a == b ? 0 : 1))
                if i > 0, j > 0, a == right[j - 1], left[i - 1] == b {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }

    private static func letters(_ key: APSKey) -> [UInt8] { NearMiss.letters(of: key.name) }

    /// The key that a text is near to, by comparing it with all of them.
    private static func nearest(_ text: [UInt8]) -> APSKey? {
        guard !text.isEmpty, text.count <= NearMiss.maximumByteCount else { return nil }
        let folded = NearMiss.letters(text[...])
        var best: (key: APSKey, distance: Int)?
        for key in APSKey.allCases {
            let distance = distance(folded, letters(key))
            let limit = letters(key).count <= 6 ? 1 : 2
            if distance <= limit, distance < best?.distance ?? .max { best = (key, distance) }
        }
        return best?.key
    }

    @Test("The quick search finds what comparing with every key finds", arguments: 0..<8)
    func agreement(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let key = APSKey.allCases.randomElement(using: &generator) ?? .alert
            var text = key.name.withUTF8Buffer { Array($0) }
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                let place = Int.random(in: 0...text.count, using: &generator)
                let letter = UInt8.random(in: 0x20...0x7e, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: text.insert(letter, at: place)
                case 1 where place < text.count: text.remove(at: place)
                case 2 where place < text.count: text[place] = letter
                case _ where place + 1 < text.count: text.swapAt(place, place + 1)
                default: break
                }
            }
            var search = NearMissSearch()
            let shown = String(decoding: text, as: UTF8.self)
            #expect(search.key(near: text[...]) == Self.nearest(text), "\(shown), seed \(seed)")
            #expect(
                NearMiss.isNearContentAvailable(text[...])
                    == (Self.nearest(text) == .contentAvailable), "\(shown), seed \(seed)")
        }
    }

    @Test("Bounded distances are the unbounded ones, up to their limit", arguments: 0..<8)
    func bound(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let texts = (0..<2).map { _ in
                (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                    UInt8.random(in: 0x61...0x63, using: &generator)
                }
            }
            let whole = Self.distance(texts[0], texts[1])
            for limit in 0...3 {
                #expect(
                    NearMiss.distance(texts[0], texts[1], limit: limit)
                        == (whole <= limit ? whole : nil), "\(texts), seed \(seed)")
            }
        }
    }

    /// A payload of some 3.9 KB in which each of so many keys has a slip of the hand.
    private static func misspelt(_ count: Int) -> [UInt8] {
        let keys = (0..<count).map { number in
            let name = "contentavailabel".enumerated().map { place, letter in
                place < 12 && number >> place & 1 == 1 ? letter.uppercased() : String(letter)
            }
            return "\"\(name.joined())\":1"
        }
        return Array("{\"aps\":{\"content-available\":1,\(keys.joined(separator: ","))}}".utf8)
    }

    @Test("A document of misspelt keys costs few comparisons, and all of them are told")
    func manyMisspelt() {
        let payload = Self.misspelt(140)
        #expect(payload.count < 4_096)
        let found = WakeValidator().diagnostics(ofPayload: payload, as: .background)
        #expect(found.count { $0.rule == "G012" } == 140)
        #expect(found.count { $0.rule == "G011" } == 0)
        // Besides `content-available`, only `mutable-content` has nearly the same letters.
        var search = NearMissSearch()
        for _ in 0..<140 { _ = search.key(near: Array("contentavailabel".utf8)[...]) }
        #expect(NearMissSearch.comparisonCount - search.remaining == 280)
        for _ in 0..<140 { _ = search.key(near: Array("orderNumber".utf8)[...]) }
        #expect(NearMissSearch.comparisonCount - search.remaining == 280)
    }

    @Test("Beyond its bound the search still knows other spellings")
    func exhausted() {
        var search = NearMissSearch()
        for _ in 0..<NearMissSearch.comparisonCount {
            _ = search.key(near: Array("contentavailabel".utf8)[...])
        }
        #expect(search.remaining == 0)
        #expect(search.key(near: Array("content_Available".utf8)[...]) == .contentAvailable)
        #expect(search.key(near: Array("contentavailabel".utf8)[...]) == nil)
    }
}
