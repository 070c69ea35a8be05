// SPDX-License-Identifier: Apache-2.0

internal import APNsWire
internal import LoopKit
internal import PushTransport
internal import Synchronization
internal import WakeModel

/// The state that all pushes of a client share: the present provider token with its encoder, what
/// answers have shown of token, connections and clocks, and the callers of single pushes. Pushes of
/// a batch are the context of their submissions, so that a batch of answers takes at most two short
/// locks here: to read the clock, and to find the callers of single pushes.
final class ClientCore: Sendable {
    /// The interval after a replacement of connections in which another reason is ignored, because
    /// answers of the old connections still arrive.
    static let replacementInterval: Duration = .seconds(5)
    /// The interval between comparisons of the server's `date` with the clock.
    static let skewInterval: Duration = .seconds(60)
    /// The interval between queries of the source for a newer token. A token is valid for 40
    /// minutes or more, and a query for each push would cost more than its encoding.
    static let tokenInterval: Duration = .seconds(1)

    private struct State {
        var encoder = RequestEncoder(providerToken: nil)
        /// The generation of the encoder's token; 0 with a certificate.
        var tokenGeneration: UInt64 = 0
        var lastTokenCheck: Duration?
        /// The latest token that APNs called expired and for which connections were replaced.
        var expiredGeneration: UInt64 = 0
        var lastReplacement: Duration?
        /// The callers of single pushes.
        var callers = PendingSends()
        /// Weak, since the transport's sink holds this object.
        weak var transport: (any PushTransport)?
    }

    private struct Skew {
        var lastCheck: Duration?
        var value: Duration?
    }

    private let tokens: ProviderTokenSource?
    /// The timeout of a push whose sender gives none.
    let timeout: Duration
    private let clock: WakeClock
    private let ids = Atomic<UInt64>(1)
    private let state = StateLock(State())
    private let skew = StateLock(Skew())

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

    var clockSkew: Duration? { skew.withLock { $0.value } }

    /// The clock's reading.
    var uptime: Duration { clock.uptime() }

    // MARK: Out

    /// A new id for a submission.
    func nextID() -> TransportRequest.ID { ids.wrappingAdd(1, ordering: .relaxed).oldValue }

    /// Makes a group of pushes with new ids. `timeout` replaces the configuration's.
    func prepare(
        _ pushes: [Push], timeout: Duration?, receiver: SentPushes.Receiver
    ) -> SentPushes {
        let (firstID, _) = ids.wrappingAdd(UInt64(pushes.count), ordering: .relaxed)
        return SentPushes(
            pushes, firstID: firstID, receiver: receiver,
            due: clock.uptime() + (timeout ?? self.timeout))
    }

    /// Submits one push to the transport, for a caller that is suspended until its answer.
    ///
    /// Not inlined, because its stack frame would become a part of the caller's task, which then
    /// would need a second allocation for each push.
    @inline(never)
    func send(
        _ push: Push, _ id: TransportRequest.ID, of caller: PendingSends.Caller, due: Duration,
        timeLeft: Duration, isSecond: Bool, over transport: any PushTransport
    ) {
        transport.submit(
            state.withLock { state in
                refreshToken(&state, uptime: due - timeLeft)
                state.callers.insert(
                    id,
                    .init(
                        caller: caller, tokenGeneration: state.tokenGeneration,
                        isSecond: isSecond))
                return TransportRequest(
                    id: id, request: state.encoder.encode(push), timeout: timeLeft)
            })
    }

    /// Submits the pushes of a group to the transport.
    func send(
        _ pushes: [Push], of sent: SentPushes, timeout: Duration?,
        over transport: any PushTransport
    ) {
        let timeout = timeout ?? self.timeout
        // No array for one: a caller that answers each group of replies with a batch ends up with
        // batches of one, because groups are split and never joined.
        if pushes.count == 1 {
            transport.submit(
                state.withLock { state in
                    begin(sent, timeout: timeout, &state)
                    return submission(pushes[0], at: 0, of: sent, timeout: timeout, &state)
                })
            return
        }
        var batch: [TransportRequest] = []
        batch.reserveCapacity(pushes.count)
        state.withLock { state in
            begin(sent, timeout: timeout, &state)
            // By their places: an iterator would copy each push.
            for index in pushes.indices {
                batch.append(
                    submission(pushes[index], at: index, of: sent, timeout: timeout, &state))
            }
        }
        transport.submit(batch)
    }

