// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQLTestKit
import Testing

@testable import StorePostgreSQL

@Suite("Settings of connections", .timeLimit(.minutes(10)))
struct ConnectionSettingsTests {
    private func settings(
        _ uri: String, _ variables: [String: String] = [:]
    ) throws -> ConnectionSettings {
        try ConnectionSettings(uri: uri, variable: { variables[$0] })
    }

    private func option(_ keyword: String, of settings: ConnectionSettings) -> String? {
        settings.options.first { $0.keyword == keyword }?.value
    }

    @Test(
        "TLS verifies the server unless nobody is between",
        arguments: [
            ("postgresql://db.example/rouse", "verify-full"),
            ("postgresql://127.0.0.1,db.example/rouse", "verify-full"),
            ("postgresql://10.0.0.1/rouse", "verify-full"),
            ("postgresql:///rouse?host=db.example", "verify-full"),
            ("postgresql://localhost/rouse?hostaddr=10.0.0.1", "verify-full"),
            ("postgresql://db.example/rouse?sslmode=require", "require"),
            ("postgresql://127.0.0.1/rouse", nil),
            ("postgresql://localhost:5433/rouse", nil),
            ("postgresql://[::1]/rouse", nil),
            ("postgresql:///rouse", nil),
            ("postgresql://%2Fvar%2Frun%2Fpostgresql/rouse", nil),
        ] as [(String, String?)])
    func transportSecurity(uri: String, mode: String?) throws {
        #expect(try option("sslmode", of: settings(uri)) == mode)
    }

    @Test(
        "as many hosts are counted as libpq tries, whoever names them",
        arguments: [
            ("postgresql://db.example/rouse", [:], 1),
            ("postgresql:///rouse", [:], 1),
            ("postgresql://a.example,b.example/rouse", [:], 2),
            ("postgresql://a.example:5432,b.example:5433,c.example/rouse", [:], 3),
            ("postgresql:///rouse?host=a.example,b.example", [:], 2),
            ("postgresql:///rouse?hostaddr=10.0.0.1,10.0.0.2", [:], 2),
            ("postgresql://a.example,b.example/rouse?hostaddr=10.0.0.1,10.0.0.2", [:], 2),
            ("postgresql:///rouse", ["PGHOST": "a.example,b.example"], 2),
            ("postgresql:///rouse", ["PGHOSTADDR": "10.0.0.1,10.0.0.2"], 2),
            ("postgresql://a.example/rouse", ["PGHOST": "b.example,c.example"], 1),
        ] as [(String, [String: String], Int)])
    func hostCount(_ uri: String, _ variables: [String: String], _ count: Int) throws {
        #expect(try settings(uri, variables).hostCount == count)
    }

    @Test("weaker TLS than that is warned of")
    func warnings() throws {
        #expect(try settings("postgresql://db.example/rouse").warnings == [])
        #expect(try settings("postgresql://127.0.0.1/rouse?sslmode=disable").warnings == [])
        #expect(try settings("postgresql://a.example/b?sslmode=require").warnings.count == 1)
        #expect(
            try settings("postgresql://a.example/b", ["PGSSLMODE": "prefer"]).warnings.count == 1)
        #expect(try settings("postgresql://a:b@127.0.0.1/b").warnings.count == 1)
    }

    @Test("what a URI or the environment says is not overridden")
    func defaults() throws {
        let plain = try settings("postgresql://localhost/rouse")
        #expect(option("target_session_attrs", of: plain) == "read-write")
        #expect(option("connect_timeout", of: plain) == "5")
        #expect(option("options", of: plain) == nil)
        let given = try settings(
            "postgresql://localhost/rouse?target_session_attrs=any&application_name=a",
            ["PGCONNECT_TIMEOUT": "9"])
        #expect(option("target_session_attrs", of: given) == "any")
        #expect(option("connect_timeout", of: given) == nil)
        #expect(option("application_name", of: given) == "a")
    }

    @Test("a name to show holds no password")
    func displayName() throws {
        let uri =
            "postgresql://rouse:hunter2@a.example:5433,[2001:db8::1]:5434/wakes?password=hunter2"
        let shown = try settings(uri)
        #expect(
            shown.displayName == "postgresql://rouse@a.example:5433,[2001:db8::1]:5434/wakes")
        #expect(try settings("postgresql:///?user=a").displayName == "postgresql://a@")
    }

    @Test(
        "an error does not hold the password",
        arguments: [
            "postgresql://rouse:hunter2%zz@a.example/",
            "postgresql://rouse:hunter2@a.example:hunter2x/?x",
            "postgresql://a/b?password=hunter2&hunter2=1", "mysql://rouse:hunter2@a/",
            "postgresql://rouse:hunter2@[a/",
        ])
    func errors(uri: String) {
        do {
            _ = try settings(uri)
            Issue.record("\(uri) was read")
        } catch {
            #expect(!"\(error)".contains("hunter2"))
            #expect("\(error)".hasPrefix("The database's URI"))
        }
    }

    @Test("a wrong password fails without being shown, and a file of passwords is read anew")
    func passwordFile() async throws {
        let server = try PostgreSQLServer.running()
        let file = FileManager.default.temporaryDirectory.path + "/password-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try Data("hunter2\n".utf8).write(to: URL(fileURLWithPath: file))
        let settings = try ConnectionSettings(
            uri: "postgresql://\(PostgreSQLServer.user)@127.0.0.1:\(server.port)/postgres",
            passwordFile: file, variable: { _ in nil })
        let pool = try PostgreSQLPool(settings, writers: 0, readers: 1)
        guard case .failure(.disconnected(let reason)) = await pool.take(.reader) else {
            Issue.record("the password was accepted")
            return
        }
        #expect(reason.contains("password authentication failed"))
        #expect(!reason.contains("hunter2"))
        try Data("\(PostgreSQLServer.password)\r\n".utf8).write(to: URL(fileURLWithPath: file))
        var session = await pool.take(.reader)
        while session.failure != nil {
            try await Task.sleep(for: .milliseconds(5))
            session = await pool.take(.reader)
        }
        #expect(await (try session.get()).run([Query("SELECT 1")]).results != nil)
    }
}
