// SPDX-License-Identifier: Apache-2.0

/// Divides a failed batch in halves, repeatedly, to find the items that cause the failure and do
/// the rest. Parts are in the order of the batch.
struct Halving<Item> {
    /// The most parts of one batch that are tried after they failed: for a few items among the 512
    /// of a batch. Further damage fails in larger parts, so that a store in which nothing can be
    /// read does not get a thousand commands for each batch.
    static var maximumFailureCount: Int { 64 }

    /// The parts that are left, the next one last.
    private var parts: [[Item]] = []
    private var failureCount = 0

    /// The halves of a batch that failed.
    init(_ batch: [Item]) {
        if batch.count > 1 { halve(batch) } else { parts = [batch] }
    }

    /// The next part; `nil` when all were tried.
    mutating func next() -> [Item]? { parts.popLast() }

    /// Records a part that failed; returns whether it is not divided again.
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
