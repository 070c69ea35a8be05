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
    /// How often the source is asked whether there is a newer token. A token lives for 40 minutes
    /// or more, and to ask for each push would cost more than to encode it.
    static let tokenInterval: Duration = .seconds(1)

    private struct State: ~Copyable {
        var pushes = InFlightPushes()
        var encoder = RequestEncoder(providerToken: nil)
        var token: ProviderToken?
        var lastTokenCheck: Duration?
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

    /// Registers one push and hands it to the transport. `timeout` replaces the configuration's.
    func send(
        _ push: Push, id: Submission.ID, timeout: Duration?, receiver: Receiver,
        over transport: any PushTransport
    ) {
        let timeout = timeout ?? self.timeout
        let uptime = clock.uptime()
        let submission = state.withLock { state in
            refreshToken(&state, uptime: uptime)
            let group = state.pushes.insert(.one(push), receiver: receiver, due: uptime + timeout)
            return enter(push, id, group: group, index: 0, timeout: timeout, &state)
        }
        transport.submit(submission)
    }

    /// The same for a batch, whose ids are consecutive.
    func send(
        _ pushes: [Push], firstID: Submission.ID, timeout: Duration?, receiver: Receiver,
        over transport: any PushTransport
    ) {
        let timeout = timeout ?? self.timeout
        let uptime = clock.uptime()
        let batch = state.withLock { state in
            refreshToken(&state, uptime: uptime)
            let group = state.pushes.insert(.many(pushes), receiver: receiver, due: uptime + timeout)
            var batch: [Submission] = []
            batch.reserveCapacity(pushes.count)
            for index in pushes.indices {
                batch.append(
                    enter(
                        pushes[index], firstID + UInt64(index), group: group, index: index,
                        timeout: timeout, &state))
            }
            return batch
        }
        transport.submit(batch)
    }

    private func enter(
        _ push: borrowing Push, _ id: Submission.ID, group: Int32, index: Int, timeout: Duration,
        _ state: inout State
    ) -> Submission {
        state.pushes.enter(
            id,
            InFlightPushes.Entry(
                group: group, index: Int32(index), tokenGeneration: state.token?.generation ?? 0))
        return Submission(id: id, request: state.encoder.encode(push), timeout: timeout)
    }

    /// Gives up on a push, whichever of its two submissions is out, and keeps it from having a
    /// second one.
    func cancel(_ id: Submission.ID) {
        let resendID = Self.resendID(of: id)
        let transport = state.withLock { state in
            state.pushes.cancel(id)
            state.pushes.cancel(resendID)
            return state.transport
        }
        transport?.cancel(id)
        transport?.cancel(resendID)
    }

    /// Asks the source for the token to push with, now and then.
    private func refreshToken(_ state: inout State, uptime: Duration) {
        guard let tokens else { return }
        if let last = state.lastTokenCheck, uptime - last < Self.tokenInterval { return }
        state.lastTokenCheck = uptime
        use(tokens.current(), in: &state)
    }

    /// Points the encoder at a token, unless it has that one already, or a later one that another
    /// thread brought.
    private func use(_ token: ProviderToken, in state: inout State) {
        guard token.generation > (state.token?.generation ?? 0) else { return }
        state.token = token
        state.encoder = RequestEncoder(providerToken: token.value)
    }

    // MARK: Back

    /// The transport's sink: matches a batch of completions with their pushes, sends again what is
    /// to be sent again, and tells the rest to those who wait.
    func receive(_ completions: [Completion]) {
        var deliveries = Deliveries()
        var resends: [Submission] = []
        var touched: [Int32] = []
        var transport: (any PushTransport)?
        var replacesConnections = false
        let uptime = clock.uptime()
        state.withLock { state in
            observeDate(of: completions, &state, uptime: uptime)
            for completion in completions {
                let entry = state.pushes.remove(completion.id)
                let outcome = completion.result.map(PushOutcome.init)
                if case .success(.rejected(let rejection)) = outcome,
                    let resend = resend(
                        entry, completion.id, rejection, &state, &replacesConnections)
                {
                    resends.append(resend)
                } else {
                    state.pushes.reply(to: entry, outcome, &deliveries, touched: &touched)
                }
            }
            state.pushes.handOn(touched, &deliveries)
            if replacesConnections || !resends.isEmpty { transport = state.transport }
        }
        if replacesConnections { transport?.replaceConnections() }
        if let transport { submit(resends, to: transport) }
        deliveries.deliver()
    }

    /// Submits pushes again, and sees to those that were given up on before the transport knew
    /// their new ids.
    private func submit(_ resends: [Submission], to transport: any PushTransport) {
        guard !resends.isEmpty else { return }
        transport.submit(resends)
        let cancelled = state.withLock { state in
            resends.map(\.id).filter { state.pushes.isCancelled($0) }
        }
        for id in cancelled { transport.cancel(id) }
    }

    /// The submission that replaces one that APNs refused, if its answer is of the kind that the
    /// client itself can mend, once.
    private func resend(
        _ entry: InFlightPushes.Entry, _ id: Submission.ID, _ rejection: PushOutcome.Rejection,
        _ state: inout State, _ replacesConnections: inout Bool
    ) -> Submission? {
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
        let timeLeft = state.pushes.due(entry) - clock.uptime()
        guard mayGoAgain, timeLeft > .zero else { return nil }
        let resendID = Self.resendID(of: id)
        var resend = entry
        resend.isResend = true
        resend.tokenGeneration = state.token?.generation ?? 0
        state.pushes.enter(resendID, resend)
        return Submission(
            id: resendID, request: state.encoder.encode(state.pushes.push(of: entry)),
            timeout: timeLeft)
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
    private func observeDate(
        of completions: [Completion], _ state: inout State, uptime: Duration
    ) {
        // Whether it is time comes first: to read a date costs more than all else here.
        if let last = state.lastSkewCheck, uptime - last < Self.skewInterval { return }
        guard case .success(let response)? = completions.last?.result,
            let text = response.date, let date = HTTPDate.parse(text)
        else { return }
        state.lastSkewCheck = uptime
        // The header counts whole seconds: half of one is the fairest guess for the rest.
        state.clockSkew = .milliseconds(date.milliseconds(since: clock.now()) + 500)
    }
}
