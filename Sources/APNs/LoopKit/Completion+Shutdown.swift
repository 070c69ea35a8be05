// SPDX-License-Identifier: Apache-2.0

package import PushTransport
internal import WakeModel

extension Completion {
    /// The outcome of a submission after shutdown has begun.
    package static func refusedByShutdown(_ submission: TransportRequest) -> Completion {
        let failure = TransportFailure(
            .shutDown, certainty: .notSent, detail: "the transport is shut down")
        return Completion(id: submission.id, result: .failure(failure), context: submission.context)
    }
}
