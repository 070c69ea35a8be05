// SPDX-License-Identifier: Apache-2.0

import APNsClient
import Foundation
import HTTPTestKit
import Testing

@testable import RouseCommand

/// What `rouse serve` refuses, `rouse doctor` finds before it, without asking anybody.
@Suite("rouse doctor on a configuration", .timeLimit(.minutes(10)))
struct DoctorChecksTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// A folder with a key, a secret and a configuration that serves, with `text` in it.
    private static func folder(_ text: String = "") throws -> (TestFolder, String) {
        let folder = try TestFolder()
        try folder.write(SigningKey.generate().privateKeyPEM, to: "AuthKey_ABCDE12345.p8")
        try folder.write(secret, to: "hook")
        let path = try folder.write(
            """
            listen: 127.0.0.1:0
            store: wakes.sqlite
            api-keys:
              - name: test
                sha256: \(String(repeating: "0", count: 64))
            \(text)
            apps:
              - bundle-id: com.example.app
                environment: production
                team-id: TEAM123456
                key-file: AuthKey_ABCDE12345.p8
              - bundle-id: com.example.other
                environment: sandbox
                team-id: TEAM123456
                key-file: AuthKey_ABCDE12345.p8

            """, to: "rouse.yaml")
        return (folder, path)
    }

    /// A text without the breaks of its lines.
    private static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Runs both, and expects both to refuse the file, and the doctor to say why.
    private static func expectRefusal(
        _ path: String, _ reason: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let serve = try await Rouse.run(["serve", "--config", path])
        #expect(serve.status > 0, "\(serve.all)", sourceLocation: sourceLocation)
        let doctor = try await Rouse.run(["doctor", "--offline", "--config", path])
        #expect(doctor.status > 0, "\(doctor.all)", sourceLocation: sourceLocation)
        let told = words(doctor.out)
        #expect(told.contains(reason), "\(doctor.all)", sourceLocation: sourceLocation)
        #expect(!told.contains(" 0 wrong"), "\(doctor.all)", sourceLocation: sourceLocation)
    }

    @Test("two files for one key id")
    func twoKeyFiles() async throws {
        let (folder, path) = try Self.folder()
        try folder.write(SigningKey.generate().privateKeyPEM, to: "other.p8")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let last = try #require(text.range(of: "AuthKey_ABCDE12345.p8", options: .backwards))
        try text.replacingCharacters(in: last, with: "other.p8\n    key-id: ABCDE12345")
            .write(toFile: path, atomically: true, encoding: .utf8)
        try await Self.expectRefusal(path, "Two apps name different files for key ABCDE12345")
    }

    @Test("a file of a server's authorities that is not there, for one app of several")
    func serverAuthorities() async throws {
        let (folder, path) = try Self.folder()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try (text + "    server: { host: 127.0.0.1, ca-file: none.pem }\n")
            .write(toFile: path, atomically: true, encoding: .utf8)
        try await Self.expectRefusal(path, "\(folder.path)/none.pem) cannot be read")
        try folder.write("a secret", to: "none.pem")
        try await Self.expectRefusal(path, "\(folder.path)/none.pem) holds no certificate")
    }

    @Test("a file of a receiver's authorities that is not there, or holds none")
    func webhookAuthorities() async throws {
        let (folder, path) = try Self.folder(
            "webhook: { url: \"https://127.0.0.1:1/\", secret-file: hook, ca-file: ca.pem }")
        try await Self.expectRefusal(path, "webhook.ca-file (\(folder.path)/ca.pem) cannot be read")
        try folder.write("no certificate", to: "ca.pem")
        try await Self.expectRefusal(path, "webhook.ca-file (\(folder.path)/ca.pem) holds no")
    }

    @Test("a disk without room for a store")
    func room() throws {
        // It has no room, and never had.
        let full = try #require(StoreCheck.roomFault("/proc"))
        #expect(full.state == .wrong && full.message == "The disk of /proc has 0 MiB left.")
        #expect(StoreCheck.roomFault("/none/at/all") == nil)
    }

    @Test("a store that is no database, that is a folder, or that has two names")
    func store() async throws {
        let (folder, path) = try Self.folder()
        let store = try folder.write(String(repeating: "no database ", count: 99), to: "x.sqlite")
        let named = try folder.write(
            String(contentsOfFile: path, encoding: .utf8).replacing("wakes.", with: "x."),
            to: "named.yaml")
        try await Self.expectRefusal(named, "\(store) is no database")
        try folder.write("SQLite format 3", to: "x.sqlite")
        try await Self.expectRefusal(named, "\(store) is no database")
        try FileManager.default.removeItem(atPath: store)
        try FileManager.default.createDirectory(
            atPath: store, withIntermediateDirectories: false)
        try await Self.expectRefusal(named, "\(store) is no file")
        try FileManager.default.removeItem(atPath: store)
        // An empty file is as good as none.
        try folder.write("", to: "x.sqlite")
        let empty = try await Rouse.run(["doctor", "--offline", "--config", named])
        #expect(empty.status == 0, "\(empty.all)")
        // A link is as good as what it leads to.
        let link = try folder.write(
            String(contentsOfFile: named, encoding: .utf8).replacing("x.", with: "link."),
            to: "link.yaml")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link.sqlite", withDestinationPath: store)
        let linked = try await Rouse.run(["doctor", "--offline", "--config", link])
        #expect(linked.status == 0 && Self.words(linked.out).contains(store), "\(linked.all)")
        try FileManager.default.removeItem(atPath: folder.path + "/link.sqlite")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link.sqlite",
            withDestinationPath: folder.path + "/none/x.sqlite")
        try await Self.expectRefusal(link, "\(folder.path)/none/x.sqlite has no folder yet")
        try FileManager.default.linkItem(atPath: store, toPath: folder.path + "/y.sqlite")
        try await Self.expectRefusal(named, "\(store) has 2 names (hard links)")
    }

    @Test("a socket's group that is not there, before there is a store")
    func socketGroup() async throws {
        let (folder, path) = try Self.folder("listener: { socket-group: rouse-none }")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing("127.0.0.1:0", with: "unix:rouse.sock")
            .write(toFile: path, atomically: true, encoding: .utf8)
        try await Self.expectRefusal(
            path, "listener.socket-group is no group of this machine (rouse-none)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/wakes.sqlite"))
    }

    @Test("a socket in a folder that is not there, or with a name that is too long")
    func socket() async throws {
        let (folder, path) = try Self.folder()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for (name, reason) in [
            ("none/rouse.sock", "has no folder"),
            (String(repeating: "long", count: 30), "is too long"),
        ] {
            try text.replacing("127.0.0.1:0", with: "unix:\(folder.path)/\(name)")
                .write(toFile: path, atomically: true, encoding: .utf8)
            try await Self.expectRefusal(path, reason)
        }
    }

    @Test(
        "a listener's certificate out of its time is wrong, and one that ends soon a warning",
        arguments: [
            ("20200101000000Z", "20210101000000Z", "It is not valid any more", 78),
            ("20900101000000Z", "20910101000000Z", "It is not valid yet", 78),
            ("20200101000000Z", "20900101000000Z", "valid until", 0),
        ])
    func listenerCertificate(
        start: String, end: String, words: String, status: Int32
    ) async throws {
        let (folder, path) = try Self.folder("tls: { certificate-file: c.pem, key-file: c.key }")
        try await Self.makeCertificate(in: folder, ["-not_before", start, "-not_after", end])
        let doctor = try await Rouse.run(["doctor", "--offline", "--config", path])
        #expect(doctor.status == status, "\(doctor.all)")
        #expect(Self.words(doctor.out).contains(words), "\(doctor.all)")
    }

    /// `openssl x509` of OpenSSL 3.0 knows whole days only, so the times are those of `ca`.
    private static func makeCertificate(in folder: TestFolder, _ times: [String]) async throws {
        let made = try await Rouse.run(
            "/bin/sh",
            [
                "-c",
                """
                cd '\(folder.path)' && umask 077 && : > index && \
                openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
                  -subj /CN=rouse -keyout c.key -out c.csr && \
                printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index\\nnew_certs_dir=.\\n\
                rand_serial=1\\npolicy=p\\ndefault_md=sha256\\n[p]\\ncommonName=supplied\\n' \
                  > ca.cnf && \
                openssl ca -batch -selfsign -config ca.cnf -in c.csr -keyfile c.key \
                  -out c.pem -notext -startdate \(times[1]) -enddate \(times[3])
                """,
            ])
        try #require(made.status == 0, "\(made.all)")
    }

    @Test("a receiver is asked online, by no more than a request for its first page")
    func receiver() async throws {
        let receiver = try OneShotServer(
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        defer { receiver.stop() }
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            try simulator.folder.write(Self.secret, to: "hook")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            func write(port: Int) throws {
                try """
                webhooks: [{ url: "http://127.0.0.1:\(port)/in?key=hidden", secret-file: hook }]
                \(text)
                """.write(toFile: path, atomically: true, encoding: .utf8)
            }
            try write(port: receiver.port)
            let fine = try await Rouse.run(["doctor", "--config", path])
            #expect(fine.status == 0, "\(fine.all)")
            #expect(
                Self.words(fine.out).contains("http://127.0.0.1:\(receiver.port) can be reached"),
                "\(fine.all)")
            #expect(receiver.received.map { $0.prefix(15) } == ["GET / HTTP/1.1\r\n".prefix(15)])
            let offline = try await Rouse.run(["doctor", "--offline", "--config", path])
            #expect(offline.status == 0, "\(offline.all)")
            #expect(receiver.received.count == 1)
            // Nobody listens on the first of all ports.
            try write(port: 1)
            let nobody = try await Rouse.run(["doctor", "--config", path])
            #expect(nobody.status == 69, "\(nobody.all)")
            #expect(nobody.out.contains("http://127.0.0.1:1"), "\(nobody.all)")
            #expect(!(fine.all + nobody.all).contains("hidden"))
        }
    }

    @Test(
        "a receiver that leads elsewhere is a warning: redirects of events are not followed",
        arguments: [
            ("https://www.example.com/login?key=hidden", true), ("/login?key=hidden", false),
        ])
    func redirect(target: String, isWarned: Bool) async throws {
        let receiver = try OneShotServer(
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n")
        defer { receiver.stop() }
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            try simulator.folder.write(Self.secret, to: "hook")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try """
            webhooks: [{ url: "http://127.0.0.1:\(receiver.port)/in", secret-file: hook }]
            \(text)
            """.write(toFile: path, atomically: true, encoding: .utf8)
            let doctor = try await Rouse.run(["doctor", "--config", path])
            let words = Self.words(doctor.out)
            #expect(doctor.status == 0, "\(doctor.all)")
            #expect(
                words.contains("answered 307, a redirect to https://www.example.com. Redirects")
                    == isWarned, "\(doctor.all)")
            #expect(words.contains("The page for events was not asked") != isWarned)
            #expect(!doctor.all.contains("hidden"))
        }
    }

    @Test(
        "a secret that libraries would decode and Rouse does not is a warning",
        arguments: [
            ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true), (secret, false),
            ("just some words, 25 bytes", false), ("MfKQ9r8GKYqrTwjUPD8I", false),
        ])
    func bareSecret(secret: String, isWarned: Bool) async throws {
        let (folder, path) = try Self.folder(
            "webhook: { url: \"https://127.0.0.1:1/\", secret-file: hook }")
        try folder.write(secret + "\n", to: "hook")
        let doctor = try await Rouse.run(["doctor", "--offline", "--config", path])
        #expect(doctor.status == 0, "\(doctor.all)")
        #expect(Self.words(doctor.out).contains("without whsec_") == isWarned, "\(doctor.all)")
        #expect(!doctor.all.contains(secret))
    }
}
