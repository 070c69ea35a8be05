// SPDX-License-Identifier: Apache-2.0

internal import APNsWire
internal import PushTransport
internal import WakeModel

/// The callers of `send(_:)` with one push each, by the ids of their submissions. A value:
/// its owner guards it with a lock.
struct PendingSends {
    /// The answer to a caller.
    struct Answer: Sendable {
        let result: Result<PushOutcome, TransportFailure>
        /// Whether the answer proves that the push was not accepted, and the remedy is at hand: the
        /// caller then sends it again.
        let mayGoAgain: Bool
    }

    /// Who is suspended until the answer comes.
    typealias Caller = CheckedContinuation<Answer, Never>

    /// What is known of a submission on its way.
    struct Waiting {
        let caller: Caller
        /// With which provider token it went out; 0 with a certificate.
        let tokenGeneration: UInt64
        /// Whether it is the push's second submission, after which there is no third.
        let isSecond: Bool
    }

    private var waiting: [TransportRequest.ID: Waiting] = [:]

    /// Adds the caller of a submission that is about to go out; its id must be new.
    mutating func insert(_ id: TransportRequest.ID, _ waiting: Waiting) {
        let former = self.waiting.updateValue(waiting, forKey: id)
        precondition(former == nil, "Two submissions have one id.")
    }

    /// Takes the caller of a submission out, whose answer has come. It is given once.
    mutating func remove(_ id: TransportRequest.ID) -> Waiting {
        guard let waiting = waiting.removeValue(forKey: id) else {
            preconditionFailure("A push was answered twice, or before it was sent.")
        }
        return waiting
    }
}
