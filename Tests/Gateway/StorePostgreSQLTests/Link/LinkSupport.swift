// SPDX-License-Identifier: Apache-2.0

import PostgreSQLTestKit
import Testing

@testable import StorePostgreSQL

/// A pool on a database of its own, on the server that all tests share.
struct TestPool {
    let server: PostgreSQLServer
    let database: String
    let pool: PostgreSQLPool

    /// `port` is that of a proxy or pooler.
    init(
        server: PostgreSQLServer? = nil, port: Int? = nil, writers: Int = 1, readers: Int = 1,
        establish: @escaping PostgreSQLPool.Establisher = { _ in .success(()) }
    ) throws {
        self.server = try server ?? PostgreSQLServer.running()
        database = try self.server.makeDatabase()
        pool = try PostgreSQLPool(
            ConnectionSettings(uri: self.server.uri(database, port: port), variable: { _ in nil }),
            writers: writers, readers: readers, establish: establish)
    }

    /// Runs queries on a writer, and returns their results.
    @discardableResult
    func done(
        _ queries: Query..., transaction: Session.Transaction = .write
    ) async throws -> [QueryResult] {
        let outcome = try await pool.run(
            queries, transaction: transaction, on: .writer, within: .seconds(60)
        ).get()
        guard case .done(let results) = outcome else { throw UnexpectedOutcome(outcome: outcome) }
        return results
    }

    /// A writer that is established, after as many attempts as it takes.
    func writer() async throws -> Session {
        let end = ContinuousClock.now + .seconds(30)
        while true {
            switch await pool.take(.writer, within: .seconds(60)) {
            case .success(let session): return session
            case .failure(let failure): if ContinuousClock.now > end { throw failure }
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    func execute(_ sql: String) throws -> String { try server.execute(sql, in: database) }
}

struct UnexpectedOutcome: Error {
    let outcome: PipelineOutcome
}

extension PipelineOutcome {
    var refusal: ServerRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
    var results: [QueryResult]? {
        if case .done(let results) = self { results } else { nil }
    }
    /// Of a lost run: whether its changes may be committed.
    var doubt: Bool? {
        if case .lost(_, let mayBeCommitted) = self { mayBeCommitted } else { nil }
    }
}

extension Query {
    /// A statement without parameters.
    init(_ sql: String) { self.init(Statement(sql)) }
}
