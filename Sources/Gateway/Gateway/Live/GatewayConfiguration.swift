// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
import WakeModel

/// The apps of a gateway, and its rules. May be changed while it runs.
public struct GatewayConfiguration: Sendable {
    /// The default retention of ended wakes, in seconds: seven days.
    public static let defaultRetentionSeconds = 604_800
    /// The shortest retention, in seconds: a wake of unknown outcome must still be stored when its
    /// receipt comes.
    public static let minimumRetentionSeconds = 60
    /// The default retention of a device without any activity, in seconds: 90 days. It is removed
    /// in the next walk through all devices, of which there is at least one a day.
    public static let defaultDeviceRetentionSeconds = 7_776_000

    /// The kind of an app's credential for APNs, which determines the push types that it may send.
    public enum Authentication: Hashable, Sendable {
        /// With a provider token: all types but `mdm`.
        case providerToken
        /// With a client certificate: see ``WakeModel/PushType/requiresProviderToken``.
        case certificate
    }

    /// The apps, which must differ.
    public var apps: [AppIdentity]
    /// The kind of credential of each app, as far as it is known; without one, APNs decides whether
    /// it may send a type.
    public var authentications: [AppIdentity: Authentication] = [:]
    /// The budget of each app; ``WakeBudget/BudgetPolicy/standard`` for one that is not here.
    public var policies: [AppIdentity: BudgetPolicy]
    /// The webhook endpoints, which must differ.
    public var webhooks: [WebhookSubscription]
    /// The least retention of ended wakes and of the feedback feed, in seconds.
    public var retentionSeconds: Int
    /// The retention of a device without any activity, in seconds; at least that of wakes.
    public var deviceRetentionSeconds: Int

    /// The timeout of the sender for a push, in seconds, queueing included. A lease lasts longer:
    /// see ``GatewayLimits/leaseSeconds``.
    public var sendSeconds = 30

    /// The defaults for these apps.
    public init(apps: [AppIdentity]) {
        self.apps = apps
        policies = [:]
        webhooks = []
        retentionSeconds = Self.defaultRetentionSeconds
        deviceRetentionSeconds = Self.defaultDeviceRetentionSeconds
    }

    /// Traps on an invalid configuration, which is the caller's bug.
    func check() {
        precondition(Set(apps).count == apps.count, "An app is configured twice.")
        precondition(
            Set(webhooks.map(\.endpoint)).count == webhooks.count,
            "A webhook endpoint is configured twice.")
        precondition(
            retentionSeconds >= Self.minimumRetentionSeconds,
            "Ended wakes are kept for a minute at least.")
        precondition(sendSeconds > 0, "A push takes time.")
    }

    /// The reason why an app cannot send pushes of a kind, as a sentence; `nil` if it can.
    func whyNot(_ kind: WakeKind, of app: AppIdentity) -> String? {
        switch authentications[app] {
        case .certificate where kind.pushType.requiresProviderToken:
            "The app \(app) authenticates with a certificate, and APNs takes \(kind) pushes with a "
                + "provider token only. Configure a signing key for it."
        case .providerToken where kind.pushType.requiresCertificate:
            "The app \(app) authenticates with a signing key, and APNs takes \(kind) pushes with "
                + "the MDM push certificate only. Configure that certificate for its topic."
        default: nil
        }
    }

    var rules: StoreRules { StoreRules(policies: policies, webhooks: webhooks) }

    /// The queues of all apps, or of one; optionally only of an environment, and `among` these
    /// apps.
    func queues(
        of app: AppIdentity? = nil, in environment: APNsEnvironment? = nil,
        among bundleIDs: Set<BundleID>? = nil
    ) -> [WakeQueueKey] {
        let seen = (app.map { [$0] } ?? apps).filter {
            (bundleIDs?.contains($0.bundleID) ?? true)
                && (environment == nil || environment == $0.environment)
        }
        return seen.flatMap { app in
            WakeKind.allCases.map { WakeQueueKey(app: app, kind: $0) }
        }
    }
}
