// SPDX-License-Identifier: Apache-2.0

/// Why something could not be checked: one line for standard error, and a kind for the exit code.
///
/// The message names paths, options and keys, never a value of a payload.
public struct LintProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of problem it is.
    public enum Kind: Hashable, Sendable {
        /// An option has a value that it cannot have.
        case usage
        /// An input is no text at all, or no more than that.
        case notText
        /// There is no such file, or it cannot be read.
        case missing
        /// A file may not be read or written.
        case notAllowed
        /// The configuration file is wrong.
        case configuration
        /// A fixed file could not be written.
        case unwritable
    }

    /// What kind of problem it is.
    public var kind: Kind
    /// What is wrong and what to do, in sentences.
    public var message: String
    /// The file that the problem is of; `nil` where there is none.
    public var path: String?

    /// Creates a problem.
    public init(_ kind: Kind, _ message: String, path: String? = nil) {
        self.kind = kind
        self.message = message
        self.path = path
    }

    /// The message.
    public var description: String { message }
}
