// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import LoopKit
internal import PushTransport
internal import WakeModel

/// The loop of the transport's thread: read and settle, drain the mailbox, start requests, write,
/// deliver, wait, repeat.
///
/// Only this thread uses connections, transfers and queues; none of them is Sendable, so the
/// compiler enforces it.
final class HTTP2Loop {
    /// The longest wait. Nothing relies on it; it limits the delay if a wake-up is lost.
    static let maximumWaitMilliseconds: Int64 = 1000
    /// A connection that is lost before this age counts as a failed attempt to connect. One that
    /// the server ends in order, after answers, does not, at any age.
    static let shortLifeMilliseconds: Int64 = 10_000
    /// The timeout of a connection's first request, for which all others wait: 5 s, much longer
    /// than APNs takes, and a small part of the default timeout of 30 s.
    static let probePatienceMilliseconds: Int64 = 5000
    /// The time without an answer after which a connection is suspect when a request on it times
    /// out: a second, longer than any round trip.
    static let suspiciousWaitMilliseconds: Int64 = 1000
    /// The duration of an opening after which another is started in parallel: 1.5 s, more than the
    /// second after which a lost SYN is sent again (RFC 6298 §2.1). A push with a deadline of 10 s
    /// then goes out also when three servers in a row accept a connection and stay silent.
    static let openingPatienceMilliseconds: Int64 = 1500
    /// The most openings in parallel, if the configured number of connections is not larger.
    static let maximumOpenings = 4
    /// The most times that a submission that was certainly not sent moves to another connection.
    static let maximumMoves: UInt8 = 3
    /// The default limit of streams of one connection: what APNs announces (facts §1.3). A stream
    /// costs this transport some 350 bytes.
    static let defaultStreamsPerConnection = 1000
    /// A connection is assigned transfers in runs until its load equals the next one's, and at
    /// least this fraction of its streams, or this number, as far as it has free streams: adjacent
    /// requests then share TLS records, and their answers arrive together, even when few streams
    /// are free. A small batch is still spread over several connections, so that a connection that
    /// was lost undetected does not affect all of it.
    static let runDivisor = 8
    static let leastRun = 32
    /// The most events of one wait; there are few more descriptors than connections.
    static let eventsPerWait = 64

    let reactor: Reactor
    let mailbox: Mailbox
    let configuration: TransportConfiguration
    let route: Route.Choice
    let resolver: NameLookup.Resolver
    let sink: CompletionSink
    let refusals: LateRefusals
    let maximumStreams: Int
    let terms: ConnectionTerms

    var connections: [HTTP2Connection] = []
    let pool = TransferPool()
    /// Where each transfer is in the pool.
    var places: [TransportRequest.ID: TransferPool.Place] = [:]
    let urgentQueue = TransferQueue()
    let ordinaryQueue = TransferQueue()
    let deadlines = DeadlineQueue()
    var backoff = ConnectBackoff()
    var requestLimit = RequestLimit()
    let blocks = HeaderBlockCache()
    var answerFields = AnswerFields()
    var tlsContext: TLSContext?
    var completions: [Completion] = []
    var connectionsOpened = 0
    /// Whether writing made room for waiting submissions, so that the loop must not sleep.
    var hasFreedStreams = false
    /// The failure of the last attempt to connect, for submissions that time out while they wait.
    var lastConnectFailure: TransportFailure?
    private var shutdownDue: Int64?

    init(
        reactor: Reactor, mailbox: Mailbox, configuration: TransportConfiguration,
        route: Route.Choice, resolver: @escaping NameLookup.Resolver,
        refusals: LateRefusals
    ) {
        self.reactor = reactor
        self.mailbox = mailbox
        self.configuration = configuration
        self.route = route
        self.resolver = resolver
        self.refusals = refusals
        sink = refusals.sink
        terms = ConnectionTerms(configuration)
        maximumStreams = max(
            1, configuration.maximumStreamsPerConnection ?? Self.defaultStreamsPerConnection)
    }

    func run() {
        var contents = Mailbox.Contents()
        var events = [CHTTP2Event](repeating: CHTTP2Event(), count: Self.eventsPerWait)
        var now = CHTTP2_monotonic_milliseconds()
        while true {
            mailbox.take(into: &contents)
            accept(&contents, now: now)
            failOverdue(now: now)
            review(now: now)
            // A request that is started in the last turn would end with an unknown outcome.
            if !isOver(now: now) { admit(now: now) }
            flushAll(now: now)
            mailbox.publish(gauges)
            deliver()
            if hasEnded(now: now) { break }
            let count = wait(for: &events)
            now = CHTTP2_monotonic_milliseconds()
            for event in events[..<count] { handle(event, now: now) }
            readOn(now: now)
        }
        leave(now: now)
    }

    /// Waits for a descriptor, the mailbox or the next point of time.
    private func wait(for events: inout [CHTTP2Event]) -> Int {
        let now = CHTTP2_monotonic_milliseconds()
        let isBusy = hasFreedStreams || connections.contains { $0.hasMoreToRead }
        hasFreedStreams = false
        let rest = isBusy ? 0 : min(mailbox.fallAsleep(), Self.maximumWaitMilliseconds)
        let limit = rest > 0 ? max(0, min(nextDue(now: now) - now, rest)) : 0
        return Int(
            CHTTP2Reactor_wait(reactor.pointer, &events, Int32(events.count), Int32(limit)))
    }

    /// The next time at which the loop must act without an event.
    private func nextDue(now: Int64) -> Int64 {
        var due = min(deadlines.nextDue ?? .max, shutdownDue ?? .max)
        // Only while the back-off delays a submission: a queue that waits for free streams needs no
        // timer.
        let notBefore = backoff.notBefore(isUrgent: urgentQueue.count > 0)
        if queued > 0, notBefore > now { due = min(due, notBefore) }
        for connection in connections { due = min(due, nextDue(of: connection, now: now)) }
        return due
    }

    /// Submissions that wait for a stream.
    var queued: Int { urgentQueue.count + ordinaryQueue.count }

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
        gauges.inFlight = pool.count - queued
        gauges.connectionsOpened = connectionsOpened
        return gauges
    }

    // MARK: The end

    /// Starts the shutdown, with a grace period.
    func shutDown(grace: Duration, now: Int64) {
        shutdownDue = min(now + grace.wholeMilliseconds, shutdownDue ?? .max)
    }

    private func hasEnded(now: Int64) -> Bool {
        shutdownDue != nil && pool.count == 0 || isOver(now: now)
    }

    /// Whether the grace of the shutdown has ended.
    private func isOver(now: Int64) -> Bool { shutdownDue.map { now >= $0 } ?? false }

    private func leave(now: Int64) {
        for place in pool.all {
            giveUp(place, as: .shutDown, detail: "the transport was shut down", now: now)
        }
        for connection in connections { connection.close() }
        connections = []
        let late = mailbox.close(gauges: gauges)
        completions += late.submissions.map(Completion.refusedByShutdown)
        refusals.deliver(completions)
        completions = []
        CHTTP2Reactor_destroy(reactor.pointer)
        mailbox.releaseWaiters()
    }
}
