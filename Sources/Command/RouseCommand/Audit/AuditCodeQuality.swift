// SPDX-License-Identifier: Apache-2.0

import AppAudit
import PayloadRules

/// `rouse audit --format gitlab`: a Code Quality report (GitLab Docs, "Code Quality report
/// format").
struct AuditCodeQuality {
    /// The findings.
    let issues: [Issue]

    /// One finding.
    struct Issue: Encodable {
        let description: String
        // Named as GitLab names it; the console writes keys in snake case.
        let checkName: String
        let fingerprint: String
        let severity: String
        let location: Location
    }

    /// Where a finding is.
    struct Location: Encodable {
        let path: String
        let lines: Lines
    }

    /// The lines of a finding.
    struct Lines: Encodable {
        let begin: Int
    }

    /// Describes what was found.
    init(_ report: AuditReport) {
        var fingerprints = FindingFingerprints()
        issues = report.findings.map { finding in
            let found = finding.diagnostic
            return Issue(
                description: "\(found.message)\(finding.origin(in: report)). \(found.fix)",
                checkName: found.rule.rawValue, fingerprint: fingerprints.next(finding),
                severity: Self.severity(found.severity),
                location: Location(path: finding.file, lines: Lines(begin: found.line)))
        }
    }

    private static func severity(_ severity: Severity) -> String {
        switch severity {
        case .error: "major"
        case .warning: "minor"
        case .note: "info"
        }
    }
}

/// Names for findings that stay the same while the lines around them move: made of file, rule,
/// target and what was found.
struct FindingFingerprints {
    private var occurrences: [String: Int] = [:]

    /// The fingerprint of the next finding: 16 hexadecimal digits.
    mutating func next(_ finding: AppFinding) -> String {
        let name = [
            finding.file, finding.diagnostic.rule.rawValue, finding.target ?? "",
            finding.diagnostic.pointer, finding.diagnostic.message,
        ].joined(separator: "\0")
        let count = occurrences[name, default: 0]
        occurrences[name] = count + 1
        return Self.hash("\(name)\0\(count)")
    }

    /// FNV-1a with 64 bits (RFC 9923): the same on every machine.
    private static func hash(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
