// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims
internal import DequeModule
internal import LoopKit
internal import PushTransport
internal import WakeModel

extension CurlLoop {
    // MARK: Admission

    /// Assigns waiting transfers to connections with free streams, and opens connections as needed.
    func admit(now: Int64) {
        while let transfer = nextQueued() {
            guard let connection = connectionWithMostRoom() ?? openConnection(now: now) else {
                return
            }
            popQueued(transfer)
            start(transfer, on: connection, now: now)
        }
    }

    /// The next transfer to start, which stays at the front of its queue.
    private func nextQueued() -> Transfer? {
        while let first = urgentQueue.first {
            if first.isQueued { return first }
            urgentQueue.removeFirst()
        }
        while let first = ordinaryQueue.first {
            if first.isQueued { return first }
            ordinaryQueue.removeFirst()
        }
        return nil
    }

    private func popQueued(_ transfer: Transfer) {
        if transfer.request.isUrgent {
            urgentQueue.removeFirst()
        } else {
            ordinaryQueue.removeFirst()
        }
        queued -= 1
    }

    private func connectionWithMostRoom() -> CurlConnection? {
        var best: CurlConnection?
        var most = 0
        for connection in connections where connection.room > most {
            // An idle connection may have been closed by the peer without libcurl's notice.
            if connection.inFlight == 0, connection.isLost {
                retire(connection)
                continue
            }
            most = connection.room
            best = connection
        }
        return best
    }

    /// Opens one more connection, if there is none to wait for and the back-off allows it.
    private func openConnection(now: Int64) -> CurlConnection? {
        let maximum = configuration.maximumConnections
        let underWay = connections.filter { !$0.isRetired && !isReplaceable($0) }
        guard underWay.count < maximum, underWay.allSatisfy(\.window.isValidated),
            connections.count(where: { !$0.isRetired && isReplaceable($0) }) <= maximum,
            now >= backoff.notBefore(isUrgent: hasUrgent)
        else { return nil }
        let window = StreamWindow(maximum: settings.maximumStreams)
        guard
            let connection = CurlConnection(
                reactor: reactor, settings: settings, idle: idleExchanges, window: window,
                maximumStarts: min(maximumStarts, requestLimit.value(now: now)),
                formerEnd: requestLimit.lastEnd(now: now), now: now)
        else {
            lastConnectFailure = TransportFailure(
                .other, certainty: .notSent, detail: "memory ran out")
            backoff.didFail(now: now, jitter: .random(in: 0..<1))
            return nil
        }
        connections.append(connection)
        connectionsOpened += 1
        backoff.didOpen(now: now)
        return connection
    }

    /// Whether a connection has started all it may, so that another is opened before it ends. Where
    /// that is few requests, it counts until it ends: otherwise each push would open one.
    private func isReplaceable(_ connection: CurlConnection) -> Bool {
        connection.isSpent && connection.maximumStarts >= ConnectBackoff.answersForNoWait
    }

    private func start(_ transfer: Transfer, on connection: CurlConnection, now: Int64) {
        transfer.startedAt = now
        let complaint: String?
        if let block = blocks.block(for: transfer.request.sharedHeaders) {
            complaint = connection.start(transfer, block: block)
        } else {
            complaint = "memory ran out"
        }
        guard let complaint else { return }
        let failure = TransportFailure(.other, certainty: .notSent, detail: complaint)
        finish(transfer, .failure(failure))
    }

    // MARK: Settlement

    /// Collects the transfers that libcurl finished, and updates the state of each connection.
    func settle(now: Int64) {
        for connection in connections {
            connection.takeFinished(into: &finished)
            for (transfer, code) in finished {
                settle(transfer, code: code, on: connection, now: now)
            }
            finished.removeAll(keepingCapacity: true)
            review(connection, now: now)
        }
        connections.removeAll { connection in
            guard connection.isDraining, connection.inFlight == 0 else { return false }
            connection.close()
            return true
        }
    }

