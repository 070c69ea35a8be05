// SPDX-License-Identifier: Apache-2.0

internal import APNsWire
internal import PushTransport
internal import Synchronization
internal import WakeModel

/// The client's memory: which pushes are out, who waits for each, and the encoder of the present
/// provider token. Every batch takes its lock once on the way out and once on the way back.
final class ClientCore: Sendable {
    /// After connections were replaced for one reason, how long another reason is not believed:
    /// the answers of the old connections are still coming in.
    static let replacementInterval: Duration = .seconds(5)
    /// How often the server's `date` is compared with the clock.
    static let skewInterval: Duration = .seconds(60)

    private struct Entry {
        let push: Push
        let receiver: Receiver
        /// Which token it went out with; 0 with a certificate.
        let tokenGeneration: UInt64
        /// By when it must have an answer, by the clock's uptime.
        let due: Duration
        /// Whether this is the second time that it went out.
        var isResend = false
        /// Whether its sender has given up on it.
        var isCancelled = false
    }

    private struct State {
        var entries: [Submission.ID: Entry] = [:]
        var encoder = RequestEncoder(providerToken: nil)
        var token: ProviderToken?
        /// The latest token that was called expired and for which connections were replaced.
        var expiredGeneration: UInt64 = 0
        var lastReplacement: Duration?
        var lastSkewCheck: Duration?
        var clockSkew: Duration?
        /// Weak, since the transport's sink holds this object.
        weak var transport: (any PushTransport)?
    }

    private let tokens: ProviderTokenSource?
    private let timeout: Duration
    private let clock: WakeClock
    private let ids = Atomic<UInt64>(1)
    private let state = Mutex(State())

    init(_ configuration: APNsClient.Configuration) {
        if case .providerToken(let source) = configuration.authentication {
            tokens = source
        } else {
            tokens = nil
        }
        timeout = configuration.pushTimeout
        clock = configuration.clock
    }

    func connect(to transport: any PushTransport) {
        state.withLock { $0.transport = transport }
    }

    func nextID() -> Submission.ID { nextIDs(1) }

    /// The id of a push's second submission. It follows from the first one, so that a sender who
    /// knows only the first can still give up on the second.
    private static func resendID(of id: Submission.ID) -> Submission.ID { id | 1 << 63 }

    /// The first of `count` consecutive ids.
    func nextIDs(_ count: Int) -> Submission.ID {
        ids.wrappingAdd(UInt64(count), ordering: .relaxed).oldValue
    }

    var clockSkew: Duration? { state.withLock { $0.clockSkew } }

    // MARK: Out

    /// Registers a batch and hands it to the transport. `timeout` replaces the configuration's;
    /// `receiver` makes the receiver of the push at an index.
    func send(
        _ pushes: [Push], firstID: Submission.ID, timeout: Duration?,
        receiver: (Int) -> Receiver
    ) {
        let timeout = timeout ?? self.timeout
        let token = tokens?.current()
        let due = clock.uptime() + timeout
        let (batch, transport) = state.withLock { state in
            use(token, in: &state)
            let generation = state.token?.generation ?? 0
            var batch: [Submission] = []
            batch.reserveCapacity(pushes.count)
            for (index, push) in pushes.enumerated() {
                let id = firstID + UInt64(index)
                state.entries[id] = Entry(
                    push: push, receiver: receiver(index), tokenGeneration: generation, due: due)
                batch.append(
                    Submission(id: id, request: state.encoder.encode(push), timeout: timeout))
            }
            return (batch, state.transport)
        }
        if let transport {
            transport.submit(batch)
        } else {
            receive(batch.map(Self.orphaned))
        }
    }

    /// Gives up on a push, whichever of its two submissions is out, and keeps it from having a
    /// second one.
    func cancel(_ id: Submission.ID) {
        let resendID = Self.resendID(of: id)
        let transport = state.withLock { state in
            state.entries[id]?.isCancelled = true
            state.entries[resendID]?.isCancelled = true
            return state.transport
        }
        transport?.cancel(id)
        transport?.cancel(resendID)
    }

    /// Points the encoder at a token, unless it has that one already, or a later one that another
    /// thread brought.
    private func use(_ token: ProviderToken?, in state: inout State) {
        guard let token, token.generation > (state.token?.generation ?? 0) else { return }
        state.token = token
        state.encoder = RequestEncoder(providerToken: token.value)
    }

