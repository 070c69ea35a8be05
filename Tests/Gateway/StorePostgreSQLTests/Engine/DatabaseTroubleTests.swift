// SPDX-License-Identifier: Apache-2.0

import Gateway
import PostgreSQLTestKit
import Testing

@testable import StorePostgreSQL

@Suite("Why there is no connection to a database", .timeLimit(.minutes(10)))
struct DatabaseTroubleTests {
    @Test(
        "What libpq says has a reason for everybody, and its hosts and users are for operators",
        arguments: [
            (
                "connection to server at \"db.internal\" (10.0.0.7), port 5432 failed: FATAL: "
                    + "password authentication failed for user \"rouse\"", "refuses the password"
            ),
            (
                "connection to server at \"10.0.0.7\", port 5432 failed: Connection refused; Is "
                    + "the server running on that host?", "nothing listens"
            ),
            (
                "connection to server at \"10.0.0.7\", port 5432 failed: timeout expired",
                "does not answer"
            ),
            (
                "could not translate host name \"db.internal\" to address: Name or service not "
                    + "known", "cannot be resolved"
            ),
            ("FATAL: database \"rouse\" does not exist", "unknown there"),
            ("FATAL: role \"rouse\" does not exist", "unknown there"),
            ("FATAL: no such database: rouse", "unknown there"),
            ("FATAL: too many connections for role \"rouse\"", "no connection left"),
            ("FATAL: too many connections for database \"rouse\"", "no connection left"),
            ("FATAL: no more connections allowed (max_client_conn)", "no connection left"),
            ("FATAL: permission denied for database \"rouse\"", "does not let this gateway in"),
            (
                "FATAL: database \"rouse\" is not currently accepting connections",
                "does not let this gateway in"
            ),
            ("FATAL: sorry, too many clients already", "no connection left"),
            ("FATAL: the database system is starting up", "starting or shutting down"),
            ("connection failed: session is read-only", "default_transaction_read_only"),
            ("SSL error: certificate verify failed", "TLS"),
            ("all 64 writers' slots are taken", "writers' slots"),
            ("the password file cannot be read", "file of its password"),
            ("The store's tables are of version 9, and this program …", "another version"),
        ])
    func reasons(_ words: String, _ reason: String) {
        let failure = StoreFailure(Unavailable.disconnected(words))
        #expect(failure.message.contains(reason), "\(failure.message)")
        #expect(!failure.message.contains("db.internal") && !failure.message.contains("10.0.0.7"))
        #expect(failure.cause?.contains(words) == true)
    }

    @Test("What is not known is not guessed")
    func unknown() {
        let failure = StoreFailure(Unavailable.disconnected("quelque chose"))
        #expect(failure.message == "The database cannot be reached.")
    }

    @Test(
        "A refused statement has its reason in words where one is known",
        arguments: [
            ("53100", StoreFailure.Kind.full, "no room left on its disk"),
            ("53400", .unavailable, "such as temp_file_limit (53400)"),
            ("25006", .readOnly, "can only be read"), ("57014", .unavailable, "statement_timeout"),
        ])
    func refusals(_ state: String, _ kind: StoreFailure.Kind, _ words: String) {
        let failure = StoreFailure(
            ServerRefusal(
                queryIndex: 0, state: SQLState(rawValue: state), message: "a row's values",
                constraint: nil))
        #expect(failure.kind == kind && failure.message.contains(words), "\(failure)")
        #expect(!failure.message.contains("values"))
    }

    @Test("A real server's refusal has its reason, without its place")
    func wrongPassword() async throws {
        let server = try PostgreSQLServer.running()
        let database = try server.makeDatabase()
        let url = "postgresql://nobody:wrong@127.0.0.1:\(server.port)/\(database)"
        let failure = await #expect(throws: StoreFailure.self) {
            try await PostgreSQLWakeStore.migrate(url: url)
        }
        #expect(failure?.message.contains("refuses the password") == true)
        #expect(failure?.message.contains("\(server.port)") == false)
        #expect(failure?.cause?.isEmpty == false)
    }
}