    /// Chooses the provider token of a group's first submissions.
    private func begin(_ sent: SentPushes, timeout: Duration, _ state: inout State) {
        refreshToken(&state, uptime: sent.due - timeout)
        sent.didEncode(tokenGeneration: state.tokenGeneration)
    }

    private func submission(
        _ push: Push, at index: Int, of sent: SentPushes, timeout: Duration, _ state: inout State
    ) -> TransportRequest {
        TransportRequest(
            id: sent.firstID + UInt64(index), request: state.encoder.encode(push),
            timeout: timeout, context: sent)
    }

    /// Cancels all unanswered submissions of a group, and prevents second ones. The transport
    /// ignores cancellations of answered submissions; once all are answered, it is not called.
    func cancel(_ sent: SentPushes) {
        sent.cancel()
        guard sent.isAwaited, let transport = state.withLock({ $0.transport }) else { return }
        for id in sent.firstID..<sent.firstID + UInt64(sent.pushes.count) {
            transport.cancel(id)
            transport.cancel(SentPushes.resendID(of: id))
        }
    }

    /// Gets the token to push with from the source, once in `tokenInterval`.
    private func refreshToken(_ state: inout State, uptime: Duration) {
        // The time is compared first, because access to the source costs a retain and a release.
        if let last = state.lastTokenCheck, uptime - last < Self.tokenInterval { return }
        guard let tokens else { return }
        state.lastTokenCheck = uptime
        use(tokens.current(), in: &state)
    }

    /// Gives the encoder a token, unless it has that one already, or a later one from another
    /// thread.
    private func use(_ token: ProviderToken, in state: inout State) {
        guard token.generation > state.tokenGeneration else { return }
        state.tokenGeneration = token.generation
        state.encoder = RequestEncoder(providerToken: token.value)
    }

    // MARK: Back

    /// The transport's sink: resubmits what is to be sent again, and delivers the other completions
    /// to their callers.
    func receive(_ completions: [Completion]) { receive(completions.span) }

    /// Reads the completions in place. Of an array, Swift 6.3 copies each one that is read, and
    /// retains all that it refers to.
    private func receive(_ completions: borrowing Span<Completion>) {
        var fixes = Fixes()
        observeDate(of: completions)
        var callers = takeCallers(of: completions)[...]
        var replies = ReplyBatch(lonePushes: callers.count)
        for place in completions.indices {
            let id = completions[place].id
            let outcome: SentPushes.Outcome =
                switch completions[place].result {
                case .success(let response): .success(PushOutcome(response))
                case .failure(let failure): .failure(failure)
                }
            guard let context = completions[place].context else {
                if let waiting = callers.popFirst() {
                    let mayGoAgain = fix(outcome, of: waiting, &fixes)
                    replies.add(outcome, mayGoAgain: mayGoAgain, to: waiting.caller)
                }
                continue
            }
            guard let sent = context as? SentPushes else {
                preconditionFailure("A submission came back that this client never made.")
            }
            if fix(outcome, of: id, sent, &fixes) { continue }
            replies.add(outcome, to: sent, at: sent.index(of: id))
        }
        carryOut(fixes)
        replies.deliver(
            by: replies.hasManyCallers ? state.withLock { $0.transport } : nil)
    }

    /// The callers of single pushes, in the order of the completions without a context.
    private func takeCallers(of completions: borrowing Span<Completion>) -> [PendingSends.Waiting] {
        var count = 0
        for place in completions.indices where completions[place].context == nil { count += 1 }
        guard count > 0 else { return [] }
        var callers: [PendingSends.Waiting] = []
        callers.reserveCapacity(count)
        state.withLock { state in
            for place in completions.indices where completions[place].context == nil {
                callers.append(state.callers.remove(completions[place].id))
            }
        }
        return callers
    }

    /// The fixes for the answers of one batch.
    private struct Fixes {
        var resends: [TransportRequest] = []
        var replacesConnections = false
        var transport: (any PushTransport)?
    }

    /// Handles the answer to a single push, if the client can fix its cause. Returns true if the
    /// push may be sent again, which the caller does.
    private func fix(
        _ outcome: SentPushes.Outcome, of waiting: PendingSends.Waiting, _ fixes: inout Fixes
    ) -> Bool {
        guard let remedy = Self.remedy(for: outcome) else { return false }
        return state.withLock { state in
            prepare(
                remedy, generation: waiting.tokenGeneration, mayGoAgain: !waiting.isSecond, &state,
                &fixes)
        }
    }

