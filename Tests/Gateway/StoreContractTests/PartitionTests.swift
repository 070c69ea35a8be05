// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import PostgreSQLTestKit
import StorePostgreSQL
import StoreTestKit
import Synchronization
import Testing
import WakeModel

@Suite("Retention of a shared store by dropping partitions", .timeLimit(.minutes(10)))
struct PartitionTests {
    /// Drops the partitions of the days after today.
    private static let dropComingDays = """
        DO $$ DECLARE name text; BEGIN
            FOR name IN SELECT relname FROM pg_class WHERE relkind = 'r'
                AND relname ~ '^(wake|attempt)_[0-9]{8}$' AND right(relname, 8)
                    > to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDD')
            LOOP EXECUTE 'DROP TABLE rouse.' || name; END LOOP;
        END $$
        """

    private static let day: Int64 = 86_400

    private func order(_ now: WallInstant, keptDays: Int64) -> PruneOrder {
        let before = now.advanced(bySeconds: -keptDays * Self.day)
        return PruneOrder(
            now: now, wakesBefore: before, devicesBefore: before,
            webhooks: Samples.rules.webhooks, limit: 1_000)
    }

    /// The numbers of the partitions' days before today.
    private func pastDays(_ server: PostgreSQLServer, _ database: String) throws -> [String] {
        try server.execute(
            """
            SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '^wake_[0-9]{8}$'
                AND right(relname, 8) < to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDD')
            ORDER BY relname
            """, in: database
        ).split(separator: "\n").map(String.init)
    }

    /// A database with partitions of the ten days before today, and wakes of ten days ago.
    private func withOldDays(
        _ body: (
            _ old: Counter, _ now: WallInstant, _ url: String, _ database: String,
            _ server: PostgreSQLServer
        ) async throws -> Void
    ) async throws {
        try await StoreKind.withDatabase { url in
            let server = try PostgreSQLServer.running()
            let database = String(url.split(separator: "/").last ?? "")
            try server.execute(
                """
                SELECT rouse.make_partitions(today - 10, today - 1)
                FROM (SELECT floor(extract(epoch FROM clock_timestamp()) / 86400)::bigint AS today)
                    AS clock
                """, in: database)
            let now = WallInstant(
                millisecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1_000))
            let store = try await PostgreSQLWakeStore.open(url: url)
            let old = Counter(store: store, now: now.advanced(bySeconds: -10 * Self.day))
            try await body(old, now, url, database, server)
            let audit = try await PostgreSQLWakeStore.audit(url: url)
            #expect(audit.isSound, "\(audit)")
            await store.close()
        }
    }

    @Test("Days that have had their time go as a whole, and what has not ended stays")
    func retention() async throws {
        try await withOldDays { old, now, url, database, server in
            let refusal = Refusal(status: 500, reason: .internalServerError)
            for device in 1...4 as ClosedRange<UInt64> {
                try await old.settle(
                    try await old.claimOne(Samples.wake(at: old.now, device: device)),
                    .end(.rejected(refusal)), attempt: .refused(refusal))
            }
            let waits = try await old.admitOne(Samples.wake(at: old.now, dueIn: 600, device: 5))
            try await old.settle(
                try await old.later(60).claimOne(Samples.wake(at: old.later(60).now, device: 6)),
                .end(.rejected(refusal)), attempt: .refused(refusal))
            #expect(try pastDays(server, database).count == 10)

            // Kept for eleven days: nothing goes.
            var pruned = try await old.store.prune(order(now, keptDays: 11))
            #expect(pruned.wakes == 0)
            #expect(try pastDays(server, database).count == 10)
            // A wrong clock of the gateway, 100 days ahead, drops nothing either.
            let ahead = now.advanced(bySeconds: 100 * Self.day)
            _ = try await old.store.prune(order(ahead, keptDays: 11))
            #expect(try pastDays(server, database).count == 10)

            let other = try await PostgreSQLWakeStore.open(url: url)
            // The duty is the first one's for a minute.
            #expect(try await other.prune(order(now, keptDays: 3)).wakes == 0)
            await other.close()
            try server.execute("UPDATE rouse.duty SET until = '-infinity'", in: database)
            let next = try await PostgreSQLWakeStore.open(url: url)
            repeat {
                pruned = try await next.prune(order(now, keptDays: 3))
            } while try pastDays(server, database).count > 3 && pruned.wakes >= 0
                && !Task.isCancelled
            let count = try await next.perform(RecountWakes())
            #expect(count.isConserved && count.pruned == 5 && count.unended == 1)
            #expect(try await old.record(waits.id).state == .pending)
            #expect(try server.execute("SELECT count(*) FROM rouse.attempt", in: database) == "0")
            #expect(
                try server.execute("SELECT tableoid::regclass FROM rouse.wake", in: database)
                    == "wake_default")
            // It goes on where it is, and is pruned from there.
            let later = Counter(store: next, now: now)
            let claim = try #require(
                try await old.later(700).claim().claims.first { $0.id == waits.id })
            try await old.later(700).settleSent(claim)
            #expect(try await next.prune(order(later.now, keptDays: 3)).wakes == 1)
            #expect(try await next.perform(CountWakes()).unended == 0)
            await next.close()
        }
    }

    @Test("The days ahead are made again when they are missing")
    func ahead() async throws {
        try await withOldDays { old, now, _, database, server in
            let ahead = """
                SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname ~ '^wake_[0-9]{8}$'
                    AND right(relname, 8)
                        >= to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDD')
                """
            #expect(try server.execute(ahead, in: database) == "4")
            try server.execute(Self.dropComingDays, in: database)
            #expect(try server.execute(ahead, in: database) == "1")
            _ = try await old.store.prune(order(now, keptDays: 20))
            #expect(try server.execute(ahead, in: database) == "4")
        }
    }

    @Test("The reason why partitions cannot be made is told, and rows go all the same")
    func told() async throws {
        try await withOldDays { old, now, url, database, server in
            try server.execute(
                """
                CREATE OR REPLACE FUNCTION rouse.make_partitions(first_day bigint, last_day bigint)
                RETURNS void LANGUAGE plpgsql
                AS $$ BEGIN RAISE insufficient_privilege USING MESSAGE = 'not yours'; END $$;
                \(Self.dropComingDays)
                """, in: database)
            // In no day's partition, as is what a clock that was wrong has numbered.
            let older = Counter(store: old.store, now: now.advanced(bySeconds: -20 * Self.day))
            try await older.settleSent(
                try await older.claimOne(Samples.wake(at: older.now, device: 1)))
            let notices = Mutex<[String]>([])
            let store = try await PostgreSQLWakeStore.open(url: url) { notice in
                notices.withLock { $0.append(notice) }
            }
            let pruned = try await store.prune(order(now, keptDays: 11))
            await store.close()
            #expect(pruned.wakes == 1)
            let told = notices.withLock { $0 }.filter { $0.contains("partitions of days") }
            #expect(told.count == 1 && told.first?.contains("not yours") == true, "\(told)")
        }
    }
}
