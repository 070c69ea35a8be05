// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import LoopKit
internal import PushTransport

/// A connection from its opening to its end, with its state in the loop.
///
/// Confined to the loop's thread. Closed explicitly; the deinitializer only checks that it was.
final class HTTP2Connection {
    /// What a connection can carry.
    enum Phase {
        /// Nothing yet.
        case opening(ConnectionOpening)
        /// Requests.
        case open(channel: OpaquePointer, session: OpaquePointer)
        /// No new requests, because it has ended.
        case closed
    }

    /// Unique among the transport's connections.
    let serial: UInt32
    let openedAt: Int64
    /// The deadline of the opening.
    let connectDue: Int64
    private(set) var phase: Phase
    /// Whether it gets no new requests any more. It ends when its requests are answered.
    private(set) var isDraining = false
    /// The number of answers.
    private(set) var answers = 0
    /// The time of the last answer.
    private(set) var lastAnswerAt: Int64 = .min
    /// Whether it has had a valid answer. Before that it has one stream at a time, which is APNs'
    /// rule for provider tokens (facts §1.3).
    private(set) var isValidated = false
    /// Whether the socket's send buffer is full.
    private(set) var isBlocked = false
    /// Whether reading stopped before the end, for the turn of other connections.
    var hasMoreToRead = false
    /// The time of the last byte.
    private(set) var lastHeardAt: Int64
    /// The time of the last request, or, before any, of the end of the opening.
    private(set) var lastStartAt: Int64
    /// The time of an unanswered PING.
    private(set) var pingSentAt: Int64?
    /// Whether the peer may be gone; then no request is started before it answers a PING.
    private(set) var isSuspect = false
    /// Requests on it whose outcome is not reported yet.
    var inFlight = 0
    /// The number of requests that were started.
    private(set) var starts = 0
    /// The number that the server accepts, as far as that is known.
    private let maximumStarts: Int
    /// What ``RequestLimit/lastEnd(now:)`` was when it was opened.
    let formerEnd: Int?
    private var flood: FloodBudget
    private var controlFramesSeen: UInt32 = 0
    private var pingAnswersSeen: UInt32 = 0
    private let reactor: Reactor

    init(
        serial: UInt32, opening: ConnectionOpening, reactor: Reactor, maximumStarts: Int,
        formerEnd: Int?, connectDue: Int64, now: Int64
    ) {
        self.serial = serial
        self.reactor = reactor
        self.maximumStarts = maximumStarts
        self.formerEnd = formerEnd
        self.connectDue = connectDue
        phase = .opening(opening)
        openedAt = now
        lastHeardAt = now
        lastStartAt = now
        flood = FloodBudget(now: now)
        LiveObjects.count(.connection, by: 1)
    }

    deinit {
        if case .closed = phase { return }
        assertionFailure("An HTTP2Connection must be closed before it is released.")
    }

    /// The session, while requests may be on it.
    var session: OpaquePointer? {
        if case .open(_, let session) = phase { session } else { nil }
    }

    /// Whether the peer's SETTINGS were received. No request is sent before: a server that closes
    /// the connection without them certainly received no push, and they have the limit of streams.
    var hasSettings: Bool { session.map { CHTTP2Session_state($0).hasSettings } ?? false }

    /// Whether it has started all requests that the server accepts on one connection.
    var isSpent: Bool { starts >= maximumStarts }

    /// Whether it carries requests, or soon can again.
    var isServing: Bool { hasSettings && !isDraining }

    /// The number of requests that the server had accepted when it began to end the connection in
    /// order; `nil` without a GOAWAY that states it.
    var acceptedStarts: Int? {
        guard let session else { return nil }
        let state = CHTTP2Session_state(session)
        // The first step of a graceful shutdown allows all stream ids, and carries no information.
        guard state.goAwayReceived, state.goAwayLastStream < Int32.max else { return nil }
        return min(starts, (Int(state.goAwayLastStream) + 1) / 2)
    }

    // MARK: Room

    /// The number of requests that may be started now, flow control aside.
    func room(maximum: Int) -> Int {
        guard case .open(_, let session) = phase, !isDraining, !isBlocked, !isSuspect else {
            return 0
        }
        let state = CHTTP2Session_state(session)
        guard state.hasSettings else { return 0 }
        let limit = min(isValidated ? maximum : 1, Int(state.peerStreamLimit))
        return min(limit - Int(state.openStreams), maximumStarts - starts)
    }

