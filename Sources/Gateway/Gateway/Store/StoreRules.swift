// SPDX-License-Identifier: Apache-2.0

public import WakeBudget

/// The part of the configuration that a store needs to decide: a value, passed with each verb, so
/// that a reload changes it from one transaction to the next and every gateway may have its own.
public struct StoreRules: Sendable {
    /// The budget of each app; `BudgetPolicy.standard` for one that is not here.
    public var policies: [AppIdentity: BudgetPolicy]
    /// The endpoints that listen to webhooks; for others nothing is written.
    public var webhooks: [WebhookSubscription]
    /// When apps are and were paused.
    var pauses = KnownPauses()

    /// The standard budget for all, and no webhooks.
    public init(
        policies: [AppIdentity: BudgetPolicy] = [:], webhooks: [WebhookSubscription] = []
    ) {
        self.policies = policies
        self.webhooks = webhooks
    }

    /// The budget of a queue.
    func policy(of queue: WakeQueueRow) -> BudgetPolicy {
        let policy = policies[queue.queue.app] ?? .standard
        return queue.confirmsLaunches ? policy.with(confirmsLaunches: true) : policy
    }
}
