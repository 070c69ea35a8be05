// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTP2Transport

@Suite("Addresses side by side (RFC 8305)")
struct AddressRaceTests {
    private func addresses(_ text: String) -> [SocketAddress] {
        text.split(separator: " ").map { word in
            let family: SocketAddress.Family = word.hasPrefix("six") ? .v6 : .v4
            return SocketAddress(family: family, bytes: Array(word.utf8))
        }
    }

    private func words(_ addresses: [SocketAddress]) -> String {
        addresses.map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: " ")
    }

    @Test(
        "the families take turns, the preferred one first",
        arguments: [
            ("", ""), ("four1", "four1"), ("six1 six2 four1 four2", "six1 four1 six2 four2"),
            ("four1 six1 six2 six3", "four1 six1 six2 six3"),
            ("six1 six2 six3 four1", "six1 four1 six2 six3"),
        ])
    func order(given: String, expected: String) {
        #expect(words(AddressRace.interleaved(addresses(given))) == expected)
    }

    @Test("the next starts after 250 ms, or at once when one failed")
    func timing() {
        var race = AddressRace(addresses("six1 four1 six2"), now: 1000)
        #expect(race.next(now: 1000)?.family == .v6)
        #expect(race.next(now: 1249) == nil)
        #expect(race.due == 1250)
        #expect(race.next(now: 1250)?.family == .v4)
        #expect(race.didFail(now: 1300) == true)
        #expect(race.due == 1300)
        #expect(race.next(now: 1300)?.family == .v6)
        #expect(race.due == nil)
        #expect(race.didFail(now: 1301) == true)
        #expect(race.didFail(now: 1302) == false)
    }
}
