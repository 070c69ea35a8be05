// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Identifies findings independently of line numbers: by path, rule and JSON pointer, in a file of
/// lines by the line number, and in an app's file by the target and the finding's detail. Payload
/// values are not included.
struct Fingerprints {
    private var occurrences: [String: Int] = [:]
    private let path: String
    private let isManyLines: Bool

    /// Creates the fingerprints of one file's findings.
    init(_ file: ReportedFile) { self.init(path: file.path, isManyLines: file.isManyLines) }

    /// Creates the fingerprints of the findings of a file at this path.
    init(path: String, isManyLines: Bool) {
        self.path = path
        self.isManyLines = isManyLines
    }

    /// Returns the fingerprint of the next finding: 32 hexadecimal digits.
    mutating func next(_ finding: Finding) -> String {
        let line = isManyLines ? "\(finding.line)" : ""
        var parts = [path, finding.rule.rawValue, finding.pointer, finding.header ?? "", line]
        if finding.target != nil || !finding.detail.isEmpty {
            parts += [finding.target ?? "", finding.detail]
        }
        let name = parts.joined(separator: "\0")
        let count = occurrences[name, default: 0]
        occurrences[name] = count + 1
        return Self.hash(count == 0 ? name : "\(name)\0\(count)")
    }

    /// FNV-1a with 128 bits (RFC 9923): the same in all versions and on all machines; not a
    /// cryptographic hash.
    static func hash(_ text: String) -> String {
        let prime: UInt128 = 1 << 88 | 0x13b
        var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
        for byte in text.utf8 {
            hash = (hash ^ UInt128(byte)) &* prime
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}
