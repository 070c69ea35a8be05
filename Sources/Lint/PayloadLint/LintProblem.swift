// SPDX-License-Identifier: Apache-2.0

/// The reason why something could not be checked: a message for standard error, and a kind for the
/// exit code.
///
/// The message contains paths, options and keys, never a value of a payload.
public struct LintProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a problem.
    public enum Kind: Hashable, Sendable {
        /// An option has an invalid value.
        case usage
        /// An input is not text.
        case notText
        /// A file does not exist or cannot be read.
        case missing
        /// Permission to read or write a file is denied.
        case notAllowed
        /// The configuration file is invalid.
        case configuration
        /// A fixed file could not be written.
        case unwritable
    }

    /// The kind of problem.
    public var kind: Kind
    /// The problem and its fix, in sentences.
    public var message: String
    /// The path of the file; `nil` if the problem is not about one.
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
