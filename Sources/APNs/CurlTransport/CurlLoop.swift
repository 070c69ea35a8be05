// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims
internal import DequeModule
internal import LoopKit
internal import PushTransport
internal import WakeModel

/// The loop of the transport's thread: work, settle, drain the mailbox, wait, repeat.
///
/// Only this thread uses connections, exchanges, transfers and queues; none of them is Sendable, so
/// the compiler enforces it.
final class CurlLoop {
    /// The longest wait. Nothing relies on it; it limits the delay if a wake-up is lost.
    static let maximumWaitMilliseconds: Int64 = 1000
    /// Without the reset guard, how many requests one connection of libcurl 7.88.0 or 7.88.1 may
    /// start: nghttp2-based servers accept a burst of a thousand resets, and then send GOAWAY.
    static let resetRation = 900
    /// A connection that is lost before this age counts as a failed attempt to connect.
    static let shortLifeMilliseconds: Int64 = 10_000

    /// The timeout of a connection's first request, for which all others wait, and of any answer on
    /// a connection that starts nothing more: 5 s, much longer than APNs takes, and a small part of
    /// the default timeout of 30 s.
    static let probePatienceMilliseconds: Int64 = 5000
    /// The duration of an opening for which a call waits: 1.5 s, more than the second after which a
    /// lost SYN is sent again (RFC 6298 §2.1). It doubles with every second opening that is given
    /// up, for networks where a handshake takes longer. A call with a deadline of 10 s then goes
    /// out also when three servers in a row accept a connection and stay silent.
    static let openingPatienceMilliseconds: Int64 = 1500
    /// The most times that a submission that was certainly not sent moves to another connection,
    /// unless it waits for a connection until its timeout.
    static let maximumRequeues = 3

    let reactor: OpaquePointer
    let mailbox: Mailbox
    let configuration: TransportConfiguration
    let settings: CurlSettings
    let sink: CompletionSink
    let refusals: LateRefusals
    let maximumStarts: Int

    var requestLimit = RequestLimit()
    /// The number of openings that were given up since one was quick.
    var silentOpenings = 0
    var connections: [CurlConnection] = []
    let idleExchanges = IdleExchanges()
    var transfers: [TransportRequest.ID: Transfer] = [:]
    var urgentQueue = Deque<Transfer>()
    var ordinaryQueue = Deque<Transfer>()
    /// Queued transfers that are not finished; the queues also hold finished ones until their turn.
    var queued = 0
    let deadlines = DeadlineQueue()
    var backoff = ConnectBackoff()
    var answerFields = AnswerFields()
    var blocks = HeaderBlockCache()
    var completions: [Completion] = []
    /// Storage that is reused from turn to turn.
    var finished: [(transfer: Transfer, code: Int32)] = []
    var connectionsOpened = 0
    /// The number of all submissions so far.
    var admissions = 0
    /// The failure of the last attempt to connect, for submissions that time out while they wait.
    var lastConnectFailure: TransportFailure?
    var shutdownDue: Int64?

    init(
        reactor: OpaquePointer, mailbox: Mailbox, configuration: TransportConfiguration,
        refusals: LateRefusals, needsResetRationing: Bool
    ) {
        self.reactor = reactor
        self.mailbox = mailbox
        self.configuration = configuration
        self.refusals = refusals
        sink = refusals.sink
        settings = CurlSettings(configuration)
        maximumStarts = needsResetRationing ? Self.resetRation : .max
    }

    func run() {
        var contents = Mailbox.Contents()
        while true {
            let now = CCurl_monotonic_milliseconds()
            settle(now: now)
            mailbox.take(into: &contents)
            accept(&contents, now: now)
            failOverdue(now: now)
            // A request that is started in the last turn would end with an unknown outcome.
            if !isOver(now: now) { admit(now: now) }
            mailbox.publish(gauges)
            deliver()
            if hasEnded(now: now) { break }
            wait()
        }
        leave()
    }

    /// Waits for libcurl, the mailbox or the next due time, and runs libcurl.
    private func wait() {
        let now = CCurl_monotonic_milliseconds()
        let rest = min(mailbox.fallAsleep(), Self.maximumWaitMilliseconds)
        let limit = rest > 0 ? max(0, min(nextDue(now: now) - now, rest)) : 0
        _ = CCurlReactor_turn(reactor, Int32(limit))
    }

    /// The next time at which the loop must act without an event.
    private func nextDue(now: Int64) -> Int64 {
        var due = min(deadlines.nextDue ?? .max, shutdownDue ?? .max)
        // Only while the back-off delays a submission: a queue that waits for free streams needs no
        // timer.
        let notBefore = backoff.notBefore(isUrgent: hasUrgent)
        if queued > 0, notBefore > now { due = min(due, notBefore) }
        if connections.contains(where: { $0.held > 0 && $0.window.isValidated }) {
            due = min(due, now + StreamWindow.patienceMilliseconds)
        }
        for connection in connections { due = min(due, openingDue(of: connection)) }
        return due
    }

