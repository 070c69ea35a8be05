// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The recorded state of one device and one topic, in at most 128 bytes: the sends that count, the
/// pending wake, and the app's reports.
///
/// A ledger is a value without a clock: each verb takes the time. ``decide(on:policy:at:)`` changes
/// nothing; the other verbs document what they change. A topic has one kind of push, so a ledger is
/// for background pushes, for calls or for plain pushes; using it for another kind is a bug, and
/// traps.
///
/// Time may stop, step back or leap. A step back of up to ``BudgetLimits/clockToleranceSeconds`` is
/// ignored. A longer one is a correction: the ledger keeps the ages of everything it records. So no
/// rule delays longer than it would have from the new time on, and nothing is lost. A leap ahead
/// cannot be distinguished from time that has passed, and counts as such.
///
/// Seconds count for background pushes, milliseconds for the others. A send is recorded at the next
/// full second, so that windows and spacings are never too short.
public struct DeviceLedger: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        case background(BackgroundLedger)
        case voip(CallLedger)
        case plain(PlainLedger)
    }

    var form: Form

    /// Creates an empty ledger for a topic of this kind.
    public init(kind: WakeKind) {
        switch kind.discipline {
        case .background: form = .background(BackgroundLedger())
        case .call: form = .voip(CallLedger())
        case .plain: form = .plain(PlainLedger())
        }
    }

    /// The kind of its rules.
    public var discipline: WakeKind.Discipline {
        switch form {
        case .background: .background
        case .voip: .call
        case .plain: .plain
        }
    }

    /// The wake that waits for the device, if any. Calls and plain pushes do not wait here.
    public var pending: PendingWake? {
        switch form {
        case .background(let ledger): ledger.pending
        case .voip, .plain: nil
        }
    }

    /// Debited sends that were not settled yet; 255 for more. Always 0 where each debit is settled
    /// immediately.
    public var inFlight: Int {
        switch form {
        case .background(let ledger): Int(ledger.inFlight)
        case .voip, .plain: 0
        }
    }

    /// Observes the time and changes nothing else. Every method does so itself; this is for a
    /// caller that detects a clock change, so that it takes effect before the next method.
    public mutating func observe(_ now: WallInstant) {
        switch form {
        case .background(var ledger):
            ledger.observe(now)
            form = .background(ledger)
        case .voip(var ledger):
            ledger.observe(now)
            form = .voip(ledger)
        case .plain(var ledger):
            ledger.observe(now)
            form = .plain(ledger)
        }
    }

    // MARK: Deciding

    /// The decision that a request would get. Changes nothing.
    public func decide(
        on request: BudgetRequest, policy: BudgetPolicy, at now: WallInstant
    ) -> Decision {
        switch request {
        case .background(let request):
            guard case .background(var ledger) = form else { Self.trapOtherKind() }
            ledger.observe(now)
            return ledger.decide(on: request, policy.settings)
        case .voip(let call):
            guard case .voip(var ledger) = form else { Self.trapOtherKind() }
            ledger.observe(now)
            return ledger.decide(on: call, policy.settings)
        case .plain(let deadline):
            guard case .plain(var ledger) = form else { Self.trapOtherKind() }
            ledger.observe(now)
            return ledger.decide(until: deadline, policy.settings)
        }
    }

    /// Decides and records the decision: `.send` and `.deferred` make the request the pending wake,
    /// `.coalesced` merges it into that, a call that is to be sent is counted, and a plain push
    /// that is sent or deferred counts against its rate.
    ///
    /// If the pending wake has expired, it ends first, as part of the answer.
    public mutating func admit(
        _ request: BudgetRequest, policy: BudgetPolicy, at now: WallInstant
    ) -> AdmitVerdict {
        switch request {
        case .background(let request):
            guard case .background(var ledger) = form else { Self.trapOtherKind() }
            ledger.observe(now)
            defer { form = .background(ledger) }
            return ledger.admit(request, policy.settings)
        case .voip(let call):
            guard case .voip(var ledger) = form else { Self.trapOtherKind() }
            ledger.observe(now)
            let decision = ledger.decide(on: call, policy.settings)
            if decision == .send { ledger.admit(call) }
            form = .voip(ledger)
            return AdmitVerdict(decision: decision, expiredPending: false)
        case .plain(let deadline):
            guard case .plain(var ledger) = form else { Self.trapOtherKind() }
            ledger.observe(now)
            let decision = ledger.decide(until: deadline, policy.settings)
            if case .expired = decision {} else { ledger.take(policy.settings) }
            form = .plain(ledger)
            return AdmitVerdict(decision: decision, expiredPending: false)
        }
    }

    private static func trapOtherKind() -> Never {
        preconditionFailure("A ledger is asked about the kind of push that its topic has.")
    }

    // MARK: The pending wake

    /// The time at which the pending wake may be sent, and the reasons for the delay; `nil` without
    /// a pending wake.
    ///
    /// Every change of a ledger may change it, so a queue reads it after each one.
    public func outlook(policy: BudgetPolicy, at now: WallInstant) -> Outlook? {
        guard case .background(var ledger) = form else { return nil }
        ledger.observe(now)
        return ledger.outlook(policy.settings)
    }

    /// Debits and returns the pending wake, if it may be sent now.
    public mutating func claim(policy: BudgetPolicy, at now: WallInstant) -> ClaimVerdict {
        withBackground(at: now, otherwise: .nothingPending) {
            $0.claim(at: now, policy.settings)
        }
    }

    /// Records the outcome of a debited send; `returns` if its wake is to be sent again.
    ///
    /// A refund takes back what was debited, the spacing included. It is given only while the send
    /// is among the last thirteen and the clock was not corrected since; otherwise the send stays
    /// debited. A debit is refunded once, which a store's fencing ensures. It may be settled as
    /// accepted in advance, with the claim, so that only failures are recorded a second time;
    /// ``inFlight`` does not count it then.
    ///
    /// Each attempt that may have arrived stays debited, those of a wake that returns too: the hour
    /// and the day count them, so that a device never gets more than its budget, whatever their
    /// outcome. Only the spacing does not delay a wake after its own attempts, unless another was
    /// sent after them. A wake that returns while another waits is carried by that one, to which
    /// the spacing applies; they merge by the newer one's coalescing mode.
    ///
    /// It has no time argument: a result may be recorded minutes later, or with the time of a wrong
    /// clock, and later sends must not become older by that.
    public mutating func settle(
        _ debit: BudgetDebit, as fate: SendFate, returns: Bool = false
    ) -> SettledWake {
        guard case .background(var ledger) = form else { return .ended }
        defer { form = .background(ledger) }
        return ledger.settle(debit, fate, returns: returns)
    }

    /// Ends the pending wake if it has expired, or certainly will before the rules allow it.
    /// Returns whether it did.
    public mutating func expirePending(policy: BudgetPolicy, at now: WallInstant) -> Bool {
        withBackground(at: now, otherwise: false) { ledger in
            guard ledger.isPendingOver(policy.settings) else { return false }
            ledger.pending = nil
            return true
        }
    }

    /// Cancels the pending wake on request; returns whether there was one.
    public mutating func cancelPending(at now: WallInstant) -> Bool {
        withBackground(at: now, otherwise: false) { ledger in
            defer { ledger.pending = nil }
            return ledger.pending != nil
        }
    }

    /// Records that these requests of the pending wake are left, the oldest first. `isSameWake`:
    /// whether it is still the same wake; another one has not been sent before.
    public mutating func revisePending(
        _ requests: [BackgroundRequest], isSameWake: Bool, at now: WallInstant
    ) {
        withBackground(at: now, otherwise: ()) { ledger in
            ledger.revisePending(requests, isSameWake: isSameWake)
        }
    }

    /// Forgets a call that certainly was not sent; whether it was counted. `newer` is how often the
    /// same call was counted after it: a call may be asked for again when its deadline is over. It
    /// takes no time, as ``settle(_:as:returns:)`` takes none.
    public mutating func refund(_ call: CallFingerprint, behind newer: Int = 0) -> Bool {
        guard case .voip(var ledger) = form else { return false }
        defer { form = .voip(ledger) }
        return ledger.refund(call, behind: newer)
    }

    /// Gives back the turn of a plain push that certainly was not sent. It takes no time, as
    /// ``settle(_:as:returns:)`` takes none.
    public mutating func giveBackTurn(policy: BudgetPolicy) {
        guard case .plain(var ledger) = form else { return }
        ledger.giveBack(policy.settings)
        form = .plain(ledger)
    }

    /// How many calls count now: those of the last 60 minutes.
    public func callCount(at now: WallInstant) -> Int {
        guard case .voip(var ledger) = form else { return 0 }
        ledger.observe(now)
        return Int(ledger.marks.count)
    }

    /// Drops all sends, reports and the pending wake. A send in flight is settled as one of an
    /// earlier time: it is not refunded in place of a later one, nor treated as the latest.
    public mutating func forget() {
        switch form {
        case .background(let ledger):
            form = .background(
                BackgroundLedger(
                    corrections: ledger.corrections &+ 1, debits: ledger.debits &+ 1))
        case .voip: form = .voip(CallLedger())
        // Recent sends are not undone by forgetting the device: the lead stays, and expires by
        // itself.
        case .plain: break
        }
    }

    // MARK: Reports

    /// Records what the app reported of its device; how that ended the pending wake, if it did.
    /// Calls are not held back by any of it, so the ledger of a VoIP topic disregards reports.
    public mutating func report(_ signal: DeviceSignal, at now: WallInstant) -> PendingEnd? {
        withBackground(at: now, otherwise: nil) { $0.report(signal) }
    }

    /// Records a receipt: a wake launched the app.
    ///
    /// The receipt confirms the send of the time `sentAt` and all before it, which ends the wait
    /// for receipts; without a time it confirms all. With `hasSynced` the app has fetched all data
    /// during that launch: the pending wake then ends as superseded if all its requests were made
    /// before `launchedAt`, or, if that is unknown, before `sentAt`.
    public mutating func confirmLaunch(
        ofSendAt sentAt: WallInstant? = nil, launchedAt: WallInstant? = nil,
        hasSynced: Bool = false, at now: WallInstant
    ) -> PendingEnd? {
        // A send is recorded at the next full second.
        let sent = sentAt.map { $0.advanced(byMilliseconds: 999).secondsSinceEpoch }
        return withBackground(at: now, otherwise: nil) {
            $0.confirmLaunch(
                sentAt: sent, launchedAt: launchedAt?.secondsSinceEpoch, hasSynced: hasSynced)
        }
    }

    private mutating func withBackground<Answer>(
        at now: WallInstant, otherwise answer: Answer, _ body: (inout BackgroundLedger) -> Answer
    ) -> Answer {
        guard case .background(var ledger) = form else { return answer }
        ledger.observe(now)
        defer { form = .background(ledger) }
        return body(&ledger)
    }
}

/// The answer to a request for a wake, and what it meant for the wake that waited.
public struct AdmitVerdict: Hashable, Sendable {
    /// The decision on the request.
    public let decision: Decision
    /// Whether the wake that waited until now was found to be over, and ended as expired.
    public let expiredPending: Bool

    /// Creates an answer.
    public init(decision: Decision, expiredPending: Bool) {
        self.decision = decision
        self.expiredPending = expiredPending
    }
}
