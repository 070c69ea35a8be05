// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import PostgreSQLTestKit
import StorePostgreSQL
import StoreSQLite
import StoreTestKit
import Testing

/// The stores that the contract is held against.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory
    case sqlite
    case sqliteOfSystem = "sqlite, answered once the system has it"
    case postgresql

    var testDescription: String { rawValue }

    /// Hands an empty store to `body`, and clears up behind it.
    func withStore(_ body: (any WakeStore) async throws -> Void) async throws {
        switch self {
        case .memory: try await body(InMemoryWakeStore())
        case .sqlite, .sqliteOfSystem:
            try await withTemporaryFolder { folder in
                let store = try SQLiteWakeStore(
                    path: folder + "/store.sqlite", durability: self == .sqlite ? .disk : .system)
                try await body(store)
                try store.close()
            }
        case .postgresql:
            try await Self.withDatabase { url in
                let store = try await PostgreSQLWakeStore.open(url: url)
                do {
                    try await body(store)
                } catch {
                    await store.close()
                    throw error
                }
                await store.close()
            }
        }
    }

    /// Few tests at a time have a database: a server has so many connections.
    private static let databases = Gate(4)

    /// Hands the URI of a database with the tables of a store to `body`.
    static func withDatabase(_ body: (String) async throws -> Void) async throws {
        try await databases.pass {
            let server = try PostgreSQLServer.running()
            let url = server.uri(try server.makeDatabase())
            try await PostgreSQLWakeStore.migrate(url: url)
            try await body(url)
        }
    }

    /// Hands a counter with an empty store behind it to `body`.
    func withCounter(_ body: (Counter) async throws -> Void) async throws {
        try await withStore { store in
            try await body(Counter(store: store))
            let recount = try await store.perform(RecountWakes())
            let count = try await store.perform(CountWakes())
            #expect(recount.isConserved)
            #expect(recount.accepted == count.accepted && recount.unended == count.unended)
        }
    }
}

extension GatewayLives {
    /// Calls `body` with an empty, unused store; all that it started is stopped at the end, because
    /// the clock does not move while a shutdown waits for answers.
    static func with(
        _ kind: StoreKind, clock: ManualClock,
        _ body: (GatewayLives, any WakeStore) async throws -> Void
    ) async throws {
        try await kind.withStore { store in
            let all = GatewayLives(on: store, clock: clock)
            do {
                try await body(all, store)
            } catch {
                await all.die()
                throw error
            }
            await all.die()
        }
    }
}