    /// Whether an urgent submission waits. Finished ones may precede it.
    var hasUrgent: Bool { urgentQueue.contains { $0.isQueued } }

    private func accept(_ contents: inout Mailbox.Contents, now: Int64) {
        let (replacesConnections, grace) = (contents.replacesConnections, contents.shutdownGrace)
        contents.drain(
            submission: { enqueue($0, now: now) },
            cancellation: { id in
                guard let transfer = transfers[id] else { return }
                giveUp(transfer, as: .cancelled, detail: "cancelled by the submitter")
            })
        if replacesConnections {
            for connection in connections { connection.drain() }
        }
        if let grace {
            shutdownDue = min(now + grace.wholeMilliseconds, shutdownDue ?? .max)
        }
    }

    private func enqueue(_ submission: TransportRequest, now: Int64) {
        precondition(
            transfers[submission.id] == nil,
            "Submission \(submission.id) is in flight already; ids must be unique.")
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
        let transfer = Transfer(submission, order: admissions, now: now)
        admissions += 1
        transfers[transfer.id] = transfer
        deadlines.insert(transfer.id, due: transfer.due)
        queued += 1
        if transfer.request.isUrgent {
            urgentQueue.append(transfer)
        } else {
            ordinaryQueue.append(transfer)
        }
    }

    private func failOverdue(now: Int64) {
        while let id = deadlines.popDue(now: now) {
            // The id may belong to a later submission.
            guard let transfer = transfers[id], transfer.due <= now else { continue }
            suspectSilence(of: transfer)
            var detail = "no answer within \(transfer.timeout)"
            if transfer.isQueued, let reason = lastConnectFailure {
                detail = "no connection within \(transfer.timeout); the last attempt: \(reason)"
            }
            giveUp(transfer, as: .timedOut, detail: detail)
        }
    }

    /// Handles a request that timed out while its connection received no answer: the peer is
    /// considered lost.
    private func suspectSilence(of transfer: Transfer) {
        guard case .started(let connection, _) = transfer.stage,
            connection.lastAnswerAt <= transfer.startedAt
        else { return }
        retire(connection)
    }

    /// Ends a transfer that libcurl did not finish.
    func giveUp(_ transfer: Transfer, as kind: TransportFailure.Kind, detail: String) {
        var certainty = Certainty.notSent
        var response: WireResponse?
        switch transfer.stage {
        case .queued: queued -= 1
        case .started(let connection, let exchange):
            let report = exchange.report
            if exchange.requestBegan, !report.streamWasRefused { certainty = .unknown }
            // The header block of an answer was received, and only the end of the stream was not.
            if report.isAnswer {
                response = answerFields.response(report)
                didAnswer(on: connection, status: Int(report.status))
            }
            connection.remove(transfer, exchange: exchange)
        case .finished: return
        }
        let failure = TransportFailure(kind, certainty: certainty, detail: detail)
        finish(transfer, response.map { .success($0) } ?? .failure(failure))
    }

    /// Ends a transfer: removes it from the table, and adds its outcome to the completions. Every
    /// transfer ends here.
    func finish(_ transfer: Transfer, _ result: Result<WireResponse, TransportFailure>) {
        transfer.stage = .finished
        transfers[transfer.id] = nil
        deadlines.didFinish { id, due in transfers[id]?.due == due }
        sweepQueues()
        completions.append(
            Completion(id: transfer.id, result: result, context: transfer.context))
        transfer.context = nil
    }

    /// Finished transfers stay in the queues until their turn; when they outnumber the waiting
    /// ones, as under mass cancellation without a connection, all of them are removed together.
    private func sweepQueues() {
        guard urgentQueue.count + ordinaryQueue.count > 2 * queued + 1024 else { return }
        urgentQueue.removeAll { !$0.isQueued }
        ordinaryQueue.removeAll { !$0.isQueued }
    }

    private func deliver() {
        guard !completions.isEmpty else { return }
        let batch = completions
        completions = []
        completions.reserveCapacity(min(batch.count, 4096))
        sink(batch)
    }

    private var gauges: TransportGauges {
        var gauges = TransportGauges()
        gauges.connections = connections.count
        gauges.queued = queued
        gauges.inFlight = transfers.count - queued
        gauges.connectionsOpened = connectionsOpened
        return gauges
    }

    // MARK: The end

    private func hasEnded(now: Int64) -> Bool {
        shutdownDue != nil && transfers.isEmpty || isOver(now: now)
    }

    /// Whether the grace of the shutdown has ended.
    private func isOver(now: Int64) -> Bool { shutdownDue.map { now >= $0 } ?? false }

    private func leave() {
        for transfer in Array(transfers.values) {
            giveUp(transfer, as: .shutDown, detail: "the transport was shut down")
        }
        for connection in connections { connection.close() }
        connections = []
        idleExchanges.close()
        let late = mailbox.close(gauges: gauges)
        completions += late.submissions.map(Completion.refusedByShutdown)
        refusals.deliver(completions)
        completions = []
        CCurlReactor_destroy(reactor)
        mailbox.releaseWaiters()
    }
}
