// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Texts for C.
enum CStrings {
    /// C copies of the texts, for the duration of a call.
    static func lend<R>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>>) throws -> R
    ) rethrows -> R {
        let copies = texts.map { text -> UnsafePointer<CChar> in
            guard let copy = strdup(text) else { preconditionFailure("Memory ran out.") }
            return UnsafePointer(copy)
        }
        defer { for copy in copies { free(UnsafeMutablePointer(mutating: copy)) } }
        // SAFETY: the copies live until `body` has returned.
        return try copies.withUnsafeBufferPointer { copies in
            guard let start = copies.baseAddress else {
                preconditionFailure("There is at least one text.")
            }
            return try body(start)
        }
    }
}
