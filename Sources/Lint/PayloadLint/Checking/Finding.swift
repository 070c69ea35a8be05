// SPDX-License-Identifier: Apache-2.0

package import PayloadRules

/// A finding with its place in a file, as in the reports of `rouse validate` and `rouse audit`.
package struct Finding: Hashable, Sendable {
    /// The rule.
    package let rule: RuleID
    /// The severity of this finding.
    package let severity: Severity
    /// The fault, as a clause.
    package let message: String
    /// The fix, as a sentence.
    package let fix: String
    /// The line, from 1.
    package let line: Int
    /// The column in Unicode scalars, from 1.
    package let column: Int
    /// The JSON pointer in the file, or in the line if each line is a document.
    package let pointer: String
    /// The header that the finding is about, if it is not in the file.
    package let header: String?
    /// The source line; `nil` if the report does not show it.
    package var source: SourceLine?
    /// The target of an app's project with this finding; `nil` if there is none.
    package var target: String?
    /// The build configurations with this finding; empty if there are none.
    package var configurations: [String] = []
    /// Distinguishes findings of the same rule, pointer, header and target in one file. It must not
    /// depend on line numbers.
    package var detail = ""

    /// Creates a finding.
    package init(
        rule: RuleID, severity: Severity, message: String, fix: String, line: Int, column: Int,
        pointer: String = "", header: String? = nil, source: SourceLine? = nil,
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

    /// The message, with the target and the build configurations.
    var clause: String {
        guard let target else { return message }
        return "\(message) (\(([target] + configurations).joined(separator: ", ")))"
    }

    /// The header, the message and the fix, as sentences.
    var sentences: String {
        (header.map { "\($0): " } ?? "") + "\(clause). \(fix)"
    }
}
