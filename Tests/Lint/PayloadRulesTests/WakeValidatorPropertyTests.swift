// SPDX-License-Identifier: Apache-2.0

import JSONTestKit
import PayloadRules
import SeedKit
import Testing
import WakeModel

@Suite("Wake validator, by seed")
struct WakeValidatorPropertyTests {
    private static let seeds: [UInt64] = [1, 2, 3, 4]
    private let validator = WakeValidator()

    @Test("random bytes get findings with places inside the text", arguments: seeds)
    func randomBytes(seed: UInt64) {
        var texts = RandomJSON(seed: seed)
        for index in PropertyRounds.few(4_000) {
            let bytes = texts.bytes()
            if let found = misplaced(bytes) {
                Issue.record("seed \(seed), bytes \(index) \(bytes): \(found)")
                return
            }
        }
    }

    @Test("so do valid texts with a few bytes changed", arguments: seeds)
    func changedTexts(seed: UInt64) {
        var texts = RandomJSON(seed: seed &+ 100)
        var bytes: [UInt8] = []
        for index in PropertyRounds.few(3_000) {
            if index.isMultiple(of: 10) { bytes = texts.document() }
            let changed = texts.changed(bytes)
            if let found = misplaced(changed) {
                Issue.record("seed \(seed), text \(index) \(changed): \(found)")
                return
            }
        }
    }

    /// The first finding, for any kind of wake, whose place is outside of the text.
    private func misplaced(_ bytes: [UInt8]) -> Diagnostic? {
        let lines = lineWidths(bytes)
        return WakeKind.allCases.lazy
            .flatMap { validator.diagnostics(ofPayload: bytes, as: $0) }
            .first { found in
                !(0...bytes.count).contains(found.offset)
                    || !(1...lines.count).contains(found.line)
                    || !(1...lines[found.line - 1] + 1).contains(found.column)
            }
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
}
