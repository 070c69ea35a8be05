// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A lease on one due wake: its holder may send the wake until the lease ends.
///
/// It carries all that a request to APNs needs, so that encoding it cannot fail.
public struct Claim: Hashable, Sendable {
    /// Proof of the lease, shown when the outcome is settled.
    public struct Ticket: Hashable, Sendable {
        /// The wake.
        public let id: WakeID
        /// The fencing number. It grows with every claim of this wake and whenever a lapsed lease
        /// is reclaimed, so that the holder of an old lease cannot settle any more.
        public let fence: Int64

        /// Creates a ticket.
        public init(id: WakeID, fence: Int64) {
            self.id = id
            self.fence = fence
        }
    }

    /// Proof of the lease.
    public let ticket: Ticket
    /// The app.
    public let app: AppIdentity
    /// What it is.
    public let kind: WakeKind
    /// The device.
    public let deviceToken: DeviceToken
    /// The JSON body, byte for byte as accepted. Never logged.
    public let payload: [UInt8]
    /// The value of `apns-expiration`.
    public let expiration: Expiration
    /// The collapse id, if any.
    public let collapseID: CollapseID?
    /// The value of `apns-priority`; `nil` for the kind's default.
    public let priority: Priority?
    /// The time from which on the wake is never sent.
    public let deadline: WallInstant
    /// When it was due.
    public let dueAt: WallInstant
    /// The number of earlier attempts that may have reached APNs.
    public let tries: Int
    /// The reason of the last refusal, if the wake was refused before.
    public let previousReason: RejectionReason?
    /// When the lease began.
    public let claimedAt: WallInstant
    /// The end of the lease. A push must be answered, or cancelled, before.
    public let leaseUntil: WallInstant

    /// Creates a claim.
    public init(
        ticket: Ticket, app: AppIdentity, kind: WakeKind, deviceToken: DeviceToken,
        payload: [UInt8], expiration: Expiration, collapseID: CollapseID?,
        priority: Priority? = nil, deadline: WallInstant, dueAt: WallInstant, tries: Int,
        previousReason: RejectionReason?, claimedAt: WallInstant, leaseUntil: WallInstant
    ) {
        self.ticket = ticket
        self.app = app
        self.kind = kind
        self.deviceToken = deviceToken
        self.payload = payload
        self.expiration = expiration
        self.collapseID = collapseID
        self.priority = priority
        self.deadline = deadline
        self.dueAt = dueAt
        self.tries = tries
        self.previousReason = previousReason
        self.claimedAt = claimedAt
        self.leaseUntil = leaseUntil
    }

    /// The wake's name.
    public var id: WakeID { ticket.id }
    /// Whether it is sent again when it may have reached APNs.
    public var mayRepeat: Bool { kind.mayRepeat(collapseID: collapseID) }
    /// The queue it was taken from.
    public var queue: WakeQueueKey { WakeQueueKey(app: app, kind: kind) }
}

/// The limits of a claim.
public struct ClaimOrder: Hashable, Sendable {
    /// The limit for one queue.
    public struct Share: Hashable, Sendable {
        /// The queue.
        public let queue: WakeQueueKey
        /// The most wakes to claim from it.
        public let limit: Int

        /// Creates a share.
        public init(queue: WakeQueueKey, limit: Int) {
            self.queue = queue
            self.limit = limit
        }
    }

    /// The queues, in the order in which they are served.
    public let shares: [Share]
    /// The most wakes to claim in all.
    public let limit: Int
    /// Wakes due at or before this instant are claimed, unless their deadline has passed.
    public let now: WallInstant
    /// When the leases end.
    public let leaseUntil: WallInstant

    /// Creates an order.
    public init(shares: [Share], limit: Int, now: WallInstant, leaseUntil: WallInstant) {
        self.shares = shares
        self.limit = limit
        self.now = now
        self.leaseUntil = leaseUntil
    }
}
