// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization
public import WakeModel

/// The delivery state of a webhook endpoint, as this process has seen it.
public struct WebhookHealth: Hashable, Sendable {
    /// How long a receiver may accept nothing before a warning is due, in seconds.
    static let patienceSeconds: Int64 = 60
    /// Of so many events that wait, the share from which on there is a warning: beyond all of them,
    /// events are dropped.
    static let fullShare = 0.9

    /// A round of requests that the receiver did not take all of.
    public struct Failure: Hashable, Sendable {
        /// When it was.
        public let at: WallInstant
        /// Why, as a clause without anything secret.
        public let why: String
    }

    /// What metrics and the log call the endpoint: its host.
    public let endpoint: String
    /// How many events wait for it, those under way included; `nil` until the store was asked.
    public internal(set) var backlogCount: Int?
    /// How many of its events were dropped since the process started, because too many waited.
    public internal(set) var droppedCount = 0
    /// When the oldest event came about that was tried or is under way, and was not taken.
    public internal(set) var oldestAt: WallInstant?
    /// Since when the receiver has taken nothing, although it was asked; `nil` if it does.
    public internal(set) var failingSince: WallInstant?
    /// The latest failure; it stays when the receiver takes events again.
    public internal(set) var lastFailure: Failure?
    /// When events were taken last.
    public internal(set) var lastDeliveredAt: WallInstant?

    init(endpoint: String) { self.endpoint = endpoint }

    /// The warning for an operator at this instant, as a sentence; `nil` if there is none.
    ///
    /// Readiness stays green: the gateway takes and sends wakes as before, and a load balancer that
    /// takes it out would stop those too.
    func warning(at now: WallInstant) -> String? {
        let waiting = backlogCount.map { $0 == 1 ? "1 event waits" : "\($0) events wait" }
        let standing =
            (waiting ?? "Events wait") + (oldestAt.map { ", the oldest since \($0)" } ?? "") + "."
        if let failingSince, let lastFailure,
            now.milliseconds(since: failingSince) >= Self.patienceSeconds * 1_000
        {
            return "Webhooks: \(endpoint) has taken nothing since \(failingSince): "
                + "\(lastFailure.why). \(standing) Each is tried for three days."
        }
        let most = Double(WebhookSubscription.maximumBacklogCount)
        if let backlogCount, Double(backlogCount) >= most * Self.fullShare {
            return "Webhooks: \(endpoint) is too slow. \(standing) Beyond "
                + "\(WebhookSubscription.maximumBacklogCount), events are dropped."
        }
        return nil
    }
}

/// What a webhook worker notes of its rounds. May be used from any thread.
final class WebhookRecord: Sendable {
    /// The most events that are remembered as not taken. Older ones fail first, so that the oldest
    /// is among them.
    static let maximumCount = 10_000

    private struct State {
        var health: WebhookHealth
        /// When events came about that were posted and not taken, by their number.
        var untaken: [Int64: WallInstant] = [:]
    }

    private let state: Mutex<State>

    init(endpoint: String) { state = Mutex(State(health: WebhookHealth(endpoint: endpoint))) }

    /// The delivery state.
    var health: WebhookHealth { state.withLock(\.health) }

    /// Notes what the store gave to deliver, and how many of the endpoint's events were dropped
    /// since the last time.
    func note(_ batch: WebhookBatch, dropped: Int) {
        state.withLock { state in
            state.health.backlogCount = batch.backlogCount
            state.health.droppedCount += dropped
            if batch.backlogCount == 0 { state.untaken = [:] }
            Self.remember(batch.items, &state)
        }
    }

    /// Records the results of a round; `givenUp` are the items that are not retried.
    func note(_ round: WebhookRound, givenUp: [WebhookItem], at now: WallInstant) {
        state.withLock { state in
            for item in round.taken + givenUp { state.untaken[item.ticket.number] = nil }
            if let why = round.why {
                state.health.lastFailure = .init(at: now, why: why)
                if round.taken.isEmpty, state.health.failingSince == nil {
                    state.health.failingSince = now
                }
            }
            if !round.taken.isEmpty {
                state.health.lastDeliveredAt = now
                state.health.failingSince = nil
                state.health.backlogCount = state.health.backlogCount.map {
                    max(0, $0 - round.taken.count)
                }
            }
            Self.remember([], &state)
        }
    }

    private static func remember(_ items: [WebhookItem], _ state: inout State) {
        for item in items where state.untaken.count < maximumCount {
            state.untaken[item.ticket.number] = item.createdAt
        }
        state.health.oldestAt = state.untaken.values.min()
    }
}
