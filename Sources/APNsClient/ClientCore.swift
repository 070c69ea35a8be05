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
        /// Whether it went out a second time already.
        let isResend: Bool
    }

    private struct State {
        var entries: [Submission.ID: Entry] = [:]
        var encoder = RequestEncoder(providerToken: nil)
        var token: ProviderToken?
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

    /// The first of `count` consecutive ids.
    func nextIDs(_ count: Int) -> Submission.ID {
        ids.wrappingAdd(UInt64(count), ordering: .relaxed).oldValue
    }

    var clockSkew: Duration? { state.withLock { $0.clockSkew } }

    // MARK: Out

    /// Registers a batch and hands it to the transport. `receiver` makes the receiver of the push
    /// at an index.
    func send(_ pushes: [Push], firstID: Submission.ID, receiver: (Int) -> Receiver) {
        let token = tokens?.current()
        let (batch, transport) = state.withLock { state in
            use(token, in: &state)
            var batch: [Submission] = []
            batch.reserveCapacity(pushes.count)
            for (index, push) in pushes.enumerated() {
                let id = firstID + UInt64(index)
                state.entries[id] = Entry(
                    push: push, receiver: receiver(index),
                    tokenGeneration: token?.generation ?? 0, isResend: false)
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

    func cancel(_ id: Submission.ID) {
        state.withLock { $0.transport }?.cancel(id)
    }

    /// Points the encoder at a token, unless it does already.
    private func use(_ token: ProviderToken?, in state: inout State) {
        guard let token, token.generation != state.token?.generation else { return }
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
                if let resend = resend(entry, result, &state, &replacesConnections) {
                    resends.append(resend)
                } else {
                    replies.add(result, to: entry.receiver)
                }
            }
        }
        if replacesConnections { transport?.replaceConnections() }
        if !resends.isEmpty {
            if let transport {
                transport.submit(resends)
            } else {
                receive(resends.map(Self.orphaned))
            }
        }
        replies.deliver()
    }

    /// The submission that replaces an answered one, if its answer is of the kind that the client
    /// itself can mend, once.
    private func resend(
        _ entry: Entry, _ result: Result<PushOutcome, TransportFailure>, _ state: inout State,
        _ replacesConnections: inout Bool
    ) -> Submission? {
        guard case .success(.rejected(let rejection)) = result else { return nil }
        var generation = entry.tokenGeneration
        switch rejection.advice.retry {
        case .onceWithNewProviderToken:
            guard let tokens, let token = replacementToken(for: entry, tokens) else { return nil }
            if entry.isResend {
                // A fresh token is refused as well: the connection is wedged (reference §1.6).
                replacesConnections = mayReplaceConnections(&state)
                return nil
            }
            use(token, in: &state)
            generation = token.generation
        case .nowOnAnotherConnection:
            guard !entry.isResend else { return nil }
            if mayReplaceConnections(&state) { replacesConnections = true }
        default: return nil
        }
        let id = nextID()
        state.entries[id] = Entry(
            push: entry.push, receiver: entry.receiver, tokenGeneration: generation, isResend: true)
        return Submission(id: id, request: state.encoder.encode(entry.push), timeout: timeout)
    }

    private func replacementToken(for entry: Entry, _ tokens: ProviderTokenSource) -> ProviderToken?
    {
        let refused = ProviderToken(
            value: "", issuedAt: WallInstant(millisecondsSinceEpoch: 0),
            generation: entry.tokenGeneration)
        return tokens.replacement(for: refused)
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
        guard case .success(let response)? = completions.last?.result,
            let text = response.header("date"), let date = HTTPDate.parse(text)
        else { return }
        let uptime = clock.uptime()
        let now = clock.now()
        state.withLock { state in
            if let last = state.lastSkewCheck, uptime - last < Self.skewInterval { return }
            state.lastSkewCheck = uptime
            // The header counts whole seconds: half of one is the fairest guess for the rest.
            state.clockSkew = .milliseconds(date.milliseconds(since: now) + 500)
        }
    }
}
