// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A directory of its own for one test, and the `openssl` command to fill it. Both independent of
/// the code under test. The directory goes when the workshop does.
final class Workshop {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory
            .appending(path: "rouse-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func path(_ name: String) -> String { directory.appending(path: name).path }

    func bytes(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: directory.appending(path: name)))
    }

    func text(_ name: String) throws -> String {
        String(decoding: try bytes(name), as: UTF8.self)
    }

    func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Data(bytes).write(to: directory.appending(path: name))
    }

    struct Failure: Error {
        let arguments: [String]
        let output: String
    }

    /// Runs `openssl` in the directory; throws when it fails.
    @discardableResult
    func openssl(_ arguments: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = directory
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: bytes, as: UTF8.self)
        guard process.terminationStatus == 0 else {
            throw Failure(arguments: arguments, output: text)
        }
        return text
    }

    /// A key in PKCS#8 PEM, by default on P-256.
    func makeKey(_ name: String, curve: String = "P-256") throws {
        try openssl(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-out", name)
    }

    /// `ca.pem`, and `client.pem` with `client.key`, which it signed.
    func makeClientCertificate() throws {
        try makeKey("ca.key")
        try openssl(
            "req", "-x509", "-new", "-key", "ca.key", "-out", "ca.pem", "-days", "2", "-subj",
            "/CN=Test CA")
        try makeKey("client.key")
        try openssl(
            "req", "-new", "-key", "client.key", "-out", "client.csr", "-subj",
            "/CN=Apple Push Services: com.example.app")
        try write(Array("extendedKeyUsage=clientAuth\n".utf8), to: "client.ext")
        try openssl(
            "x509", "-req", "-in", "client.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "1", "-extfile", "client.ext", "-out", "client.pem")
    }
}
