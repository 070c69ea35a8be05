// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQLTestKit
import Testing

@testable import StorePostgreSQL

@Suite("TLS to the database", .timeLimit(.minutes(10)))
struct EncryptionTests {
    @Test("the server's name is verified, and large pipelines go both ways")
    func verified() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/certificate-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let tool = Process()
        tool.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        tool.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "2", "-subj", "/CN=db.test", "-addext", "subjectAltName=DNS:db.test",
            "-keyout", folder + "/key", "-out", folder + "/certificate",
        ]
        tool.standardError = nil
        try tool.run()
        tool.waitUntilExit()
        let server = try PostgreSQLServer(
            [
                "ssl": "on", "ssl_cert_file": "'certificate.pem'", "ssl_key_file": "'key.pem'",
            ],
            files: [
                "certificate.pem": String(contentsOfFile: folder + "/certificate", encoding: .utf8),
                "key.pem": String(contentsOfFile: folder + "/key", encoding: .utf8),
            ])
        func pool(_ host: String) throws -> PostgreSQLPool {
            let uri = server.uri("postgres")
                .replacingOccurrences(of: "@127.0.0.1", with: "@\(host)")
            // Without a look-up: the name is what is verified.
            let settings = try ConnectionSettings(
                uri: uri + "?hostaddr=127.0.0.1&sslmode=verify-full"
                    + "&sslrootcert=\(folder)/certificate",
                variable: { _ in nil })
            return try PostgreSQLPool(settings, writers: 1, readers: 0)
        }
        let good = try pool("db.test")
        let text = String(repeating: "z", count: 20_000)
        let queries = (0..<1_000).map { _ in Query(Statement("SELECT $1", .text), .text(text)) }
        let outcome = try await good.run(
            queries, transaction: .write, on: .writer, within: .seconds(60)
        ).get()
        #expect(outcome.results?.count == 1_000)
        let isEncrypted = await good.run(
            [Query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")], on: .writer)
        #expect(try isEncrypted.get().results?[0].bool(0, 0) == true)
        guard
            case .failure(.disconnected(let reason)) = await (try pool("other.test")).take(
                .writer, within: .seconds(60))
        else {
            Issue.record("a certificate of another name was accepted")
            return
        }
        #expect(reason.contains("other.test"))
        await good.shutDown(within: .seconds(5))
    }
}
