// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import Testing

@testable import AdminAPI

@Suite("Pages of other sites, where no key is asked for", .timeLimit(.minutes(10)))
struct BrowserCheckTests {
    @Test(
        "Only names of this machine are answered",
        arguments: [
            ("localhost", true), ("LOCALHOST:8080", true), ("127.0.0.1:8080", true),
            ("[::1]", true), ("[::1]:8080", true), ("rouse.localhost:8080", true),
            ("attacker.example", false), ("attacker.example:8080", false),
            ("localhost.attacker.example", false), ("127.0.0.1.attacker.example", false),
            ("notlocalhost", false), ("[::2]", false), ("192.0.2.1", false),
        ])
    func hosts(authority: String, isAnswered: Bool) {
        var problem: Problem?
        do throws(Problem) {
            try BrowserCheck.check(authority: authority, origin: [])
        } catch {
            problem = error
        }
        #expect((problem == nil) == isAnswered)
    }

    @Test("A cross-site post and a rebound name change nothing; a tool without either header may")
    func requests() async throws {
        var bench = try APIBench()
        bench.configuration.authentication = .disabled
        try await bench.serve { caller in
            let body = APIBench.body()
            func post(_ host: String, _ more: String) async throws -> HTTPExchange {
                try await HTTPExchange.raw(
                    Array(
                        ("POST /v1/wakes HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(more)"
                            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8),
                    port: caller.port)
            }
            let ours = "localhost:\(caller.port)"
            for (host, origin) in [
                (ours, "http://attacker.example"), (ours, "null"), (ours, "http://localhost:3000"),
                (ours, "http://localhost"), ("attacker.example", "http://attacker.example"),
            ] {
                try expectProblem(
                    try await post(host, "Origin: \(origin)\r\n"), .foreignOrigin)
            }
            try expectProblem(try await post("attacker.example", ""), .foreignOrigin)
            #expect(try await caller.send("GET", "/v1/stats").json()["accepted"] as? Int == 0)
            #expect(try await post(ours, "").status == 202)
            #expect(try await post(ours, "Origin: http://\(ours)\r\n").status == 202)
        }
    }

    @Test("Where keys are asked for, the key decides, under any name")
    func keys() async throws {
        try await APIBench().serve { caller in
            let answer = try await caller.send(
                "GET", "/v1/stats", headers: ["Origin": "https://dashboard.example"])
            #expect(answer.status == 200)
        }
    }
}
