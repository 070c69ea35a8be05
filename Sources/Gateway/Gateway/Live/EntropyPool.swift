// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Random words of the system, fetched 32 at a time, because a system call for each word of each id
/// was a measurable part of the cost of a wake.
public final class EntropyPool: Sendable {
    /// The number of words of one call of `getentropy`.
    private static let wordCount = 32

    /// The pool of this process.
    public static let shared = EntropyPool()

    private let words = Mutex<[UInt64]>([])

    private init() {}

    /// The next word; each is returned once.
    public func next() -> UInt64 {
        words.withLock { words in
            if let word = words.popLast() { return word }
            words = [UInt64](repeating: 0, count: Self.wordCount)
            // SAFETY: the array has as many bytes as are requested, at most the 256 that getentropy
            // allows, and is valid during the call.
            let code = words.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) }
            if code != 0 {
                words = (0..<Self.wordCount).map { _ in UInt64.random(in: .min ... .max) }
            }
            return words.removeLast()
        }
    }
}
