// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import SeedKit
import Testing
import WakeModel

@Suite("JSON scanner, by seed")
struct JSONScannerPropertyTests {
    private static let seeds: [UInt64] = [1, 2, 3, 4]
    private let validator = WakeValidator()

    @Test("takes every text that the grammar can write", arguments: seeds)
    func validTextsAreAccepted(seed: UInt64) throws {
        var texts = RandomJSON(seed: seed)
        for index in PropertyRounds.few(1_500) {
            let text = texts.document()
            guard let document = try? JSONScanner.scan(text) else {
                Issue.record(
                    "seed \(seed), text \(index): \(String(decoding: text, as: UTF8.self))")
                return
            }
            if let fault = tapeFault(document) {
                Issue.record("seed \(seed), text \(index): \(fault)")
                return
            }
        }
    }

    @Test("random bytes get an answer with a place inside the text", arguments: seeds)
    func randomBytes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("{}[]\",:\\u0123456789abcdefnrtls -+.eE\n\r\t".utf8)
        for index in PropertyRounds.few(4_000) {
            let isWild = generator.chance(oneIn: 3)
            let bytes = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
                isWild ? UInt8.random(in: 0...255, using: &generator) : generator.pick(alphabet)
            }
            if let fault = fault(of: bytes) {
                Issue.record("seed \(seed), bytes \(index) \(bytes): \(fault)")
                return
            }
        }
    }

    @Test("so do valid texts with a few bytes changed", arguments: seeds)
    func mutatedTexts(seed: UInt64) {
        var texts = RandomJSON(seed: seed &+ 100)
        var bytes: [UInt8] = []
        for index in PropertyRounds.few(3_000) {
            if index.isMultiple(of: 10) { bytes = texts.document() }
            let mutated = mutate(bytes, &texts.generator)
            if let fault = fault(of: mutated) {
                Issue.record("seed \(seed), text \(index) \(mutated): \(fault)")
                return
            }
        }
    }

    @Test("a cut payload never passes", arguments: [cleanBackground, cleanCall])
    func everyPrefixIsRefused(text: String) throws {
        let bytes = Array(text.utf8)
        _ = try JSONScanner.scan(bytes)
        for count in 0..<bytes.count {
            #expect(throws: JSONSyntaxError.self) {
                try JSONScanner.scan(Array(bytes.prefix(count)))
            }
        }
    }

    private func mutate(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var mutated = bytes
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let place = Int.random(in: 0...mutated.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: mutated.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            case 1 where place < mutated.count: mutated.remove(at: place)
            case 2 where place < mutated.count:
                mutated[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            default: mutated.removeSubrange(place...)
            }
        }
        return mutated
    }

    /// What is wrong with the answers about these bytes, if anything: the validator's findings for
    /// both kinds have to lie inside the text.
    private func fault(of bytes: [UInt8]) -> String? {
        do throws(JSONSyntaxError) {
            if let fault = tapeFault(try JSONScanner.scan(bytes)) { return fault }
        } catch {
            guard (0...bytes.count).contains(error.offset) else { return "\(error)" }
        }
        let lines = lineWidths(bytes)
        for kind in WakeKind.allCases {
            for found in validator.diagnostics(ofPayload: bytes, as: kind) {
                guard (0...bytes.count).contains(found.offset),
                    (1...lines.count).contains(found.line),
                    (1...lines[found.line - 1] + 1).contains(found.column)
                else { return "\(found)" }
            }
        }
        return nil
    }

    /// The number of bytes of each line: no column can be beyond the one behind its last byte.
    private func lineWidths(_ bytes: [UInt8]) -> [Int] {
        var widths = [0]
        for (index, byte) in bytes.enumerated() {
            let isBeforeLF = index + 1 < bytes.count && bytes[index + 1] == 0x0a
            if byte == 0x0a || (byte == 0x0d && !isBeforeLF) {
                widths.append(0)
            } else {
                widths[widths.count - 1] += 1
            }
        }
        return widths
    }

    /// The first way in which a tape is not what it should be: ordered, nested, within the text.
    private func tapeFault(_ document: JSONDocument) -> String? {
        let nodes = document.nodes
        guard nodes[0].next == nodes.count else { return "the root does not span the tape" }
        for (index, node) in nodes.enumerated() {
            guard 0 <= node.start, node.start < node.end, node.end <= document.bytes.count else {
                return "node \(index) is outside the text"
            }
            guard index < node.next, node.next <= nodes.count else {
                return "node \(index) leads to \(node.next)"
            }
            for child in nodes[(index + 1)..<Int(node.next)] {
                guard node.start < child.start, child.end < node.end, child.next <= node.next else {
                    return "node \(index) does not hold its children"
                }
            }
            if node.kind == .key, index + 1 >= nodes.count { return "key \(index) has no value" }
        }
        return nil
    }
}
