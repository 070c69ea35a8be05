// SPDX-License-Identifier: Apache-2.0

/// A finding of an app rule: a diagnostic, its file, and the targets and configurations that have
/// it.
public struct AppFinding: Hashable, Sendable {
    /// The file's path.
    public var file: String
    /// The targets with this finding, in order; empty if there are none.
    public var targets: [String]
    /// The build configurations with this finding, in order; empty if there are none.
    public var configurations: [String]
    /// The finding.
    public var diagnostic: Diagnostic
    /// The rule that covers this finding in the same app, if that rule is enabled; `nil` for none.
    public var isSaidBy: RuleID?
    /// The other places in the same function that have it, in order: it is about the first that
    /// neither a comment nor a baseline exempts.
    public var further: [AppPlace] = []

    /// The targets as text; `nil` if there are none.
    public var target: String? { targets.isEmpty ? nil : targets.joined(separator: ", ") }

    /// Creates a finding.
    public init(
        file: String, target: String? = nil, configurations: [String] = [], diagnostic: Diagnostic
    ) {
        self.file = file
        targets = target.map { [$0] } ?? []
        self.configurations = configurations
        self.diagnostic = diagnostic
    }

    /// The finding at each of its places, the first one first, each with those behind it.
    public var atEachPlace: [AppFinding] {
        var all = [self]
        for (index, place) in further.enumerated() {
            var other = self
            other.diagnostic.line = place.line
            other.diagnostic.column = place.column
            other.diagnostic.offset = place.offset
            other.further = Array(further[(index + 1)...])
            all.append(other)
        }
        return all
    }

    /// The finding at the first of its places that count, with the others that do; `nil` if none
    /// does.
    public func limited(to counts: (AppFinding) -> Bool) -> AppFinding? {
        let left = atEachPlace.filter(counts)
        guard var first = left.first else { return nil }
        first.further = left.dropFirst().map(\.place)
        return first
    }

    private var place: AppPlace {
        AppPlace(
            file: file, line: diagnostic.line, column: diagnostic.column,
            offset: diagnostic.offset, pointer: diagnostic.pointer)
    }

    /// Merges findings with the same cause, and sorts them by file, severity and place.
    ///
    /// Findings have the same cause if they are equal at the same place, regardless of the targets
    /// that share the file, or if they are equal for one target in different build configurations.
    public static func merged(_ findings: [AppFinding]) -> [AppFinding] {
        var merged: [AppFinding] = []
        var byPlace: [AppFinding: Int] = [:]
        var byMessage: [[String]: [Int]] = [:]
        for finding in findings {
            var place = finding
            place.configurations = []
            place.targets = []
            // Other projects may have targets with the same name.
            let folder = String(finding.file.prefix(upTo: finding.file.lastSlash))
            let message =
                finding.targets
                + [folder, finding.diagnostic.rule.rawValue, finding.diagnostic.message]
            let index =
                byPlace[place]
                ?? byMessage[message]?.first {
                    Set(merged[$0].configurations).isDisjoint(with: finding.configurations)
                        && !finding.configurations.isEmpty
                }
            guard let index else {
                byPlace[place] = merged.count
                byMessage[message, default: []].append(merged.count)
                merged.append(finding)
                continue
            }
            byPlace[place] = index
            merged[index].add(finding)
        }
        let worst = Dictionary(grouping: merged, by: Cause.init).mapValues { findings in
            findings.map(\.diagnostic.severity).max() ?? .note
        }
        merged.removeAll { finding in
            guard let severity = worst[Cause(finding)] else { return false }
            return finding.diagnostic.severity < severity
        }
        return merged.inOrder
    }

    /// A rule and a place: an error for one target is not repeated as a warning for another.
    private struct Cause: Hashable {
        let file: String
        let rule: RuleID
        let offset: Int
        let pointer: String

        init(_ finding: AppFinding) {
            file = finding.file
            rule = finding.diagnostic.rule
            offset = finding.diagnostic.offset
            pointer = finding.diagnostic.pointer
        }
    }

    /// Adds the targets and configurations of a finding with the same cause.
    private mutating func add(_ other: AppFinding) {
        targets += other.targets.filter { !targets.contains($0) }
        configurations += other.configurations.filter { !configurations.contains($0) }
    }
}

extension [AppFinding] {
    /// The findings, sorted by file, severity and place.
    public var inOrder: [AppFinding] {
        sorted { left, right in
            if left.file != right.file { return left.file < right.file }
            let (a, b) = (left.diagnostic, right.diagnostic)
            if a.severity != b.severity { return a.severity > b.severity }
            if a.offset != b.offset { return a.offset < b.offset }
            if a.rule != b.rule { return a.rule < b.rule }
            return (left.target ?? "") < (right.target ?? "")
        }
    }
}

extension String {
    /// The start of the file name in a path.
    fileprivate var lastSlash: Index { lastIndex(of: "/") ?? startIndex }
}

/// The findings of the app rules so far.
struct AppFindings {
    private let configuration: String?
    private(set) var found: [AppFinding] = []
    private var current: AppRule

    init(of rule: AppRule, configuration: String?) {
        current = rule
        self.configuration = configuration
    }

    /// Sets the current rule.
    mutating func begin(_ rule: AppRule) { current = rule }

    /// Reports a finding of the current rule. Omitted values are those of the rule.
    mutating func report(
        _ bundle: AppFacts.Bundle, at place: AppPlace, _ message: String? = nil,
        fix: String? = nil, severity: Severity? = nil, isSaidBy: RuleID? = nil,
        further: [AppPlace] = []
    ) {
        let severity = severity ?? current.severity
        let diagnostic = Diagnostic(
            rule: current.id, severity: bundle.mayBeIncomplete ? min(severity, .warning) : severity,
            message: message ?? current.title, fix: fix ?? current.fix, line: place.line,
            column: place.column, offset: place.offset, pointer: place.pointer)
        var finding = AppFinding(
            file: place.file, target: bundle.name,
            configurations: configuration.map { [$0] } ?? [], diagnostic: diagnostic)
        finding.isSaidBy = isSaidBy
        finding.further = further
        found.append(finding)
    }

    /// Reports a finding that depends on what the server sends to an app, or on one kind of push.
    mutating func reportSent(
        _ app: AppFacts.Bundle, at place: AppPlace, _ message: String? = nil, fix: String? = nil,
        by push: ServerPush? = nil
    ) {
        let isAssumed =
            app.isOnlyAssumed || push.map(app.sendsWithoutSign.contains) == true
        let severity = isAssumed ? min(current.severity, .warning) : current.severity
        report(app, at: place, message, fix: fix, severity: severity)
    }

    /// Reports a finding that depends on source text. It is at most a warning, because the text is
    /// not compiled.
    mutating func suspect(
        _ bundle: AppFacts.Bundle, at place: AppPlace, _ message: String? = nil,
        fix: String? = nil, further: [AppPlace] = []
    ) {
        report(
            bundle, at: place, message, fix: fix, severity: min(current.severity, .warning),
            further: further)
    }
}