    private func settle(
        _ transfer: Transfer, code: Int32, on connection: CurlConnection, now: Int64
    ) {
        guard case .started(_, let exchange) = transfer.stage else { return }
        // The report points into the exchange, so it is read before the exchange is recycled.
        let result = outcome(code: code, report: exchange.report, of: connection, now: now)
        connection.remove(transfer, exchange: exchange, endedWell: code == 0)
        if case .failure(let failure) = result, mayGoAgain(transfer, failure, on: connection) {
            requeue(transfer)
        } else {
            finish(transfer, result)
        }
    }

    /// Whether a submission moves to the next connection instead of ending with its failure.
    private func mayGoAgain(
        _ transfer: Transfer, _ failure: TransportFailure, on connection: CurlConnection
    ) -> Bool {
        guard failure.certainty == .notSent else { return false }
        if configuration.urgentWaitsForConnection, transfer.request.isUrgent { return true }
        // When a server answers and then closes in order, each connection answers some requests.
        if connection.window.isValidated, connection.goAway.isInOrder { return true }
        // A connection with earlier answers that was found lost or closing before this request had
        // a stream, or a stream that was refused: nothing was sent.
        guard connection.window.isValidated || failure.kind == .streamRefused,
            transfer.requeues < Self.maximumRequeues
        else { return false }
        transfer.requeues += 1
        return true
    }

    /// Updates the state of a connection after an answer.
    func didAnswer(on connection: CurlConnection, status: Int) {
        let now = CCurl_monotonic_milliseconds()
        // A refused provider token is the one answer after which APNs keeps the connection at one
        // stream (facts §1.3).
        connection.didReceiveAnswer(isValid: status != 403, now: now)
        lastConnectFailure = nil
        if now - connection.openedAt < Self.openingPatienceMilliseconds { silentOpenings = 0 }
        if now - connection.openedAt >= Self.shortLifeMilliseconds { backoff.didSucceed() }
    }

    private func outcome(
        code: Int32, report: CCurlReport, of connection: CurlConnection, now: Int64
    ) -> Result<WireResponse, TransportFailure> {
        // A complete header block is an answer, also if the connection broke afterwards.
        if report.isAnswer {
            if code != 0, !CurlVerdict(code: code).sparesConnection { retire(connection) }
            didAnswer(on: connection, status: Int(report.status))
            return .success(answerFields.response(report))
        }
        if code == 0 && !report.responseMalformed || report.httpVersion == 1
            || report.protocolWasRefused
        {
            let failure = TransportFailure(
                .notHTTP2, certainty: report.requestBegan ? .unknown : .notSent,
                detail: "the peer speaks another protocol than HTTP/2; is this APNs?")
            lastConnectFailure = failure
            retire(connection)
            return .failure(failure)
        }
        if report.responseMalformed {
            return .failure(
                TransportFailure(
                    .streamReset, certainty: .unknown,
                    detail: "the answer is malformed (RFC 9113 §8)"))
        }
        if report.streamWasRefused {
            // libcurl uses the connection for nothing new from then on.
            retire(connection)
            return .failure(
                TransportFailure(
                    .streamRefused, certainty: .notSent, detail: "the server refused the stream"))
        }
        let verdict = CurlVerdict(code: code)
        let failure = TransportFailure(
            verdict, code: code, report: report, usesProxy: configuration.proxy.isExplicit)
        if !verdict.sparesConnection {
            if !connection.window.isValidated { lastConnectFailure = failure }
            retire(connection)
        }
        return .failure(failure)
    }

    /// Stops using a connection that failed or is draining for new requests. A server that answers
    /// and then closes the connection in order is not a failure: the next one is opened
    /// immediately. Any other end counts as a failure, early in the connection's life or without a
    /// valid answer.
    func retire(_ connection: CurlConnection) {
        guard !connection.isRetired else { return }
        connection.drain()
        let now = CCurl_monotonic_milliseconds()
        if connection.goAway.isInOrder, connection.window.isValidated {
            let last = Int(connection.goAway.lastStream)
            // The first step of a graceful shutdown allows all stream ids, and carries no
            // information.
            let accepted = last < Int(Int32.max) ? min((last + 1) / 2, connection.starts) : 0
            requestLimit.didEnd(after: accepted, former: connection.formerEnd, now: now)
            // Those that it accepted and has not answered yet will be answered.
            backoff.didEndInOrder(answers: max(accepted, connection.answers))
            return
        }
        let isShortLived = now - connection.openedAt < Self.shortLifeMilliseconds
        if isShortLived || !connection.window.isValidated {
            backoff.didFail(
                now: now, jitter: .random(in: 0..<1),
                hadAnswers: connection.window.isValidated)
        }
    }

