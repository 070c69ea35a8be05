// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import APNsWire
import PushTransport
import Testing
import WakeModel

@Suite("What is never shown")
struct SecretsTests {
    /// Everything that print, a debugger and `dump` say of a value.
    private func shown(_ value: some Any) -> String {
        var text = "\(value)\n" + String(reflecting: value) + "\n"
        dump(value, to: &text)
        return text
    }

    @Test("nothing that is printed of key, token, source, configuration or client is secret")
    func providerToken() async throws {
        let key = SigningKey.generate()
        let tokens = try Samples.tokens(key: key)
        let simulator = try await APNsSimulator.start()
        var configuration = APNsClient.Configuration(
            transport: simulator.transport, authentication: .providerToken(tokens))
        let client = try APNsClient(configuration)
        let push = try Samples.background()
        #expect(try await client.send(push).isAccepted)
        configuration.transport.proxy = .http(
            url: "http://proxy.example:3128",
            credentials: .init(user: "user", password: "p4ssw0rd"))
        let token = tokens.current()
        let texts = [
            shown(key), shown(token), shown(tokens), shown(configuration),
            shown(configuration.authentication), shown(configuration.transport), shown(client),
            shown(push), shown(Optional(token)), shown(["key": key]),
        ]
        let keyLines = key.privateKeyPEM.split(separator: "\n").dropFirst().dropLast()
        #expect(keyLines.count >= 2)
        for text in texts {
            for secret in keyLines.map(String.init)
                + token.value.split(separator: ".").map(String.init)
                + ["p4ssw0rd", push.deviceToken.hex]
            {
                #expect(!text.contains(secret))
            }
        }
        #expect("\(key)" == "signing key (secret)")
        #expect("\(token)".hasPrefix("provider token #1 of 2"))
        #expect("\(tokens)" == "provider tokens of key KEYKEY1234, team TEAM123456")
        await client.shutDown()
        try await simulator.shutdown()
    }

    @Test("nothing that is printed of a certificate is its key or its password")
    func certificate() async throws {
        let workshop = try Workshop()
        try workshop.makeClientCertificate()
        let certificate = try PushCertificate(
            certificatePEM: workshop.bytes("client.pem"), keyPEM: workshop.bytes("client.key"),
            password: "p4ssw0rd")
        let configuration = APNsClient.Configuration(
            environment: .sandbox, authentication: .certificate(certificate))
        let client = try APNsClient(configuration)
        let keyBytes = try workshop.bytes("client.key").prefix(12)
            .map { "\($0)" }.joined(separator: ", ")
        let keyLines = try workshop.text("client.key").split(separator: "\n").dropFirst().dropLast()
        for text in [shown(certificate), shown(configuration), shown(client)] {
            #expect(!text.contains("p4ssw0rd"))
            #expect(!text.contains(keyBytes))
            for line in keyLines { #expect(!text.contains(line)) }
        }
        #expect(shown(certificate).contains("Apple Push Services: com.example.app"))
        await client.shutDown()
    }
}