    private static func orphaned(_ submission: Submission) -> Completion {
        let failure = TransportFailure(
            .shutDown, certainty: .notSent, detail: "the client is gone")
        return Completion(id: submission.id, result: .failure(failure))
    }

    // MARK: Back

    /// The transport's sink: matches a batch of completions with their pushes, sends again what is
    /// to be sent again, and tells the rest to those who wait.
    func receive(_ completions: [Completion]) {
        var replies = ReplyRouter()
        var resends: [Submission] = []
        var transport: (any PushTransport)?
        var replacesConnections = false
        observeDate(of: completions)
        state.withLock { state in
            transport = state.transport
            for completion in completions {
                guard let entry = state.entries.removeValue(forKey: completion.id) else {
                    preconditionFailure("A submission was answered twice, or was never made.")
                }
                let result = completion.result.map(PushOutcome.init)
                if let resend = resend(
                    entry, completion.id, result, &state, &replacesConnections)
                {
                    resends.append(resend)
                } else {
                    replies.add(result, to: entry.receiver)
                }
            }
        }
        if replacesConnections { transport?.replaceConnections() }
        if let transport { submit(resends, to: transport) }
        replies.deliver()
    }

    /// Submits pushes again, and sees to those that were given up on before the transport knew
    /// their new ids.
    private func submit(_ resends: [Submission], to transport: any PushTransport) {
        guard !resends.isEmpty else { return }
        transport.submit(resends)
        let cancelled = state.withLock { state in
            resends.map(\.id).filter { state.entries[$0]?.isCancelled == true }
        }
        for id in cancelled { transport.cancel(id) }
    }

    /// The submission that replaces an answered one, if its answer is of the kind that the client
    /// itself can mend, once.
    private func resend(
        _ entry: Entry, _ id: Submission.ID, _ result: Result<PushOutcome, TransportFailure>,
        _ state: inout State, _ replacesConnections: inout Bool
    ) -> Submission? {
        guard case .success(.rejected(let rejection)) = result else { return nil }
        let mayGoAgain = !entry.isResend && !entry.isCancelled && state.transport != nil
        switch rejection.advice.retry {
        case .onceWithNewProviderToken:
            guard let tokens else { return nil }
            // A connection that saw an expired token may refuse every later one too (reference
            // §1.6). Once for each token: if a clock is wrong, new connections do not help.
            if entry.tokenGeneration > state.expiredGeneration {
                state.expiredGeneration = entry.tokenGeneration
                replacesConnections = true
            }
            guard mayGoAgain,
                let token = tokens.replacement(forGeneration: entry.tokenGeneration)
            else { return nil }
            use(token, in: &state)
        case .nowOnAnotherConnection:
            if mayReplaceConnections(&state) { replacesConnections = true }
        default: return nil
        }
        let timeLeft = entry.due - clock.uptime()
        guard mayGoAgain, timeLeft > .zero else { return nil }
        let resendID = Self.resendID(of: id)
        state.entries[resendID] = Entry(
            push: entry.push, receiver: entry.receiver,
            tokenGeneration: state.token?.generation ?? 0, due: entry.due, isResend: true)
        return Submission(
            id: resendID, request: state.encoder.encode(entry.push), timeout: timeLeft)
    }

    private func mayReplaceConnections(_ state: inout State) -> Bool {
        let uptime = clock.uptime()
        if let last = state.lastReplacement, uptime - last < Self.replacementInterval {
            return false
        }
        state.lastReplacement = uptime
        return true
    }

    /// Compares the server's clock with ours, now and then.
    private func observeDate(of completions: [Completion]) {
        guard case .success(let response)? = completions.last?.result else { return }
        let uptime = clock.uptime()
        state.withLock { state in
            // Whether it is time comes first: to read a date costs more than all else here.
            if let last = state.lastSkewCheck, uptime - last < Self.skewInterval { return }
            guard let text = response.header("date"), let date = HTTPDate.parse(text) else {
                return
            }
            state.lastSkewCheck = uptime
            // The header counts whole seconds: half of one is the fairest guess for the rest.
            state.clockSkew = .milliseconds(date.milliseconds(since: clock.now()) + 500)
        }
    }
}
