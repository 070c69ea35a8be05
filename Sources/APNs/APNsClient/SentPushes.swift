// SPDX-License-Identifier: Apache-2.0

internal import APNsWire
internal import LoopKit
internal import PushTransport
internal import Synchronization
internal import WakeModel

/// The pushes of one batch, and the receiver of their replies.
///
/// It is the context of each of its submissions, which the transport returns with the outcome, so
/// that the client needs no table of submissions in flight.
final class SentPushes: Sendable {
    typealias Outcome = Result<PushOutcome, TransportFailure>

    /// Receives replies.
    typealias Receive = @Sendable ([PushReply]) -> Void

    /// Who waits.
    enum Receiver: Sendable {
        /// A caller that receives all replies of a batch together, in the order of its pushes.
        case collector(Receive)
        /// A caller that receives replies as they arrive.
        case stream(Receive)
    }

    private enum Manner {
        case collector
        case stream
    }

    private struct State {
        /// Released with the last reply, because the caller may keep the batch's handle.
        var receive: Receive?
        /// The number of pushes without a reply.
        var missing: Int
        /// Replies that were received and not delivered yet.
        var replies: [PushReply] = []
    }

    /// The first push's first submission.
    let firstID: TransportRequest.ID
    private let manner: Manner
    /// The deadline for their answers, by the clock's uptime.
    let due: Duration
    private let isGivenUp = Atomic(false)
    private let generation = Atomic<UInt64>(0)
    private let resendGeneration = Atomic<UInt64>(0)
    private let state: StateLock<State>
    /// The pushes, in the order of their ids, which are consecutive. Last, because replies use only
    /// its count.
    let pushes: [Push]

    init(_ pushes: [Push], firstID: TransportRequest.ID, receiver: Receiver, due: Duration) {
        self.pushes = pushes
        self.firstID = firstID
        self.due = due
        let receive: Receive
        switch receiver {
        case .collector(let closure): (manner, receive) = (.collector, closure)
        case .stream(let closure): (manner, receive) = (.stream, closure)
        }
        state = StateLock(State(receive: pushes.isEmpty ? nil : receive, missing: pushes.count))
    }

    // MARK: Submissions

    /// The id of a push's second submission. It follows from the first one.
    static func resendID(of id: TransportRequest.ID) -> TransportRequest.ID { id | 1 << 63 }

    /// Whether this is the id of a second submission.
    static func isResend(_ id: TransportRequest.ID) -> Bool { id >> 63 == 1 }

    /// The index of the push of a submission.
    func index(of id: TransportRequest.ID) -> Int {
        let index = Int(truncatingIfNeeded: (id & ~(1 << 63)) &- firstID)
        precondition(index >= 0 && index < pushes.count, "A submission came back with another's.")
        return index
    }

    /// The generation of the provider token that a submission was sent with; 0 with a certificate.
    func tokenGeneration(of id: TransportRequest.ID) -> UInt64 {
        Self.isResend(id)
            ? resendGeneration.load(ordering: .acquiring) : generation.load(ordering: .acquiring)
    }

    /// Records the provider token of all first submissions.
    func didEncode(tokenGeneration: UInt64) {
        generation.store(tokenGeneration, ordering: .releasing)
    }

    /// Records the provider token of second submissions: the latest one. Two of one batch with
    /// different tokens are rare, and then cost at most one replacement of connections too few.
    func didEncodeResend(tokenGeneration: UInt64) {
        resendGeneration.store(tokenGeneration, ordering: .releasing)
    }

    // MARK: Replies

    /// Whether the sender cancelled them.
    var isCancelled: Bool { isGivenUp.load(ordering: .acquiring) }

    /// Records that the sender cancelled them.
    func cancel() { isGivenUp.store(true, ordering: .releasing) }

    /// Whether a push has no reply yet.
    var isAwaited: Bool { state.withLock { $0.missing > 0 } }

    /// Adds the reply to one push. Returns true if it is the first of those to be delivered now,
    /// or, for a collector, the last one.
    func add(_ outcome: consuming Outcome, at index: Int) -> Bool {
        let reply = PushReply(index: index, result: outcome)
        return state.withLock { state in
            precondition(state.missing > 0, "A push was answered twice.")
            state.missing -= 1
            guard manner == .collector else {
                state.replies.append(reply)
                return state.replies.count == 1
            }
            if state.replies.isEmpty { state.replies.reserveCapacity(pushes.count) }
            state.replies.append(reply)
            return state.missing == 0
        }
    }

    /// Delivers the replies that were not delivered yet.
    func handOn() {
        var (replies, receive) = state.withLock { state in
            var replies: [PushReply] = []
            swap(&replies, &state.replies)
            defer { if state.missing == 0 { state.receive = nil } }
            return (replies, state.receive)
        }
        if manner == .collector {
            replies.sort { $0.index < $1.index }
            for (place, reply) in replies.enumerated() {
                precondition(reply.index == place, "A push was answered twice.")
            }
        }
        receive?(replies)
    }
}
