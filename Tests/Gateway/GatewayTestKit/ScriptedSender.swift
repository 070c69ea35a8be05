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
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var held: [(Claim, @Sendable (SendReport) -> Void)] = []
    }

    private let state = Mutex(State())
    private let answer: Answer

    /// `answer` returns the result, or `nil` to hold the claim back until the send is cancelled.
    package init(_ answer: @escaping Answer = { _ in Samples.accepted }) { self.answer = answer }

    /// All claims handed over so far, in order.
    package var sent: [Claim] { state.withLock { $0.sent } }

    /// Returns when so many claims were handed over.
    package func waitUntilSent(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.sent.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    package func send(_ batch: [Claim], report: @escaping @Sendable (SendReport) -> Void) async {
        var isHolding = false
        for claim in batch {
            let ready = state.withLock { state in
                state.sent.append(claim)
                let count = state.sent.count
                let ready = state.watchers.filter { $0.count <= count }
                state.watchers.removeAll { $0.count <= count }
                return ready
            }
            for watcher in ready { watcher.continuation.resume() }
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
