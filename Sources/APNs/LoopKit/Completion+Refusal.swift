// SPDX-License-Identifier: Apache-2.0

package import PushTransport
internal import WakeModel

extension Completion {
    /// The outcome of a submission that is refused before anything of it is sent.
    package static func refused(
        _ submission: TransportRequest, as kind: TransportFailure.Kind, _ detail: String
    ) -> Completion {
        Completion(
            id: submission.id,
            result: .failure(TransportFailure(kind, certainty: .notSent, detail: detail)),
            context: submission.context)
    }

    /// The outcome of a submission after shutdown has begun.
    package static func refusedByShutdown(_ submission: TransportRequest) -> Completion {
        refused(submission, as: .shutDown, "the transport is shut down")
    }
}
