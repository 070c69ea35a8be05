// SPDX-License-Identifier: Apache-2.0

import AppAudit
import Foundation
import PayloadRules
import WakeModel

/// `rouse audit --format sarif`: SARIF 2.1.0 (OASIS Standard, "Static Analysis Results Interchange
/// Format"), with all rules about apps and the findings as results.
struct AuditSARIF: Encodable {
    let version = "2.1.0"
    let runs: [Run]

    /// Describes what was found.
    init(_ report: AuditReport) { runs = [Run(report)] }

    /// The one run.
    struct Run: Encodable {
        let tool = Tool()
        let columnKind = "unicodeCodePoints"
        let results: [Finding]

        init(_ report: AuditReport) {
            var fingerprints = FindingFingerprints()
            results = report.findings.map {
                Finding($0, report, fingerprint: fingerprints.next($0))
            }
        }
    }

    /// The program.
    struct Tool: Encodable {
        let driver = Driver()
    }

    /// The program's name and its rules.
    struct Driver: Encodable {
        let name = "rouse"
        let semanticVersion = RouseVersion.current
        let rules = AppRules.table.map(Descriptor.init)
    }

    /// A text.
    struct Message: Encodable {
        let text: String
    }

    /// A rule.
    struct Descriptor: Encodable {
        let id: String
        let shortDescription: Message
        let fullDescription: Message
        let help: Message
        let defaultConfiguration: Configuration

        init(_ rule: AppRule) {
            id = rule.id.rawValue
            shortDescription = Message(text: rule.title)
            let sources = rule.evidence.map(\.description).joined(separator: "; ")
            fullDescription = Message(text: "\(rule.rationale) Sources: \(sources).")
            help = Message(text: rule.fix)
            defaultConfiguration = Configuration(level: rule.severity.rawValue)
        }
    }

    /// A rule's weight.
    struct Configuration: Encodable {
        let level: String
    }

    /// A finding.
    struct Finding: Encodable {
        let ruleId: String
        let level: String
        let message: Message
        let locations: [Location]
        let partialFingerprints: [String: String]

        init(_ finding: AppFinding, _ report: AuditReport, fingerprint: String) {
            let found = finding.diagnostic
            ruleId = found.rule.rawValue
            level = found.severity.rawValue
            message = Message(text: "\(found.message)\(finding.origin(in: report)). \(found.fix)")
            locations = [Location(finding)]
            partialFingerprints = ["rouseFinding/v1": fingerprint]
        }
    }

    /// Where a finding is.
    struct Location: Encodable {
        let physicalLocation: PhysicalLocation

        init(_ finding: AppFinding) {
            physicalLocation = PhysicalLocation(
                artifactLocation: Artifact(uri: Self.uri(finding.file)),
                region: Region(
                    startLine: finding.diagnostic.line, startColumn: finding.diagnostic.column))
        }

        /// A path as a relative reference, or with the scheme `file` (RFC 3986, RFC 8089).
        private static func uri(_ path: String) -> String {
            let plain = CharacterSet(
                charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/")
            let escaped = path.addingPercentEncoding(withAllowedCharacters: plain) ?? path
            return path.hasPrefix("/") ? "file://" + escaped : escaped
        }
    }

    /// A file and a place in it.
    struct PhysicalLocation: Encodable {
        let artifactLocation: Artifact
        let region: Region
    }

    /// A file.
    struct Artifact: Encodable {
        let uri: String
    }

    /// A place.
    struct Region: Encodable {
        let startLine: Int
        let startColumn: Int
    }
}
