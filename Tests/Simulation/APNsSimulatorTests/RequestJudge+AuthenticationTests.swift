// SPDX-License-Identifier: Apache-2.0

import OpenSSLCrypto
import Testing
import WakeModel

@testable import APNsSimulator

@Suite("Provider tokens")
struct ProviderTokenRuleTests {
    static let minute: Int64 = 60

    /// One connection that sends pushes with various tokens at various times.
    struct Session {
        var judge = RequestJudge()
        var connection = ConnectionIdentity()

        /// The verdict on a push, `seconds` after the start.
        mutating func push(
            _ authorization: String, after seconds: Int64 = 0, topic: String = "com.example.app"
        ) -> RequestJudge.Verdict {
            let push = Push(authorization: authorization).with("apns-topic", topic)
            return judge.judge(
                push.head, bodyByteCount: push.body.count, connection: &connection,
                now: WallInstant(secondsSinceEpoch: TestToken.now + seconds))
        }
    }

    @Test(
        "a token is good for an hour either way of its time",
        arguments: [(0, true), (3600, true), (3601, false), (-3600, true), (-3601, false)])
    func age(seconds: Int64, isAccepted: Bool) {
        var session = Session()
        let verdict = session.push(TestToken.bearer(issuedAt: TestToken.now), after: seconds)
        #expect(verdict == (isAccepted ? .accepted : .rejected(.expiredProviderToken)))
    }

    @Test("a token grows old on a connection that already took it")
    func agesOnConnection() {
        var session = Session()
        let token = TestToken.bearer(issuedAt: TestToken.now)
        #expect(session.push(token) == .accepted)
        #expect(session.push(token, after: 3601) == .rejected(.expiredProviderToken))
        let fresh = TestToken.bearer(issuedAt: TestToken.now + 3601)
        #expect(session.push(fresh, after: 3602) == .accepted)
    }

