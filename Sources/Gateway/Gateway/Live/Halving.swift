// SPDX-License-Identifier: Apache-2.0

/// A batch that failed as a whole, in halves of halves, so that what makes it fail is found and the
/// rest is done: the parts in the order of the batch.
struct Halving<Item> {
    /// The most parts of one batch that are tried after they failed: for a few items among the 512
    /// of a batch. Whatever is damaged beyond that fails in larger parts, so that a store in which
    /// nothing can be read is not asked a thousand times for each batch.
    static var maximumFailureCount: Int { 64 }

    /// What is still to be tried, the next part last.
    private var parts: [[Item]] = []
    private var failureCount = 0

    /// The halves of a batch that failed.
    init(_ batch: [Item]) {
        if batch.count > 1 { halve(batch) } else { parts = [batch] }
    }

    /// The next part; `nil` when all were tried.
    mutating func next() -> [Item]? { parts.popLast() }

    /// A part failed; whether it is not tried again in halves.
    mutating func failed(_ part: [Item], mayHalve: Bool) -> Bool {
        failureCount += 1
        guard mayHalve, part.count > 1, failureCount < Self.maximumFailureCount else { return true }
        halve(part)
        return false
    }

    private mutating func halve(_ part: [Item]) {
        parts.append(Array(part[(part.count / 2)...]))
        parts.append(Array(part[..<(part.count / 2)]))
    }
}
