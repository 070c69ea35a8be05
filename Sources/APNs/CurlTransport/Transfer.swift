// SPDX-License-Identifier: Apache-2.0

internal import LoopKit
internal import PushTransport

/// One submission in the loop's hands, from the mailbox to its completion. Confined to the loop's
/// thread.
final class Transfer {
    let id: TransportRequest.ID
    /// Its place among all that were ever submitted.
    let order: Int
    let request: WireRequest
    /// What its submitter wants back; let go of when it is answered.
    var context: TransportRequest.Context?
    /// When its time is up, in monotonic milliseconds.
    let due: Int64
    /// How long it may take, for the message that says it did not.
    let timeout: Duration
    /// When it was handed to a connection.
    var startedAt: Int64 = .min
    /// How often it went back into the queue after its connection turned out to be dead.
    var requeues = 0
    var stage = Stage.queued

    enum Stage {
        /// In the transport's queue.
        case queued
        /// On a connection.
        case started(CurlConnection, CurlExchange)
        /// Answered; removed by the next holder of it.
        case finished
    }

    init(_ submission: TransportRequest, order: Int, now: Int64) {
        id = submission.id
        self.order = order
        request = submission.request
        context = submission.context
        timeout = submission.timeout
        due = now + submission.timeout.wholeMilliseconds
        LiveObjects.count(.transfer, by: 1)
    }

    deinit { LiveObjects.count(.transfer, by: -1) }

    var isQueued: Bool {
        if case .queued = stage { true } else { false }
    }
}