    @Test("where the switch says so, an expired token spoils the connection for good")
    func wedge() {
        var session = Session(judge: RequestJudge(wedgesOnExpiredToken: true))
        #expect(
            session.push(TestToken.bearer(issuedAt: TestToken.now - 4000))
                == .rejected(.expiredProviderToken))
        #expect(
            session.push(TestToken.bearer(issuedAt: TestToken.now))
                == .rejected(.expiredProviderToken))
    }

    @Test(
        "a token of another shape is invalid",
        arguments: [
            (#"{"kid":"KEYKEY1234"}"#, #"{"iss":"TEAM123456","iat":1795252800}"#),
            (#"{"alg":"RS256","kid":"KEYKEY1234"}"#, #"{"iss":"TEAM123456","iat":1795252800}"#),
            (#"{"alg":"ES256"}"#, #"{"iss":"TEAM123456","iat":1795252800}"#),
            (#"{"alg":"ES256","kid":"SHORT"}"#, #"{"iss":"TEAM123456","iat":1795252800}"#),
            (#"{"alg":"ES256","kid":"KEYKEY1234"}"#, #"{"iss":"TEAM","iat":1795252800}"#),
            (#"{"alg":"ES256","kid":"KEYKEY1234"}"#, #"{"iat":1795252800}"#),
            (#"{"alg":"ES256","kid":"KEYKEY1234"}"#, #"{"iss":"TEAM123456"}"#),
            (#"{"alg":"ES256","kid":"KEYKEY1234"}"#, #"{"iss":"TEAM123456","iat":"now"}"#),
            (#"{"alg":"ES256","kid":"KEYKEY1234"}"#, #"{"iss":"TEAM123456","iat":"inf"}"#),
            (#"{"alg":"ES256","kid":"KEYKEY1234"}"#, #"{"iss":"TEAM123456","iat":true}"#),
            (#"{"alg":"ES256","kid":"KEYKEY1234"}"#, #"{"iss":"TEAM123456","iat":1e400}"#),
            (#"not json"#, #"{"iss":"TEAM123456","iat":1795252800}"#),
        ])
    func malformed(header: String, claims: String) {
        var session = Session()
        let token = TestToken.compact(header: header, claims: claims)
        #expect(session.push("bearer " + token) == .rejected(.invalidProviderToken))
    }

    @Test("a time in milliseconds is far in the future, hence expired")
    func milliseconds() {
        var session = Session()
        #expect(
            session.push(TestToken.bearer(issuedAt: TestToken.now * 1000))
                == .rejected(.expiredProviderToken))
    }

    @Test(
        "what is no JWS is invalid",
        arguments: ["a.b", "a.b.c", "a.b.c.d", "....", "é.é.é", "bearer x"])
    func noJWS(text: String) {
        var session = Session()
        #expect(session.push("bearer " + text) == .rejected(.invalidProviderToken))
    }

    @Test("the scheme's case does not matter")
    func schemeCase() {
        var session = Session()
        let token = TestToken.bearer(issuedAt: TestToken.now).dropFirst("bearer ".count)
        #expect(session.push("Bearer " + token) == .accepted)
    }

    @Test("with a registered key, only its own signature will do")
    func signature() throws {
        let key = P256PrivateKey()
        var session = Session()
        try session.judge.register(.init(key, pem: key.publicKey.pem))
        let good = TestToken.bearer(issuedAt: TestToken.now, signedBy: key)
        #expect(session.push(good) == .accepted)
        let other = P256PrivateKey()
        let forged = TestToken.bearer(issuedAt: TestToken.now, signedBy: other)
        #expect(session.push(forged) == .rejected(.invalidProviderToken))
        #expect(session.push(good) == .accepted)
        let unknownKey = TestToken.bearer(key: "OTHERKEY12", issuedAt: TestToken.now, signedBy: key)
        #expect(session.push(unknownKey) == .rejected(.invalidProviderToken))
        let otherTeam = TestToken.bearer(team: "OTHERTEAM1", issuedAt: TestToken.now, signedBy: key)
        #expect(session.push(otherTeam) == .rejected(.invalidProviderToken))
    }

    @Test("an iat that is a text is taken as APNs takes it, noted, and refused on demand")
    func textualTime() {
        let token = TestToken.compact(
            header: #"{"alg":"ES256","kid":"KEYKEY1234"}"#,
            claims: #"{"iss":"TEAM123456","iat":"1795252800"}"#)
        var session = Session()
        #expect(session.push("bearer " + token) == .accepted)
        #expect(session.connection.deviations == .textualTime)
        #expect(session.push("bearer " + token, after: 3601) == .rejected(.expiredProviderToken))
        var strict = Session(judge: RequestJudge(refusedDeviations: .textualTime))
        #expect(strict.push("bearer " + token) == .rejected(.invalidProviderToken))
        #expect(strict.push(TestToken.bearer(issuedAt: TestToken.now)) == .accepted)
    }

    @Test("a signature in DER is taken as APNs takes it, noted, verified, and refused on demand")
    func derSignature() throws {
        let key = P256PrivateKey()
        var session = Session()
        try session.judge.register(.init(key, pem: key.pem))
        let good = TestToken.bearer(issuedAt: TestToken.now, signedBy: key)
        let signed = good.dropFirst("bearer ".count).split(separator: ".")[0...1]
            .joined(separator: ".")
        let der = TestToken.der(key.signature(for: signed.utf8))
        let token = "bearer \(signed).\(TestToken.base64URL(der))"
        #expect(session.push(token) == .accepted)
        #expect(session.connection.deviations == .derSignature)
        let other = TestToken.der(P256PrivateKey().signature(for: signed.utf8))
        let forged = "bearer \(signed).\(TestToken.base64URL(other))"
        #expect(session.push(forged) == .rejected(.invalidProviderToken))
        let cut = "bearer \(signed).\(TestToken.base64URL(der.dropLast()))"
        #expect(session.push(cut) == .rejected(.invalidProviderToken))
        session.judge.keys = [:]
        #expect(session.push(cut) == .rejected(.invalidProviderToken))
        var strict = Session(judge: session.judge)
        strict.judge.refusedDeviations = .derSignature
        #expect(strict.push(token) == .rejected(.invalidProviderToken))
        #expect(strict.push(good) == .accepted)
    }

    @Test("a key of the other environment is named as such")
    func environment() throws {
        let key = P256PrivateKey()
        var session = Session()
        try session.judge.register(.init(key, environment: .production))
        let token = TestToken.bearer(issuedAt: TestToken.now, signedBy: key)
        #expect(session.push(token) == .rejected(.badEnvironmentKeyInToken))
        session.judge.environment = .production
        #expect(session.push(token) == .accepted)
    }

    @Test("a topic-specific key is good for its topics, with any suffix")
    func topicSpecificKey() throws {
        let key = P256PrivateKey()
        var session = Session()
        try session.judge.register(.init(key, topics: ["com.example.app"]))
        let token = TestToken.bearer(issuedAt: TestToken.now, signedBy: key)
        #expect(session.push(token) == .accepted)
        #expect(session.push(token, topic: "com.other") == .rejected(.topicDisallowed))
    }

    @Test("a connection that began with a topic-specific key takes only its related key")
    func relatedKeys() throws {
        let keys = (0..<3).map { _ in P256PrivateKey() }
        let topics: Set = ["com.example.app"]
        var session = Session()
        try session.judge.register(
            .init(keys[0], id: "KEY0000000", topics: topics, related: "KEY1111111"))
        try session.judge.register(.init(keys[1], id: "KEY1111111", topics: topics))
        try session.judge.register(.init(keys[2], id: "KEY2222222"))
        let tokens = zip(["KEY0000000", "KEY1111111", "KEY2222222"], keys).map {
            TestToken.bearer(key: $0, issuedAt: TestToken.now, signedBy: $1)
        }
        var other = Session(judge: session.judge)
        #expect(session.push(tokens[0]) == .accepted)
        #expect(session.push(tokens[1]) == .accepted)
        #expect(session.push(tokens[2]) == .rejected(.unrelatedKeyIDInToken))
        #expect(other.push(tokens[2]) == .accepted)
        #expect(other.push(tokens[0]) == .rejected(.unrelatedKeyIDInToken))
    }

    @Test("one connection serves one team")
    func oneTeam() {
        var session = Session()
        #expect(session.push(TestToken.bearer(issuedAt: TestToken.now)) == .accepted)
        let other = TestToken.bearer(team: "OTHERTEAM1", issuedAt: TestToken.now)
        #expect(session.push(other) == .rejected(.invalidProviderToken))
        #expect(session.push(TestToken.bearer(issuedAt: TestToken.now)) == .accepted)
    }

    @Test("the third token within twenty minutes is one too many, until the time is over")
    func tokenUpdates() {
        var session = Session()
        let tokens = (0..<4).map { TestToken.bearer(issuedAt: TestToken.now + $0) }
        #expect(session.push(tokens[0]) == .accepted)
        #expect(session.push(tokens[1], after: 10 * Self.minute) == .accepted)
        #expect(
            session.push(tokens[2], after: 19 * Self.minute)
                == .rejected(.tooManyProviderTokenUpdates))
        // The old ones stay good, and using them again is no change.
        #expect(session.push(tokens[0], after: 19 * Self.minute) == .accepted)
        #expect(session.push(tokens[1], after: 19 * Self.minute) == .accepted)
        #expect(session.push(tokens[2], after: 20 * Self.minute) == .accepted)
        #expect(
            session.push(tokens[3], after: 21 * Self.minute)
                == .rejected(.tooManyProviderTokenUpdates))
        #expect(session.push(tokens[3], after: 30 * Self.minute) == .accepted)
    }
}

extension RequestJudge {
    fileprivate mutating func register(_ key: ProviderKey) throws {
        let parsed = try VerifyingKey(key)
        keys[parsed.identity] = parsed
    }
}

extension ProviderKey {
    fileprivate init(
        _ key: P256PrivateKey, id: String = TestToken.key, pem: String? = nil,
        environment: APNsEnvironment? = nil, topics: Set<String>? = nil, related: String? = nil
    ) {
        self.init(
            teamID: TestToken.team, keyID: id, pem: pem ?? key.publicKey.pem,
            environment: environment, topics: topics, relatedKeyID: related)
    }
}
