// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The id of a webhook endpoint in the store: stable while the endpoint is the same, regardless of
/// its position in a configuration. Chosen by the configuration; not 0.
public struct WebhookEndpointID: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: Int64

    /// An id with this number.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// The owner of events written when there was one endpoint without a name. Never configured.
    public static let unnamed = WebhookEndpointID(rawValue: 0)
}

/// The events that one webhook endpoint receives, and how much is kept for it.
///
/// Each endpoint has events of its own in the store: one that is down delays only its own.
public struct WebhookSubscription: Hashable, Sendable {
    /// The most events that are kept for one endpoint, 94 bytes of the file each.
    public static let maximumBacklogCount = 1_000_000
    /// The most endpoints: an event is a row for each one that receives it.
    public static let maximumEndpointCount = 8

    /// The endpoint.
    public let endpoint: WebhookEndpointID
    /// The kinds of events that it receives.
    public let kinds: Set<WebhookKind>
    /// The apps whose events it receives, in all environments; `nil` for all.
    public let apps: Set<BundleID>?
    /// The most events that are kept for it; when there are so many, later ones are dropped.
    public let backlogCount: Int

    /// Creates a subscription.
    public init(
        endpoint: WebhookEndpointID, kinds: Set<WebhookKind>, apps: Set<BundleID>? = nil,
        backlogCount: Int = WebhookSubscription.maximumBacklogCount
    ) {
        self.endpoint = endpoint
        self.kinds = kinds
        self.apps = apps
        self.backlogCount = backlogCount
    }

    /// Whether it receives such an event of an app.
    func listens(to kind: WebhookKind, of app: AppIdentity) -> Bool {
        kinds.contains(kind) && apps?.contains(app.bundleID) ?? true
    }
}

/// Claimed webhooks of one endpoint, and the endpoint's state.
public struct WebhookBatch: Hashable, Sendable {
    /// What to deliver.
    public var items: [WebhookItem]
    /// How many events are kept for the endpoint, those of this batch and of leases included.
    public var backlogCount: Int
    /// How many events of the endpoint were dropped since the store was made, because too many were
    /// waiting.
    public var droppedCount: Int

    /// Creates a batch.
    public init(items: [WebhookItem] = [], backlogCount: Int = 0, droppedCount: Int = 0) {
        self.items = items
        self.backlogCount = backlogCount
        self.droppedCount = droppedCount
    }
}
