// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// One finding at its place in a file.
struct Finding: Sendable {
    let rule: RuleID
    let severity: Severity
    /// What was found, as a clause.
    let message: String
    /// What to do, as a sentence.
    let fix: String
    /// From 1.
    let line: Int
    /// In Unicode scalars, from 1.
    let column: Int
    /// The JSON pointer in the file, or in the line of a file of lines.
    let pointer: String
    /// A header that does not stand in the file.
    let header: String?
    /// The line in the file, where a report shows it.
    var source: [UInt8]?
}
