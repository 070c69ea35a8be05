// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import Foundation
import Testing
import WakeModel

@Suite("Provider token source")
struct ProviderTokenSourceTests {
    private func claims(of token: ProviderToken) throws -> (header: String, claims: String) {
        let parts = token.value.split(separator: ".")
        try #require(parts.count == 3)
        let header = try #require(Base64URL.decode(parts[0]))
        let claims = try #require(Base64URL.decode(parts[1]))
        return (String(decoding: header, as: UTF8.self), String(decoding: claims, as: UTF8.self))
    }

    @Test("the token says key, team and time, and carries the key's raw signature")
    func token() throws {
        let key = SigningKey.generate()
        let token = try Samples.tokens(key: key, clock: TestClock().clock).current()
        let (header, claims) = try claims(of: token)
        #expect(header == #"{"alg":"ES256","kid":"KEYKEY1234"}"#)
        #expect(claims == #"{"iss":"TEAM123456","iat":1795253640}"#)
        #expect(token.issuedAt == Samples.start)
        #expect(token.generation == 1)
        let parts = token.value.split(separator: ".")
        let signature = try #require(Base64URL.decode(parts[2]))
        #expect(signature.count == 64)
        #expect(key.isValid(signature: signature, for: "\(parts[0]).\(parts[1])".utf8))
    }

    @Test("one token serves until its renewal age, which lies between 40 and 55 minutes")
    func renewal() throws {
        for _ in 0..<20 {
            let clock = TestClock()
            let source = try Samples.tokens(clock: clock.clock)
            let first = source.current()
            clock.advance(seconds: 40 * 60 - 1)
            #expect(source.current() == first)
            clock.advance(seconds: 15 * 60 + 1)
            let second = source.current()
            #expect(second.generation == 2)
            #expect(second.value != first.value)
            #expect(second.issuedAt == clock.now)
            #expect(source.current() == second)
        }
    }

    @Test("the renewal age that is asked for is kept")
    func renewalAge() throws {
        let clock = TestClock()
        let source = ProviderTokenSource(
            key: .generate(), keyID: try DeveloperID("KEYKEY1234", field: "key id"),
            teamID: try DeveloperID("TEAM123456", field: "team id"),
            renewalAge: .seconds(45 * 60), clock: clock.clock)
        _ = source.current()
        clock.advance(seconds: 45 * 60 - 1)
        #expect(source.current().generation == 1)
        clock.advance(seconds: 1)
        #expect(source.current().generation == 2)
    }

    @Test("a refused token is replaced after 20 minutes, not before, and once for all who ask")
    func replacement() throws {
        let clock = TestClock()
        let source = try Samples.tokens(clock: clock.clock)
        let first = source.current()
        clock.advance(seconds: 20 * 60 - 1)
        #expect(source.replacement(forGeneration: first.generation) == nil)
        #expect(source.current() == first)
        clock.advance(seconds: 1)
        let second = try #require(source.replacement(forGeneration: first.generation))
        #expect(second.generation == 2)
        #expect(source.replacement(forGeneration: first.generation) == second)
        #expect(source.current() == second)
        #expect(source.replacement(forGeneration: second.generation) == nil)
    }

    @Test("a thousand askers at once get the same token")
    func concurrency() async throws {
        let source = try Samples.tokens()
        let tokens = await withTaskGroup(of: ProviderToken.self) { group in
            for _ in 0..<1000 { group.addTask { source.current() } }
            return await group.reduce(into: Set<ProviderToken>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
    }

    @Test("the system's clocks run: wall time in this century, uptime forwards")
    func systemClock() {
        let clock = WakeClock.system
        let (first, second) = (clock.uptime(), clock.uptime())
        #expect(second >= first)
        let difference = abs(
            Double(clock.now().millisecondsSinceEpoch) / 1000 - Date().timeIntervalSince1970)
        #expect(difference < 5)
    }
}
