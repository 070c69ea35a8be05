// SPDX-License-Identifier: Apache-2.0

import LoopKit
import PushTransport
import Synchronization
import WakeModel

/// Counts what came back, and lets a scenario await it.
final class Tally: Sendable {
    private struct State {
        var answers: [TransportRequest.ID: Int] = [:]
        var labels: [String: Int] = [:]
        var count = 0
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = StateLock(State())

    func take(_ batch: [Completion]) {
        let ready = state.withLock { state in
            for completion in batch {
                state.answers[completion.id, default: 0] += 1
                state.count += 1
                state.labels[completion.result.label, default: 0] += 1
            }
            let ready = state.waiters.filter { $0.count <= state.count }
            state.waiters.removeAll { $0.count <= state.count }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Returns once so many answers came.
    func wait(for count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.count < count { state.waiters.append((count, continuation)) }
                return state.count >= count
            }
            if isThere { continuation.resume() }
        }
    }

    var count: Int { state.withLock { $0.count } }
    var answeredTwice: Int { state.withLock { $0.answers.values.count { $0 > 1 } } }
    var distinct: Int { state.withLock { $0.answers.count } }
    var labels: [String: Int] { state.withLock { $0.labels } }
}

extension Result<WireResponse, TransportFailure> {
    var label: String {
        switch self {
        case .success(let answer): "status-\(answer.status)"
        case .failure(let failure): "\(failure.kind.rawValue)-\(failure.certainty.rawValue)"
        }
    }
}
