// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// The findings of the rules so far. ``diagnostics(of:)`` computes lines, columns and pointers,
/// only for reported findings.
struct Findings {
    /// The place of a finding.
    enum Place {
        /// The whole payload.
        case whole
        /// A key or a value.
        case node(Int)
        /// An offset in text that has no tape.
        case offset(Int, pointer: String)
        /// A header.
        case header(String)
    }

    private struct Finding {
        let rule: Int
        let severity: Severity
        let message: String
        let fix: String
        let place: Place
        let repair: Repair?
    }

    private let rules: [Rule]
    /// The index in `rules` of the current rule.
    private var current = 0
    private var found: [Finding] = []

    private init(rules: [Rule]) { self.rules = rules }

    /// Runs all rules on one push.
    static func of(_ rules: [Rule], on context: ValidationContext) -> Findings {
        // A local copy of the list avoids a retain and release for each rule.
        var findings = Findings(rules: rules)
        for index in rules.indices {
            findings.current = index
            rules[index].check(context, &findings)
        }
        return findings
    }

    /// Reports a finding of the current rule. Omitted values are those of the rule: title, fix and
    /// severity.
    mutating func report(
        _ place: Place, _ message: String? = nil, fix: String? = nil, severity: Severity? = nil,
        repair: Repair? = nil
    ) {
        found.append(
            Finding(
                rule: current, severity: severity ?? rules[current].severity,
                message: message ?? rules[current].title, fix: fix ?? rules[current].fix,
                place: place, repair: repair))
    }

    /// Returns at most `count` findings with their places, sorted by offset; at the same offset by
    /// severity, then by id. If there are more, errors are preferred.
    func diagnostics(of context: ValidationContext, most count: Int = .max) -> [Diagnostic] {
        var diagnostics = told(most: count).map { diagnostic($0, context) }
        if diagnostics.count > 1 {
            diagnostics.sort {
                if $0.offset != $1.offset { return $0.offset < $1.offset }
                if $0.severity != $1.severity { return $0.severity > $1.severity }
                return $0.rule < $1.rule
            }
        }
        // In one pass, because a payload can have as many findings as values.
        var position = TextPosition(offset: 0, in: context.payload)
        var start = 0
        for index in diagnostics.indices {
            let offset = min(diagnostics[index].offset, context.payload.count)
            position.advance(over: start..<max(start, offset), of: context.payload)
            start = max(start, offset)
            diagnostics[index].line = position.line
            diagnostics[index].column = position.column
        }
        return diagnostics
    }

    private func told(most count: Int) -> [Finding] {
        guard found.count > count else { return found }
        let errors = found.filter { $0.severity == .error }
        guard errors.count < count else { return Array(errors.prefix(count)) }
        return errors + found.filter { $0.severity != .error }.prefix(count - errors.count)
    }

    private func diagnostic(_ finding: Finding, _ context: ValidationContext) -> Diagnostic {
        var diagnostic = Diagnostic(
            rule: rules[finding.rule].id, severity: finding.severity, message: finding.message,
            fix: finding.fix, repair: finding.repair)
        switch finding.place {
        case .whole:
            diagnostic.offset = context.document.map { Int($0.nodes[0].start) } ?? 0
        case .header(let name):
            diagnostic.header = name
        case .offset(let offset, let pointer):
            diagnostic.offset = offset
            diagnostic.pointer = pointer
        case .node(let node):
            guard let document = context.document else { break }
            diagnostic.offset = Int(document.nodes[node].start)
            diagnostic.pointer = document.pointer(to: node)
        }
        return diagnostic
    }
}
