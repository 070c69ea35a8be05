// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import APNsWire
import PushTransport
import Testing
import WakeModel

@Suite("Push certificate")
struct PushCertificateTests {
    /// `client.pem`, `client.key`, and what is made from them.
    private func workshop() throws -> Workshop {
        let workshop = try Workshop()
        try workshop.makeClientCertificate()
        try workshop.openssl(
            "pkcs12", "-export", "-in", "client.pem", "-inkey", "client.key", "-out",
            "client.p12", "-passout", "pass:right")
        try workshop.openssl(
            "pkey", "-in", "client.key", "-aes256", "-passout", "pass:right", "-out",
            "encrypted.key")
        return workshop
    }

    @Test("a PEM pair, an encrypted key and a PKCS#12 archive are the same certificate")
    func forms() throws {
        let workshop = try workshop()
        let certificates = [
            try PushCertificate(
                certificatePath: workshop.path("client.pem"), keyPath: workshop.path("client.key")),
            try PushCertificate(
                certificatePath: workshop.path("client.pem"),
                keyPath: workshop.path("encrypted.key"), password: "right"),
            try PushCertificate(
                certificatePath: workshop.path("client.p12"), keyPath: nil, password: "right"),
        ]
        for certificate in certificates {
            #expect(certificate.commonName == "Apple Push Services: com.example.app")
            let life = certificate.notAfter.milliseconds(since: certificate.notBefore)
            #expect(life == 24 * 3600 * 1000)
        }
    }

    @Test("an RSA certificate, which is what Apple issues, is read")
    func rsa() throws {
        let workshop = try Workshop()
        try workshop.openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "rsa.key", "-out",
            "rsa.pem", "-days", "1", "-subj", "/CN=Apple Push Services: com.example.rsa")
        let certificate = try PushCertificate(
            certificatePath: workshop.path("rsa.pem"), keyPath: workshop.path("rsa.key"))
        #expect(certificate.commonName == "Apple Push Services: com.example.rsa")
    }

    @Test("key and certificate may stand in one file")
    func oneFile() throws {
        let workshop = try workshop()
        let both = try workshop.bytes("client.key") + workshop.bytes("client.pem")
        #expect(
            try PushCertificate(certificatePEM: both, keyPEM: both).commonName
                == "Apple Push Services: com.example.app")
    }

    /// Which files are given, with which password, and what is wrong with that.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let certificate: String
        let key: String?
        let password: String?
        let problem: String
    }

    static let faults = [
        Fault(
            testDescription: "encrypted key, no password", certificate: "client.pem",
            key: "encrypted.key", password: nil, problem: "encrypted key and no password"),
        Fault(
            testDescription: "encrypted key, wrong password", certificate: "client.pem",
            key: "encrypted.key", password: "wrong",
            problem: "cannot be opened with this password"),
        Fault(
            testDescription: "another key", certificate: "client.pem", key: "ca.key",
            password: nil, problem: "do not belong together"),
        Fault(
            testDescription: "a certificate for a key", certificate: "client.pem",
            key: "client.pem", password: nil, problem: "without a private key"),
        Fault(
            testDescription: "a key for a certificate", certificate: "client.key",
            key: "client.key", password: nil, problem: "cannot be read as a certificate"),
        Fault(
            testDescription: "PEM without its key", certificate: "client.pem", key: nil,
            password: nil, problem: "cannot be read as a PKCS#12 archive"),
        Fault(
            testDescription: "archive, wrong password", certificate: "client.p12", key: nil,
            password: "wrong", problem: "cannot be opened with this password"),
        Fault(
            testDescription: "archive, no password", certificate: "client.p12", key: nil,
            password: nil, problem: "no password"),
        Fault(
            testDescription: "archive in an outdated cipher", certificate: "legacy.p12",
            key: nil, password: "right", problem: "outdated cipher"),
        Fault(
            testDescription: "archive in an outdated cipher, wrong password",
            certificate: "legacy.p12", key: nil, password: "wrong",
            problem: "cannot be opened with this password"),
        Fault(
            testDescription: "archive without a key", certificate: "keyless.p12", key: nil,
            password: "right", problem: "without a private key"),
        Fault(
            testDescription: "archive that was cut", certificate: "cut.p12", key: nil,
            password: "right", problem: "cannot be read as a PKCS#12 archive"),
        Fault(
            testDescription: "empty", certificate: "empty", key: nil, password: nil,
            problem: "cannot be read as a PKCS#12 archive"),
        Fault(
            testDescription: "missing", certificate: "missing.pem", key: "client.key",
            password: nil, problem: "No such file or directory"),
        Fault(
            testDescription: "missing key", certificate: "client.pem", key: "missing.key",
            password: nil, problem: "No such file or directory"),
    ]

    @Test(
        "each fault has its own problem and a fix, and shows neither key nor password",
        arguments: faults)
    func refused(fault: Fault) throws {
        let workshop = try workshop()
        try workshop.openssl(
            "pkcs12", "-export", "-legacy", "-in", "client.pem", "-inkey", "client.key", "-out",
            "legacy.p12", "-passout", "pass:right")
        try workshop.openssl(
            "pkcs12", "-export", "-nokeys", "-in", "client.pem", "-out", "keyless.p12",
            "-passout", "pass:right")
        try workshop.write(workshop.bytes("client.p12").prefix(200), to: "cut.p12")
        try workshop.write([], to: "empty")
        let error = #expect(throws: InvalidField.self) {
            try PushCertificate(
                certificatePath: workshop.path(fault.certificate),
                keyPath: fault.key.map(workshop.path), password: fault.password)
        }
        #expect(error?.field.hasPrefix("certificate") == true)
        #expect(error?.problem.contains(fault.problem) == true, "\(error?.problem ?? "")")
        #expect(error?.remedy.isEmpty == false)
        if let password = fault.password, let error {
            #expect(!"\(error)".contains(password + "\n"))
        }
    }

    @Test(
        "pushes go out under a certificate, without a provider token, for its topics and types",
        arguments: ["pem", "encrypted", "pkcs12"])
    func endToEnd(form: String) async throws {
        let workshop = try workshop()
        let certificate =
            switch form {
            case "pem":
                try PushCertificate(
                    certificatePath: workshop.path("client.pem"),
                    keyPath: workshop.path("client.key"))
            case "encrypted":
                try PushCertificate(
                    certificatePath: workshop.path("client.pem"),
                    keyPath: workshop.path("encrypted.key"), password: "right")
            default:
                try PushCertificate(
                    certificatePath: workshop.path("client.p12"), keyPath: nil, password: "right")
            }
        var configuration = APNsSimulator.Configuration()
        configuration.trustedClientCertificateAuthorityPEM = try workshop.text("ca.pem")
        configuration.clientCertificateTopics = ["com.example.app", "com.example.app.voip"]
        try await withClient(configuration, authentication: .certificate(certificate)) {
            client, simulator in
            #expect(try await client.send(Samples.background()).isAccepted)
            #expect(try await client.send(Samples.voip()).isAccepted)
            let location = try await client.send(
                Push.wake(
                    .location, to: Samples.device(3), of: Samples.app, payload: Samples.payload,
                    apnsID: .generate()))
            #expect(location.rejection?.reason == .invalidPushType, "location takes no certificate")
            let other = try await client.send(
                Push.background(
                    to: Samples.device(4), of: BundleID("com.example.other"),
                    payload: Samples.payload))
            #expect(other.rejection?.reason == .topicDisallowed)
            for push in simulator.receivedPushes { #expect(push["authorization"] == nil) }
            #expect(simulator.receivedPushes.count == 4)
        }
    }
}
