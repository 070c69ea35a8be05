// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The numbers that one writer of a store assigns to wakes: each writer has a separate series, so
/// that concurrent writers never assign the same number.
public struct NumberSeries: Hashable, Sendable {
    /// All numbers, for a store with one writer.
    public static let all = NumberSeries(slot: 0, slotCount: 1)

    /// The writer's slot, below the count of slots.
    public let slot: Int64
    /// The number of slots: a power of two.
    public let slotCount: Int64

    /// Creates the series of a slot.
    public init(slot: Int64, slotCount: Int64) {
        self.slot = slot
        self.slotCount = slotCount
    }

    /// The first number of the series after its last one, and after a device's latest wake, which
    /// another writer may have numbered by a clock that is ahead. Without another writer, a latest
    /// wake with a larger number is damaged; so is one from years in the future.
    public func number(after last: Int64, andLatest latest: Int64, at now: WallInstant) -> Int64 {
        guard slotCount > 1, latest > last,
            latest < WakeID.firstNumber(at: now.advanced(bySeconds: Self.farthestSeconds))
        else { return number(after: last, at: now) }
        return number(after: latest, at: now)
    }

    /// Ten years.
    private static let farthestSeconds: Int64 = 3_653 * 86_400

    /// The first number of the series after another one, and not before an instant.
    public func number(after last: Int64, at now: WallInstant) -> Int64 {
        let least = max(last + 1, WakeID.firstNumber(at: now))
        return least + ((slot - least) & (slotCount - 1))
    }
}
