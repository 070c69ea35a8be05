// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The status of an app.
public struct AppStatus: Hashable, Sendable {
    /// The app.
    public let app: AppIdentity
    /// Why it is paused; `nil` if it is not.
    public let pause: QueuePause?
    /// Its queues.
    public let queues: [QueueStatus]
}

/// The status of a queue.
public struct QueueStatus: Hashable, Sendable {
    /// The kind of push.
    public let kind: WakeKind
    /// Why its app is paused; `nil` if it is not.
    public internal(set) var pause: QueuePause?
    /// Whether APNs accepts its pushes.
    public let circuit: Circuit
    /// Its silence, when APNs has answered nothing for a minute or more.
    public let silence: Silence?
    /// The number of its wakes that are claimed and not yet settled.
    public let inFlight: Int
    /// Its unresponsiveness, while only a few probes of it are in flight.
    public let unresponsive: Unresponsiveness?
    /// Whether the app has ever sent a receipt for it, so that missing ones count.
    public let confirmsLaunches: Bool
    /// Whether its gateway is shutting down.
    public let isStopping: Bool
}

/// Whether a queue sends, or is held because APNs refuses all of its pushes.
public enum Circuit: Hashable, Sendable {
    /// It sends.
    case closed
    /// It is held since then, for this reason; a wake is sent as a probe at that time.
    case open(reason: String, since: WallInstant, probeAt: WallInstant)
    /// It is held, and a probe is in flight.
    case probing(reason: String, since: WallInstant)
}

/// A queue's pushes are not answered: APNs is unreachable, or does not respond.
public struct Silence: Hashable, Sendable {
    /// The time of the first failure.
    public let since: WallInstant
    /// The latest failure, as a sentence.
    public let failure: String
}

/// The state of a queue whose pushes APNs does not answer: only a few probes of it are in flight
/// until there is an answer, and the other queues use its slots.
public struct Unresponsiveness: Hashable, Sendable {
    /// The time of the first push after which nothing was answered.
    public let since: WallInstant
    /// The number of its probes in flight.
    public let probeCount: Int

    /// The reason and its consequence, as a sentence.
    public var explanation: String {
        "APNs has answered nothing since \(since), so only \(probeCount) wakes at a time are sent "
            + "as probes until an answer comes; the rest waits."
    }
}

/// The gateway's figures.
public struct GatewayStats: Hashable, Sendable {
    /// Wakes accepted since the store began.
    public let accepted: Int
    /// The number of them in each state; those that wait or are claimed count as pending.
    public let byState: [WakeState: Int]
    /// Wakes that wait or are claimed.
    public let unended: Int
    /// Wakes that were passed to the sender and are not settled.
    public let inFlight: Int
    /// Requests that wait to be written.
    public let intakeQueue: Int
    /// The age of the longest due wake of each kind, in milliseconds; 0 when none is due.
    public let oldestDueMilliseconds: [WakeKind: Int64]
    /// The status of the store, if gateways share it.
    public let store: SharedStoreStatus?
}
