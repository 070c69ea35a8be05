// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import LoopKit
internal import PushTransport
internal import WakeModel

extension HTTP2Loop {
    // MARK: Coming in

    /// Accepts the messages of the mailbox.
    func accept(_ contents: inout Mailbox.Contents, now: Int64) {
        let (replacesConnections, grace) = (contents.replacesConnections, contents.shutdownGrace)
        contents.drain(
            submission: { enqueue($0, now: now) },
            cancellation: { id in
                guard let place = places[id] else { return }
                giveUp(place, as: .cancelled, detail: "cancelled by the submitter", now: now)
            })
        if replacesConnections {
            for connection in connections { connection.drain() }
        }
        if let grace { shutDown(grace: grace, now: now) }
    }

    private func enqueue(_ submission: consuming TransportRequest, now: Int64) {
        guard submission.request.isComplete else {
            completions.append(
                .refused(submission, as: .other, "a push has a body; this one's is empty"))
            return
        }
        guard queued < configuration.maximumQueued else {
            completions.append(
                .refused(submission, as: .queueFull, "\(queued) submissions are waiting"))
            return
        }
        let id = submission.id
        let place = pool.insert(submission, now: now)
        precondition(
            places.updateValue(place, forKey: id) == nil,
            "Submission \(id) is in flight already; ids must be unique.")
        deadlines.insert(id, due: pool[place].due)
        LiveObjects.count(.transfer, by: 1)
        if pool[place].isUrgent {
            urgentQueue.append(place, in: pool)
        } else {
            ordinaryQueue.append(place, in: pool)
        }
    }

    // MARK: In the queue

    /// The next submission to send; it stays in the queue.
    var nextQueued: TransferPool.Place? {
        if urgentQueue.first != TransferPool.none { return urgentQueue.first }
        return firstOrdinary
    }

    /// The first that is not urgent.
    var firstOrdinary: TransferPool.Place? {
        ordinaryQueue.first == TransferPool.none ? nil : ordinaryQueue.first
    }

    /// Whether a submission waits for a connection until its timeout, regardless of failed
    /// attempts.
    func waitsForConnection(_ place: TransferPool.Place) -> Bool {
        configuration.urgentWaitsForConnection && pool[place].isUrgent
    }

    /// Takes one out of its queue.
    func unqueue(_ place: TransferPool.Place) {
        if pool[place].isUrgent {
            urgentQueue.remove(place, in: pool)
        } else {
            ordinaryQueue.remove(place, in: pool)
        }
    }

    /// Puts one that was certainly not sent back in front of its queue, for another connection; or
    /// ends it with `failure`, if it has moved often enough. A move that is not counted is limited
    /// only by the submission's timeout.
    func move(_ place: TransferPool.Place, or failure: TransportFailure, isCounted: Bool) {
        if isCounted {
            guard pool[place].moves < Self.maximumMoves else {
                finish(place, .failure(failure))
                return
            }
            pool[place].moves += 1
        }
        pool[place].stage = .queued
        if pool[place].isUrgent {
            urgentQueue.putBack(place, in: pool)
        } else {
            ordinaryQueue.putBack(place, in: pool)
        }
    }

    // MARK: Going out

    /// Ends the submissions whose timeout has passed.
    func failOverdue(now: Int64) {
        while let id = deadlines.popDue(now: now) {
            // The id may belong to a later submission.
            guard let place = places[id], pool[place].due <= now else { continue }
            var detail = "no answer within \(pool.timeout(place))"
            if pool[place].stage == .started {
                suspectSilence(of: place, now: now)
            } else if let reason = lastConnectFailure {
                detail =
                    "no connection within \(pool.timeout(place)); the last attempt: \(reason)"
            }
            giveUp(place, as: .timedOut, detail: detail, now: now)
        }
    }

    /// Handles a request that timed out while its connection received no byte, or no answer for a
    /// second or more: the peer must answer a PING before it gets more requests. The bytes that
    /// were received may be the middle of a frame that never ends. Without PINGs a silent peer is
    /// kept.
    private func suspectSilence(of place: TransferPool.Place, now: Int64) {
        guard let connection = connection(pool[place].connection) else { return }
        let startedAt = pool[place].startedAt
        let isSilent = connection.lastHeardAt <= startedAt
        if configuration.keepAlive == nil {
            if isSilent { retire(connection, now: now) }
        } else if isSilent
            || connection.lastAnswerAt <= startedAt
                && now - startedAt >= Self.suspiciousWaitMilliseconds
        {
            connection.ping(isSuspect: true, now: now)
        }
    }

    /// Ends a transfer and resets its stream. If the header block of its answer has come, and only
    /// the end of the stream has not, that answer is its outcome.
    func giveUp(
        _ place: TransferPool.Place, as kind: TransportFailure.Kind, detail: String, now: Int64
    ) {
        var certainty = Certainty.notSent
        var response: WireResponse?
        switch pool[place].stage {
        case .queued: unqueue(place)
        case .started:
            // What is collected will be written.
            certainty = .unknown
            if let connection = connection(pool[place].connection), let session = connection.session
            {
                connection.inFlight -= 1
                var answer = CHTTP2Answer()
                if CHTTP2Session_peek_answer(session, pool[place].stream, &answer) {
                    response = answerFields.response(answer)
                    didAnswer(status: answer.status, on: connection, now: now)
                }
                CHTTP2Session_cancel(session, pool[place].stream)
            }
        case .free: preconditionFailure("A transfer was given up twice.")
        }
        let failure = TransportFailure(kind, certainty: certainty, detail: detail)
        finish(place, response.map { .success($0) } ?? .failure(failure))
    }

    /// Ends a transfer: removes it from the table, and adds its outcome to the completions. Every
    /// transfer ends here.
    func finish(
        _ place: TransferPool.Place, _ result: consuming Result<WireResponse, TransportFailure>
    ) {
        let submission = pool.remove(place)
        places[submission.id] = nil
        deadlines.didFinish { id, due in places[id].map { pool[$0].due } == due }
        LiveObjects.count(.transfer, by: -1)
        completions.append(
            Completion(id: submission.id, result: result, context: submission.context))
    }
}
