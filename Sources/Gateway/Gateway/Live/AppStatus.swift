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
    /// Whether APNs takes what it sends.
    public let circuit: Circuit
    /// Since when nothing was answered of what it sends, if that is so for a minute or more.
    public let silence: Silence?
    /// How many wakes of it are claimed and not yet settled.
    public let inFlight: Int
    /// Why it has only a few probes in flight, if that is so.
    public let unresponsive: Unresponsiveness?
    /// Whether the app ever sent a receipt for it, so that missing ones count.
    public let confirmsLaunches: Bool
    /// Whether its gateway is shutting down.
    public let isStopping: Bool
}

/// Whether a queue sends, or is held back because APNs refuses whatever it sends.
public enum Circuit: Hashable, Sendable {
    /// It sends.
    case closed
    /// It is held back since then, for this reason; a wake goes out as a probe at that time.
    case open(reason: String, since: WallInstant, probeAt: WallInstant)
    /// It is held back, and a probe is out.
    case probing(reason: String, since: WallInstant)
}

/// A queue's pushes are not answered: APNs is unreachable, or does not respond.
public struct Silence: Hashable, Sendable {
    /// When the first of those failed.
    public let since: WallInstant
    /// How the latest failed, in words.
    public let failure: String
}

/// APNs answers none of a queue's pushes, so only a few probes of it are in flight until an answer
/// comes, and its slots are left to the other queues.
public struct Unresponsiveness: Hashable, Sendable {
    /// When the first push was sent that nothing was answered after.
    public let since: WallInstant
    /// How many of its wakes are in flight as probes.
    public let probeCount: Int

    /// The reason and what follows from it, in a sentence.
    public var explanation: String {
        "APNs has answered nothing since \(since), so only \(probeCount) wakes at a time are sent "
            + "as probes until an answer comes; the rest waits."
    }
}

/// The gateway in numbers.
public struct GatewayStats: Hashable, Sendable {
    /// Wakes accepted since the store began.
    public let accepted: Int
    /// How many of them ended in each state; those that wait or are claimed count as pending.
    public let byState: [WakeState: Int]
    /// Wakes that wait or are claimed.
    public let unended: Int
    /// Wakes that were passed to the sender and are not settled.
    public let inFlight: Int
    /// Requests that wait to be written.
    public let intakeQueue: Int
    /// How long the longest due wake of each kind is due already, in milliseconds; 0 when none is.
    public let oldestDueMilliseconds: [WakeKind: Int64]
    /// The status of the store, if gateways share it.
    public let store: SharedStoreStatus?
}