    /// The open streams, cancelled ones included whose reset is not written yet.
    var openStreams: UInt32 { session.map { CHTTP2Session_state($0).openStreams } ?? 0 }

    /// Whether the peer's windows take a body of that size now.
    func takesBody(of count: Int) -> Bool {
        session.map { CHTTP2Session_may_start($0, count) } ?? false
    }

    // MARK: Events of its life

    /// Ends the opening.
    func didOpen(channel: OpaquePointer, session: OpaquePointer, now: Int64) {
        phase = .open(channel: channel, session: session)
        lastHeardAt = now
        // The peer's first frames may have been read with the end of the handshake; then TLS has
        // them, and the socket reports no event for them.
        hasMoreToRead = true
    }

    /// Records an answer of any kind.
    func didAnswer(now: Int64) {
        answers += 1
        lastAnswerAt = now
    }

    /// Records a valid answer.
    func validate() { isValidated = true }

    /// Sends nothing new over it from now on.
    func drain() { isDraining = true }

    /// Records the start of a request.
    func didStart(now: Int64) {
        inFlight += 1
        starts += 1
        lastStartAt = now
        flood.didStartRequest()
    }

    /// Records received bytes. Returns false if the peer sends more frames than its flood budget.
    func didHear(now: Int64) -> Bool {
        lastHeardAt = now
        guard let session else { return true }
        let state = CHTTP2Session_state(session)
        // Bytes may be the middle of a frame that never ends: only the answer to a PING shows that
        // the peer still sends whole frames.
        if !isSuspect || state.pingAnswers != pingAnswersSeen {
            pingSentAt = nil
            isSuspect = false
        }
        pingAnswersSeen = state.pingAnswers
        let seen = state.controlFrames
        // Negative when an earlier frame turned out to be the end of an answer.
        let frames = Int(Int32(bitPattern: seen &- controlFramesSeen))
        controlFramesSeen = seen
        return frames == 0 || flood.spend(frames, now: now)
    }

    /// Sends the peer a PING. No request is started before its answer if the peer is suspect.
    func ping(isSuspect: Bool, now: Int64) {
        if isSuspect { self.isSuspect = true }
        guard pingSentAt == nil, let session, CHTTP2Session_ping(session) else { return }
        pingSentAt = now
    }

    // MARK: Bytes

    /// Reads what was received.
    func receive() -> (progress: CHTTP2Progress, hasHeard: Bool) {
        guard case .open(let channel, let session) = phase else { return (.done, false) }
        var count = 0
        let progress = CHTTP2Channel_receive(channel, session, &count)
        return (progress, count > 0)
    }

    /// Writes what is pending, as far as the socket accepts it. Returns false when the connection
    /// broke.
    func flush() -> Bool {
        guard case .open(let channel, let session) = phase else { return true }
        switch CHTTP2Channel_send(channel, session) {
        case .done, .more: setBlocked(false, channel)
        // TLS waits for the peer, which it does for no longer than a handshake's message takes.
        case .wantsRead, .wantsWrite: setBlocked(true, channel)
        default: return false
        }
        return true
    }

    private func setBlocked(_ isBlocked: Bool, _ channel: OpaquePointer) {
        guard isBlocked != self.isBlocked else { return }
        self.isBlocked = isBlocked
        reactor.change(
            CHTTP2Channel_descriptor(channel), of: serial,
            to: isBlocked ? [.reading, .writing] : .reading)
    }

    /// The library's message for the failure.
    var words: String {
        guard case .open(let channel, _) = phase else { return "" }
        return String(cString: CHTTP2Channel_error(channel))
    }

    /// Sends the GOAWAY as far as that is possible without waiting, unless the connection broke,
    /// and closes everything.
    func close() {
        switch phase {
        case .opening(let opening): opening.close()
        case .open(let channel, let session):
            CHTTP2Session_farewell(session)
            _ = CHTTP2Channel_send(channel, session)
            reactor.forget(CHTTP2Channel_descriptor(channel))
            CHTTP2Channel_destroy(channel)
            CHTTP2Session_destroy(session)
        case .closed: return
        }
        phase = .closed
        LiveObjects.count(.connection, by: -1)
    }

    /// Drops an opening that failed and has closed itself.
    func didFailToOpen() {
        phase = .closed
        LiveObjects.count(.connection, by: -1)
    }
}
