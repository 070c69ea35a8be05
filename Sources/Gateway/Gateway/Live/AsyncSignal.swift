// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import WakeModel

/// Resumes one waiting task. A signal without a waiting task is kept, once, so none is lost, and
/// several are one.
package final class AsyncSignal: Sendable {
    private enum State {
        case quiet
        case rung
        case awaited(CheckedContinuation<Void, Never>)
    }

    private let state = Mutex(State.quiet)

    /// Creates a signal that has not fired.
    package init() {}

    /// Fires; may be called from any thread.
    package func ring() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard case .awaited(let waiter) = state else {
                state = .rung
                return nil
            }
            state = .quiet
            return waiter
        }
        waiter?.resume()
    }

    /// Returns when the signal fires, or has fired since the last wait; cancellation does not end
    /// it. One task waits at a time.
    func wait() async {
        await withCheckedContinuation { continuation in
            let hasRung = state.withLock { state in
                switch state {
                case .rung:
                    state = .quiet
                    return true
                case .quiet:
                    state = .awaited(continuation)
                    return false
                case .awaited:
                    preconditionFailure("Two tasks wait for one signal.")
                }
            }
            if hasRung { continuation.resume() }
        }
    }

    /// Returns when the signal fires, or has fired since the last wait, or immediately when the
    /// task is cancelled. One task waits at a time.
    package func waitUnlessCancelled() async {
        await withTaskCancellationHandler {
            await wait()
        } onCancel: {
            ring()
        }
    }

    /// Returns when the signal fires, at the instant, or immediately when the task is cancelled,
    /// whichever comes first.
    package func wait(until instant: WallInstant, clock: any GatewayClock) async {
        await wait { try await clock.sleep(until: instant) }
    }

    /// Returns when the signal fires, at the instant, or immediately when the task is cancelled,
    /// whichever comes first.
    func wait(until instant: ContinuousClock.Instant) async {
        await wait { try await Task.sleep(until: instant) }
    }

    /// Returns when the signal fires, at the end of the time, or immediately when the task is
    /// cancelled, whichever comes first.
    package func wait(until limit: TimeLimit, clock: any GatewayClock) async {
        await wait(
            { try await clock.sleep(until: limit.deadline) },
            { try await Task.sleep(until: limit.latest) })
    }

    private func wait(_ sleeps: (@Sendable () async throws -> Void)...) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitUnlessCancelled() }
            // A cancelled sleep means that the signal fired first; there is nothing to report.
            for sleep in sleeps { group.addTask { try? await sleep() } }
            await group.next()
            group.cancelAll()
        }
    }
}