    /// Checks a connection's limit, state and age.
    private func review(_ connection: CurlConnection, now: Int64) {
        if connection.goAway.came, !connection.isRetired {
            retire(connection)
            takeBackHeld(from: connection)
        }
        switch connection.window.observe(
            held: connection.held, inFlight: connection.inFlight, now: now)
        {
        case .fine: break
        case .takeBack: takeBackHeld(from: connection)
        case .goingAway:
            retire(connection)
            takeBackHeld(from: connection)
        }
        if isProbeOverdue(on: connection, now: now) { retire(connection) }
        if now >= openingDue(of: connection) { giveUpOpening(connection) }
        if isSpentInSilence(connection, now: now) { connection.drain() }
        let age = now - connection.openedAt
        let idle = connection.inFlight == 0 ? now - connection.lastAnswerAt : 0
        if age >= configuration.maximumConnectionAge.wholeMilliseconds
            || idle >= configuration.maximumIdleTime.wholeMilliseconds
        {
            connection.drain()
        }
    }

    /// Whether a connection's first request, for which all others wait, has had no answer for too
    /// long. It keeps its timeout, but the others use another connection.
    private func isProbeOverdue(on connection: CurlConnection, now: Int64) -> Bool {
        guard !connection.window.isValidated, !connection.isRetired, connection.held == 0,
            let probe = connection.transfers.values.first
        else { return false }
        return now - probe.startedAt >= Self.probePatienceMilliseconds
    }

    /// When a connection that is not up must be, in monotonic milliseconds; `Int64.max` if no call
    /// waits for it, be it the connection's first request or one behind that. libcurl cannot open
    /// another one beside it for the same request.
    func openingDue(of connection: CurlConnection) -> Int64 {
        guard configuration.urgentWaitsForConnection, !connection.window.isValidated,
            !connection.isRetired, connection.held > 0,
            let probe = connection.transfers.values.first, probe.request.isUrgent || hasUrgent
        else { return .max }
        return probe.startedAt + openingPatience
    }

    private var openingPatience: Int64 {
        Self.openingPatienceMilliseconds << min(silentOpenings / 2, 3)
    }

    /// Ends an opening that takes too long, so that its request goes over the next connection. That
    /// is opened immediately, because the time that this one had was a wait already.
    private func giveUpOpening(_ connection: CurlConnection) {
        lastConnectFailure = TransportFailure(
            .timedOut, certainty: .notSent,
            detail: "no connection within \(Duration.milliseconds(openingPatience))")
        silentOpenings += 1
        connection.drain()
        takeBackHeld(from: connection)
    }

    /// Whether a connection that has started all it may has no answers either, so that another must
    /// replace it.
    private func isSpentInSilence(_ connection: CurlConnection, now: Int64) -> Bool {
        connection.isSpent && connection.window.isValidated
            && now - connection.lastAnswerAt >= Self.probePatienceMilliseconds
    }

    /// Returns transfers without a stream to their queue. They are certainly not sent, so another
    /// connection may send them.
    private func takeBackHeld(from connection: CurlConnection) {
        for transfer in Array(connection.transfers.values) {
            guard case .started(_, let exchange) = transfer.stage, !exchange.requestBegan else {
                continue
            }
            connection.remove(transfer, exchange: exchange)
            connection.didTakeBack()
            requeue(transfer)
        }
    }

    /// Returns a transfer to its queue.
    private func requeue(_ transfer: Transfer) {
        transfer.stage = .queued
        queued += 1
        if transfer.request.isUrgent {
            urgentQueue.putBack(transfer)
        } else {
            ordinaryQueue.putBack(transfer)
        }
    }
}

extension Deque<Transfer> {
    /// Returns a transfer to the queue, ahead of all that were submitted after it. Transfers are
    /// queued in the order of their submission.
    fileprivate mutating func putBack(_ transfer: Transfer) {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle].order < transfer.order { low = middle + 1 } else { high = middle }
        }
        insert(transfer, at: low)
    }
}
