// SPDX-License-Identifier: Apache-2.0

import Foundation
import JSONTestKit
import SeedKit
import StrictJSON
import Testing

/// Foundation's parser is the one that most Swift code reads payloads with. What the scanner takes,
/// it must take too, except for what is listed here.
@Suite("Agreement with JSONSerialization")
struct FoundationAgreementTests {
    /// Texts that RFC 8259 allows and JSONSerialization refuses: numbers beyond a double, and
    /// surrogate escapes without their partner. Rules G007 and G019 warn of both.
    private static let knownDisagreements: Set<String> = [
        "huge exponent", "lone lead surrogate", "lone trail surrogate", "swapped surrogates",
        "lead surrogate before text",
    ]

    private func foundationAccepts(_ bytes: [UInt8]) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
    }

    /// The two kinds of text that Foundation refuses: see ``knownDisagreements``.
    private func isKnownDisagreement(_ document: JSONDocument) -> Bool {
        let traits = document.summary.traits
        return traits.contains(.loneSurrogate)
            || (traits.contains(.extremeNumber)
                && document.nodes.indices.contains { document.double($0)?.isInfinite == true })
    }

    @Test("takes what the scanner takes", arguments: JSONScannerCases.accepted)
    func acceptedTexts(text: JSONScannerCases.Accepted) {
        let isKnown = Self.knownDisagreements.contains(text.name)
        #expect(foundationAccepts(text.bytes) == !isKnown)
    }

    @Test("takes every text that the grammar can write", arguments: [UInt64](11...14))
    func randomTexts(seed: UInt64) {
        var texts = RandomJSON(seed: seed)
        for index in PropertyRounds.few(500) {
            let text = texts.document()
            guard foundationAccepts(text) else {
                Issue.record(
                    "seed \(seed), text \(index): \(String(decoding: text, as: UTF8.self))")
                return
            }
        }
    }

    @Test("takes mutated texts that the scanner still takes", arguments: [UInt64](21...24))
    func mutatedTexts(seed: UInt64) {
        var texts = RandomJSON(seed: seed)
        var taken = 0
        for index in PropertyRounds.few(1_200) {
            var text = texts.document(depth: 3)
            let place = Int.random(in: 0..<text.count, using: &texts.generator)
            text[place] = UInt8.random(in: 0x20...0x7e, using: &texts.generator)
            guard let document = try? JSONScanner.scan(text), !isKnownDisagreement(document) else {
                continue
            }
            taken += 1
            guard foundationAccepts(text) else {
                Issue.record(
                    "seed \(seed), text \(index): \(String(decoding: text, as: UTF8.self))")
                return
            }
        }
        #expect(taken > 100)
    }
}
