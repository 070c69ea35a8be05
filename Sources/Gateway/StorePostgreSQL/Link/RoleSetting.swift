// SPDX-License-Identifier: Apache-2.0

/// A setting that each session of a gateway needs, and that belongs to its role.
///
/// Not in the startup packet: PgBouncer refuses `options` there, or ignores them, and forgets `SET`
/// in transaction mode. What a role is given with `ALTER ROLE … SET` holds for each connection to
/// the server, through a pooler too. It holds from the next connection on.
package struct RoleSetting: Hashable, Sendable {
    /// Its name.
    package let name: String
    /// Its value, as `SHOW` prints it: a word, or a number with its unit.
    package let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// All of them. A server that is too old for one of them goes without it.
    package static let all = [
        // A plan that was made while tables were empty must not read all of them later.
        RoleSetting("plan_cache_mode", "force_generic_plan"),
        RoleSetting("enable_seqscan", "off"),
        RoleSetting("enable_hashjoin", "off"),
        RoleSetting("enable_mergejoin", "off"),
        // What is first in an index is read in its order and no further, by one process.
        RoleSetting("enable_bitmapscan", "off"),
        RoleSetting("max_parallel_workers_per_gather", "0"),
        // A query that needs a sequential scan is then so expensive by estimate that the server
        // would compile it, at each execution.
        RoleSetting("jit", "off"),
        // A gateway that stalls in a transaction must not stop the others for long.
        RoleSetting("lock_timeout", "2s"),
        RoleSetting("statement_timeout", "10s"),
        RoleSetting("idle_in_transaction_session_timeout", "5s"),
        // From 17 on.
        RoleSetting("transaction_timeout", "15s"),
    ]

    /// All of them as rows of SQL, with the columns `name` and `value`.
    static let rows =
        "(VALUES " + all.map { "('\($0.name)', '\($0.value)')" }.joined(separator: ", ")
        + ") AS wanted (name, value)"

    /// Gives them to the role that asks, in this database alone. A role may do so for itself.
    static let assignment = Statement(
        """
        DO $settings$
        DECLARE setting record;
        BEGIN
            FOR setting IN
                SELECT name, value FROM \(rows)
                WHERE current_setting(name, true) IS NOT NULL
            LOOP
                EXECUTE format(
                    'ALTER ROLE SESSION_USER IN DATABASE %I SET %I = %L',
                    current_database(), setting.name, setting.value);
            END LOOP;
        END $settings$
        """)
}
