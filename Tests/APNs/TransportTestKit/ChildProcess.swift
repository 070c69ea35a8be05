// SPDX-License-Identifier: Apache-2.0

package import Foundation
import ProcessKit
import Testing

/// A program run by a test, and ended with it.
package final class ChildProcess: Sendable {
    private let process: SpawnedProcess
    /// Never closed and never written to: `openssl s_server` ends with its input.
    private let input = Pipe()
    private let output: URL

    /// Starts a program; `name` is looked up in the usual places.
    package init(_ name: String, _ arguments: [String], in directory: TemporaryDirectory) throws {
        guard let path = Self.path(of: name) else { throw Missing(name: name) }
        output = directory.url.appending(path: UUID().uuidString)
        try Data().write(to: output)
        let file = try FileHandle(forWritingTo: output)
        process = try SpawnedProcess(
            [path] + arguments, in: directory.url.path,
            input: input.fileHandleForReading.fileDescriptor, output: file.fileDescriptor,
            errors: file.fileDescriptor)
        try file.close()
    }

    package struct Missing: Error { let name: String }

    package static func path(of name: String) -> String? {
        if name.hasPrefix("/") { return name }
        return ["/usr/bin/", "/usr/sbin/", "/usr/local/bin/"].map { $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Beside this test bundle's executable.
    package static func built(_ product: String) -> String {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: product).path
    }

    package var text: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }

    /// Kills it.
    package func end() {
        process.signal(SIGKILL)
        process.waitForEnd()
    }

    /// Runs until it ends by itself; returns its status and everything it wrote.
    package static func run(
        _ name: String, _ arguments: [String], in directory: TemporaryDirectory
    )
        async throws -> (status: Int32, text: String)
    {
        let child = try ChildProcess(name, arguments, in: directory)
        let status = await child.process.end()
        return (status, child.text)
    }
}

/// A directory that goes with its owner.
package final class TemporaryDirectory: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "rouse-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package func write(_ text: String, to name: String) throws -> String {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file.path
    }
}

/// A self-signed certificate made by `openssl`.
package struct MadeCertificate {
    package let certificatePath: String
    package let keyPath: String

    package init(for name: String, in directory: TemporaryDirectory) async throws {
        let stem = directory.url.appending(path: UUID().uuidString).path
        certificatePath = stem + ".pem"
        keyPath = stem + ".key"
        let made = try await ChildProcess.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=" + name,
                "-keyout", keyPath, "-out", certificatePath,
            ], in: directory)
        try #require(made.status == 0, "\(made.text)")
    }

    package var pem: String {
        get throws { try String(contentsOfFile: certificatePath, encoding: .utf8) }
    }
}

/// Debian's `nghttpd`: an HTTP/2 server that was not written as a test double, with nghttp2's limit
/// on resets.
package final class Nghttpd: Sendable {
    package let port: Int
    package let certificate: MadeCertificate
    package let directory: TemporaryDirectory
    private let process: ChildProcess

    package static var isInstalled: Bool { ChildProcess.path(of: "nghttpd") != nil }

    /// Serves the device token number 0 with 200, and any other with 404.
    package init() async throws {
        directory = try TemporaryDirectory()
        _ = try directory.write("", to: "www/3/device/" + TestPush.token(0))
        certificate = try await MadeCertificate(for: "IP:127.0.0.1", in: directory)
        port = Socket.freePort()
        process = try ChildProcess(
            "nghttpd",
            [
                "-a", "127.0.0.1", "-d", directory.url.appending(path: "www").path, "\(port)",
                certificate.keyPath, certificate.certificatePath,
            ], in: directory)
        let port = port
        let isUp = await eventually {
            guard let probe = Socket.connected(to: port) else { return false }
            return close(probe) == 0
        }
        try #require(isUp, "nghttpd did not come up: \(process.text)")
    }

    package func end() { process.end() }
}
