// SPDX-License-Identifier: Apache-2.0

/// The times of a device's last eight sends, the latest first.
///
/// Eight are enough: at most ``BudgetLimits/hourlySends`` go out in an hour, so whatever was
/// dropped is older than an hour at the time of the latest.
struct SendTimes: Hashable, Sendable {
    /// How many times are kept.
    static let capacity = 8

    // Four pairs, each with the later time in its low half.
    private var pair0: UInt64 = 0
    private var pair1: UInt64 = 0
    private var pair2: UInt64 = 0
    private var pair3: UInt64 = 0
    /// How many times there are.
    private(set) var count: UInt8 = 0

    /// The time of one send; 0 is the latest. The caller keeps `index` below ``count``.
    subscript(index: Int) -> Stamp {
        let pair =
            switch index >> 1 {
            case 0: pair0
            case 1: pair1
            case 2: pair2
            default: pair3
            }
        return Stamp(truncatingIfNeeded: pair >> UInt64((index & 1) << 5))
    }

    /// Puts a time before all others; the oldest goes when there are too many.
    mutating func insert(_ stamp: Stamp) {
        pair3 = pair3 << 32 | pair2 >> 32
        pair2 = pair2 << 32 | pair1 >> 32
        pair1 = pair1 << 32 | pair0 >> 32
        pair0 = pair0 << 32 | UInt64(stamp)
        if count < UInt8(Self.capacity) { count += 1 }
    }

    /// Takes out one send of this time; whether there was one.
    mutating func remove(_ stamp: Stamp) -> Bool {
        guard let found = (0..<Int(count)).first(where: { self[$0] == stamp }) else { return false }
        var rest = SendTimes()
        for index in (0..<Int(count)).reversed() where index != found { rest.insert(self[index]) }
        self = rest
        return true
    }

    /// Makes all times earlier, when the ledger's clock is set back.
    mutating func moveBack(by seconds: UInt32) {
        var moved = SendTimes()
        for index in (0..<Int(count)).reversed() { moved.insert(self[index] &- seconds) }
        self = moved
    }
}
