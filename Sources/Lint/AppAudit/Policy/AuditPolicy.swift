// SPDX-License-Identifier: Apache-2.0

public import PayloadRules

/// Which findings of an audit are reported, and how much they weigh.
public struct AuditPolicy: Hashable, Sendable {
    /// The rules that are asked; `nil` for all.
    public var selected: Set<RuleID>?
    /// The rules that are not asked.
    public var ignored: Set<RuleID> = []
    /// The weight of the findings of a rule; `nil` inside for a rule that is off.
    public var weights: [RuleID: Severity?] = [:]

    /// Reports everything.
    public init() {}

    /// The rules that a name stands for: an id such as `CF026`, or `CF` for all.
    ///
    /// - Throws: ``AuditConfigurationFailure`` for a name that no rule has.
    public static func rules(
        named name: some StringProtocol
    ) throws(AuditConfigurationFailure) -> Set<RuleID> {
        let name = name.uppercased()
        if name == "CF" { return Set(AppRules.table.map(\.id)) }
        guard let rule = AppRules.rule(RuleID(rawValue: name)) else {
            let last = AppRules.table.last?.id.rawValue ?? ""
            throw AuditConfigurationFailure(
                "\(name) is no rule about apps. They are CF001 to \(last).")
        }
        return [rule.id]
    }

    /// What is left of a report: rules that are not asked, and findings that a comment
    /// (`rouse:ignore CF026 reason`) on their line or the one above ignores, are taken out.
    public func applied(to report: AuditReport) -> AuditReport {
        var result = report
        for index in result.files.indices {
            var comments = IgnoreComments(result.files[index].path)
            result.files[index].findings = result.files[index].findings.compactMap { finding in
                let rule = finding.diagnostic.rule
                if selected?.contains(rule) == false || ignored.contains(rule) { return nil }
                if comments.ignore(rule, line: finding.diagnostic.line) { return nil }
                var finding = finding
                if let weight = weights[rule] {
                    guard let weight else { return nil }
                    finding.diagnostic.severity = weight
                }
                return finding
            }
        }
        result.files.removeAll { $0.kind == .swift && $0.findings.isEmpty }
        for index in result.unjudged.indices {
            result.unjudged[index].rules.removeAll {
                selected?.contains($0) == false || ignored.contains($0) || weights[$0] == .some(nil)
            }
        }
        return result
    }
}

/// The comments of a file that ignore rules, in whatever language: `// rouse:ignore CF026 reason`.
struct IgnoreComments {
    private static let mark = "rouse:ignore "

    private let path: String
    private var rulesByLine: [Int: Set<String>]?

    /// Will read this file when it is asked.
    init(_ path: String) { self.path = path }

    /// Whether a rule is ignored on a line.
    mutating func ignore(_ rule: RuleID, line: Int) -> Bool {
        let known = rulesByLine ?? Self.read(path)
        rulesByLine = known
        return [line, line - 1].contains { known[$0]?.contains(rule.rawValue) == true }
    }

    private static func read(_ path: String) -> [Int: Set<String>] {
        guard let bytes = try? FileTree.read(path, limit: AuditLimits.projectBytes),
            WordFilter(["rouse"]).finds(in: bytes)
        else { return [:] }
        var rules: [Int: Set<String>] = [:]
        let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where line.count < 4096 {
            let text = String(decoding: line, as: UTF8.self)
            guard let start = text.firstRange(of: mark) else { continue }
            let words = text[start.upperBound...].split { $0 == " " || $0 == "," || $0 == "\t" }
            let ids = words.prefix { $0.hasPrefix("CF") && $0.dropFirst(2).allSatisfy(\.isNumber) }
            rules[index + 1] = Set(ids.map(String.init))
        }
        return rules
    }
}
