// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The findings to fix.
public enum FixMode: Hashable, Sendable {
    /// Nothing.
    case nothing
    /// What has one right answer.
    case safe
    /// That, and what removes something or changes what a push does.
    case all
}

/// Fixes documents: applies the repairs of the reported findings, and changes no other byte.
struct Fixer: Sendable {
    let checker: PushChecker
    let mode: FixMode

    /// The text with its repairs made; the text itself where there are none.
    func mended(_ bytes: [UInt8], name: String) -> [UInt8] {
        mended(bytes) { checker.reader.read($0, name: name) }
    }

    /// One line of a file of lines with its repairs made.
    func mendedLine(_ bytes: [UInt8]) -> [UInt8] {
        mended(bytes) { checker.reader.readLine($0) }
    }

    /// Looks again after each round: a key that has got its right name may have a wrong value.
    private func mended(_ bytes: [UInt8], _ read: ([UInt8]) -> PushDocument) -> [UInt8] {
        guard mode != .nothing else { return bytes }
        var bytes = bytes
        for _ in 0..<LintLimits.mendingRounds {
            let repairs = checker.check(read(bytes), in: SourceText(bytes: bytes)).repairs
                .filter { mode == .all || $0.isSafe }
            guard !repairs.isEmpty else { break }
            let mended = Repairs.apply(repairs, to: bytes)
            guard mended != bytes else { break }
            bytes = mended
        }
        return bytes
    }
}
