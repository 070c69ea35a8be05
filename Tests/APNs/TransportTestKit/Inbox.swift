// SPDX-License-Identifier: Apache-2.0

package import PushTransport
import Synchronization
import WakeModel

/// Collects a transport's completions, and lets a test await them.
package final class Inbox: Sendable {
    package typealias Outcome = Result<WireResponse, TransportFailure>

    private struct Waiter {
        let isReady: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var outcomes: [TransportRequest.ID: [Outcome]] = [:]
        var order: [TransportRequest.ID] = []
        var withoutContext = 0
        var waiters: [Waiter] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var sink: CompletionSink {
        { [self] batch in
            let ready = state.withLock { state in
                for completion in batch {
                    // Whatever the outcome: the submitter has no other reference to its push.
                    if let context = completion.context as? TestPush.Context {
                        precondition(context.number == completion.id, "Contexts were mixed up.")
                    } else {
                        state.withoutContext += 1
                    }
                    state.outcomes[completion.id, default: []].append(completion.result)
                    state.order.append(completion.id)
                }
                let waiters = state.waiters
                state.waiters = waiters.filter { !$0.isReady(state) }
                return waiters.filter { $0.isReady(state) }.map(\.continuation)
            }
            for continuation in ready { continuation.resume() }
        }
    }

    /// Returns once so many completions have come.
    package func waitForCount(_ count: Int) async { await wait { $0.order.count >= count } }

    /// The first outcome of one submission, awaited.
    package func outcome(of id: TransportRequest.ID) async -> Outcome {
        await wait { $0.outcomes[id] != nil }
        guard let outcome = outcomes[id]?.first else { preconditionFailure("It was awaited.") }
        return outcome
    }

    /// All outcomes of each submission; a correct transport gives exactly one.
    package var outcomes: [TransportRequest.ID: [Outcome]] { state.withLock { $0.outcomes } }

    /// Ids in the order of their completions.
    package var order: [TransportRequest.ID] { state.withLock { $0.order } }

    /// How many came back without their context.
    package var withoutContext: Int { state.withLock { $0.withoutContext } }

    /// Submissions that were answered more than once.
    package var answeredTwice: Int { outcomes.values.count { $0.count > 1 } }

    /// How many ended with this status.
    package func count(status: Int) -> Int {
        outcomes.values.count {
            if case .success(let answer)? = $0.first { answer.status == status } else { false }
        }
    }

    /// How many failed in each way: `timed-out (unknown)` and so on.
    package var failures: [String: Int] {
        outcomes.values.reduce(into: [:]) { counts, outcomes in
            if case .failure(let failure)? = outcomes.first {
                counts[failure.label, default: 0] += 1
            }
        }
    }

    private func wait(until isReady: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if isReady(state) { return true }
                state.waiters.append(Waiter(isReady: isReady, continuation: continuation))
                return false
            }
            if isDone { continuation.resume() }
        }
    }
}

extension TransportFailure {
    /// Kind and certainty without the detail.
    package var label: String { "\(kind.rawValue) (\(certainty.rawValue))" }
}

extension Result<WireResponse, TransportFailure> {
    /// `200`, or `timed-out (unknown)`.
    package var label: String {
        switch self {
        case .success(let answer): "\(answer.status)"
        case .failure(let failure): failure.label
        }
    }

    package var failure: TransportFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }

    package var status: Int? {
        if case .success(let answer) = self { answer.status } else { nil }
    }
}
