// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The store of accepted wakes: a durable queue with leases, and the ledgers of the devices.
///
/// Every ``StoreCommand`` is one transaction, and when it returns, its effect survives a crash of
/// the process. Nothing here assumes that one process owns all wakes: leases end by themselves,
/// fencing numbers keep the holder of an old lease from settling, and all that one command changes
/// for a wake belongs to one device, so that a store can be partitioned by device.
/// `InMemoryWakeStore` is the specification, and the contract suite in the tests runs against every
/// store.
///
/// Time is an argument of the commands, which leases, due times and deadlines are compared with. So
/// the clocks of gateways that share a store must agree, to within the difference between a lease
/// and the timeout of a push.
///
/// All members may be called from any task. None of them stops because the calling task was
/// cancelled: the command is carried out, or fails with a reason.
public protocol WakeStore: Sendable {
    /// Carries out a command. All of its changes are made or, when it throws, none.
    func perform<Command: StoreCommand>(
        _ command: Command
    ) async throws(StoreFailure) -> Command.Answer

    /// Removes rows whose retention has ended, in one step of a bounded size.
    func prune(_ order: PruneOrder) async throws(StoreFailure) -> Pruned

    /// Calls `tell` from now on for each unreadable row whenever it is read, so repeatedly for the
    /// same one. It is called from any thread, within transactions, and must return quickly. There
    /// is one listener; a store whose rows cannot be damaged never calls it.
    func whenDamaged(_ tell: @escaping @Sendable (DamagedRow) -> Void)

    /// Takes or keeps a duty, which one gateway has at a time, for so many seconds from now on;
    /// returns whether this gateway has it. Always true for a store of one gateway.
    func take(_ duty: StoreDuty, seconds: Int) async throws(StoreFailure) -> Bool

    /// Releases a duty, so that the next gateway can take it immediately.
    func giveBack(_ duty: StoreDuty) async throws(StoreFailure)

    /// The status of a store that gateways share, as last seen; `nil` for a store of one gateway,
    /// and before the first check. Does no I/O.
    var sharedStatus: SharedStoreStatus? { get }
}

extension WakeStore {
    /// `nil`: the store belongs to one gateway.
    public var sharedStatus: SharedStoreStatus? { nil }

    /// `true`: the store belongs to one gateway.
    public func take(_ duty: StoreDuty, seconds: Int) async throws(StoreFailure) -> Bool { true }

    /// Nothing: the store belongs to one gateway.
    public func giveBack(_ duty: StoreDuty) async throws(StoreFailure) {}
}

/// A task that one of the gateways on a store does at a time.
public enum StoreDuty: Hashable, Sendable {
    /// Removing rows whose retention has ended.
    case prune
    /// Posting the webhooks of an endpoint.
    case webhooks(WebhookEndpointID)

    /// What a store calls it.
    public var name: String {
        switch self {
        case .prune: "prune"
        case .webhooks(let endpoint): "webhooks \(endpoint.rawValue)"
        }
    }
}

/// Why a queue is paused.
public struct QueuePause: Hashable, Sendable {
    /// Since when.
    public let at: WallInstant
    /// Why, if it was said.
    public let reason: String?

    /// Creates a pause.
    public init(at: WallInstant, reason: String?) {
        self.at = at
        self.reason = reason
    }

    /// This pause of what is paused already: since when it was, and for its reason unless this one
    /// has another.
    func continuing(_ former: QueuePause?) -> QueuePause {
        QueuePause(at: former?.at ?? at, reason: reason ?? former?.reason)
    }
}

/// Why a store could not carry out a command.
public struct StoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure that callers distinguish.
    public enum Kind: String, Hashable, Sendable {
        /// No space is left.
        case full
        /// The file or its folder cannot be written.
        case readOnly = "read-only"
        /// The file is damaged, or is no store.
        case corrupt
        /// The command needs a row whose contents cannot be read. The file is whole, and so are the
        /// other rows.
        case damaged
        /// Another process owns the store.
        case inUse = "in-use"
        /// Too much waits for the store; nothing was changed. It is not a failure of the store.
        case overloaded
        /// Anything else.
        case unavailable
    }

    /// The kind.
    public let kind: Kind
    /// What happened, as a sentence without secrets, for everybody.
    public let message: String
    /// What lies behind it, for operators and no callers: it may name hosts, ports and users.
    public let cause: String?

    /// Creates a failure.
    public init(kind: Kind, message: String, cause: String? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause
    }

    /// The message, with the cause: for operators.
    public var description: String { cause.map { "\(message) \($0)" } ?? message }
}
