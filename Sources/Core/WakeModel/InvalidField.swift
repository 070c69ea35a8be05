// SPDX-License-Identifier: Apache-2.0

/// An invalid value: the field, the problem and the remedy.
///
/// Every type of this module that parses text throws this error, so that a command, a problem
/// document and a log line report the same three values. It never contains a secret: a device token
/// that does not parse is described, not quoted.
public struct InvalidField: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field's name as its user writes it, for example `apns-collapse-id`.
    public var field: String
    /// What is wrong with the value, as a clause: "holds a character that is not hexadecimal".
    public var problem: String
    /// What to do about it, as an imperative sentence.
    public var remedy: String

    /// Creates an error.
    public init(field: String, problem: String, remedy: String) {
        self.field = field
        self.problem = problem
        self.remedy = remedy
    }

    /// The three parts as one line: `field problem: remedy`.
    public var description: String { "\(field) \(problem). \(remedy)" }
}
