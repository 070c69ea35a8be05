// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AdminAPI

@Suite("The choice of HTTP's version, over real sockets", .timeLimit(.minutes(10)))
struct HTTPVersionChoiceTests {
    @Test("A part of the preface is a head that does not end, and is answered as such")
    func slowPreface() async throws {
        var bench = try APIBench()
        bench.configuration.headerSeconds = 1
        try await bench.serve { caller in
            let answer = try await HTTPExchange.raw(
                Array("PRI * HTTP/2.0\r\n\r\nSM".utf8), port: caller.port)
            #expect([400, 408].contains(answer.status), "\(answer.head)")
            let other = try await HTTPExchange.raw(Array("P".utf8), port: caller.port)
            try expectProblem(other, .requestTimeout)
        }
    }

    @Test("A preface in pieces is one, and a head that begins like one is HTTP/1.1")
    func pieces() async throws {
        try await APIBench().serve { caller in
            let exchange = try OpenExchange("PRI", port: caller.port)
            for byte in HTTPVersionChoice.preface.dropFirst(3) {
                try exchange.send(String(decoding: [byte], as: UTF8.self))
            }
            // The server's SETTINGS, whose type is the fourth byte.
            let answer = await exchange.read(until: "\u{4}")
            #expect(Array(answer.utf8).prefix(4).last == 4)

            let other = try OpenExchange("P", port: caller.port)
            try other.send("ROPFIND /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(await other.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 405"))
        }
    }
}
