// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
public import WakeModel

/// A wake as a store keeps it.
public struct WakeRow: Hashable, Sendable {
    /// Its name. Its number is the row's key, and grows with time.
    public let id: WakeID
    /// The device's number in the store.
    public let device: Int64
    /// The queue's number in the store.
    public let queue: Int64
    /// The number of the same device's wake before this one; 0 for its first. The wakes of a device
    /// are a chain, so that they are found without an index, which every admission would have to
    /// update.
    public let previous: Int64
    /// When it was accepted.
    public let acceptedAt: WallInstant
    /// What was decided then.
    public let decision: WakeDecision
    /// How it merges with what is older than it: united only if all that merged into it are.
    public var coalescing: Coalescing
    /// The caller's reference.
    public let ref: WakeRef?
    /// VoIP: the call; `nil` for others.
    public let call: CallFingerprint?
    /// Its urgency.
    public var urgency: Urgency
    /// Its state.
    public var state: WakeState
    /// Pending: when it is due.
    public var dueAt: WallInstant
    /// Not to be sent before this instant, regardless of the budget.
    public var notBefore: WallInstant
    /// The time from which on it is never sent.
    public var deadline: WallInstant
    /// The reasons for its delay at the last decision; of an expired wake, also what kept its queue
    /// from sending at its deadline.
    public var holds: DelayReasons
    /// The JSON body; empty once it has ended. Never logged.
    public var payload: [UInt8]
    /// The parts of its payload, the oldest first; empty until a wake merges into it, and once it
    /// has ended.
    public var parts: [MergedPart] = []
    /// The value of `apns-expiration`.
    public var expiration: Expiration
    /// The collapse id, if any.
    public var collapseID: CollapseID?
    /// The value of `apns-priority`; `nil` for the kind's default.
    public let priority: Priority?
    /// The fencing number: it grows with each claim, and when a lapsed lease is reclaimed.
    public var fence: Int64 = 0
    /// How many attempts may have reached APNs.
    public var tries = 0
    /// When it was claimed last. A wake is due by its ledger's clock and claimed when it is due, so
    /// this is never before that clock, and names the send to the ledger when a receipt comes.
    public var claimedAt = WallInstant(millisecondsSinceEpoch: 0)
    /// When its lease ends.
    public var leaseUntil = WallInstant(millisecondsSinceEpoch: 0)
    /// The debit of its claim.
    public var debit: BudgetDebit?
    /// The reason of the last refusal.
    public var previousReason: RejectionReason?
    /// How it ended.
    public var end: WakeEnd?
    /// Of a cancelled wake: the wake that carries those that had merged into it, or its former
    /// carrier.
    public var successor: WakeID?
    /// When it ended.
    public var endedAt: WallInstant?
    /// The time at which it launched the app.
    public var launchedAt: WallInstant?

    /// Creates a wake that waits, or ended immediately.
    public init(
        id: WakeID, device: Int64, queue: Int64, previous: Int64, acceptedAt: WallInstant,
        decision: WakeDecision, coalescing: Coalescing, ref: WakeRef? = nil,
        call: CallFingerprint?, urgency: Urgency, state: WakeState, dueAt: WallInstant,
        notBefore: WallInstant, deadline: WallInstant, holds: DelayReasons, payload: [UInt8],
        expiration: Expiration, collapseID: CollapseID?, priority: Priority? = nil
    ) {
        self.id = id
        self.device = device
        self.queue = queue
        self.previous = previous
        self.acceptedAt = acceptedAt
        self.decision = decision
        self.coalescing = coalescing
        self.ref = ref
        self.call = call
        self.urgency = urgency
        self.state = state
        self.dueAt = dueAt
        self.notBefore = notBefore
        self.deadline = deadline
        self.holds = holds
        self.payload = payload
        self.expiration = expiration
        self.collapseID = collapseID
        self.priority = priority
    }

    /// The row's key.
    public var number: Int64 { id.number }
}

/// A call that a device's ledger counts, with its wake.
public struct CountedCall: Hashable, Sendable {
    /// The call.
    public let call: CallFingerprint
    /// Its wake.
    public let wake: WakeID

    /// Creates a counted call.
    public init(call: CallFingerprint, wake: WakeID) {
        self.call = call
        self.wake = wake
    }
}

/// A device in one queue, as a store keeps it.
public struct DeviceRow: Hashable, Sendable {
    /// Its number in the store.
    public let number: Int64
    /// The queue's number.
    public let queue: Int64
    /// The token.
    public let token: DeviceToken
    /// The device's ledger.
    public var ledger: DeviceLedger
    /// The number of the background wake that waits; 0 for none.
    public var pending: Int64 = 0
    /// The number of the latest wake; 0 for none.
    public var latest: Int64 = 0
    /// VoIP: the calls that its ledger counts, and older ones that wait, the latest first. They are
    /// used to recognise a repeated call.
    public var calls: [CountedCall] = []
    /// When the app registered the token, as far as was reported.
    public var registeredAt: WallInstant?
    /// Since when APNs reports the token as unregistered.
    public var deadSince: WallInstant?
    /// When the last receipt came.
    public var lastReceiptAt: WallInstant?
    /// The user under whom it is registered.
    public var user: UserID?
    /// When anything was written here last.
    public var touchedAt: WallInstant

    /// Creates a new device.
    public init(
        number: Int64, queue: Int64, token: DeviceToken, kind: WakeKind, touchedAt: WallInstant
    ) {
        self.number = number
        self.queue = queue
        self.token = token
        self.touchedAt = touchedAt
        ledger = DeviceLedger(kind: kind)
    }

    /// Creates a device from its stored columns.
    public init(
        number: Int64, queue: Int64, token: DeviceToken, ledger: DeviceLedger,
        touchedAt: WallInstant
    ) {
        self.number = number
        self.queue = queue
        self.token = token
        self.ledger = ledger
        self.touchedAt = touchedAt
    }
}
