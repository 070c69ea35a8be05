// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import LoopKit
internal import PushTransport
internal import WakeModel

extension HTTP2Loop {
    /// Reports the outcomes of the streams that have ended on a connection. `loss` is the reason
    /// when the connection broke and all of them ended.
    @discardableResult
    func settle(
        _ connection: HTTP2Connection, loss: TransportFailure? = nil, now: Int64
    ) -> Bool {
        guard let session = connection.session else { return false }
        var answer = CHTTP2Answer()
        var count = 0
        while CHTTP2Session_next_finished(session, &answer) {
            count += 1
            settle(answer, of: connection, loss: loss, now: now)
            CHTTP2Session_release(session, answer.stream)
        }
        connection.inFlight -= count
        return count > 0
    }

    private func settle(
        _ answer: CHTTP2Answer, of connection: HTTP2Connection, loss: TransportFailure?, now: Int64
    ) {
        let place = TransferPool.Place(answer.tag)
        // A complete header block is an answer, also if its stream was reset afterwards.
        if answer.status != 0, !answer.isTooLarge {
            didAnswer(status: answer.status, on: connection, now: now)
            finish(place, .success(answerFields.response(answer)))
            return
        }
        let failure = failure(of: answer, on: connection, loss: loss)
        if failure.certainty == .notSent {
            move(place, or: failure, isCounted: !isExcused(place, by: connection, loss: loss))
        } else {
            finish(place, .failure(failure))
        }
    }

    /// Whether a move to another connection is not counted. When a server answers and then closes
    /// in order, each connection answers some requests, so that the number of moves is bounded. A
    /// submission that waits for a connection until its timeout moves whenever one is lost; the
    /// back-off limits the attempts to connect. The refusal of a single stream is always counted,
    /// because no back-off limits it.
    private func isExcused(
        _ place: TransferPool.Place, by connection: HTTP2Connection, loss: TransportFailure?
    ) -> Bool {
        guard let session = connection.session else { return false }
        let state = CHTTP2Session_state(session)
        if connection.isValidated && state.isLeavingInOrder { return true }
        return waitsForConnection(place) && (loss != nil || state.goAwayReceived)
    }

    /// Updates the state of a connection after an answer.
    func didAnswer(status: UInt16, on connection: HTTP2Connection, now: Int64) {
        connection.didAnswer(now: now)
        // A refused provider token is the one answer after which APNs keeps the connection at one
        // stream (facts §1.3).
        if status != 403, !connection.isValidated {
            connection.validate()
            lastConnectFailure = nil
            // The successor has had a valid answer.
            for aged in connections where isAged(aged, now: now) { aged.drain() }
        }
        if now - connection.openedAt >= Self.shortLifeMilliseconds { backoff.didSucceed() }
    }

    private func failure(
        of answer: CHTTP2Answer, on connection: HTTP2Connection, loss: TransportFailure?
    ) -> TransportFailure {
        if answer.isTooLarge {
            return TransportFailure(
                .responseTooLarge, certainty: .unknown,
                detail: "the body has over \(CHTTP2_ANSWER_BODY_MAX) bytes, or more than the "
                    + "request allows, or the header list over \(CHTTP2_HEADER_LIST_MAX)")
        }
        if answer.isMalformed {
            return TransportFailure(
                .streamReset, certainty: .unknown,
                detail: "the answer is malformed (RFC 9113 §8), so the stream was reset")
        }
        if let loss {
            return TransportFailure(
                loss.kind, certainty: answer.isWritten ? .unknown : .notSent, detail: loss.detail)
        }
        if answer.errorCode == HTTP2ErrorCode.refusedStream {
            // Some servers that end a connection for a fault say that they processed nothing, and
            // have answered. So the fate of the others is unknown.
            let isFalse = connection.session.map { CHTTP2Session_state($0).goAwayIsFalse } ?? false
            return TransportFailure(
                .streamRefused, certainty: isFalse && answer.isWritten ? .unknown : .notSent,
                detail: refusal(by: connection))
        }
        return TransportFailure(
            .streamReset, certainty: .unknown,
            detail: "the stream was reset with \(HTTP2ErrorCode.name(answer.errorCode))")
    }

    private func refusal(by connection: HTTP2Connection) -> String {
        guard let session = connection.session, CHTTP2Session_state(session).goAwayReceived else {
            return "the server refused the stream"
        }
        return farewell(of: session)
    }

    /// The message for a GOAWAY.
    func farewell(of session: OpaquePointer) -> String {
        let code = HTTP2ErrorCode.name(CHTTP2Session_state(session).goAwayCode)
        let words = String(cString: CHTTP2Session_goaway_words(session))
        return "the server said GOAWAY with \(code)" + (words.isEmpty ? "" : ": \(words)")
    }
}
