// SPDX-License-Identifier: Apache-2.0

import Foundation
import OpenSSLCrypto
import Testing

@Suite("Certificate authority")
struct CertificateAuthorityTests {
    static let start: Int64 = 1_795_000_000
    static let validity = start..<start + 86_400

    /// What `openssl` says of files, and whether it ended with 0.
    static func openssl(
        _ arguments: String..., files: [String: String]
    ) throws -> (isSuccess: Bool, output: String) {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in files {
            try text.write(to: folder.appending(path: name), atomically: false, encoding: .utf8)
        }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments
        process.currentDirectoryURL = folder
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus == 0, text)
    }

    @Test("OpenSSL takes a server's certificate, strictly, under its names and no others")
    func server() throws {
        let authority = try CertificateAuthority(commonName: "CA", validity: Self.validity)
        let names: [CertificateAuthority.AlternativeName] = [
            .host("localhost"), .address("127.0.0.1"), .address("::1"),
        ]
        let server = try authority.certificate(
            for: P256PrivateKey().publicKey, commonName: "A server", purpose: .server(names))
        let files = ["ca.pem": authority.certificatePEM, "server.pem": server]
        func verify(_ option: String, _ name: String) throws -> Bool {
            try Self.openssl(
                "verify", "-x509_strict", "-purpose", "sslserver", "-attime",
                "\(Self.start + 10)", option, name, "-CAfile", "ca.pem", "server.pem", files: files
            ).isSuccess
        }
        #expect(try verify("-verify_hostname", "localhost"))
        #expect(try verify("-verify_ip", "127.0.0.1"))
        #expect(try verify("-verify_ip", "::1"))
        #expect(try !verify("-verify_hostname", "example.com"))
        let text = try Self.openssl(
            "x509", "-in", "server.pem", "-noout", "-dates", "-subject", "-issuer", files: files)
        #expect(text.output.contains("CN = A server") && text.output.contains("CN = CA"))
        #expect(text.output.contains("notBefore=Nov 18 11:06:40 2026 GMT"))
    }

    @Test("a certificate is good for its time, its purpose and its own authority")
    func limits() throws {
        let authority = try CertificateAuthority(commonName: "CA", validity: Self.validity)
        let other = try CertificateAuthority(commonName: "CA", validity: Self.validity)
        let client = try authority.certificate(
            for: P256PrivateKey().publicKey, commonName: "A client", purpose: .client)
        let files = [
            "ca.pem": authority.certificatePEM, "other.pem": other.certificatePEM,
            "client.pem": client,
        ]
        func verify(_ purpose: String, at time: Int64, by authority: String) throws -> Bool {
            try Self.openssl(
                "verify", "-x509_strict", "-purpose", purpose, "-attime", "\(time)", "-CAfile",
                authority, "client.pem", files: files
            ).isSuccess
        }
        let during = Self.start + 10
        #expect(try verify("sslclient", at: during, by: "ca.pem"))
        #expect(try !verify("sslserver", at: during, by: "ca.pem"))
        #expect(try !verify("sslclient", at: during, by: "other.pem"))
        #expect(try !verify("sslclient", at: Self.start - 10, by: "ca.pem"))
        #expect(try !verify("sslclient", at: Self.validity.upperBound + 10, by: "ca.pem"))
    }

    @Test("a client certificate is read with its key, and not with another")
    func reading() throws {
        let authority = try CertificateAuthority(commonName: "CA", validity: Self.validity)
        let key = P256PrivateKey()
        let pem = try authority.certificate(
            for: key.publicKey, commonName: "Émile", purpose: .client)
        let read = try ClientCertificate(
            certificatePEM: Array(pem.utf8), keyPEM: Array(key.pem.utf8), password: nil)
        #expect(read.commonName == "Émile")
        #expect(read.notBefore == Self.start && read.notAfter == Self.validity.upperBound)
        #expect(throws: CertificateReadError.mismatch) {
            try ClientCertificate(
                certificatePEM: Array(pem.utf8), keyPEM: Array(P256PrivateKey().pem.utf8),
                password: nil)
        }
        #expect(throws: CertificateReadError.noCertificate) {
            try ClientCertificate(
                certificatePEM: [], keyPEM: Array(key.pem.utf8), password: nil)
        }
        #expect(throws: CertificateReadError.unreadable) {
            try ClientCertificate(pkcs12: [], password: nil)
        }
    }

    @Test("two certificates never share a serial number")
    func serials() throws {
        let authority = try CertificateAuthority(commonName: "CA", validity: Self.validity)
        let key = P256PrivateKey().publicKey
        let serials = try (0..<3).map { _ in
            try Self.openssl(
                "x509", "-in", "a.pem", "-noout", "-serial",
                files: [
                    "a.pem": authority.certificate(for: key, commonName: "a", purpose: .client)
                ]
            ).output
        }
        #expect(Set(serials).count == 3)
    }

    @Test(
        "a name with a comma is refused, as it would begin another one",
        arguments: ["a,DNS:b", "", "a b", "é"])
    func injectedNames(name: String) throws {
        let authority = try CertificateAuthority(commonName: "CA", validity: Self.validity)
        #expect(throws: CertificateAuthorityError.invalidName(name)) {
            try authority.certificate(
                for: P256PrivateKey().publicKey, commonName: "a", purpose: .server([.host(name)]))
        }
    }

    @Test("what OpenSSL cannot make is an error with the common name")
    func unusable() throws {
        let long = String(repeating: "n", count: 65)
        #expect(throws: CertificateAuthorityError.unusable(commonName: long)) {
            try CertificateAuthority(commonName: long, validity: Self.validity)
        }
        let authority = try CertificateAuthority(commonName: "CA", validity: Self.validity)
        #expect(throws: CertificateAuthorityError.unusable(commonName: "a")) {
            try authority.certificate(
                for: P256PrivateKey().publicKey, commonName: "a",
                purpose: .server([.address("127.0.0.256")]))
        }
    }
}
