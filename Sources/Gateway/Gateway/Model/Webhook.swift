// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The kinds of webhook events.
public enum WebhookKind: String, Hashable, Sendable, CaseIterable {
    /// How a wake ended.
    case outcome
    /// APNs reported a device token as unregistered.
    case tokenDead = "token-dead"
    /// An app's queue was held or paused, or goes on.
    case appHeld = "app-held"
}

/// The event of one webhook.
public enum WebhookEvent: Hashable, Sendable {
    /// A wake has ended; its record at the time of the claim.
    case outcome(WakeRecord)
    /// An entry of the feedback feed.
    case tokenDead(FeedbackEntry)
    /// A queue of an app was held or paused, or goes on.
    case appHeld(AppHold)

    /// The kind.
    public var kind: WebhookKind {
        switch self {
        case .outcome: .outcome
        case .tokenDead: .tokenDead
        case .appHeld: .appHeld
        }
    }
}

/// A queue of an app was held, because APNs refuses its key, topic or certificate, or paused by an
/// operator; or it was released.
public struct AppHold: Hashable, Sendable {
    /// The app and the kind.
    public let queue: WakeQueueKey
    /// Whether it is held or paused from now on.
    public let isHeld: Bool
    /// The reason, as a sentence.
    public let reason: String
    /// Since when.
    public let at: WallInstant

    /// Creates a value.
    public init(queue: WakeQueueKey, isHeld: Bool, reason: String, at: WallInstant) {
        self.queue = queue
        self.isHeld = isHeld
        self.reason = reason
        self.at = at
    }
}

/// One webhook to deliver, under a lease.
public struct WebhookItem: Hashable, Sendable {
    /// Proof of the lease.
    public struct Ticket: Hashable, Sendable {
        /// Its endpoint.
        public let endpoint: WebhookEndpointID
        /// The item.
        public let number: Int64
        /// The fencing number; it grows with every lease.
        public let fence: Int64

        /// Creates a ticket.
        public init(endpoint: WebhookEndpointID, number: Int64, fence: Int64) {
            self.endpoint = endpoint
            self.number = number
            self.fence = fence
        }
    }

    /// Proof of the lease.
    public let ticket: Ticket
    /// The event to report.
    public let event: WebhookEvent
    /// The time of the event.
    public let createdAt: WallInstant
    /// The number of earlier attempts.
    public let tries: Int

    /// Creates an item.
    public init(ticket: Ticket, event: WebhookEvent, createdAt: WallInstant, tries: Int) {
        self.ticket = ticket
        self.event = event
        self.createdAt = createdAt
        self.tries = tries
    }
}

/// The result of one delivery.
public struct WebhookSettlement: Hashable, Sendable {
    /// What to do with the item.
    public enum Effect: Hashable, Sendable {
        /// It was delivered, or is not retried any more.
        case done
        /// It is to be delivered again, from this instant on.
        case retry(at: WallInstant)
    }

    /// Proof of the lease.
    public let ticket: WebhookItem.Ticket
    /// What to do.
    public let effect: Effect

    /// Creates a settlement.
    public init(ticket: WebhookItem.Ticket, effect: Effect) {
        self.ticket = ticket
        self.effect = effect
    }
}