    /// Handles the answer to a push of a group, if the client can fix its cause; once per push.
    /// Returns true if the push is sent again, so that no reply is delivered yet.
    private func fix(
        _ outcome: SentPushes.Outcome, of id: TransportRequest.ID, _ sent: SentPushes,
        _ fixes: inout Fixes
    ) -> Bool {
        guard let remedy = Self.remedy(for: outcome) else { return false }
        return state.withLock { state in
            let mayGoAgain = !SentPushes.isResend(id) && !sent.isCancelled
            guard
                prepare(
                    remedy, generation: sent.tokenGeneration(of: id), mayGoAgain: mayGoAgain,
                    &state, &fixes)
            else { return false }
            let timeLeft = sent.due - clock.uptime()
            guard timeLeft > .zero else { return false }
            sent.didEncodeResend(tokenGeneration: state.tokenGeneration)
            fixes.resends.append(
                TransportRequest(
                    id: SentPushes.resendID(of: id),
                    request: state.encoder.encode(sent.pushes[sent.index(of: id)]),
                    timeout: timeLeft, context: sent))
            return true
        }
    }

    /// The fix for an answer that the client can make by itself.
    private enum Remedy {
        case newProviderToken
        case otherConnection
    }

    private static func remedy(for outcome: SentPushes.Outcome) -> Remedy? {
        guard case .success(.rejected(let rejection)) = outcome else { return nil }
        switch rejection.advice.retry {
        case .onceWithNewProviderToken: return .newProviderToken
        case .nowOnAnotherConnection: return .otherConnection
        default: return nil
        }
    }

    /// Prepares the second submission of a push that was sent with the token of `generation`.
    /// Returns false if there can be none, or must be none; connections may be replaced even then.
    private func prepare(
        _ remedy: Remedy, generation: UInt64, mayGoAgain: Bool, _ state: inout State,
        _ fixes: inout Fixes
    ) -> Bool {
        fixes.transport = state.transport
        let mayGoAgain = mayGoAgain && fixes.transport != nil
        switch remedy {
        case .otherConnection:
            if mayReplaceConnections(&state) { fixes.replacesConnections = true }
        case .newProviderToken:
            // A connection that saw an expired token may refuse every later one too (facts §1.6).
            // Once for each token: if a clock is wrong, new connections do not help.
            if tokens != nil, generation > state.expiredGeneration {
                state.expiredGeneration = generation
                fixes.replacesConnections = true
            }
            guard mayGoAgain, let token = tokens?.replacement(forGeneration: generation)
            else { return false }
            use(token, in: &state)
        }
        return mayGoAgain
    }

    /// Replaces connections, resubmits pushes, and cancels those whose group was cancelled before
    /// the transport had their new ids.
    private func carryOut(_ fixes: Fixes) {
        guard let transport = fixes.transport else { return }
        if fixes.replacesConnections { transport.replaceConnections() }
        guard !fixes.resends.isEmpty else { return }
        transport.submit(fixes.resends)
        for resend in fixes.resends {
            if let sent = resend.context as? SentPushes, sent.isCancelled {
                transport.cancel(resend.id)
            }
        }
    }

    private func mayReplaceConnections(_ state: inout State) -> Bool {
        let uptime = clock.uptime()
        if let last = state.lastReplacement, uptime - last < Self.replacementInterval {
            return false
        }
        state.lastReplacement = uptime
        return true
    }

    /// Compares the server's clock with this machine's, once in `skewInterval`.
    private func observeDate(of completions: borrowing Span<Completion>) {
        guard let last = completions.indices.last,
            case .success(let response) = completions[last].result
        else { return }
        let uptime = clock.uptime()
        skew.withLock { skew in
            // The time is compared first, because reading a date costs more than the rest.
            if let last = skew.lastCheck, uptime - last < Self.skewInterval { return }
            guard let text = response.date, let date = HTTPDate.parse(text) else { return }
            skew.lastCheck = uptime
            // The header has whole seconds; half of one is the mean of the fraction.
            skew.value = .milliseconds(date.milliseconds(since: clock.now()) + 500)
        }
    }
}
