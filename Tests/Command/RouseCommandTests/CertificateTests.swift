// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Foundation
import Testing

@Suite("Certificates instead of keys")
struct CertificateTests {
    @Test("push and doctor take a PEM pair, and an archive whose password is a variable")
    func certificate() async throws {
        let folder = try TestFolder()
        let (pem, key, archive) = (
            folder.path + "/c.pem", folder.path + "/c.key", folder.path + "/c.p12"
        )
        let made = try await Rouse.run(
            "/bin/sh",
            [
                "-c",
                """
                umask 077
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 \
                  -subj '/CN=Apple Push Services: \(RunningSimulator.bundleID)' \
                  -keyout '\(key)' -out '\(pem)'
                openssl pkcs12 -export -in '\(pem)' -inkey '\(key)' -out '\(archive)' \
                  -passout pass:correct-horse
                """,
            ])
        #expect(made.status == 0, "\(made.all)")
        let authority = try String(contentsOfFile: pem, encoding: .utf8)
        try await RunningSimulator.with {
            $0.trustedClientCertificateAuthorityPEM = authority
        } _: { simulator in
            let app = ["--bundle-id", RunningSimulator.bundleID] + simulator.server
            let pair = try await Rouse.run(
                ["push", "--cert", pem, "--cert-key", key] + app + [RunningSimulator.device])
            #expect(pair.status == 0, "\(pair.all)")
            #expect(pair.out.contains("Apple Push Services"))

            let password = ["ROUSE_CERT_PASSWORD": "correct-horse"]
            let packed = try await Rouse.run(
                ["push", "--p12", archive] + app + [RunningSimulator.device], environment: password)
            #expect(packed.status == 0, "\(packed.all)")
            #expect(simulator.simulator.receivedPushes.allSatisfy { $0["authorization"] == nil })

            let locked = try await Rouse.run(
                ["push", "--p12", archive] + app + [RunningSimulator.device])
            #expect(locked.status == 78, "\(locked.all)")
            #expect(locked.error.contains("password"))
            #expect(locked.error.contains("ROUSE_CERT_PASSWORD"), "\(locked.all)")
            let wrong = try await Rouse.run(
                ["push", "--p12", archive] + app + [RunningSimulator.device],
                environment: ["ROUSE_CERT_PASSWORD": "battery-staple"])
            #expect(wrong.status == 78, "\(wrong.all)")
            #expect(wrong.error.contains("Check ROUSE_CERT_PASSWORD"), "\(wrong.all)")

            let checked = try await Rouse.run(
                ["doctor", "--p12", archive, "--offline"] + app, environment: password)
            #expect(checked.status == 0, "\(checked.all)")
            #expect(checked.out.contains("valid until"))
            for output in [pair, packed, locked, checked].map(\.all) {
                #expect(!output.contains("correct-horse"))
            }
        }
    }

    @Test("a certificate whose PEM is locked is refused, and nobody is asked for its password")
    func lockedCertificate() async throws {
        let folder = try TestFolder()
        let made = try await Rouse.run(
            "/bin/sh",
            [
                "-c",
                """
                cd '\(folder.path)' && umask 077 && \
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 \
                  -subj /CN=locked -keyout c.key -out c.pem
                """,
            ])
        #expect(made.status == 0, "\(made.all)")
        let begin = "-----BEGIN CERTIFICATE-----\n"
        let pem = try String(contentsOfFile: folder.path + "/c.pem", encoding: .utf8)
        let locked = try folder.write(
            pem.replacing(
                begin,
                with: begin + "Proc-Type: 4,ENCRYPTED\n"
                    + "DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\n"),
            to: "locked.pem")
        // Without a terminal of its own OpenSSL would ask, and read, on the standard streams.
        let result = try await Rouse.run(
            "/usr/bin/setsid",
            ["--wait", Rouse.path, "push", "--host", "127.0.0.1", "--port", "9"]
                + ["--bundle-id", RunningSimulator.bundleID, "--cert", locked]
                + ["--cert-key", folder.path + "/c.key", RunningSimulator.device],
            stdin: "battery-staple\n")
        #expect(result.status == 78, "\(result.all)")
        #expect(!result.all.contains("pass phrase"), "\(result.all)")
    }

    @Test("the simulator takes clients with certificates of an authority that it is told")
    func simulator() async throws {
        let folder = try TestFolder()
        let made = try await Rouse.run(
            "/bin/sh",
            [
                "-c",
                """
                cd '\(folder.path)' && umask 077 && \
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 \
                  -subj '/CN=Apple Push Services: \(RunningSimulator.bundleID)' -keyout c.key \
                  -out c.pem
                """,
            ])
        #expect(made.status == 0, "\(made.all)")
        let certificate = ["--cert", folder.path + "/c.pem", "--cert-key", folder.path + "/c.key"]
        for (options, status) in [(["--client-ca", folder.path + "/c.pem"], 0), ([], 1)] {
            let simulator = try RunningRouse(
                ["apns-simulator", "--folder", folder.path] + options)
            let lines = try await simulator.lines { $0.hasPrefix("Ready") }
            let address = try #require(lines.last?.firstMatch(of: /127\.0\.0\.1:(\d+)/)?.output)
            let result = try await Rouse.run(
                ["push", "--host", "127.0.0.1", "--port", String(address.1)]
                    + ["--ca", folder.path + "/ca.pem", "--bundle-id", RunningSimulator.bundleID]
                    + certificate + [RunningSimulator.device])
            #expect(result.status == Int32(status), "\(result.all)")
            // Clients with tokens are served as before.
            let words = try #require(lines.first { $0.hasPrefix("Try") }).split(separator: " ")
            let token = try await Rouse.run(words.dropFirst(2).map(String.init))
            #expect(token.status == 0, "\(token.all)")
            #expect(try await simulator.end(SIGTERM) == 0)
        }
        for (path, status) in [("/nonexistent", 66), (folder.path + "/c.key", 65)] {
            let refused = try await Rouse.run(["apns-simulator", "--client-ca", path])
            #expect(refused.status == Int32(status), "\(refused.all)")
        }
    }
}
