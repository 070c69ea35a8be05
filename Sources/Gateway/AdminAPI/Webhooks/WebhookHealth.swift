// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization
public import WakeModel

/// The delivery state of a webhook endpoint, as this process has seen it.
public struct WebhookHealth: Hashable, Sendable {
    /// The time without an accepted event after which there is a warning, in seconds.
    static let patienceSeconds: Int64 = 60
    /// The share of the maximum backlog from which on there is a warning; at the maximum, events
    /// are dropped.
    static let fullShare = 0.9

    /// A round of requests of which the receiver did not accept all.
    public struct Failure: Hashable, Sendable {
        /// Its time.
        public let at: WallInstant
        /// The reason, as a clause without secrets.
        public let why: String
    }

    /// The endpoint's label in metrics and log: its host.
    public let endpoint: String
    /// The number of its waiting events, including those in flight; `nil` until it was read from
    /// the store.
    public internal(set) var backlogCount: Int?
    /// The number of its events that were dropped since the process started, because too many
    /// waited.
    public internal(set) var droppedCount = 0
    /// The time of the oldest event that was tried and not accepted.
    public internal(set) var oldestAt: WallInstant?
    /// The time since which the receiver has accepted nothing; `nil` if it accepts events.
    public internal(set) var failingSince: WallInstant?
    /// The latest failure; it is kept when the receiver accepts events again.
    public internal(set) var lastFailure: Failure?
    /// The time at which events were last accepted.
    public internal(set) var lastDeliveredAt: WallInstant?

    init(endpoint: String) { self.endpoint = endpoint }

    /// The warning for an operator at this instant, as a sentence; `nil` if there is none.
    ///
    /// It does not affect readiness: the gateway accepts and sends wakes as before, and a load
    /// balancer that removes it would stop those too.
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

/// The record of a webhook worker's rounds. May be used from any thread.
final class WebhookRecord: Sendable {
    /// The maximum number of events that are recorded as not accepted. Older ones fail first, so
    /// that the oldest is among them.
    static let maximumCount = 10_000

    private struct State {
        var health: WebhookHealth
        /// The times of events that were posted and not accepted, by their number.
        var untaken: [Int64: WallInstant] = [:]
    }

    private let state: Mutex<State>

    init(endpoint: String) { state = Mutex(State(health: WebhookHealth(endpoint: endpoint))) }

    /// The delivery state.
    var health: WebhookHealth { state.withLock(\.health) }

    /// Records the events to deliver, and the number of the endpoint's events that were dropped
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
