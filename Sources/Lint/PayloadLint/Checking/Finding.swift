// SPDX-License-Identifier: Apache-2.0

package import PayloadRules

/// One finding at its place in a file: what every report of `rouse validate` and `rouse audit` is
/// made of.
package struct Finding: Hashable, Sendable {
    /// The rule that speaks.
    package let rule: RuleID
    /// How much the finding weighs here.
    package let severity: Severity
    /// What was found, as a clause.
    package let message: String
    /// What to do, as a sentence.
    package let fix: String
    /// From 1.
    package let line: Int
    /// In Unicode scalars, from 1.
    package let column: Int
    /// The JSON pointer in the file, or in the line of a file of lines.
    package let pointer: String
    /// A header that is not in the file.
    package let header: String?
    /// The line in the file, where a report shows it.
    package var source: [UInt8]?
    /// The target of an app's project that shows it; `nil` where there is none.
    package var target: String?
    /// The build configurations that show it; empty where there are none.
    package var configurations: [String] = []
    /// The property that distinguishes the finding from others of its rule in one file, beside
    /// pointer, header and target. It must not change when the lines around it move.
    package var detail = ""

    /// Creates a finding.
    package init(
        rule: RuleID, severity: Severity, message: String, fix: String, line: Int, column: Int,
        pointer: String = "", header: String? = nil, source: [UInt8]? = nil,
        target: String? = nil, configurations: [String] = [], detail: String = ""
    ) {
        self.rule = rule
        self.severity = severity
        self.message = message
        self.fix = fix
        self.line = line
        self.column = column
        self.pointer = pointer
        self.header = header
        self.source = source
        self.target = target
        self.configurations = configurations
        self.detail = detail
    }

    /// The message, with the builds that show it.
    var clause: String {
        guard let target else { return message }
        return "\(message) (\(([target] + configurations).joined(separator: ", ")))"
    }

    /// The header, what was found and what to do, as sentences.
    var sentences: String {
        (header.map { "\($0): " } ?? "") + "\(clause). \(fix)"
    }
}
