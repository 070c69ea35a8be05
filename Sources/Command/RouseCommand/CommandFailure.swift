// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Why a command ends without doing what was asked: one line for standard error, and a code.
///
/// The message never holds a device token, a key, a provider token or a payload.
struct CommandFailure: Error, Hashable, Sendable {
    /// The exit code.
    let status: ExitStatus
    /// What is wrong and what to do, in sentences.
    let message: String

    /// Creates a failure.
    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// A field that does not parse, with the code that fits where it came from.
    init(_ status: ExitStatus, _ field: InvalidField) {
        self.init(status, field.description)
    }
}

/// Runs `body` and turns an invalid field into a failure with this status.
func failing<Value>(
    with status: ExitStatus, _ body: () throws(InvalidField) -> Value
) throws(CommandFailure) -> Value {
    do throws(InvalidField) {
        return try body()
    } catch {
        throw CommandFailure(status, error)
    }
}
