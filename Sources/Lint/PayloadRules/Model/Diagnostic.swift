// SPDX-License-Identifier: Apache-2.0

/// A finding: the rule, the fault, its place, and its fix.
///
/// A diagnostic contains names of keys, but never a value of the payload.
public struct Diagnostic: Hashable, Sendable {
    /// The rule.
    public var rule: RuleID
    /// The severity of this finding; usually that of the rule.
    public var severity: Severity
    /// The fault, as a clause without a full stop.
    public var message: String
    /// The fix, as an imperative sentence.
    public var fix: String
    /// The line, from 1.
    public var line: Int
    /// The column in characters (Unicode scalars), from 1.
    public var column: Int
    /// The offset in bytes, from 0 to the payload's length.
    public var offset: Int
    /// The JSON pointer (RFC 6901) of the faulty key or value; empty for the whole payload.
    public var pointer: String
    /// The header that the finding is about, such as `apns-expiration`; `nil` if it is about the
    /// payload. A finding about a header has line 1, column 1 and an empty pointer.
    public var header: String?
    /// The edit that fixes the payload; `nil` if there is no single one. See ``Repairs``.
    public var repair: Repair?

    /// Creates a finding.
    public init(
        rule: RuleID, severity: Severity, message: String, fix: String, line: Int = 1,
        column: Int = 1, offset: Int = 0, pointer: String = "", header: String? = nil,
        repair: Repair? = nil
    ) {
        self.rule = rule
        self.severity = severity
        self.message = message
        self.fix = fix
        self.line = line
        self.column = column
        self.offset = offset
        self.pointer = pointer
        self.header = header
        self.repair = repair
    }
}

extension Diagnostic: CustomStringConvertible {
    /// The finding on one line, as compilers print it: `1:24: error BG004 /aps/badge: message.
    /// Fix`.
    public var description: String {
        let place = header ?? "\(line):\(column)"
        let target = pointer.isEmpty ? "" : " \(pointer)"
        return "\(place): \(severity) \(rule)\(target): \(message). \(fix)"
    }
}
