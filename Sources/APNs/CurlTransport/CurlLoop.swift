// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims
internal import DequeModule
internal import LoopKit
internal import PushTransport
internal import WakeModel

/// The thread's whole life: work, settle, drain the mailbox, wait, and again.
///
/// Everything below it (connections, exchanges, transfers, queues) is touched by this one thread
/// only; none of it is Sendable, so the compiler keeps it here.
final class CurlLoop {
    /// The longest wait. Nothing relies on it; it bounds the harm of a wake-up that got lost.
    static let maximumWaitMilliseconds: Int64 = 1000
    /// Without the reset guard, how many requests one connection of libcurl 7.88.0 or 7.88.1 may
    /// start: nghttp2-based servers accept a burst of a thousand resets, and then send GOAWAY.
    static let resetRation = 900
    /// A connection that is lost before this age counts as a failed attempt to connect.
    static let shortLifeMilliseconds: Int64 = 10_000

    /// How long all may wait for the answer to a connection's first request, or for any of one that
    /// starts nothing more: 5 s, far longer than APNs takes, and short enough for those that have
    /// 30 s in all.
    static let probePatienceMilliseconds: Int64 = 5000
    /// How often a submission that was certainly not sent moves to another connection by itself,
    /// unless it waits for a connection as long as its time lasts.
    static let maximumRequeues = 3

    let reactor: OpaquePointer
    let mailbox: Mailbox
    let configuration: TransportConfiguration
    let settings: CurlSettings
    let sink: CompletionSink
    let refusals: LateRefusals
    let maximumStarts: Int

    var requestLimit = RequestLimit()
    var connections: [CurlConnection] = []
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
    /// How many submissions have ever been taken into the queue.
    var admissions = 0
    /// Why the last attempt to connect failed, for those whose time runs out while they wait.
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
            // A request begun in the last turn would end with an unknown outcome needlessly.
            if !isOver(now: now) { admit(now: now) }
            mailbox.publish(gauges)
            deliver()
            if hasEnded(now: now) { break }
            wait()
        }
        leave()
    }

    /// Waits for libcurl, the mailbox or the next point of time, and lets libcurl work.
    private func wait() {
        let now = CCurl_monotonic_milliseconds()
        let rest = min(mailbox.fallAsleep(), Self.maximumWaitMilliseconds)
        let limit = rest > 0 ? max(0, min(nextDue(now: now) - now, rest)) : 0
        _ = CCurlReactor_turn(reactor, Int32(limit))
    }

    /// The next point of time at which this loop itself has something to do.
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
            let failure = TransportFailure(
                .other, certainty: .notSent, detail: "a push has a body; this one's is empty")
            completions.append(
                Completion(
                    id: submission.id, result: .failure(failure), context: submission.context))
            return
        }
        guard queued < configuration.maximumQueued else {
            let failure = TransportFailure(
                .queueFull, certainty: .notSent, detail: "\(queued) submissions are waiting")
            completions.append(
                Completion(
                    id: submission.id, result: .failure(failure), context: submission.context))
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
            // The id may have finished, and have come back with another submission.
            guard let transfer = transfers[id], transfer.due <= now else { continue }
            suspectSilence(of: transfer)
            var detail = "no answer within \(transfer.timeout)"
            if transfer.isQueued, let reason = lastConnectFailure {
                detail = "no connection within \(transfer.timeout); the last attempt: \(reason)"
            }
            giveUp(transfer, as: .timedOut, detail: detail)
        }
    }

    /// A request timed out, and its connection received no answer meanwhile: the peer is considered
    /// dead.
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
            if exchange.requestBegan { certainty = .unknown }
            let report = exchange.report
            // The header block of an answer has come, and only the end of the stream has not.
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

    /// The one place where a transfer ends: it leaves the table, and its outcome the loop.
    func finish(_ transfer: Transfer, _ result: Result<WireResponse, TransportFailure>) {
        transfer.stage = .finished
        transfers[transfer.id] = nil
        deadlines.didFinish { id, due in transfers[id]?.due == due }
        sweepQueues()
        completions.append(
            Completion(id: transfer.id, result: result, context: transfer.context))
        transfer.context = nil
    }

    /// Finished transfers stay in the queues until their turn comes; when they outnumber the
    /// waiting ones, as under mass cancellation without a connection, all of them are removed
    /// together.
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
        let late = mailbox.close(gauges: gauges)
        completions += late.submissions.map(Completion.refusedByShutdown)
        refusals.deliver(completions)
        completions = []
        CCurlReactor_destroy(reactor)
        mailbox.releaseWaiters()
    }
}
