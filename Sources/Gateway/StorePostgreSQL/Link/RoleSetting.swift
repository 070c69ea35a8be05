// SPDX-License-Identifier: Apache-2.0

/// A setting that each session of a gateway needs, and that belongs to its role.
///
/// Not in the startup packet: PgBouncer refuses `options` there, or ignores them, and forgets `SET`
/// in transaction mode. What a role is given with `ALTER ROLE … SET` holds for each connection that
/// the server sees, whoever opened it. It holds from the next connection on.
package struct RoleSetting: Hashable, Sendable {
    /// Its name.
    package let name: String
    /// Its value, as `SHOW` prints it.
    package let value: String
    /// The first server version that knows it, such as 170000.
    package let minimumVersion: Int

    init(_ name: String, _ value: String, since minimumVersion: Int = 0) {
        self.name = name
        self.value = value
        self.minimumVersion = minimumVersion
    }

    /// All of them. `schema` holds the tables.
    package static func all(schema: String) -> [RoleSetting] {
        [
            RoleSetting("search_path", schema),
            // A plan that was made while tables were empty must not read all of them later.
            RoleSetting("plan_cache_mode", "force_generic_plan"),
            RoleSetting("enable_seqscan", "off"),
            RoleSetting("enable_hashjoin", "off"),
            RoleSetting("enable_mergejoin", "off"),
            // A gateway that stands still in a transaction must not stop the others for long.
            RoleSetting("lock_timeout", "2s"),
            RoleSetting("statement_timeout", "10s"),
            RoleSetting("idle_in_transaction_session_timeout", "5s"),
            RoleSetting("transaction_timeout", "15s", since: 170_000),
        ]
    }

    /// The statement that gives it to a role. The role may do so for itself.
    package func statement(role: String, database: String) -> Statement {
        // The search path is a list of identifiers; the others are words.
        Statement(
            "ALTER ROLE \(Self.quoted(role)) IN DATABASE \(Self.quoted(database)) "
                + "SET \(name) = \(name == "search_path" ? Self.quoted(value) : "'\(value)'")")
    }

    private static func quoted(_ identifier: String) -> String {
        "\""
            + identifier.split(separator: "\"", omittingEmptySubsequences: false)
            .joined(separator: "\"\"") + "\""
    }
}
