// SPDX-License-Identifier: Apache-2.0

package import Gateway
internal import WakeModel

/// A table that the copy of a store contains. Columns are those of PostgreSQL, rows in the order of
/// the key.
package enum CopiedTable: String, Sendable, CaseIterable {
    case queue
    case device
    case wake
    case attempt
    case idempotency
    case feedback
    case outcome
    case webhook

    /// The type of a column.
    package enum Content: Sendable {
        case bigint
        case smallint
        case boolean
        case text
        case bytea
        /// An array of numbers, in PostgreSQL's text form: `{1,2}`.
        case bigints
    }

    /// The columns, those of the key first.
    package var columns: [(name: String, content: Content)] {
        switch self {
        case .queue:
            [
                ("number", .bigint), ("bundle_id", .text), ("environment", .text),
                ("kind", .smallint), ("confirms_launches", .boolean), ("paused_at", .bigint),
                ("pause_reason", .text), ("held_told_at", .bigint), ("changed", .bigint),
            ]
        case .device:
            [
                ("number", .bigint), ("version", .bigint), ("queue", .bigint),
                ("pending", .bigint), ("latest", .bigint), ("registered_at", .bigint),
                ("dead_since", .bigint), ("receipt_at", .bigint), ("touched_at", .bigint),
                ("token", .bytea), ("ledger", .bytea), ("calls", .bytea), ("user_id", .text),
            ]
        case .wake:
            [
                ("number", .bigint), ("version", .bigint), ("device", .bigint),
                ("previous", .bigint), ("place", .bigint), ("at", .bigint),
                ("deadline", .bigint), ("state", .smallint), ("rest", .bytea),
                ("payload", .bytea),
            ]
        case .attempt:
            [
                ("wake", .bigint), ("fence", .bigint), ("started_at", .bigint),
                ("ended_at", .bigint), ("result", .text), ("status", .bigint), ("reason", .text),
                ("since", .bigint), ("detail", .text),
            ]
        case .idempotency:
            [
                ("key", .bytea), ("request", .bytea), ("wake", .bigint), ("expires_at", .bigint),
                ("answer", .bytea),
            ]
        case .feedback:
            [
                ("number", .bigint), ("kind", .text), ("queue", .bigint), ("token", .bytea),
                ("at", .bigint), ("status", .bigint), ("reason", .text), ("since", .bigint),
                ("wake", .bigint), ("wake_low", .bigint),
            ]
        case .outcome: [("number", .bigint), ("wakes", .bigints)]
        case .webhook:
            [
                ("number", .bigint), ("endpoint", .bigint), ("kind", .text),
                ("subject", .bigint), ("created_at", .bigint), ("due_at", .bigint),
                ("fence", .bigint), ("tries", .bigint), ("bundle_id", .text),
                ("environment", .text), ("queue_kind", .bigint), ("reason", .text),
            ]
        }
    }

    /// The number of columns in the key.
    package var keyCount: Int { self == .attempt ? 2 : 1 }
}

/// A value of a copied row.
package enum CopiedValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}

/// The values of a copied store that are not in its tables.
package struct CopiedFacts: Sendable {
    /// The two halves of the key of ``TokenHash``.
    package var tokenKeys: (Int64, Int64) = (0, 0)
    /// The counters by name.
    package var counters: [String: Int64] = [:]
    /// The last number of a wake, a feed entry or a webhook event.
    package var lastNumber: Int64 = 0
    /// The last number of the feedback feed.
    package var lastFeedback: Int64 = 0
    /// The cursor of the last entry of the outcome feed.
    package var lastOutcome: Int64 = 0
    /// The number of ended wakes that are not copied because of their age.
    package var leftOut: Int64 = 0
    /// The number of copied rows of each table.
    package var counts: [CopiedTable: Int64] = [:]

    package init() {}
}

/// The source of a copy. It must not change during the copy.
package protocol CopiedStore: Sendable {
    /// The values that are not in its tables.
    func facts() throws(StoreFailure) -> CopiedFacts

    /// Returns up to `limit` rows after a key, or the first ones, in the order of the key.
    func rows(
        of table: CopiedTable, after key: [CopiedValue]?, limit: Int
    ) throws(StoreFailure) -> [[CopiedValue]]

    /// Marks the store as copied, so that no gateway uses it any more.
    func retire() throws(StoreFailure)

    /// Reverts ``retire()`` after a copy that failed.
    func reinstate() throws(StoreFailure)
}

/// A digest of rows in their order, to compare two tables (64-bit FNV-1a).
package struct CopyDigest: Hashable, Sendable {
    private var hash = FNV1a()
    /// The number of rows.
    package private(set) var count: Int64 = 0

    package init() {}

    package mutating func add(_ row: [CopiedValue]) {
        count += 1
        for value in row {
            switch value {
            case .null: hash.add(0)
            case .integer(let number):
                hash.add(1)
                hash.add(integer: number)
            case .text(let text):
                hash.add(2)
                for byte in text.utf8 { hash.add(byte) }
            case .bytes(let bytes):
                hash.add(3)
                for byte in bytes { hash.add(byte) }
            }
        }
    }
}
