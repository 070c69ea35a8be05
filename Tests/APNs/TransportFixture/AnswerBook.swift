// SPDX-License-Identifier: Apache-2.0

import LoopKit
import PushTransport
import Synchronization
import WakeModel

/// Gives out the numbers of a client's pushes, and counts the answers to each.
final class AnswerBook: Sendable {
    private struct State {
        /// How many answers came, by the number of the push.
        var answers: [Int]
        /// How many numbers were given out.
        var taken = 0
        /// How many answers came in all.
        var answered = 0
        var labels: [String: Int] = [:]
        var waiters: [(isDue: @Sendable (Int, Int) -> Bool, CheckedContinuation<Void, Never>)] = []
    }

    let count: Int
    private let state: StateLock<State>

    init(count: Int) {
        self.count = count
        state = StateLock(State(answers: Array(repeating: 0, count: count)))
    }

    /// So many unused numbers, or fewer at the end.
    func take(_ wanted: Int) -> Range<Int> {
        let (numbers, due) = state.withLock { state in
            let first = state.taken
            state.taken = min(count, first + wanted)
            return (first..<state.taken, Self.due(&state))
        }
        for waiter in due { waiter.resume() }
        return numbers
    }

    func note(_ number: Int, _ result: Result<PushOutcome, TransportFailure>) {
        let due = state.withLock { state in
            state.answers[number] += 1
            state.answered += 1
            state.labels[result.label, default: 0] += 1
            return Self.due(&state)
        }
        for waiter in due { waiter.resume() }
    }

    private static func due(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        let (taken, answered) = (state.taken, state.answered)
        let due = state.waiters.filter { $0.isDue(taken, answered) }.map(\.1)
        if !due.isEmpty { state.waiters.removeAll { $0.isDue(taken, answered) } }
        return due
    }

    /// Returns once `isDue` says so, of how many numbers are taken and how many answers came.
    func wait(until isDue: @escaping @Sendable (_ taken: Int, _ answered: Int) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if isDue(state.taken, state.answered) { return true }
                state.waiters.append((isDue, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// How many pushes are on their way.
    var open: Int { state.withLock { $0.taken - $0.answered } }
    var labels: [String: Int] { state.withLock { $0.labels } }
    var answeredTwice: Int { state.withLock { $0.answers.count { $0 > 1 } } }
    var unanswered: Int { state.withLock { $0.answers.count { $0 == 0 } } }
}

extension Result<PushOutcome, TransportFailure> {
    fileprivate var label: String {
        switch self {
        case .success(.accepted): "accepted"
        case .success(.rejected(let rejection)): "rejected-\(rejection.status)"
        case .failure(let failure): "\(failure.kind.rawValue)-\(failure.certainty.rawValue)"
        }
    }
}
