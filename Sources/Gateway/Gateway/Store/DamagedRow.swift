// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// A row of a store whose contents cannot be read, in an intact database.
public struct DamagedRow: Hashable, Sendable, CustomStringConvertible {
    /// The tables of a store.
    public enum Table: String, Hashable, Sendable, CaseIterable {
        /// Accepted wakes.
        case wake
        /// Devices and their ledgers.
        case device
        /// Queues of apps.
        case queue
        /// Attempts to send.
        case attempt
        /// Idempotency keys.
        case idempotency
        /// The feedback feed.
        case feedback
        /// The feed of outcomes.
        case outcome
        /// Webhook events that wait.
        case webhook
    }

    /// Its table.
    public let table: Table
    /// Its key, without secrets: the beginning of a wake's id, a device token's digest, else a
    /// number.
    public let key: String
    /// The part that cannot be read, in a few words.
    public let problem: String

    /// Creates a description of one row.
    public init(table: Table, key: String, problem: String) {
        self.table = table
        self.key = key
        self.problem = problem
    }

    /// Creates a description of a wake's row, which is found by the beginning of the wake's id.
    public init(wake number: Int64, problem: String) {
        let id = WakeID(number: number, entropy: 0).description
        self.init(table: .wake, key: "\(id.prefix(18))…", problem: problem)
    }

    /// Table, key and problem.
    public var description: String { "\(table.rawValue) \(key): \(problem)" }
}

extension StoreFailure {
    /// The failure of a command that needs this row.
    public init(_ row: DamagedRow) {
        self.init(
            kind: .damaged,
            message: "The store's row of \(row.table.rawValue) \(row.key) is damaged "
                + "(\(row.problem)).")
    }

    /// Whether it may concern some rows only, so that a batch can succeed without them.
    package var isOfSomeRows: Bool { kind == .damaged || kind == .corrupt }
}
