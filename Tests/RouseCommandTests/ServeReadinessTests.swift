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
