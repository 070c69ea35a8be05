// SPDX-License-Identifier: Apache-2.0

/// How a command ends, for scripts. The numbers above 1 are those of `sysexits.h`.
enum ExitStatus: Int32, Sendable, CaseIterable {
    /// Everything is fine.
    case success = 0
    /// The answer is no: a refused push, a dead device token, a faulty provider token.
    case no = 1
    /// The command line is wrong.
    case usage = 64
    /// What was given cannot be read: a payload, a device token.
    case data = 65
    /// There is no such file, or nothing on standard input.
    case noInput = 66
    /// A server cannot be reached, or gave no answer.
    case unavailable = 69
    /// A fault of Rouse.
    case bug = 70
    /// What was asked for cannot be written, to standard output or a file.
    case output = 74
    /// Permission is missing: a file's, or that of the key at APNs.
    case notAllowed = 77
    /// The configuration is wrong, a key or a certificate included.
    case configuration = 78

    /// Its meaning for a script, for the documentation.
    var meaning: String {
        switch self {
        case .success: "Everything is fine."
        case .no:
            "The answer is no: APNs refused the push, the device token is dead, there are findings."
        case .usage: "The command line is wrong; standard error says where."
        case .data: "What was given cannot be read: a payload, a device token, a file."
        case .noInput: "There is no such file, or nothing on standard input."
        case .unavailable: "A server cannot be reached, or gave no answer. Trying again may help."
        case .bug: "A fault of Rouse."
        case .output: "The result cannot be written, to standard output or a file: a full disk."
        case .notAllowed: "Permission is missing: a file's, or that of the key at APNs."
        case .configuration: "The configuration is wrong, a key or a certificate included."
        }
    }
}
