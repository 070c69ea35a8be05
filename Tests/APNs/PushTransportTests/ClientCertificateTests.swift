// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Foundation
import PushTransport
import Testing
import TransportTestKit
import WakeModel

extension ServerTests {
    @Suite("Client certificates", .timeLimit(.minutes(10)))
    struct ClientCertificateTests {
        /// A sender without a provider token: only the certificate can vouch for it.
        private static let anonymous = SharedHeaders([
            HeaderField(name: "apns-topic", value: "com.example.app"),
            HeaderField(name: "apns-push-type", value: "background"),
            HeaderField(name: "apns-priority", value: "5"),
        ])

        enum Form: String, CaseIterable, Sendable { case none, pem, pkcs12, encryptedKey }

        @Test(
            "PEM and PKCS#12 vouch for the sender; without one it is refused",
            arguments: TransportMaker.all, Form.allCases)
        func forms(maker: TransportMaker, form: Form) async throws {
            let directory = try TemporaryDirectory()
            let made = try await MadeCertificate(for: "DNS:client.example", in: directory)
            let bytes = { (path: String) in [UInt8](try Data(contentsOf: URL(filePath: path))) }
            var certificate: TransportConfiguration.ClientCertificate?
            switch form {
            case .none: break
            case .pem:
                certificate = .init(
                    .pem(certificate: try bytes(made.certificatePath), key: try bytes(made.keyPath))
                )
            case .encryptedKey:
                let path = directory.url.appending(path: "locked.key").path
                let run = try await ChildProcess.run(
                    "openssl",
                    [
                        "ec", "-in", made.keyPath, "-aes256", "-passout", "pass:open sesame",
                        "-out",
                        path,
                    ],
                    in: directory)
                try #require(run.status == 0, "\(run.text)")
                certificate = .init(
                    .pem(certificate: try bytes(made.certificatePath), key: try bytes(path)),
                    password: "open sesame")
            case .pkcs12:
                let path = directory.url.appending(path: "client.p12").path
                let run = try await ChildProcess.run(
                    "openssl",
                    [
                        "pkcs12", "-export", "-in", made.certificatePath, "-inkey", made.keyPath,
                        "-passout", "pass:open sesame", "-out", path,
                    ], in: directory)
                try #require(run.status == 0, "\(run.text)")
                certificate = .init(.pkcs12(try bytes(path)), password: "open sesame")
            }
            let authority = try made.pem
            try await withBench(
                maker,
                simulator: { $0.trustedClientCertificateAuthorityPEM = authority },
                transport: { $0.clientCertificate = certificate }
            ) { bench in
                bench.transport.submit(
                    (1...20).map { TestPush.submission($0, shared: Self.anonymous) })
                await bench.inbox.waitForCount(20)
                #expect(bench.inbox.count(status: form == .none ? 403 : 200) == 20)
            }
        }

        @Test("a certificate that cannot be read: tls, not sent", arguments: TransportMaker.all)
        func unreadable(maker: TransportMaker) async throws {
            let broken: [TransportConfiguration.ClientCertificate] = [
                .init(.pem(certificate: Array("no".utf8), key: Array("no".utf8))),
                .init(.pkcs12([1, 2, 3])), .init(.pkcs12([])),
            ]
            for certificate in broken {
                try await withBench(maker, transport: { $0.clientCertificate = certificate }) {
                    bench in
                    #expect(await bench.send(1).label == "tls (not-sent)")
                    #expect(bench.simulator.counters.requests == 0)
                }
            }
        }
    }
}
