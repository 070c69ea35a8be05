// SPDX-License-Identifier: Apache-2.0

import PushTransport
import Testing
import WakeModel

@testable import CurlTransport

@Suite("What libcurl's codes say of a push")
struct CurlVerdictTests {
    @Test("a request that was begun may be anywhere, whatever the code", arguments: 0...120)
    func taken(code: Int) {
        #expect(CurlVerdict(code: Int32(code)).certainty(requestBegan: true) == .unknown)
    }

    @Test(
        "not sent needs both: a code of the table, and a request that was not begun",
        arguments: 0...120)
    func notTaken(code: Int) {
        let verdict = CurlVerdict(code: Int32(code))
        let isListed = CurlVerdict.table[Int32(code)] != nil
        #expect(verdict.isListed == isListed)
        #expect(verdict.certainty(requestBegan: false) == (isListed ? .notSent : .unknown))
        if !isListed {
            #expect(verdict.kind == .other)
            #expect(!verdict.sparesConnection)
        }
    }

    @Test(
        "each code has its kind, by libcurl's own numbers",
        arguments: [
            (1, .other), (5, .proxy), (6, .nameResolution), (7, .connect), (8, .notHTTP2),
            (16, .connectionLost), (18, .connectionLost), (23, .responseTooLarge), (28, .timedOut),
            (35, .tls), (52, .connectionLost), (55, .connectionLost), (56, .connectionLost),
            (58, .tls), (60, .tls), (65, .connectionLost), (77, .tls), (92, .streamReset),
            (97, .proxy), (98, .tls),
        ] as [(Int32, TransportFailure.Kind)])
    func kinds(code: Int32, kind: TransportFailure.Kind) {
        #expect(CurlVerdict(code: code).kind == kind)
    }

    @Test("success is in no table of failures")
    func success() { #expect(CurlVerdict.table[0] == nil) }

    @Test("the connection survives what concerns one stream alone")
    func sparing() {
        let sparing = CurlVerdict.table.filter(\.value.sparesConnection).keys.sorted()
        #expect(sparing == [23, 92])
    }
}
