// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization
import WaitKit
package import WakeModel

/// A clock that is stopped until the test moves it.
package final class ManualClock: GatewayClock {
    private struct Sleeper {
        let instant: WallInstant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: WallInstant
        var sleepers: [Int: Sleeper] = [:]
        var nextKey = 0
        var cancelled: Set<Int> = []
    }

    private let state: Mutex<State>

    package init(at now: WallInstant = Samples.start) { state = Mutex(State(now: now)) }

    package func now() -> WallInstant { state.withLock { $0.now } }

    /// Whether a sleeper waits for this instant.
    package func isAwaited(at instant: WallInstant) -> Bool {
        state.withLock { $0.sleepers.values.contains { $0.instant == instant } }
    }

    /// The number of sleepers.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    package func advance(bySeconds seconds: Int64) { advance(byMilliseconds: seconds * 1000) }

    package func advance(byMilliseconds milliseconds: Int64) {
        let awake = state.withLock { state in
            state.now = state.now.advanced(byMilliseconds: milliseconds)
            let due = state.sleepers.filter { $0.value.instant <= state.now }
            for key in due.keys { state.sleepers[key] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in awake { continuation.resume() }
    }

    package func sleep(until instant: WallInstant) async throws {
        let key = state.withLock { state in
            state.nextKey += 1
            return state.nextKey
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.remove(key) != nil { return .failure(CancellationError()) }
                    if instant <= state.now { return .success(()) }
                    state.sleepers[key] = Sleeper(instant: instant, continuation: continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let sleeper = state.sleepers.removeValue(forKey: key) else {
                    state.cancelled.insert(key)
                    return nil
                }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}

/// The machine's clock, running faster by a factor.
package struct FastClock: GatewayClock {
    private let factor: Int64
    private let origin = ContinuousClock.now
    private let start: WallInstant

    package init(factor: Int64, at start: WallInstant = Samples.start) {
        self.factor = factor
        self.start = start
    }

    package func now() -> WallInstant {
        let elapsed = origin.duration(to: .now).components
        let milliseconds = elapsed.seconds * 1000 + elapsed.attoseconds / 1_000_000_000_000_000
        return start.advanced(byMilliseconds: milliseconds * factor)
    }

    package func sleep(until instant: WallInstant) async throws {
        let milliseconds = max(0, instant.milliseconds(since: now()))
        try await elapse(.milliseconds(milliseconds / factor + 1))
    }
}
