// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Turns on the processors for tasks that process long lists, so that no list delays a short
/// request: fewer turns at a time than there are processors, and only short ones while others wait.
/// A task with more work queues again behind the others, in order of arrival.
///
/// May be used from any thread.
public final class WorkTurns: Sendable {
    /// The duration of a turn while others wait.
    static let length = Duration.milliseconds(2)

    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    /// Creates turns: one fewer than there are processors, and at least one.
    init(processorCount: Int) { state = Mutex(State(free: max(1, processorCount - 1))) }

    /// The number of tasks that wait for a turn, for tests.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits for a turn and begins it. The caller must end it.
    public func begin() async -> WorkTurn {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
        return WorkTurn(self)
    }

    /// Queues behind the tasks that wait for a turn; if there are none, yields to other tasks.
    fileprivate func yield() async {
        await withCheckedContinuation { continuation in
            let next = state.withLock { state in
                state.waiting.append(continuation)
                return state.waiting.removeFirst()
            }
            // This task itself, if no other waited.
            next.resume()
        }
        await Task.yield()
    }

    fileprivate func end() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}

/// A turn of one task; see ``WorkTurns``.
public final class WorkTurn {
    private let turns: WorkTurns
    private var isOver = false
    private var limit = ContinuousClock.now + WorkTurns.length

    fileprivate init(_ turns: WorkTurns) { self.turns = turns }

    deinit { assert(isOver, "A turn was not ended.") }

    /// Ends this turn if it was long enough and waits for the next one. Called between two pieces
    /// of work.
    public func pause() async {
        guard ContinuousClock.now >= limit else { return }
        await turns.yield()
        limit = ContinuousClock.now + WorkTurns.length
    }

    /// Ends the turn.
    public func end() {
        guard !isOver else { return }
        isOver = true
        turns.end()
    }
}
