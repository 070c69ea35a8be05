// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Testing
import WakeModel

@testable import AdminAPI

@Suite("TLS on the listener, with the real openssl and curl", .timeLimit(.minutes(10)))
struct ListenerTLSTests {
    /// A folder with self-signed certificates.
    private final class Folder {
        let path: String

        init() throws {
            let url = FileManager.default.temporaryDirectory.appending(
                path: "tls-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            path = url.path
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func makeCertificate(
            _ name: String,
            algorithm: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        ) async throws -> (certificate: String, key: String) {
            let (certificate, key) = ("\(path)/\(name).pem", "\(path)/\(name).key")
            _ = try await run(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey",
                ] + algorithm + [
                    "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-out", certificate, "-keyout", key,
                ])
            return (certificate, key)
        }
    }

    private static func run(_ program: String, _ arguments: [String]) async throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, _>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
    }

    private func health(_ port: Int, trusting certificate: String) async throws -> String {
        try await Self.run(
            "/usr/bin/curl",
            ["-sS", "-m", "10", "--cacert", certificate, "https://127.0.0.1:\(port)/healthz"])
    }

    @Test("HTTP/2 is chosen by ALPN, and HTTP/1.1 for who does not offer it")
    func version() async throws {
        let folder = try Folder()
        let files = try await folder.makeCertificate("first")
        var bench = try APIBench()
        bench.configuration.tls = try ListenerTLS(
            certificatePath: files.certificate, keyPath: files.key)
        try await bench.serve { caller in
            let options = [["--http2"], ["--http1.1"], ["--no-alpn"], ["--http1.0"]]
            for (option, version) in zip(options, ["2", "1.1", "1.1", "1.1"]) {
                let text = try await Self.run(
                    "/usr/bin/curl",
                    option + [
                        "-sS", "-m", "10", "--cacert", files.certificate, "-w", "%{http_version}",
                        "https://127.0.0.1:\(caller.port)/healthz",
                    ])
                #expect(text == "{\"status\":\"alive\"}\(version)", "\(option)")
            }
        }
    }

    @Test(
        "curl trusts the certificate, after a reload the new one; a bad file changes nothing"
    )
    func reload() async throws {
        let folder = try Folder()
        let first = try await folder.makeCertificate("first")
        let second = try await folder.makeCertificate("second")
        var bench = try APIBench()
        let tls = try ListenerTLS(certificatePath: first.certificate, keyPath: first.key)
        bench.configuration.tls = tls
        try await bench.serve { caller in
            #expect(try await health(caller.port, trusting: first.certificate).contains("alive"))
            #expect(try await health(caller.port, trusting: second.certificate).isEmpty)
            #expect(throws: InvalidField.self) {
                try tls.reload(certificatePath: second.certificate, keyPath: first.key)
            }
            #expect(try await health(caller.port, trusting: first.certificate).contains("alive"))
            try tls.reload(certificatePath: second.certificate, keyPath: second.key)
            #expect(try await health(caller.port, trusting: second.certificate).contains("alive"))
            #expect(try await health(caller.port, trusting: first.certificate).isEmpty)
            // Plain HTTP on a TLS port is no answer, and no harm.
            _ = try await HTTPExchange.send("GET", "/healthz", port: caller.port)
            #expect(try await health(caller.port, trusting: second.certificate).contains("alive"))
        }
    }

    @Test("a session is resumed by its ticket; a client that offers nothing of these is refused")
    func handshakes() async throws {
        let folder = try Folder()
        let pair = try await folder.makeCertificate("pair")
        var bench = try APIBench()
        bench.configuration.tls = try ListenerTLS(
            certificatePath: pair.certificate, keyPath: pair.key)
        try await bench.serve { caller in
            func connect(_ arguments: String...) async throws -> String {
                try await Self.run(
                    "/usr/bin/openssl",
                    ["s_client", "-connect", "127.0.0.1:\(caller.port)", "-tls1_2"] + arguments)
            }
            let session = folder.path + "/session"
            var answer: String
            answer = try await connect("-sess_out", session)
            #expect(answer.contains("New, TLSv1.2"))
            answer = try await connect("-sess_in", session)
            #expect(answer.contains("Reused, TLSv1.2"))
            answer = try await connect("-alpn", "http/1.1")
            #expect(answer.contains("ALPN protocol: http/1.1"))
            answer = try await connect("-alpn", "http/1.0")
            #expect(answer.contains("ALPN protocol: http/1.0"))
            answer = try await connect("-alpn", "h2,http/1.1")
            #expect(answer.contains("ALPN protocol: h2"))
            answer = try await connect("-alpn", "spdy/3")
            #expect(answer.contains("Cipher is (NONE)"))
        }
    }

    @Test("Files that are not what they should be are refused by name")
    func refusals() async throws {
        let folder = try Folder()
        let pair = try await folder.makeCertificate("pair")
        let weak = try await folder.makeCertificate("weak", algorithm: ["rsa:1024"])
        for (certificate, key, field) in [
            (weak.certificate, weak.key, "tls.certificate-file"),
            ("/nonexistent", pair.key, "tls.certificate-file"),
            (pair.key, pair.key, "tls.certificate-file"),
            (pair.certificate, "/nonexistent", "tls.key-file"),
            (pair.certificate, pair.certificate, "tls.key-file"),
        ] {
            let error = #expect(throws: InvalidField.self) {
                try ListenerTLS(certificatePath: certificate, keyPath: key)
            }
            #expect(error?.field == field)
        }
    }
}
