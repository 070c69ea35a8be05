// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Where accepted wakes are kept: a durable queue with leases.
///
/// Every verb is one transaction, and when it returns, its effect survives the death of the
/// process. Nothing here assumes that one process owns all wakes: leases end by themselves, and
/// fencing numbers keep the holder of an old lease from settling. `InMemoryWakeStore` is the
/// specification, and the contract suite in the tests runs against every store.
///
/// All members may be called from any task. None of them gives up because the calling task was
/// cancelled: what was asked happens, or fails with a reason.
public protocol WakeStore: Sendable {
    /// Keeps wakes; answers one by one, in order. All of them or, when it throws, none.
    func admit(_ submissions: [Submission]) async throws(StoreFailure) -> [Admission]

    /// Takes leases on due wakes whose deadline has not come: the shares in their order, within a
    /// share the longest due first.
    func claim(_ order: ClaimOrder) async throws(StoreFailure) -> [Claim]

    /// Records what became of claimed wakes; answers one by one, in order. Doing it again changes
    /// nothing.
    func settle(_ settlements: [Settlement]) async throws(StoreFailure) -> [SettlementVerdict]

    /// Ends up to `limit` pending wakes whose deadline has come, as expired. Returns their ids.
    func expireOverdue(at now: WallInstant, limit: Int) async throws(StoreFailure) -> [WakeID]

    /// Takes back up to `limit` leases that ended without a settlement.
    func reclaimLapsed(at now: WallInstant, limit: Int) async throws(StoreFailure) -> Reclaimed

    /// When the next pending wake of these lanes is due; `nil` when none is pending.
    func nextDue(in lanes: [Lane]) async throws(StoreFailure) -> WallInstant?

    /// All that is known of one wake; `nil` for an id that the store does not know.
    func record(of id: WakeID) async throws(StoreFailure) -> WakeRecord?

    /// How many wakes wait or are in hand.
    func countUnended() async throws(StoreFailure) -> Int

    /// Counts the books. Linear in the number of wakes: for audits and tests.
    func recount() async throws(StoreFailure) -> StoreCount

    /// Forgets up to `limit` idempotency keys whose time is over. Returns how many it forgot.
    func forgetIdempotencyKeys(at now: WallInstant, limit: Int) async throws(StoreFailure) -> Int
}

/// What taking back lapsed leases led to.
public struct Reclaimed: Hashable, Sendable {
    /// Background wakes that are pending again; the lost attempt counts as a try.
    public let returned: [WakeID]
    /// VoIP wakes whose fate is unknown; they ended as failed.
    public let failed: [WakeID]

    /// Spells out both lists.
    public init(returned: [WakeID], failed: [WakeID]) {
        self.returned = returned
        self.failed = failed
    }
}

/// Why a store could not do what it was asked.
public struct StoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure that a caller tells apart.
    public enum Kind: String, Hashable, Sendable {
        /// No space is left.
        case full
        /// The file or its folder cannot be written.
        case readOnly = "read-only"
        /// The file is damaged, or is no store.
        case corrupt
        /// Another process owns the store.
        case inUse = "in-use"
        /// Anything else.
        case unavailable
    }

    /// The kind.
    public let kind: Kind
    /// What happened, as a sentence without secrets.
    public let message: String

    /// Spells out one failure.
    public init(kind: Kind, message: String) {
        self.kind = kind
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
