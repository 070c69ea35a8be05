// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Names for findings that stay the same while the lines around them move: made of path, rule and
/// JSON pointer, for a file of lines of the line's number, and for an app's file of the target and
/// the finding's detail. Nothing of a payload's values goes in.
struct Fingerprints {
    private var occurrences: [String: Int] = [:]
    private let path: String
    private let isManyLines: Bool

    /// Fingerprints of one file's findings.
    init(_ file: ReportedFile) { self.init(path: file.path, isManyLines: file.isManyLines) }

    /// Fingerprints of the findings of a file at this path.
    init(path: String, isManyLines: Bool) {
        self.path = path
        self.isManyLines = isManyLines
    }

    /// The fingerprint of the next finding: 32 hexadecimal digits.
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

    /// FNV-1a with 128 bits (RFC 9923): stable over versions and machines, and not a secret's
    /// keeper.
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
