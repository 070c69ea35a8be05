// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

extension SharedStoreStatus {
    /// The status, a member of `GET /v1/stats`.
    var json: JSONValue {
        .object([
            ("engine", .string("postgresql")), ("server_version", .string(versionText)),
            ("at", .string(at.description)),
            (
                "gateways",
                .array(
                    members.map { member in
                        .object([
                            ("name", .string(member.name)), ("this", .boolean(member.isThis)),
                            ("alive", .boolean(member.isAlive)),
                            ("since", .string(member.beganAt.description)),
                            ("silent_milliseconds", .integer(member.silentMilliseconds)),
                            ("writers", .integer(Int64(member.writerCount))),
                            ("leases", .integer(Int64(member.leaseCount))),
                        ])
                    })
            ),
            (
                "open_transactions",
                .array(
                    openTransactions.map { transaction in
                        .object([
                            ("owner", .string(transaction.owner)),
                            ("seconds", .integer(transaction.seconds)),
                            ("message", .string(transaction.explanation)),
                        ])
                    })
            ),
            ("standby_lag_bytes", standbyLagBytes.map { .integer($0) }),
            ("clock_offset_milliseconds", .integer(clockOffsetMilliseconds)),
            ("conflicts_per_second", .number(conflictsPerSecond)),
            (
                "verbs",
                .object(
                    verbs.sorted { $0.key < $1.key }.map { name, verb in
                        let value = JSONValue.object([
                            ("round_trips", .integer(Int64(verb.tripCount))),
                            ("conflicts", .integer(Int64(verb.conflictCount))),
                            ("database_microseconds", .integer(verb.microseconds)),
                        ])
                        return (name, value)
                    })
            ),
        ])
    }

    /// The version in the usual notation, such as 15.18.
    private var versionText: String { "\(serverVersion / 10_000).\(serverVersion % 10_000)" }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        let gateway = Schema.object([
            .required("name", .string("Another one after each start.")),
            .required("this", .boolean()), .required("alive", .boolean()),
            .required("since", .instant()), .required("silent_milliseconds", .count()),
            .required("writers", .count()),
            .required("leases", .count("Wakes in hand at its last sign of life.")),
        ])
        let transaction = Schema.object([
            .required("owner", .string()), .required("seconds", .count()),
            .required("message", .string("What it does, and how to end it.")),
        ])
        let verb = Schema.object([
            .required("round_trips", .count()), .required("conflicts", .count()),
            .required("database_microseconds", .count()),
        ])
        return .object([
            .required("engine", .string()), .required("server_version", .string()),
            .required("at", .instant("When it was looked at.")),
            .required("gateways", .array(of: gateway)),
            .required("open_transactions", .array(of: transaction)),
            .optional("standby_lag_bytes", .count()),
            .required("clock_offset_milliseconds", .integer(in: Int64.min...Int64.max)),
            .required("conflicts_per_second", .number()),
            .required("verbs", .map(of: verb, "By the name of the command.")),
        ])
    }

    /// Sets the gauges of the status.
    func set(_ metrics: AdminMetrics) {
        metrics.set(.storeGateways, Double(members.count(where: \.isAlive)))
        metrics.set(.storeClockOffset, Double(clockOffsetMilliseconds) / 1000)
        metrics.set(.storeOpenTransaction, Double(openTransactions.first?.seconds ?? 0))
        metrics.setAll(.storeStandbyLag, standbyLagBytes.map { [([], Double($0))] } ?? [])
        let verbs = verbs.map { ([("verb", $0.key)], $0.value) }
        metrics.setAll(.storeTrips, verbs.map { ($0, Double($1.tripCount)) })
        metrics.setAll(.storeConflicts, verbs.map { ($0, Double($1.conflictCount)) })
        metrics.setAll(.storeTime, verbs.map { ($0, Double($1.microseconds) / 1_000_000) })
    }
}
