// SPDX-License-Identifier: Apache-2.0

package import PushTransport
internal import WakeModel

extension Completion {
    /// The answer to what is submitted after shutdown began.
    package static func refusedByShutdown(_ submission: TransportRequest) -> Completion {
        let failure = TransportFailure(
            .shutDown, certainty: .notSent, detail: "the transport is shut down")
        return Completion(id: submission.id, result: .failure(failure), context: submission.context)
    }
}
