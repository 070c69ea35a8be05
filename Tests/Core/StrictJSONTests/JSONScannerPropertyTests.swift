// SPDX-License-Identifier: Apache-2.0

import JSONTestKit
import SeedKit
import StrictJSON
import Testing

@Suite("JSON scanner, by seed")
struct JSONScannerPropertyTests {
    private static let seeds: [UInt64] = [1, 2, 3, 4]

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
        var texts = RandomJSON(seed: seed)
        for index in PropertyRounds.few(4_000) {
            let bytes = texts.bytes()
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
            let mutated = texts.changed(bytes)
            if let fault = fault(of: mutated) {
                Issue.record("seed \(seed), text \(index) \(mutated): \(fault)")
                return
            }
        }
    }

    @Test(
        "a cut payload never passes",
        arguments: [
            #"{"aps":{"content-available":1},"version":7,"parts":[1,-2.5e3,true,null]}"#,
            #"{"id":"a\u00e9\n","handle":{"name":"Zoë"}}"#,
        ])
    func everyPrefixIsRefused(text: String) throws {
        let bytes = Array(text.utf8)
        _ = try JSONScanner.scan(bytes)
        for count in 0..<bytes.count {
            #expect(throws: JSONSyntaxError.self) {
                try JSONScanner.scan(Array(bytes.prefix(count)))
            }
        }
    }

    /// What is wrong with the answer about these bytes, if anything.
    private func fault(of bytes: [UInt8]) -> String? {
        do throws(JSONSyntaxError) {
            return tapeFault(try JSONScanner.scan(bytes))
        } catch {
            return (0...bytes.count).contains(error.offset) ? nil : "\(error)"
        }
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
