// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The ledger of one device and one VoIP topic: the calls of the last hour.
struct CallLedger: Hashable, Sendable {
    /// A call: its age in milliseconds, in the high bits, and its fingerprint, in the low ones.
    typealias Mark = UInt64

    /// How many calls are kept.
    static let capacity = 12
    /// The hourly window, in milliseconds; older calls are dropped.
    static let windowMilliseconds = Int64(BudgetLimits.hourSeconds) * 1000

    /// The latest instant that it observed, in milliseconds since 1970. Marks are ages at that
    /// instant, so a correction of the clock does not change them.
    var clock = Int64.min
    /// The calls, the latest first. Never more than ``capacity``.
    var marks = CallMarks()

    /// Observes the time, by the same rule as ``BackgroundLedger/observe(_:)``.
    mutating func observe(_ instant: WallInstant) {
        let now = instant.millisecondsSinceEpoch
        if now >= clock {
            let (passed, overflow) = now.subtractingReportingOverflow(clock)
            marks.age(by: overflow ? .max : passed)
            clock = now
        } else if instant.milliseconds(since: WallInstant(millisecondsSinceEpoch: clock))
            < -1000 * BudgetLimits.clockToleranceSeconds
        {
            clock = now
        }
    }

    /// Decides on a call.
    func decide(on call: CallFingerprint, _ settings: BudgetSettings) -> Decision {
        let deadline = Int64(settings.callDeadlineSeconds) * 1000
        if marks.contains(call, youngerThan: deadline) { return .sameCall }
        guard marks.count >= settings.hourlyCalls else { return .send }
        let wait = Self.windowMilliseconds - marks.age(at: settings.hourlyCalls - 1)
        return .suppressed(
            .tooManyCalls(
                until: WallInstant(millisecondsSinceEpoch: clock).advanced(byMilliseconds: wait)))
    }

    /// Counts a call.
    mutating func admit(_ call: CallFingerprint) { marks.insert(call) }

    /// Removes a call that certainly was not sent, after which the same call was counted `newer`
    /// times. Returns whether it was counted.
    mutating func refund(_ call: CallFingerprint, behind newer: Int) -> Bool {
        marks.remove(call, behind: newer)
    }
}
