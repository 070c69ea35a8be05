// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import RouseCommand

@Suite("What keeps a gateway from being started")
struct ServeReadinessTests {
    private static func problems(_ yaml: String) throws -> [String] {
        let configuration = try ServeConfiguration(
            yaml: """
                apps:
                  - { bundle-id: com.example.app, environment: sandbox, team-id: TEAM123456,
                      key-id: ABCDE12345, key-file: key.p8 }
                api-keys: [{ name: a, sha256: \(String(repeating: "0", count: 64)) }]

                """ + yaml, file: "rouse.yaml", folder: URL(filePath: "/etc/rouse/"),
            variables: Variables([:]))
        return ServeReadiness.problems(of: configuration, keysFile: KeysFile())
    }

    @Test("a key is asked for at the start; one that has expired is one, and a reload needs none")
    func keys() throws {
        func problems(_ keys: String, _ file: KeysFile, isReload: Bool = false) throws -> [String] {
            let configuration = try ServeConfiguration(
                yaml: """
                    apps:
                      - { bundle-id: com.example.app, environment: sandbox, team-id: TEAM123456,
                          key-id: ABCDE12345, key-file: key.p8 }
                    \(keys)
                    """, file: "rouse.yaml", folder: URL(filePath: "/etc/rouse/"),
                variables: Variables([:]))
            return ServeReadiness.problems(
                of: configuration, keysFile: file, isReload: isReload)
        }
        let digest = String(repeating: "0", count: 64)
        let expired = "expires: 2020-01-01T00:00:00Z"
        #expect(
            try problems("api-keys: [{ name: a, sha256: \(digest), \(expired) }]", KeysFile()) == []
        )
        var file = KeysFile()
        file.keys = [
            KeysFile.Entry(
                name: "a", sha256: digest, scopes: ["wake"], createdAt: "2020-01-01T00:00:00Z",
                createdBy: "root", expiresAt: "2020-01-02T00:00:00Z")
        ]
        #expect(try problems("", file) == [])
        file.keys[0].revokedAt = "2020-01-01T00:00:00Z"
        #expect(try problems("", file).first?.hasPrefix("There is no API key") == true)
        #expect(try problems("", file, isReload: true) == [])
    }

    @Test(
        "webhooks in the clear stay on this machine, unless insecure is set",
        arguments: [
            ("http://hooks.example/in", false), ("http://10.0.0.7:8080/in", false),
            ("http://localhost.example/in", false), ("https://hooks.example/in", true),
            ("http://127.0.0.1:9000/in", true), ("http://[::1]:9000/in", true),
            ("http://localhost/in", true),
        ])
    func webhooks(url: String, isFine: Bool) throws {
        let yaml = "webhooks: [{ url: \"https://a.example\" }, { url: \"\(url)\" }]\n"
        let problems = try Self.problems(yaml)
        #expect(problems.isEmpty == isFine, "\(problems)")
        if !isFine {
            #expect(problems.first?.hasPrefix("webhooks[1].url is http to another machine") == true)
            #expect(problems.first?.contains("https://host/path") == true)
            #expect(problems.first?.contains(url) == false, "a URL may hold what is secret")
        }
        #expect(try Self.problems(yaml + "insecure: true\n").isEmpty)
    }
}
