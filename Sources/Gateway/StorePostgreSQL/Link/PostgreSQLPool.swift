// SPDX-License-Identifier: Apache-2.0

/// Connections to a PostgreSQL server, on one thread of their own.
///
/// Connections are opened by themselves, and again when they are lost, until the pool is shut down.
/// A caller takes a session, runs its queries on it and returns it.
package final class PostgreSQLPool: Sendable {
    /// Prepares a new session before anybody can take it, such as by taking a writer's slot. On a
    /// failure the connection is closed and another one opened after a rest.
    package typealias Establisher =
        @Sendable (Session) async -> Result<Void, Unavailable>

    /// The default limit of waiting for a session.
    package static let waitLimit = Duration.seconds(5)

    private let mailbox: LinkMailbox

    /// Creates a pool, and begins to connect. Callers have all readers but one at most. Throws when
    /// the system has no descriptor or thread left.
    package init(
        _ settings: ConnectionSettings, writers: Int, readers: Int,
        establish: @escaping Establisher = { _ in .success(()) }
    ) throws(Unavailable) {
        guard let mailbox = LinkMailbox(callersReaders: max(1, readers - 1)) else {
            throw .disconnected("the system has no descriptor left")
        }
        self.mailbox = mailbox
        let isStarted = LinkThread.start(named: "rouse-pg") {
            LinkLoop(mailbox, settings, writers: writers, readers: readers, establish: establish)
                .run()
        }
        guard isStarted else { throw .disconnected("the system has no thread left") }
    }

    deinit { mailbox.requestShutdown(due: .min) }

    /// Takes a session, waits until one is free, or returns why there is none. It must be returned.
    /// While the server cannot be reached, the call returns immediately.
    package func take(
        _ role: Session.Role, for rank: Session.Rank = .gateway,
        within limit: Duration = waitLimit
    ) async -> Result<Session, Unavailable> {
        await mailbox.take(role, for: rank, due: LinkThread.now + limit.wholeMilliseconds)
    }

    /// Gives a session back, whether or not it has ended.
    package func giveBack(_ session: Session) { mailbox.giveBack(session) }

    /// Runs queries on any session of a role.
    package func run(
        _ queries: [Query], transaction: Session.Transaction = .none,
        on role: Session.Role = .reader, within limit: Duration = Session.runLimit
    ) async -> Result<PipelineOutcome, Unavailable> {
        switch await take(role, within: limit) {
        case .failure(let failure): return .failure(failure)
        case .success(let session):
            let outcome = await session.run(queries, transaction: transaction, within: limit)
            giveBack(session)
            return .success(outcome)
        }
    }

    /// The number of established connections of a role and of commands that wait for one, and,
    /// while there is none, why.
    package func condition(
        _ role: Session.Role
    ) -> (established: Int, waiting: Int, failure: String?) {
        mailbox.condition(role)
    }

    /// Takes no more, and returns when every connection is closed: after the runs under way, at the
    /// latest when the time is over.
    package func shutDown(within limit: Duration) async {
        mailbox.requestShutdown(due: LinkThread.now + limit.wholeMilliseconds)
        await mailbox.waitUntilLeft()
    }
}
