// SPDX-License-Identifier: Apache-2.0

import APNsClient
import Synchronization

/// Keeps a fixed number of pushes in flight without a task for each: every group of replies is
/// answered by as many new pushes, from inside the client's callback.
final class ReceivingLoad: Sendable {
    private struct State {
        var started = 0
        var tally = Tally()
        var waiter: CheckedContinuation<Tally, Never>?
    }

    private let owner: APNsClientLoad
    private let pushes: Int
    private let state = Mutex(State())

    init(_ owner: APNsClientLoad, pushes: Int) {
        self.owner = owner
        self.pushes = pushes
    }

    func run() async -> Tally {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.waiter = continuation
                state.tally.latencies.reserveCapacity(pushes)
            }
            send(owner.load.inFlight)
        }
    }

    private func send(_ count: Int) {
        let numbers = state.withLock { state -> Range<Int> in
            let first = state.started
            state.started = min(pushes, first + count)
            return first..<state.started
        }
        guard !numbers.isEmpty else { return }
        let start = ProcessClocks.nanoseconds
        owner.client.send(numbers.map(owner.push)) { replies in
            self.receive(replies, since: start)
        }
    }

    private func receive(_ replies: [PushReply], since start: UInt64) {
        let end: (CheckedContinuation<Tally, Never>, Tally)? = state.withLock { state in
            for reply in replies { state.tally.add(reply.result, since: start) }
            guard state.tally.latencies.count == pushes, let waiter = state.waiter else {
                return nil
            }
            return (waiter, state.tally)
        }
        if let (waiter, tally) = end {
            waiter.resume(returning: tally)
        } else {
            send(replies.count)
        }
    }
}
