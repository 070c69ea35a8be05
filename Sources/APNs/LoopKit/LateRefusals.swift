// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushTransport
internal import Synchronization

/// Refuses submissions after the end, on the submitter's thread.
///
/// A sink may submit again. Refusing that synchronously would nest each refusal in the previous
/// one's stack frame: repeated submissions would overflow the stack, and a receiver that holds a
/// lock would deadlock. So a refusal of a submission made inside a sink waits until that sink has
/// returned.
package final class LateRefusals: Sendable {
    /// The receiver of the outcomes.
    package let sink: CompletionSink
    /// The submissions from inside the sink, by the threads that are in it at present.
    private let waiting = StateLock<[pthread_t: [TransportRequest]]>([:])

    /// Creates refusals for this sink.
    package init(_ sink: @escaping CompletionSink) { self.sink = sink }

    /// Reports each as `shutDown (not-sent)`: before it returns, or, from inside the sink, after
    /// that has returned.
    package func refuse(_ batch: [TransportRequest]) {
        guard !batch.isEmpty else { return }
        let thread = pthread_self()
        let isInside = waiting.withLock { waiting in
            guard waiting[thread] != nil else { return false }
            waiting[thread]?.append(contentsOf: batch)
            return true
        }
        if !isInside { deliver(batch.map(Completion.refusedByShutdown)) }
    }

    /// Reports the last outcomes of a transport whose mailbox is closed. Submissions from inside
    /// the sink are refused after the sink has returned, and before this returns.
    package func deliver(_ completions: [Completion]) {
        guard !completions.isEmpty else { return }
        let thread = pthread_self()
        waiting.withLock { $0[thread] = [] }
        var next = completions
        while !next.isEmpty {
            sink(next)
            next = waiting.withLock { waiting in
                let more = waiting[thread] ?? []
                waiting[thread] = more.isEmpty ? nil : []
                return more
            }
            .map(Completion.refusedByShutdown)
        }
    }
}
