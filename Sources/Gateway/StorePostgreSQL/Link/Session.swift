// SPDX-License-Identifier: Apache-2.0

/// An established connection to the database, as taken from the pool.
///
/// It never moves to another connection: once its connection has ended, each run is lost.
package struct Session: Sendable {
    /// What a connection is for.
    package enum Role: Hashable, Sendable, CaseIterable {
        /// Transactions that change rows; each connection is a writer of its own.
        case writer
        /// Everything else.
        case reader
    }

    /// Who takes a session, in the order in which they get one; see ``WaitingLine``.
    package enum Rank: Int, Hashable, Sendable, CaseIterable {
        /// An urgent command.
        case urgent
        /// The gateway itself.
        case gateway
        /// A caller; nothing bounds how many of them there are.
        case caller
    }

    /// The name of a session, which no other one of the pool ever has.
    package struct ID: Hashable, Sendable {
        /// What its connection is for.
        package let role: Role
        /// The place of its connection among those of the role, from 0 on. A connection that takes
        /// the place of a lost one has its number.
        package let number: Int
        /// How many connections the pool had opened before.
        package let generation: UInt64
    }

    /// Its name.
    package let id: ID
    /// The server's version, such as 150018 for 15.18.
    package let serverVersion: Int
    /// The process of the server, or of a pooler's choice, that serves it.
    package let processID: Int32
    let mailbox: LinkMailbox

    /// How the queries of a pipeline belong together.
    package enum Transaction: Hashable, Sendable {
        /// One implicit transaction, whose end is the pipeline's.
        case none
        /// `BEGIN` … `COMMIT`, each statement with a snapshot of its own (read committed).
        case write
        /// `BEGIN` … `COMMIT` with one snapshot for all (repeatable read), without changes.
        case snapshot
        /// `BEGIN` and the first part of a transaction of several runs, which stays open. The
        /// caller must end it or close the session; after an error it is rolled back.
        case opening
        /// A further part of it, which stays open.
        case within
        /// Its last part, and `COMMIT`.
        case closing

        /// Whether it ends with a commit.
        var commits: Bool { self == .write || self == .snapshot || self == .closing }
        /// Whether the transaction is open behind the run.
        var staysOpen: Bool { self == .opening || self == .within }
    }

    /// The time that a run has by default.
    package static let runLimit = Duration.seconds(15)

    /// Sends queries in one go and returns when all is known. Cancelling the task gives nothing up.
    /// One run at a time; the queries are plain statements, without `BEGIN` or `COMMIT`. When the
    /// time is over, the connection is closed, and with it the session.
    package func run(
        _ queries: [Query], transaction: Transaction = .none, within limit: Duration = runLimit
    ) async -> PipelineOutcome {
        let due = LinkThread.now + limit.wholeMilliseconds
        return await withCheckedContinuation { continuation in
            mailbox.leave(
                PipelineRun(
                    session: id, queries: queries, transaction: transaction, due: due,
                    continuation: continuation))
        }
    }
}

/// A run with a waiting caller.
struct PipelineRun {
    let session: Session.ID
    let queries: [Query]
    let transaction: Session.Transaction
    let due: Int64
    let continuation: CheckedContinuation<PipelineOutcome, Never>
    /// How often it was sent again because the server had to prepare its statements anew.
    var repetitions = 0

    func finish(_ outcome: PipelineOutcome) { continuation.resume(returning: outcome) }
}

extension Duration {
    /// Milliseconds, rounded up, held within what fits; none for a negative duration.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < Int64.max / 4000 else { return Int64.max / 4 }
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
