// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The numbers that one writer of a store gives to wakes: each writer has its own, so that those
/// who write to one store at the same time never give the same.
public struct NumberSeries: Hashable, Sendable {
    /// All numbers, for a store with one writer.
    public static let all = NumberSeries(slot: 0, slotCount: 1)

    /// The writer's slot, below the count of slots.
    public let slot: Int64
    /// How many slots there are: a power of two.
    public let slotCount: Int64

    /// Creates the series of a slot.
    public init(slot: Int64, slotCount: Int64) {
        self.slot = slot
        self.slotCount = slotCount
    }

    /// The first number of the series behind the last of it, and behind a device's latest wake,
    /// which another writer may have numbered by a clock that is ahead. Where there is no other
    /// writer, a latest wake with a larger number is damaged; so is one of years to come.
    public func number(after last: Int64, andLatest latest: Int64, at now: WallInstant) -> Int64 {
        guard slotCount > 1, latest > last,
            latest < WakeID.firstNumber(at: now.advanced(bySeconds: Self.farthestSeconds))
        else { return number(after: last, at: now) }
        return number(after: latest, at: now)
    }

    /// Ten years.
    private static let farthestSeconds: Int64 = 3_653 * 86_400

    /// The first number of the series behind another one, and not before an instant.
    public func number(after last: Int64, at now: WallInstant) -> Int64 {
        let least = max(last + 1, WakeID.firstNumber(at: now))
        return least + ((slot - least) & (slotCount - 1))
    }
}
