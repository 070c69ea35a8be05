// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQLTestKit
import Synchronization
import Testing
import WaitKit

@testable import StorePostgreSQL

@Suite("Broken connections", .timeLimit(.minutes(10)))
struct BrokenConnectionTests {
    private func insert(_ value: Int64) -> Query {
        Query(Statement("INSERT INTO one VALUES ($1)", .int8), .int8(value))
    }

    @Test("a backend that is terminated ends its session, and another one comes")
    func terminated() async throws {
        let establishments = Atomic(0)
        let test = try TestPool { _ in
            establishments.add(1, ordering: .relaxed)
            return .success(())
        }
        let session = try await test.writer()
        async let outcome = session.run([Query("SELECT pg_sleep(30)")], transaction: .write)
        while try test.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%sleep(30)%'"
                + " AND pid = \(session.processID)") == ""
        { await Task.yield() }
        // COMMIT was sent, and nothing says that it was not carried out.
        #expect(await outcome.doubt == true)
        #expect(await session.run([Query("SELECT 1")]).doubt == false)
        test.pool.giveBack(session)
        let next = try await test.writer()
        #expect(next.id.generation > session.id.generation)
        #expect(await next.run([Query("SELECT 1")]).results != nil)
        #expect(establishments.load(ordering: .relaxed) >= 3)
    }

    @Test("a backend that is terminated while nothing runs is replaced")
    func terminatedAtRest() async throws {
        let test = try TestPool()
        let session = try await test.writer()
        test.pool.giveBack(session)
        _ = try test.execute("SELECT pg_terminate_backend(\(session.processID))")
        var next = try await test.writer()
        while next.id == session.id {
            // The end has not come yet; a run is lost by it without doubt or with.
            _ = await next.run([Query("SELECT 1")])
            test.pool.giveBack(next)
            next = try await test.writer()
        }
        #expect(await next.run([Query("SELECT 1")]).results != nil)
    }

    @Test("a connection that is cut before COMMIT leaves a doubt, and nothing is written")
    func cutBeforeCommit() async throws {
        let proxy = try CuttingProxy(to: PostgreSQLServer.running().port)
        let test = try TestPool(port: proxy.port)
        try await test.done(Query("CREATE TABLE one (value int8)"))
        let session = try await test.writer()
        proxy.cut(.beforeCommit)
        #expect(await session.run([insert(1)], transaction: .write).doubt == true)
        #expect(proxy.cutCount == 1)
        #expect(try test.execute("SELECT count(*) FROM one") == "0")
        test.pool.giveBack(session)
        #expect(await (try await test.writer()).run([insert(1)]).results != nil)
        proxy.stop()
    }

    @Test("a connection that is cut after COMMIT leaves a doubt, and all is written")
    func cutAfterCommit() async throws {
        let proxy = try CuttingProxy(to: PostgreSQLServer.running().port)
        let test = try TestPool(port: proxy.port)
        try await test.done(Query("CREATE TABLE one (value int8)"))
        let session = try await test.writer()
        proxy.cut(.afterCommit)
        #expect(await session.run([insert(1)], transaction: .write).doubt == true)
        #expect(proxy.cutCount == 1)
        #expect(try test.execute("SELECT count(*) FROM one") == "1")
        proxy.stop()
    }

    @Test("nothing is in doubt while COMMIT waits for the rest to be written")
    func cutInTheMiddle() async throws {
        let test = try TestPool(writers: 2)
        try await test.done(Query("CREATE TABLE one (value int8)"))
        let session = try await test.writer()
        // More than the sockets hold, behind a query that does not read on.
        let large = Query(
            Statement("SELECT length($1)", .bytes),
            .bytes([UInt8](repeating: 1, count: 64_000_000)))
        async let outcome = session.run(
            [insert(1), Query("SELECT pg_sleep(30)"), large], transaction: .write)
        while try test.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%sleep(30)%'"
                + " AND pid = \(session.processID)") == ""
        { await Task.yield() }
        #expect(await outcome.doubt == false)
        #expect(try test.execute("SELECT count(*) FROM one") == "0")
    }

    @Test("a server that stops as in a crash and starts again is found without help")
    func restart() async throws {
        let server = try PostgreSQLServer()
        let test = try TestPool(server: server, writers: 2)
        try await test.done(Query("CREATE TABLE one (value int8)"))
        let session = try await test.writer()
        #expect(await session.run([insert(1)], transaction: .write).results != nil)
        server.stop(.immediate)
        #expect(await session.run([insert(2)], transaction: .write).doubt != nil)
        test.pool.giveBack(session)
        // Once an attempt has failed, nobody waits.
        while test.pool.condition(.writer).failure?.contains("refused") != true {
            await Task.yield()
        }
        guard case .failure(.disconnected(let reason)) = await test.pool.take(.writer) else {
            Issue.record("a session of a server that is not there")
            return
        }
        #expect(reason.contains("refused"))
        #expect(test.pool.condition(.writer).established == 0)
        try server.start()
        let next = try await test.writer()
        let rows = await next.run([Query("SELECT value FROM one")])
        #expect(rows.results?[0].int64(0, 0) == 1)
        #expect(rows.results?[0].rowCount == 1)
        await test.pool.shutDown(within: .seconds(5))
    }

    @Test("a session that cannot be established is not handed out")
    func establisher() async throws {
        let isBroken = Atomic(true)
        let test = try TestPool { session in
            guard await session.run([Query("SELECT 1")]).results != nil else {
                return .failure(.disconnected("no answer"))
            }
            return isBroken.load(ordering: .relaxed)
                ? .failure(.disconnected("the slot is taken")) : .success(())
        }
        let failure = await test.pool.take(.writer, within: .seconds(60)).failure
        #expect(failure == .disconnected("the slot is taken"))
        isBroken.store(false, ordering: .relaxed)
        // An attempt that began before may still fail.
        var next = await test.pool.take(.writer, within: .seconds(60)).failure
        while next == failure {
            next = await test.pool.take(.writer, within: .seconds(60)).failure
        }
        #expect(next == nil)
    }

    @Test("when a server answers one connection again, the others neither rest nor say it is gone")
    func comesBack() async throws {
        let attempts = Atomic(0)
        let (isResting, rests) = AsyncStream.makeStream(of: Void.self)
        let test = try TestPool { session in
            guard session.id.role == .reader else {
                for await _ in isResting {}
                return .success(())
            }
            let attempt = attempts.add(1, ordering: .relaxed).newValue
            return attempt > 7 ? .success(()) : .failure(.disconnected("refused, \(attempt)"))
        }
        // Then the reader rests for 2.5 s at least.
        while test.pool.condition(.reader).failure != "refused, 7" {
            try await elapse(.milliseconds(1))
        }
        rests.finish()
        test.pool.giveBack(try await test.pool.take(.writer, within: .seconds(60)).get())
        let started = ContinuousClock.now
        let reader = try await test.pool.take(.reader, within: .seconds(60)).get()
        #expect(ContinuousClock.now - started < .seconds(2))
        test.pool.giveBack(reader)
        await test.pool.shutDown(within: .seconds(5))
    }

    @Test("a connection that is lost while sessions are waited for loses nobody who waits")
    func waiting() async throws {
        let test = try TestPool()
        let session = try await test.writer()
        async let waiting = test.pool.take(.writer, within: .seconds(60))
        _ = try test.execute("SELECT pg_terminate_backend(\(session.processID))")
        #expect(await session.run([Query("SELECT pg_sleep(30)")]).doubt != nil)
        test.pool.giveBack(session)
        let next = try await waiting.get()
        #expect(next.id != session.id)
    }
}

@Suite("Synchronous replication", .timeLimit(.minutes(10)))
struct StandbyWaitTests {
    @Test("a commit whose wait for the standby is cancelled is not called done")
    func cancelled() async throws {
        let server = try PostgreSQLServer()
        let test = try TestPool(server: server)
        try await test.done(Query("CREATE TABLE one (value int8)"))
        let session = try await test.writer()
        try server.execute("ALTER SYSTEM SET synchronous_standby_names = 'absent'")
        try server.execute("SELECT pg_reload_conf()")
        while try server.execute("SHOW synchronous_standby_names") != "absent" {}
        async let outcome = session.run([Query("INSERT INTO one VALUES (1)")], transaction: .write)
        while try server.execute(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            == ""
        { await Task.yield() }
        #expect(await outcome.doubt == true)
        #expect(try test.execute("SELECT count(*) FROM one") == "1")
        #expect(await session.run([Query("SELECT 1")]).doubt == false)
        await test.pool.shutDown(within: .seconds(5))
    }
}
