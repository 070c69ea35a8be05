// SPDX-License-Identifier: Apache-2.0

/// The outcome of the queries of one pipeline.
package enum PipelineOutcome: Sendable {
    /// All are done, and committed if they were a transaction; one result for each.
    case done([QueryResult])
    /// The server refused one. Nothing is changed, and the session goes on.
    case refused(ServerRefusal)
    /// The connection ended before the answer came, or before anything was sent; so did the
    /// session. Only with `mayBeCommitted` can the server have done what was asked for.
    case lost(message: String, mayBeCommitted: Bool)
}

/// An error that the server answered with.
package struct ServerRefusal: Error, Hashable, Sendable {
    /// Which query of the pipeline; the number of queries if it was the commit.
    package let queryIndex: Int
    /// The code of five characters by which PostgreSQL classifies errors.
    package let state: SQLState
    /// The server's words. They may hold values of the row that was refused.
    package let message: String
    /// The constraint that was violated, if any.
    package let constraint: String?
}

/// PostgreSQL's class of an error: `SQLSTATE`.
package struct SQLState: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
    package init(stringLiteral value: String) { rawValue = value }

    /// A key that is there already.
    package static let uniqueViolation: SQLState = "23505"
    /// A division by zero, which statements use to refuse an unexpected count.
    package static let divisionByZero: SQLState = "22012"
    /// A serializable transaction that must be tried again.
    package static let serializationFailure: SQLState = "40001"
    /// A deadlock, which the server ended.
    package static let deadlock: SQLState = "40P01"
    /// A lock that was not free within `lock_timeout`.
    package static let lockNotAvailable: SQLState = "55P03"
    /// A query that was ended by `statement_timeout`, or by a cancel request.
    package static let queryCanceled: SQLState = "57014"
    /// A write on a standby, or in a transaction that only reads.
    package static let readOnlyTransaction: SQLState = "25006"
    /// A relation that does not exist.
    package static let undefinedTable: SQLState = "42P01"
    /// A feature that is not there, or a plan whose result type changed.
    package static let featureNotSupported: SQLState = "0A000"
    /// A prepared statement that does not exist on the server.
    package static let unknownStatement: SQLState = "26000"
    /// A prepared statement whose name is taken.
    package static let duplicateStatement: SQLState = "42P05"
    /// The server's disk is full.
    package static let diskFull: SQLState = "53100"
    /// A limit of the server's configuration, such as `temp_file_limit`.
    package static let configurationLimitExceeded: SQLState = "53400"
}

/// Why no session was to be had; nothing was sent.
package enum Unavailable: Error, Hashable, Sendable {
    /// More wait already than may, or none became free in time.
    case overloaded
    /// There is no connection; the reason, without anything secret.
    case disconnected(String)
    /// The pool was shut down.
    case shutDown
}

extension Unavailable {
    /// The reason in words.
    package var words: String {
        switch self {
        case .overloaded: "too many wait for the database"
        case .disconnected(let reason): reason
        case .shutDown: "the pool is shut down"
        }
    }
}
