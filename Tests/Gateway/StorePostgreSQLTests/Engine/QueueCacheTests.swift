// SPDX-License-Identifier: Apache-2.0

import Gateway
import Testing

@testable import StorePostgreSQL

@Suite("The queues as they were read last", .timeLimit(.minutes(10)))
struct QueueCacheTests {
    /// A row of a queue, with the count of changes.
    private static func row(_ number: Int, _ kind: Int, changed: Int) -> String {
        """
        SELECT \(number)::bigint, 'com.example.app', 'sandbox', \(kind)::bigint, false,
            NULL::bigint, NULL::text, NULL::bigint, \(changed)::bigint
        """
    }

    private static func columns(_ pool: TestPool, _ rows: [String]) async throws -> StoredColumns {
        let query = Query(Statement(rows.joined(separator: " UNION ALL ")))
        return StoredColumns(
            result: try await pool.done(query)[0], queues: QueueTable(), note: { _ in })
    }

    /// Guards against a table of which the older queues are missing: wakes of those cannot be read.
    @Test("What was asked before all was forgotten is not taken for all")
    func forgotten() async throws {
        let pool = try TestPool()
        let both = try await Self.columns(
            pool, [Self.row(1, 0, changed: 1), Self.row(2, 1, changed: 2)])
        let last = try await Self.columns(pool, [Self.row(2, 1, changed: 2)])
        var cache = QueueCache()
        func numbers(_ columns: StoredColumns, after mark: QueueCache.Mark) -> [Int64]? {
            let table = cache.take(columns, after: mark)
            return table.map { $0.all.map(\.number) }
        }
        let whole = numbers(both, after: cache.mark)
        #expect(whole == [1, 2])
        let mark = cache.mark
        let again = numbers(last, after: mark)
        #expect(again == [1, 2])
        cache.forget()
        let late = numbers(last, after: mark)
        #expect(late == nil)
        #expect(!cache.isRead && cache.table.all.isEmpty)
        let anew = numbers(both, after: cache.mark)
        #expect(anew == [1, 2])
        await pool.pool.shutDown(within: .seconds(5))
    }
}
