// SPDX-License-Identifier: Apache-2.0

/// One finding of an app rule: a diagnostic, the file it is about, and the builds that show it.
public struct AppFinding: Hashable, Sendable {
    /// The file's path.
    public var file: String
    /// The target that was looked at; `nil` where there are no targets.
    public var target: String?
    /// The build configurations that show it, in their order; empty where there are none.
    public var configurations: [String]
    /// The finding.
    public var diagnostic: Diagnostic

    /// Spells out one finding.
    public init(
        file: String, target: String? = nil, configurations: [String] = [], diagnostic: Diagnostic
    ) {
        self.file = file
        self.target = target
        self.configurations = configurations
        self.diagnostic = diagnostic
    }

    /// Makes one finding of those that differ only in their build configuration, and orders them by
    /// file and place.
    public static func merged(_ findings: [AppFinding]) -> [AppFinding] {
        var merged: [AppFinding] = []
        var indices: [AppFinding: Int] = [:]
        for finding in findings {
            var key = finding
            key.configurations = []
            if let index = indices[key] {
                for name in finding.configurations
                where !merged[index].configurations.contains(name) {
                    merged[index].configurations.append(name)
                }
            } else {
                indices[key] = merged.count
                merged.append(finding)
            }
        }
        return merged.sorted { left, right in
            if left.file != right.file { return left.file < right.file }
            let (a, b) = (left.diagnostic, right.diagnostic)
            if a.offset != b.offset { return a.offset < b.offset }
            if a.severity != b.severity { return a.severity > b.severity }
            if a.rule != b.rule { return a.rule < b.rule }
            return (left.target ?? "") < (right.target ?? "")
        }
    }
}

/// What the app rules have found so far.
struct AppFindings {
    private let configuration: String?
    private(set) var found: [AppFinding] = []
    private var current: AppRule

    init(of rule: AppRule, configuration: String?) {
        current = rule
        self.configuration = configuration
    }

    /// Lets another rule look.
    mutating func begin(_ rule: AppRule) { current = rule }

    /// Reports a finding of the rule that is looking now. What is left out is taken from the rule.
    mutating func report(
        _ bundle: AppFacts.Bundle, at place: AppPlace, _ message: String? = nil,
        fix: String? = nil, severity: Severity? = nil
    ) {
        let diagnostic = Diagnostic(
            rule: current.id, severity: severity ?? current.severity,
            message: message ?? current.title, fix: fix ?? current.fix, line: place.line,
            column: place.column, offset: place.offset, pointer: place.pointer)
        found.append(
            AppFinding(
                file: place.file, target: bundle.name,
                configurations: configuration.map { [$0] } ?? [], diagnostic: diagnostic))
    }

    /// Reports a finding that rests on source text, which is at most a warning: text is read, not
    /// compiled.
    mutating func suspect(
        _ bundle: AppFacts.Bundle, at place: AppPlace, _ message: String? = nil,
        fix: String? = nil
    ) {
        report(bundle, at: place, message, fix: fix, severity: min(current.severity, .warning))
    }
}
