// SPDX-License-Identifier: Apache-2.0

package import Gateway
import Synchronization
import WaitKit
package import WakeModel

/// A sender that answers as the test says, and remembers everything it was handed.
package final class ScriptedSender: WakeSender {
    package typealias Answer = @Sendable (Claim) -> Result<PushOutcome, SendFailure>?

    private struct State {
        var sent: [Claim] = []
        var watchers: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
        var lastWatcher = 0
        var held: [(Claim, @Sendable (SendReport) -> Void)] = []
    }

    private let state = Mutex(State())
    private let answer: Answer

    /// `answer` returns the result, or `nil` to hold the claim back until the send is cancelled.
    package init(_ answer: @escaping Answer = { _ in Samples.accepted }) { self.answer = answer }

    /// All claims handed over so far, in order.
    package var sent: [Claim] { state.withLock { $0.sent } }

    /// Returns when so many claims were handed over, or the task is cancelled, as by a time limit.
    package func waitUntilSent(_ count: Int) async {
        let watcher = state.withLock { state in
            state.lastWatcher += 1
            return state.lastWatcher
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.sent.count >= count || Task.isCancelled { return true }
                    state.watchers[watcher] = (count, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.removeValue(forKey: watcher) }?.continuation.resume()
        }
    }

    package func send(
        _ batch: [Claim], at now: WallInstant, report: @escaping @Sendable (SendReport) -> Void
    ) async {
        var isHolding = false
        for claim in batch {
            let ready = state.withLock { state in
                state.sent.append(claim)
                let count = state.sent.count
                let ready = state.watchers.filter { $1.count <= count }
                for watcher in ready.keys { state.watchers[watcher] = nil }
                return ready.values.map(\.continuation)
            }
            for watcher in ready { watcher.resume() }
            if let result = answer(claim) {
                report(SendReport(ticket: claim.ticket, result: result))
            } else {
                isHolding = true
            }
        }
        // Held back until cancelled; a cancelled sleep is the end that is waited for.
        if isHolding { try? await elapse(.seconds(3_600)) }
    }
}
