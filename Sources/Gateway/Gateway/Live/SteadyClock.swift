// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeModel

/// The gateway's time while the wall clock is being set.
///
/// Decisions at a wrong time are hard to undo: a clock that is 400 days ahead for a second would
/// expire all that waits, prune the whole history and schedule new wakes a year ahead. So a leap of
/// the wall clock, which is detected against the clock since boot, is not followed immediately: the
/// gateway continues its time until the wall clock returns, or has had its new time for
/// ``GatewayLimits/clockLeapSeconds``. Small steps, which time servers make, are followed.
///
/// A base clock without the time since boot is used unchanged. May be used from any thread.
final class SteadyClock: GatewayClock {
    /// A leap that lasts.
    struct Leap: Hashable {
        /// The time at which it was detected, by the gateway's time.
        let since: WallInstant
        /// The difference of the wall clock to that time; negative when it is behind.
        let milliseconds: Int64
    }

    private struct State {
        /// The accepted difference of the wall clock to the clock since boot.
        var offset: Int64?
        /// The difference in a leap, its start by the clock since boot, and the leap itself.
        var leap: (offset: Int64, beganAt: Int64, leap: Leap)?
    }

    private enum Change {
        case began(Leap)
        case returned
        case accepted(Leap)
    }

    private let base: any GatewayClock
    private let toleranceMilliseconds: Int64
    private let patienceMilliseconds: Int64
    private let logger: Logger
    private let state = Mutex(State())

    init(_ base: any GatewayClock, limits: GatewayLimits, logger: Logger) {
        self.base = base
        toleranceMilliseconds = Int64(limits.clockToleranceMilliseconds)
        patienceMilliseconds = Int64(limits.clockLeapSeconds) * 1_000
        self.logger = logger
        _ = now()
    }

    /// The leap, while it lasts.
    var leap: Leap? {
        _ = now()
        return state.withLock { $0.leap?.leap }
    }

    func millisecondsSinceBoot() -> Int64? { base.millisecondsSinceBoot() }

    func now() -> WallInstant {
        guard let boot = base.millisecondsSinceBoot() else { return base.now() }
        let wall = base.now()
        let (now, change) = state.withLock { look(&$0, wall, boot) }
        if let change { tell(change) }
        return now
    }

    /// Sleeps until that instant by the gateway's time.
    func sleep(until instant: WallInstant) async throws {
        let milliseconds = instant.milliseconds(since: now())
        try await base.sleep(until: base.now().advanced(byMilliseconds: milliseconds))
    }

    private func look(
        _ state: inout State, _ wall: WallInstant, _ boot: Int64
    ) -> (WallInstant, Change?) {
        let found = wall.millisecondsSinceEpoch &- boot
        guard let offset = state.offset else {
            state.offset = found
            return (wall, nil)
        }
        guard !isNear(found, offset) else {
            defer { state.leap = nil }
            state.offset = found
            return (wall, state.leap == nil ? nil : .returned)
        }
        let own = WallInstant(millisecondsSinceEpoch: boot &+ offset)
        guard let known = state.leap, isNear(found, known.offset) else {
            let leap = Leap(since: own, milliseconds: wall.milliseconds(since: own))
            let isNew = state.leap == nil
            state.leap = (found, boot, leap)
            return (own, isNew ? .began(leap) : nil)
        }
        guard boot &- known.beganAt >= patienceMilliseconds else { return (own, nil) }
        state.offset = found
        state.leap = nil
        return (wall, .accepted(known.leap))
    }

    private func isNear(_ offset: Int64, _ other: Int64) -> Bool {
        let (distance, overflow) = offset.subtractingReportingOverflow(other)
        return !overflow && distance.magnitude <= UInt64(toleranceMilliseconds)
    }

    private func tell(_ change: Change) {
        switch change {
        case .began(let leap):
            logger.error(
                "the wall clock leapt; the gateway keeps its own time",
                metadata: ["leap": "\(leap.distance)", "since": "\(leap.since)"])
        case .returned: logger.notice("the wall clock is back")
        case .accepted(let leap):
            logger.warning(
                "the wall clock stays where it leapt to; the gateway follows it",
                metadata: ["leap": "\(leap.distance)"])
        }
    }
}

extension SteadyClock.Leap {
    /// The size and the direction, as text.
    var distance: String {
        let seconds = milliseconds.magnitude / 1_000
        let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let length = days > 0 ? "\(days) days and \(rest / 3_600) hours" : "\(seconds) seconds"
        return length + (milliseconds < 0 ? " back" : " ahead")
    }
}
