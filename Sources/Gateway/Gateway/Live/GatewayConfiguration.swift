// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
import WakeModel

/// What a gateway serves, and by which rules. May be changed while it runs.
public struct GatewayConfiguration: Sendable {
    /// How long ended wakes are kept, in seconds: seven days.
    public static let defaultRetentionSeconds = 604_800
    /// The shortest retention, in seconds: a wake of unknown outcome must still be stored when its
    /// receipt comes.
    public static let minimumRetentionSeconds = 60
    /// How long a device is kept without any activity, in seconds: 90 days. It is removed in the
    /// next walk through all devices, of which there is one a day or more.
    public static let defaultDeviceRetentionSeconds = 7_776_000

    /// How an app proves to APNs who it is, which decides on the push types that it may send.
    public enum Authentication: Hashable, Sendable {
        /// With a provider token: all types but `mdm`.
        case providerToken
        /// With a client certificate: see ``WakeModel/PushType/requiresProviderToken``.
        case certificate
    }

    /// The apps, which must differ.
    public var apps: [AppIdentity]
    /// How each app authenticates, as far as that is known: of one that is not here, APNs judges.
    public var authentications: [AppIdentity: Authentication] = [:]
    /// The budget of each app; ``WakeBudget/BudgetPolicy/standard`` for one that is not here.
    public var policies: [AppIdentity: BudgetPolicy]
    /// The endpoints that listen to webhooks, which must differ.
    public var webhooks: [WebhookSubscription]
    /// How long ended wakes and the feedback feed are kept, in seconds, at least.
    public var retentionSeconds: Int
    /// How long a device is kept without any activity, in seconds; at least as long as wakes.
    public var deviceRetentionSeconds: Int

    /// How long the sender may take for a push, in seconds, its waiting included. A lease lasts
    /// longer: see ``GatewayLimits/leaseSeconds``.
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

    /// Why an app cannot send pushes of a kind, in a sentence, if that is so.
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

    /// The queues of all apps, or of one; of those in an environment, and `among` these, if that
    /// is said.
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
