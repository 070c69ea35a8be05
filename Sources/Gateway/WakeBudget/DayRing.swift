// SPDX-License-Identifier: Apache-2.0

/// The number of sends in the last 24 hours, in bounded memory.
///
/// A send is counted in a slot of ``slotSeconds``, and a slot counts until its youngest possible
/// send is 24 hours old. So the number is never too small; it is too large for at most the length
/// of one slot.
struct DayRing: Hashable, Sendable {
    /// The length of a slot, in seconds: 24 min, a sixtieth of a day.
    static let slotSeconds: Int64 = 1_440
    /// The slots that count: those of a whole day, and the one that is being filled.
    static let slotCount = 61
    /// The most sends that one slot holds; an hour has at most ``BudgetLimits/hourlySends``.
    static let slotCapacity: UInt64 = 15

    // Slot n is the n-th group of four bits; slot 0 is being filled.
    private(set) var word0: UInt64 = 0
    private(set) var word1: UInt64 = 0
    private(set) var word2: UInt64 = 0
    private(set) var word3: UInt64 = 0
    /// When slot 0 began.
    private(set) var start: WrappedSeconds = 0

    /// The bits of `word3` that belong to slots that count.
    private static let word3Mask: UInt64 = (1 << UInt64(4 * (slotCount - 48))) - 1

    /// How many sends count.
    var total: Int {
        // Slots are added up side by side: by eights in bytes, at most 15 · 8 = 120 each, then by
        // twos in pairs of bytes, whose sums the product gathers in its highest.
        let bytes =
            Self.byteSums(word0) + Self.byteSums(word1) + Self.byteSums(word2)
            + Self.byteSums(word3)
        let pairs = (bytes & 0x00ff_00ff_00ff_00ff) + (bytes >> 8 & 0x00ff_00ff_00ff_00ff)
        return Int(truncatingIfNeeded: (pairs &* 0x0001_0001_0001_0001) >> 48)
    }

    /// Whether no send counts.
    var isEmpty: Bool { word0 | word1 | word2 | word3 == 0 }

    /// Moves on to a time that is not before any earlier one.
    mutating func advance(to now: WrappedSeconds) {
        guard !isEmpty else {
            start = now
            return
        }
        let passed = Int64(now &- start) / Self.slotSeconds
        guard passed > 0 else { return }
        start = start &+ WrappedSeconds(second: passed * Self.slotSeconds)
        age(bySlots: passed)
    }

    /// Counts a send in the present slot.
    mutating func add() {
        // Saturation cannot be reached within the hourly limit; it keeps other slots intact.
        if word0 & 0xf < Self.slotCapacity { word0 += 1 }
    }

    /// Takes one send of this time out again, if its slot has one.
    mutating func remove(_ stamp: WrappedSeconds) {
        // Signed: sends of the present slot come after its start.
        let before = Int64(Int32(truncatingIfNeeded: start &- stamp))
        let slot = before <= 0 ? 0 : (before + Self.slotSeconds - 1) / Self.slotSeconds
        guard slot < Self.slotCount, self[Int(slot)] > 0 else { return }
        let one: UInt64 = 1 << UInt64(4 * (slot & 15))
        switch slot >> 4 {
        case 0: word0 -= one
        case 1: word1 -= one
        case 2: word2 -= one
        default: word3 -= one
        }
    }

    /// Makes all times earlier, when the ledger's clock is set back.
    mutating func moveBack(by seconds: UInt32) { start = start &- seconds }

    /// Seconds from the start of the present slot until fewer than `limit` sends count and, while
    /// more than half as many do, the latest is as long ago as ``pace(used:limit:)`` says. `latest`
    /// is the time of the latest send, in seconds from there too.
    func opens(limit: Int, latest: Int64) -> Int64 {
        var counted = total
        var since = Int64.min
        var slot = Self.slotCount
        while true {
            // The oldest slot that counts is the next to leave.
            repeat { slot -= 1 } while slot >= 0 && self[slot] == 0
            let leaves = Int64(Self.slotCount - max(0, slot)) * Self.slotSeconds
            if counted < limit {
                let paced = latest + Self.pace(used: counted, limit: limit)
                if slot < 0 || paced <= leaves { return max(since, paced) }
            }
            counted -= Int(self[slot])
            since = leaves
        }
    }

    /// How far apart sends are when so many of a day's count, in seconds: nothing up to half of the
    /// limit; then a day's even share, which grows by half up to the limit. So the sends of a day
    /// that began lively last until its first ones no longer count.
    static func pace(used: Int, limit: Int) -> Int64 {
        guard 2 * used > limit else { return 0 }
        return BudgetLimits.daySeconds * Int64(limit + 2 * used) / Int64(2 * limit * limit)
    }

    /// The number of sends in a slot.
    subscript(slot: Int) -> UInt64 {
        let word =
            switch slot >> 4 {
            case 0: word0
            case 1: word1
            case 2: word2
            default: word3
            }
        return word >> UInt64(4 * (slot & 15)) & 0xf
    }

    private mutating func age(bySlots slots: Int64) {
        guard slots < Int64(Self.slotCount) else {
            (word0, word1, word2, word3) = (0, 0, 0, 0)
            return
        }
        for _ in 0..<(slots >> 4) { (word0, word1, word2, word3) = (0, word0, word1, word2) }
        let bits = UInt64(4 * (slots & 15))
        if bits > 0 {
            word3 = word3 << bits | word2 >> (64 - bits)
            word2 = word2 << bits | word1 >> (64 - bits)
            word1 = word1 << bits | word0 >> (64 - bits)
            word0 <<= bits
        }
        word3 &= Self.word3Mask
    }

    /// For each byte of a word, the sum of its two groups of four bits.
    private static func byteSums(_ word: UInt64) -> UInt64 {
        (word & 0x0f0f_0f0f_0f0f_0f0f) + (word >> 4 & 0x0f0f_0f0f_0f0f_0f0f)
    }
}

extension DayRing {
    /// The ring with these parts, as they were stored.
    init(words: (UInt64, UInt64, UInt64, UInt64), start: WrappedSeconds) {
        (word0, word1, word2, word3) = words
        self.start = start
    }

    /// Whether slots that do not count are empty.
    var isWithinDay: Bool { word3 & ~Self.word3Mask == 0 }
}
