// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// A gateway's periodic work beside commands: it sends heartbeats, replaces writers without one,
/// and puts their fresh leases into the place for leases, where every gateway finds them.
final class StoreUpkeep: Sendable {
    private let task: Task<Void, Never>

    init(_ link: StoreLink) {
        let pause = Duration.seconds(link.settings.heartbeatSeconds)
        task = Task {
            var beats = 0
            while !Task.isCancelled {
                // Woken by its cancellation too, as the loop sees.
                try? await Task.sleep(for: pause)
                guard !Task.isCancelled else { return }
                // One that fails is made up for by the next.
                try? await link.beat()
                beats += 1
                if beats % Self.checkBeats == 0 { try? await link.checkServerAgain() }
            }
        }
    }

    deinit { task.cancel() }

    func stop() async {
        task.cancel()
        await task.value
    }

    /// After so many heartbeats a fresh lease gets its place.
    static let freshBeats = 12
    /// After so many heartbeats the server's settings are looked at again.
    static let checkBeats = 12

    // MARK: Statements

    /// The rows of these writers, but for those that a transaction is under way on: such a row has
    /// its sign of life from that, and one whose backend hangs must not keep a heartbeat waiting.
    private static func free(_ condition: String) -> String {
        "id IN (SELECT id FROM rouse.writer WHERE NOT ended AND \(condition) "
            + "FOR UPDATE SKIP LOCKED)"
    }

    static let heartbeat = Statement(
        "UPDATE rouse.writer SET seen_at = clock_timestamp() WHERE \(free("gateway = $1"))", .text)
    static let presence = Statement(
        """
        INSERT INTO rouse.gateway (name, leases) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET leases = excluded.leases, seen_at = clock_timestamp()
        """, .text, .int8)
    static let endPresence = Statement("DELETE FROM rouse.gateway WHERE name = $1", .text)
    static let forgetGateways = Statement(
        "DELETE FROM rouse.gateway WHERE seen_at < clock_timestamp() - interval '1 day'")
    /// Signs of life from the future, which a database's clock that was ahead has left: those who
    /// gave them are waited for from now on.
    static let pullBackSigns = Statement(
        """
        WITH gateways AS (
            UPDATE rouse.gateway SET seen_at = clock_timestamp()
            WHERE seen_at > clock_timestamp() + $1 * interval '1 ms')
        UPDATE rouse.writer SET seen_at = clock_timestamp()
        WHERE \(free("seen_at > clock_timestamp() + $1 * interval '1 ms'"))
        """, .int8)
    /// Ends the writers of gateways without a heartbeat.
    static let endSilent = Statement(
        """
        UPDATE rouse.writer SET ended = true
        WHERE \(free("seen_at < clock_timestamp() - $1 * interval '1 ms'"))
        RETURNING gateway
        """, .int8)
    static let endMine = Statement(
        "UPDATE rouse.writer SET ended = true WHERE gateway = $1 AND NOT ended", .text)
    /// Ends a writer once its transaction, if one is under way, has ended; how far it had come.
    static let endWriter = Statement(
        "UPDATE rouse.writer SET ended = true WHERE id = $1 AND gateway = $2 RETURNING sequence",
        .int8, .text)
    /// Gives the fresh leases of ended writers a place. A wake's number contains its writer's slot.
    static let recoverLeases = Statement(
        """
        WITH gone AS (
            UPDATE rouse.writer SET recovered = true WHERE ended AND NOT recovered
            RETURNING slot, floor, last_number)
        UPDATE rouse.wake SET place = 0 FROM gone
        WHERE wake.number BETWEEN gone.floor AND gone.last_number
            AND wake.number & \(WriterIdentity.slotCount - 1) = gone.slot
            AND wake.state = 1 AND wake.place IS NULL
        """)
    static let forgetWriters = Statement(
        """
        DELETE FROM rouse.writer
        WHERE recovered AND seen_at < clock_timestamp() - interval '7 days'
        """)
    /// Gives these fresh leases their place, unless they have ended meanwhile.
    static let placeLeases = Statement(
        "UPDATE rouse.wake SET place = 0 WHERE number = ANY($1) AND state = 1 AND place IS NULL",
        .int8Array)
}

extension StoreLink {
    /// A heartbeat, and a check for writers without one.
    func beat() async throws(StoreFailure) {
        let old = fresh.beat(olderThan: StoreUpkeep.freshBeats)
        var queries = [
            Query(StoreUpkeep.heartbeat, .text(gateway)),
            Query(
                StoreUpkeep.presence, .text(gateway), .int8(Int64(survey.leaseCount(at: now)))),
        ]
        if !old.isEmpty { queries.append(Query(StoreUpkeep.placeLeases, .int8s(old))) }
        _ = try await run(queries, transaction: .write)
        fresh.remove(old)
        let limit = Int64(settings.takeoverSeconds * 1000)
        let silent = try await run(
            [
                Query(StoreUpkeep.pullBackSigns, .int8(limit)),
                Query(StoreUpkeep.endSilent, .int8(limit)),
            ], transaction: .write)[1]
        // A gateway has several.
        for gateway in Set((0..<silent.rowCount).compactMap { silent.string($0, 0) }).sorted() {
            notice(
                "Gateway \(gateway) gave no sign of life for "
                    + "\(settings.takeoverSeconds) s; its writers are replaced.")
        }
        try await recoverLeases()
        try await look()
    }

    /// The database's time, as far as it is known here.
    private var now: WallInstant {
        WallInstant(millisecondsSinceEpoch: settings.machineClock() + (clockOffset ?? 0))
    }

    /// Looks who works on the store, and what is in its way.
    func look() async throws(StoreFailure) {
        let start = settings.machineClock()
        let results = try await run(
            StoreSurvey.queries(
                gateway: gateway, longSeconds: settings.longTransactionSeconds),
            transaction: .snapshot)
        // A writer that writes nothing, or nothing yet, gets the time from this.
        note(
            databaseTime: StoreSurvey.databaseTime(in: results), between: start,
            and: settings.machineClock())
        let new = survey.take(
            results, at: now, clockOffset: clockOffset ?? 0,
            takeoverSeconds: settings.takeoverSeconds)
        for transaction in new { notice(transaction.explanation) }
    }

    /// Has everybody find the leases of writers that have ended.
    func recoverLeases() async throws(StoreFailure) {
        _ = try await run(
            [
                Query(StoreUpkeep.recoverLeases), Query(StoreUpkeep.forgetWriters),
                Query(StoreUpkeep.forgetGateways),
            ],
            transaction: .write)
    }
}
