// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Selects the findings to fix.
public enum FixMode: Hashable, Sendable {
    /// None.
    case nothing
    /// Findings whose fix does not change the intended meaning of the push.
    case safe
    /// All, including fixes that remove something or change what the push does.
    case all
}

/// Applies the repairs of the reported findings to documents. Other bytes do not change.
struct Fixer: Sendable {
    let checker: PushChecker
    let mode: FixMode

    /// Returns the text with repairs applied.
    func mended(_ bytes: [UInt8], name: String) -> [UInt8] {
        mended(bytes) { checker.reader.read($0, name: name) }
    }

    /// Returns one line with repairs applied.
    func mendedLine(_ bytes: [UInt8]) -> [UInt8] {
        mended(bytes) { checker.reader.readLine($0) }
    }

    /// Checks again after each round: a renamed key may have an invalid value.
    private func mended(_ bytes: [UInt8], _ read: ([UInt8]) -> PushDocument) -> [UInt8] {
        guard mode != .nothing else { return bytes }
        var bytes = bytes
        for _ in 0..<LintLimits.mendingRounds {
            let document = read(bytes)
            let repairs = checker.check(document, in: SourceText(bytes, of: document)).repairs
                .filter { mode == .all || $0.isSafe }
            guard !repairs.isEmpty else { break }
            let mended = Repairs.apply(repairs, to: bytes)
            guard mended != bytes else { break }
            bytes = mended
        }
        return bytes
    }
}
