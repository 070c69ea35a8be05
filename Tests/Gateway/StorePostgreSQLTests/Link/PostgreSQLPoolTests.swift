// SPDX-License-Identifier: Apache-2.0

import PostgreSQLTestKit
import Synchronization
import Testing

@testable import StorePostgreSQL

@Suite("Pipelines on a PostgreSQL server", .timeLimit(.minutes(10)))
struct PostgreSQLPoolTests {
    @Test("an error in the middle undoes all, names its query, and the session goes on")
    func refused() async throws {
        let test = try TestPool()
        try await test.done(Query("CREATE TABLE one (value int8 PRIMARY KEY)"))
        let insert = Statement("INSERT INTO one VALUES ($1)", .int8)
        let session = try await test.writer()
        // The first uses the statement before it is prepared, the later ones after.
        for _ in 0..<3 {
            let outcome = await session.run(
                [
                    Query(insert, .int8(1)), Query(insert, .int8(2)), Query(insert, .int8(1)),
                    Query(insert, .int8(3)),
                ], transaction: .write)
            let refusal = try #require(outcome.refusal)
            #expect(refusal.queryIndex == 2)
            #expect(refusal.state == .uniqueViolation)
            #expect(refusal.constraint == "one_pkey")
        }
        let outcome = await session.run([Query("SELECT count(*) FROM one")])
        #expect(outcome.results?[0].int64(0, 0) == 0)
        test.pool.giveBack(session)
        #expect(
            try test.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in%'"
                    + " AND datname = current_database()") == "0")
    }

    @Test("a statement that cannot be prepared is an error of its query")
    func unprepared() async throws {
        let test = try TestPool()
        let session = try await test.writer()
        for transaction in [Session.Transaction.none, .write, .snapshot] {
            let outcome = await session.run(
                [Query("SELECT 1"), Query("SELECT * FROM nothing"), Query("SELECT 2")],
                transaction: transaction)
            #expect(outcome.refusal?.queryIndex == 1)
            #expect(outcome.refusal?.state == .undefinedTable)
        }
        let outcome = await session.run([Query("SELECT 1"), Query("SELECT 2")])
        #expect(outcome.results?.map { $0.int64(0, 0) } == [1, 2])
    }

    @Test("an error without a transaction undoes all, too")
    func implicit() async throws {
        let test = try TestPool()
        try await test.done(Query("CREATE TABLE one (value int8)"))
        let session = try await test.writer()
        let outcome = await session.run(
            [Query("INSERT INTO one VALUES (1)"), Query("SELECT 1 / 0")])
        #expect(outcome.refusal?.state == .divisionByZero)
        #expect(try test.execute("SELECT count(*) FROM one") == "0")
        #expect(await session.run([Query("INSERT INTO one VALUES (1)")]).results != nil)
        #expect(try test.execute("SELECT count(*) FROM one") == "1")
    }

    @Test("a deferred constraint is an error of the commit")
    func deferred() async throws {
        let test = try TestPool()
        try await test.done(
            Query("CREATE TABLE one (value int8 UNIQUE DEFERRABLE INITIALLY DEFERRED)"))
        let session = try await test.writer()
        let queries = [Query("INSERT INTO one VALUES (1)"), Query("INSERT INTO one VALUES (1)")]
        for transaction in [Session.Transaction.write, .none] {
            let outcome = await session.run(queries, transaction: transaction)
            #expect(outcome.refusal?.queryIndex == 2)
            #expect(outcome.refusal?.state == .uniqueViolation)
        }
        #expect(await session.run([Query("SELECT count(*) FROM one")]).results?[0].int64(0, 0) == 0)
    }

    @Test("a snapshot is one moment for all its queries, and changes nothing")
    func snapshot() async throws {
        let test = try TestPool()
        let session = try await test.writer()
        let same = await session.run(
            [Query("SELECT pg_current_snapshot()::text"), Query("SELECT now()")],
            transaction: .snapshot)
        #expect(same.results?.count == 2)
        let outcome = await session.run([Query("CREATE TABLE one ()")], transaction: .snapshot)
        #expect(outcome.refusal?.state == .readOnlyTransaction)
    }

    @Test("3 000 queries with answers of 20 kB each in one pipeline")
    func bothSidesWrite() async throws {
        let test = try TestPool()
        let statement = Statement("SELECT repeat($1, 20000)", .text)
        let queries = (0..<3_000).map { _ in Query(statement, .text("x")) }
        let results = try #require(
            try await test.pool.run(queries, within: .seconds(60)).get().results)
        #expect(results.count == 3_000)
        #expect(results.allSatisfy { $0.withValue(0, 0) { $0.count } == 20_000 })
    }

    @Test("3 000 queries of 20 kB with answers of 20 kB, in a transaction")
    func bothSidesWriteMuch() async throws {
        let test = try TestPool()
        let text = String(repeating: "y", count: 20_000)
        let queries = (0..<3_000).map { _ in Query(Statement("SELECT $1", .text), .text(text)) }
        let outcome = try await test.pool.run(
            queries, transaction: .write, on: .writer, within: .seconds(60)
        ).get()
        let results = try #require(outcome.results)
        #expect(results.allSatisfy { $0.withValue(0, 0) { $0.count } == 20_000 })
    }

    @Test("a plan whose result changed its type is made anew, and nobody notices")
    func changedResult() async throws {
        let test = try TestPool()
        try await test.done(Query("CREATE TABLE one AS SELECT 1::int4 AS value"))
        let session = try await test.writer()
        for (type, sum) in [("int4", 1), ("int8", 2), ("int2", 3)] {
            _ = try test.execute("ALTER TABLE one ALTER value TYPE \(type)")
            for transaction in [Session.Transaction.write, .none] {
                let outcome = await session.run(
                    [Query("SELECT 1"), Query("SELECT * FROM one")], transaction: transaction)
                #expect(outcome.results?[1].int64(0, 0) == 1, "\(sum): \(outcome)")
            }
        }
    }

    @Test("a lock that is not free, and a query that takes too long, are errors")
    func timeouts() async throws {
        let test = try TestPool(writers: 2)
        try await test.done(Query("CREATE TABLE one AS SELECT 1 AS value"))
        let session = try await test.writer()
        let slow = await session.run(
            [Query("SET LOCAL statement_timeout = 20"), Query("SELECT pg_sleep(30)")],
            transaction: .write)
        #expect(slow.refusal?.state == .queryCanceled)
        #expect(await session.run([Query("SELECT 1")]).results != nil)
    }

    @Test("a run whose time is over ends its connection, and another one is opened")
    func overdue() async throws {
        let test = try TestPool()
        let session = try await test.writer()
        let outcome = await session.run(
            [Query("SELECT pg_sleep(30)")], transaction: .write, within: .milliseconds(50))
        #expect(outcome.doubt == true)
        #expect(await session.run([Query("SELECT 1")]).doubt == false)
        test.pool.giveBack(session)
        let next = try await test.writer()
        #expect(next.id != session.id)
        #expect(next.id.number == session.id.number)
    }

    @Test("who waits too long is refused as overloaded, whatever its rank")
    func overloaded() async throws {
        let test = try TestPool()
        let session = try await test.writer()
        async let first = test.pool.take(.writer, within: .milliseconds(200))
        async let second = test.pool.take(.writer, for: .caller, within: .milliseconds(200))
        let answers = await [first, second].map { $0.failure }
        #expect(answers == [.overloaded, .overloaded])
        async let third = test.pool.take(.writer, within: .seconds(60))
        test.pool.giveBack(session)
        #expect(await third.failure == nil)
    }

    @Test("callers have all readers but one, also when connections of theirs are lost")
    func callers() async throws {
        let test = try TestPool(readers: 3)
        @Sendable func take() async -> Result<Session, Unavailable> {
            await test.pool.take(.reader, for: .caller, within: .seconds(60))
        }
        let first = try await take().get()
        let second = try await take().get()
        async let third = take()
        while test.pool.condition(.reader).waiting == 0 { await Task.yield() }
        // There is one for the gateway itself, again and again.
        for _ in 0..<3 {
            let own = try await test.pool.take(.reader, within: .seconds(60)).get()
            test.pool.giveBack(own)
        }
        #expect(test.pool.condition(.reader).waiting == 1)
        let lost = await first.run([Query("SELECT pg_sleep(30)")], within: .milliseconds(50))
        #expect(lost.doubt != nil)
        #expect(test.pool.condition(.reader).waiting == 1)
        test.pool.giveBack(first)
        test.pool.giveBack(try await third.get())
        test.pool.giveBack(second)
        // With one only, it is for everybody.
        let single = try TestPool()
        single.pool.giveBack(
            try await single.pool.take(.reader, for: .caller, within: .seconds(60)).get())
    }

    @Test("cancelling the task that waits gives nothing up")
    func cancelled() async throws {
        let test = try TestPool()
        try await test.done(Query("CREATE TABLE one (value int8)"))
        let session = try await test.writer()
        let task = Task {
            await session.run(
                [Query("INSERT INTO one SELECT 1 FROM pg_sleep(0.1)")], transaction: .write)
        }
        task.cancel()
        #expect(await task.value.results != nil)
        #expect(try test.execute("SELECT count(*) FROM one") == "1")
    }

    @Test("a pool that is shut down ends what is under way and refuses the rest")
    func shutDown() async throws {
        let test = try TestPool()
        let session = try await test.writer()
        async let last = session.run([Query("SELECT 1 FROM pg_sleep(0.05)")])
        await test.pool.shutDown(within: .seconds(10))
        let outcome = await last
        #expect(outcome.results != nil || outcome.doubt == false)
        #expect(await session.run([Query("SELECT 1")]).doubt == false)
        #expect(await test.pool.take(.writer).failure == .shutDown)
        #expect(
            try test.server.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(test.database)'") == "0")
    }
}

extension Result where Failure == Unavailable {
    var failure: Unavailable? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
