// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import PayloadRules

/// The findings that a team knows of, in a file that is committed: only others are reported.
public struct AuditBaseline: Hashable, Sendable {
    /// A finding, whatever line it stands in.
    private struct Entry: Codable, Hashable {
        let rule: String
        let file: String
        let pointer: String
        let message: String
    }

    private struct Document: Codable {
        let version: Int
        let findings: [Entry]
    }

    private var entries: [Entry]

    /// The findings of a report; paths are kept from the folder of the baseline's own file.
    public init(_ report: AuditReport, path: String) {
        entries = report.findings.map { Self.entry($0, Paths.folder(of: path)) }
    }

    /// Reads a baseline.
    ///
    /// - Throws: ``AuditConfigurationFailure`` for a file that is none.
    public init(path: String) throws(AuditConfigurationFailure) {
        guard let bytes = try? FileTree.read(path, limit: AuditLimits.projectBytes) else {
            throw AuditConfigurationFailure(
                "\(path): the baseline cannot be read. Make it with --write-baseline \(path).")
        }
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)),
            document.version == 1
        else {
            throw AuditConfigurationFailure(
                "\(path) is no baseline of this version. Make it anew with --write-baseline.")
        }
        entries = document.findings
    }

    /// The file's text: JSON with one line for each member, in order, so that changes show.
    public var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let sorted = entries.sorted {
            ($0.file, $0.rule, $0.pointer, $0.message) < ($1.file, $1.rule, $1.pointer, $1.message)
        }
        let data = try? encoder.encode(Document(version: 1, findings: sorted))
        return String(decoding: data ?? Data(), as: UTF8.self) + "\n"
    }

    /// How many findings it holds.
    public var count: Int { entries.count }

    /// What of a report is new. As many of the same findings are known as the baseline has.
    public func filtered(_ report: AuditReport, path: String) -> AuditReport {
        var left: [Entry: Int] = [:]
        for entry in entries { left[entry, default: 0] += 1 }
        var result = report
        for index in result.files.indices {
            result.files[index].findings.removeAll { finding in
                let entry = Self.entry(finding, Paths.folder(of: path))
                guard let count = left[entry], count > 0 else { return false }
                left[entry] = count - 1
                return true
            }
        }
        result.files.removeAll { $0.kind == .swift && $0.findings.isEmpty }
        return result
    }

    private static func entry(_ finding: AppFinding, _ folder: String) -> Entry {
        let current = FileTree.currentFolder
        let file = Paths.join(current, finding.file)
        let root = Paths.join(current, folder)
        let relative = file.hasPrefix(root + "/") ? String(file.dropFirst(root.count + 1)) : file
        // Messages name lines and files of other findings, which move.
        let message = finding.diagnostic.message.withoutLine
        return Entry(
            rule: finding.diagnostic.rule.rawValue, file: relative,
            pointer: finding.file.hasSuffix(".pbxproj") ? "" : finding.diagnostic.pointer,
            message: message)
    }
}

extension String {
    /// A message without its last part, if that names a line: ", line 12".
    fileprivate var withoutLine: String {
        firstRange(of: ", line ").map { String(self[..<$0.lowerBound]) } ?? self
    }
}
