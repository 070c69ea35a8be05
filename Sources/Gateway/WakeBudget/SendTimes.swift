// SPDX-License-Identifier: Apache-2.0

/// The times of a device's last sends, the latest first.
///
/// Thirteen are enough: at most twelve go out in an hour (``BudgetLimits/hourlySends``), so
/// whatever was dropped is older than an hour at the time of the latest.
///
/// The latest is stored, and for each the gap to the one before it, in seconds. A gap of over 18
/// hours is stored as 65 535 seconds: the older sends then count as younger than they are, which
/// affects no rule, because all rules look back less far or to the latest only. Where the latest is
/// removed, sends before such a gap count as older than any rule looks back.
struct SendTimes: Hashable, Sendable {
    /// How many times are kept.
    static let capacity = 13

    // Four gaps each; the gap after the latest send is in the lowest sixteen bits of the first.
    private(set) var gaps0: UInt64 = 0
    private(set) var gaps1: UInt64 = 0
    private(set) var gaps2: UInt64 = 0
    /// The time of the latest send; without meaning when there is none.
    private(set) var latest: WrappedSeconds = 0
    /// How many times there are.
    private(set) var count: UInt8 = 0

    /// No times.
    init() {}

    /// The time of one send; 0 is the latest. The caller keeps `index` below ``count``.
    subscript(index: Int) -> WrappedSeconds {
        let age = Self.sum(gaps0, index) + Self.sum(gaps1, index - 4) + Self.sum(gaps2, index - 8)
        return latest &- WrappedSeconds(truncatingIfNeeded: age)
    }

    /// Puts a time, which is not before any other, before all others; the oldest goes when there
    /// are too many.
    mutating func insert(_ stamp: WrappedSeconds) {
        defer { latest = stamp }
        guard count > 0 else {
            count = 1
            return
        }
        gaps2 = gaps2 << 16 | gaps1 >> 48
        gaps1 = gaps1 << 16 | gaps0 >> 48
        gaps0 = gaps0 << 16 | UInt64(min(stamp &- latest, 0xffff))
        if count < UInt8(Self.capacity) { count += 1 }
    }

    /// Takes out one send of this time; which it was, `nil` when there was none.
    mutating func remove(_ stamp: WrappedSeconds) -> Int? {
        var found = 0
        while found < Int(count) && self[found] != stamp { found += 1 }
        guard found < Int(count) else { return nil }
        let isCut = found == 0 && count > 1 && gaps0 & 0xffff == 0xffff
        var rest = SendTimes()
        var index = Int(count)
        while index > 0 {
            index -= 1
            if index != found { rest.insert(self[index]) }
        }
        self = rest
        // The one before the latest is older than the cut gap says, by an unknown amount. The
        // removed send was allowed in spite of it, so no rule that looks back applies to it now.
        if isCut { latest &-= WrappedSeconds(BudgetLimits.probeSeconds.upperBound) }
        return found
    }

    /// Makes all times earlier, when the ledger's clock is set back.
    mutating func moveBack(by seconds: UInt32) { latest &-= seconds }

    /// The sum of a word's first gaps, all four when `count` is more, none when it is less than 1.
    private static func sum(_ word: UInt64, _ count: Int) -> UInt64 {
        guard count > 0 else { return 0 }
        let kept = count >= 4 ? word : word & ((1 << UInt64(16 * count)) - 1)
        let pairs = (kept & 0xffff_0000_ffff) + (kept >> 16 & 0xffff_0000_ffff)
        return (pairs & 0xffff_ffff) + pairs >> 32
    }
}

extension SendTimes {
    /// The times with these parts, as they were stored.
    init(gaps: (UInt64, UInt64, UInt64), latest: WrappedSeconds, count: UInt8) {
        (gaps0, gaps1, gaps2) = gaps
        self.latest = latest
        self.count = count
    }

    /// Whether nothing is kept beyond ``count``.
    var isCanonical: Bool {
        guard count <= UInt8(Self.capacity) else { return false }
        let gaps = max(Int(count), 1) - 1
        return Self.sum(gaps0, 4) == Self.sum(gaps0, gaps)
            && Self.sum(gaps1, 4) == Self.sum(gaps1, gaps - 4)
            && Self.sum(gaps2, 4) == Self.sum(gaps2, gaps - 8)
    }
}
