// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import Foundation
import Testing

@Suite("rouse doctor")
struct DoctorTests {
    @Test("finds nothing wrong with a good key and a server that answers, and pushes nothing")
    func healthy() async throws {
        try await RunningSimulator.with { simulator in
            let text = try await Rouse.run(
                ["doctor"] + simulator.credential + simulator.server)
            #expect(text.status == 0, "\(text.all)")
            #expect(text.out.contains("transport: native"))
            #expect(text.out.contains("key ABCDE12345 of team"))
            #expect(text.out.contains("TLS and HTTP/2 work"))
            #expect(text.out.contains("0 wrong, 0 warnings"))
            #expect(simulator.simulator.counters.answers[200] == nil)
        }
    }

    @Test(
        "says which transport it is, and why one might choose the other",
        arguments: [("native", "curl", "proxy"), ("curl", "native", "faster")])
    func transports(kind: String, other: String, reason: String) async throws {
        let result = try await Rouse.run(
            ["doctor", "--offline", "--json", "--transport", kind])
        #expect(result.status == 0, "\(result.all)")
        let findings = try #require(try result.json()["findings"] as? [[String: Any]])
        let finding = try #require(findings.first { $0["subject"] as? String == "transport" })
        let message = try #require(finding["message"] as? String)
        #expect(message.hasPrefix(kind) && message.contains("'\(other)'"), "\(message)")
        #expect(message.contains(reason), "\(message)")
    }

    @Test("says that the guard against libcurl's resets is active in this very program")
    func resetGuard() async throws {
        let result = try await Rouse.run(
            ["doctor", "--offline", "--json", "--transport", "curl"])
        #expect(result.status == 0, "\(result.all)")
        let findings = try #require(try result.json()["findings"] as? [[String: Any]])
        let guarding = try #require(findings.first { $0["subject"] as? String == "reset-guard" })
        #expect(guarding["state"] as? String == "fine")
        let message = try #require(guarding["message"] as? String)
        #expect(message.lowercased().contains("active"))
        #expect(!message.lowercased().contains("not active"))
        #expect(try result.json()["healthy"] as? Bool == true)
    }

    @Test("tells a key of the wrong kind, and one that others can read")
    func keys() async throws {
        let folder = try TestFolder()
        let publicKey = try folder.write(SigningKey.generate().publicKeyPEM, to: "public.p8")
        let options = ["--key-id", "ABCDE12345", "--team-id", "TEAM123456", "--offline"]
        let wrong = try await Rouse.run(["doctor", "--key", publicKey] + options)
        #expect(wrong.status == 78, "\(wrong.all)")
        #expect(wrong.out.contains("holds a public key"))

        let open = try folder.write(SigningKey.generate().privateKeyPEM, to: "open.p8")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
        let readable = try await Rouse.run(["doctor", "--key", open, "--json"] + options)
        #expect(readable.status == 0, "\(readable.all)")
        let findings = try #require(try readable.json()["findings"] as? [[String: Any]])
        let warning = try #require(findings.first { $0["state"] as? String == "warning" })
        #expect((warning["fix"] as? String)?.hasPrefix("Run: chmod 600") == true)
    }

    @Test("tells an untrusted server and one that is not there, with 69")
    func servers() async throws {
        try await RunningSimulator.with { simulator in
            let untrusted = try await Rouse.run(
                ["doctor", "--host", "127.0.0.1", "--port", "\(simulator.simulator.port)"])
            #expect(untrusted.status == 69, "\(untrusted.all)")
            #expect(untrusted.out.contains("--ca"))
            let nobody = try await Rouse.run(["doctor", "--host", "127.0.0.1", "--port", "1"])
            #expect(nobody.status == 69)
            #expect(nobody.out.contains("could not be reached"))
            // It sends no push, so it has none to tell the fate of.
            #expect(!nobody.out.contains("not sent"), "\(nobody.out)")
        }
    }

    @Test("checks a configuration and the credentials of all its apps, with 78")
    func configuration() async throws {
        let folder = try TestFolder()
        try folder.write(SigningKey.generate().privateKeyPEM, to: "AuthKey_ABCDE12345.p8")
        let yaml = try folder.write(
            """
            api-keys:
              - name: test
                sha256: \(String(repeating: "0", count: 64))
            apps:
              - bundle-id: com.example.app
                environment: production
                team-id: TEAM123456
                key-file: AuthKey_ABCDE12345.p8
            """, to: "rouse.yaml")
        let good = try await Rouse.run(["doctor", "--config", yaml, "--offline"])
        #expect(good.status == 0, "\(good.all)")
        #expect(good.out.contains("com.example.app (production)"))

        let loose = try folder.write(
            "store-durability: system\n" + (try String(contentsOfFile: yaml, encoding: .utf8)),
            to: "loose.yaml")
        let warned = try await Rouse.run(["doctor", "--config", loose, "--offline"])
        #expect(warned.status == 0, "\(warned.all)")
        #expect(warned.out.contains("0 wrong, 1 warning."), "\(warned.all)")
        #expect(warned.out.contains("Write disk if an accepted wake must survive that."))

        let several = try folder.write(
            try String(contentsOfFile: yaml, encoding: .utf8) + """

                  - bundle-id: com.example.other
                    environment: sandbox
                    team-id: TEAM123456
                    key-file: AuthKey_ABCDE12345.p8
                """, to: "several.yaml")
        let both = try await Rouse.run(["doctor", "--config", several, "--offline"])
        #expect(both.status == 0, "\(both.all)")
        #expect(both.out.contains("For com.example.app (production)"))
        #expect(both.out.contains("For com.example.other (sandbox)"))

        let homeless = try folder.write(
            "store: new/wakes.sqlite\n" + String(contentsOfFile: yaml, encoding: .utf8),
            to: "homeless.yaml")
        let store = try await Rouse.run(["doctor", "--config", homeless, "--offline"])
        #expect(store.status == 77, "\(store.all)")
        // Lines are broken for a terminal, wherever a word ends.
        let words = store.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("install -d -m 0700 \(folder.path)/new"), "\(store.all)")

        try FileManager.default.removeItem(atPath: folder.path + "/AuthKey_ABCDE12345.p8")
        let missing = try await Rouse.run(["doctor", "--config", yaml, "--offline"])
        #expect(missing.status == 78, "\(missing.all)")
        #expect(missing.out.contains("No such file"))

        let typo = try folder.write("lisen: x", to: "typo.yaml")
        let unknown = try await Rouse.run(["doctor", "--config", typo, "--offline"])
        #expect(unknown.status == 78)
        #expect(unknown.out.contains("Did you mean listen?"))
    }
}
