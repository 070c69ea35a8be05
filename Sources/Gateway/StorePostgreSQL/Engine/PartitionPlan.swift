// SPDX-License-Identifier: Apache-2.0

/// Which partitions of days are to be made, and which have had their time.
struct PartitionPlan: Hashable {
    /// A partition that is there.
    struct Partition: Hashable {
        /// The end of its name, behind that of its table.
        let name: String
        /// The day behind its last one, counted from 1970 on.
        let end: Int64
    }

    /// How many days behind today have a partition.
    static let daysAhead: Int64 = 3
    /// How far the database's clock and this machine's may differ for either to be believed.
    static let toleratedMilliseconds: Int64 = dayMilliseconds
    /// How many days a clock may be behind the last partition without a recent check: all gateways
    /// of the store were stopped, or a clock has leapt.
    static let unquestionedDays: Int64 = 8
    private static let dayMilliseconds: Int64 = 86_400_000

    /// The days whose partitions are to be made; none while the clocks cannot be believed.
    let missing: ClosedRange<Int64>?
    /// Whether the days follow on partitions that ended long ago, or on none.
    let hasLeapt: Bool

    /// Creates a plan for what is there, by the database's clock and this machine's.
    init(_ partitions: [Partition], databaseTime: Int64, localTime: Int64) {
        let today = Self.day(of: databaseTime)
        let last = partitions.filter { $0.end <= today + 1 + Self.daysAhead }.map(\.end).max() ?? 0
        let isBelieved = abs(databaseTime - localTime) < Self.toleratedMilliseconds
        let end = today + Self.daysAhead
        missing = isBelieved && last <= end ? max(today, last)...end : nil
        hasLeapt = last < today - Self.unquestionedDays
    }

    /// The day of an instant in milliseconds.
    static func day(of milliseconds: Int64) -> Int64 {
        Int64((Double(milliseconds) / Double(dayMilliseconds)).rounded(.down))
    }

    /// The partitions that end before an instant, the oldest first.
    static func old(_ partitions: [Partition], before milliseconds: Int64) -> [Partition] {
        partitions.filter { $0.end <= day(of: milliseconds) }.sorted { $0.end < $1.end }
    }
}

/// A gateway's view of the partitions between two checks.
struct PartitionWatch {
    /// How long it is until the next look.
    static let pause = Duration.seconds(60)
    /// How long a clock that has leapt must stay where it is.
    static let leapPause = Duration.seconds(600)

    /// When the next look is due; `nil` before the first.
    var nextLook: ContinuousClock.Instant?
    /// Since when days have followed on partitions that ended long ago.
    var leapSince: ContinuousClock.Instant?
    /// Why they could not be made or dropped, as it was said last.
    var failure: String?

    /// Whether partitions are to be created after such a check.
    mutating func allows(_ plan: PartitionPlan, at now: ContinuousClock.Instant) -> Bool {
        guard plan.hasLeapt else {
            leapSince = nil
            return true
        }
        let since = leapSince ?? now
        leapSince = since
        return since.duration(to: now) >= Self.leapPause
    }
}
