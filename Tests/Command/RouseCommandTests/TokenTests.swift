// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import Foundation
import Testing
import WakeModel

@Suite("rouse token")
struct TokenTests {
    private static let ids = (key: "ABCDE12345", team: "TEAM123456")

    @Test("prints a provider token that the key's public half verifies, and nothing else")
    func prints() async throws {
        let folder = try TestFolder()
        let key = SigningKey.generate()
        let path = try folder.write(key.privateKeyPEM, to: "AuthKey_\(Self.ids.key).p8")
        let options = ["--key", path, "--team-id", Self.ids.team]
        let result = try await Rouse.run(["token"] + options)
        #expect(result.status == 0, "\(result.all)")
        #expect(result.error.isEmpty)
        let token = result.out.trimmingCharacters(in: .newlines)
        #expect(result.out == token + "\n")
        let parts = token.split(separator: ".")
        #expect(parts.count == 3)
        let signature = try #require(Base64URL.decode(parts[2]))
        #expect(key.isValid(signature: signature, for: (parts[0] + "." + parts[1]).utf8))

        let verified = try await Rouse.run(["token", "--verify"] + options, stdin: result.out)
        #expect(verified.status == 0, "\(verified.all)")
        #expect(verified.out.contains("The signature is this key's."))

        let json = try await Rouse.run(["token", "--json"] + options)
        #expect(
            Set(try json.json().keys)
                == ["token", "key_id", "team_id", "issued_at", "expires_at"])
    }

    @Test("a key file that is not there is named, before an id that its name does not have")
    func missingFile() async throws {
        let result = try await Rouse.run(
            ["token", "--key", "/none/key.p8", "--team-id", Self.ids.team])
        #expect(result.status == 66)
        #expect(result.error.contains("key file (/none/key.p8) cannot be read"), "\(result.all)")
    }

    /// One bad token: how it is made, and the faults that must be named, all of them.
    struct Bad: CustomTestStringConvertible, Sendable {
        let name: String
        var header = #"{"alg":"ES256","kid":"ABCDE12345"}"#
        var claims = #"{"iss":"TEAM123456","iat":NOW}"#
        /// Seconds between now and `iat`.
        var age: Int64 = 10
        var signature: @Sendable (SigningKey, String) -> String = { key, message in
            Base64URL.encode(key.signature(for: message.utf8))
        }
        var wrap: @Sendable (String) -> String = { $0 }
        let faults: [String]
        let answer: String
        var words = ""

        var testDescription: String { name }
    }

    private static let invalid = "InvalidProviderToken"
    private static let expired = "ExpiredProviderToken"

    private static let bad: [Bad] = [
        Bad(
            name: "another algorithm", header: #"{"alg":"RS256","kid":"ABCDE12345"}"#,
            faults: ["AU001"], answer: invalid, words: "RS256 instead of ES256"),
        Bad(
            name: "no algorithm", header: #"{"kid":"ABCDE12345"}"#, faults: ["AU011"],
            answer: invalid, words: "alg is missing"),
        Bad(name: "no key id", header: #"{"alg":"ES256"}"#, faults: ["AU002"], answer: invalid),
        Bad(
            name: "a short key id", header: #"{"alg":"ES256","kid":"ABC"}"#, faults: ["AU002"],
            answer: invalid, words: "has 3 characters"),
        Bad(
            name: "a key id that is a number", header: #"{"alg":"ES256","kid":1234567890}"#,
            faults: ["AU002"], answer: invalid),
        Bad(
            name: "no team id", claims: #"{"iat":NOW}"#, faults: ["AU002"], answer: invalid,
            words: "iss, the team id"),
        Bad(
            name: "a long team id", claims: #"{"iss":"TEAM1234567","iat":NOW}"#,
            faults: ["AU002"], answer: invalid),
        Bad(
            name: "no time", claims: #"{"iss":"TEAM123456"}"#, faults: ["AU003"],
            answer: invalid),
        Bad(
            name: "a time in milliseconds", claims: #"{"iss":"TEAM123456","iat":NOW000}"#,
            faults: ["AU003"], answer: expired, words: "milliseconds"),
        Bad(
            name: "a number that is no time", claims: #"{"iss":"TEAM123456","iat":1e300}"#,
            faults: ["AU003"], answer: invalid, words: "can be a time"),
        Bad(
            name: "a time as text that is no number", claims: #"{"iss":"TEAM123456","iat":"now"}"#,
            faults: ["AU003"], answer: invalid, words: "not a number"),
        Bad(
            name: "a time as text that is old", claims: #"{"iss":"TEAM123456","iat":"NOW"}"#,
            age: 3700, faults: ["AU003"], answer: expired, words: "without quotes"),
        Bad(
            name: "a time as text in milliseconds, as in Apple's sample",
            header: #"{"kid":"ABCDE12345"}"#,
            claims: #"{"iss":"TEAM123456","iat":"NOW000"}"#,
            signature: { _, _ in Base64URL.encode([0x30] + [UInt8](repeating: 1, count: 71)) },
            faults: ["AU011", "AU003", "AU011"], answer: invalid, words: "in DER"),
        Bad(
            name: "too old", age: 3700, faults: ["AU003"], answer: expired,
            words: "min ago"),
        Bad(name: "ahead", age: -600, faults: ["AU003"], answer: expired, words: "in the future"),
        Bad(
            name: "a signature that is not quite DER",
            signature: { _, _ in Base64URL.encode([0x30] + [UInt8](repeating: 1, count: 69)) },
            faults: ["AU011"], answer: invalid, words: "not in DER either"),
        Bad(
            name: "a short signature",
            signature: { _, _ in Base64URL.encode([UInt8](repeating: 1, count: 32)) },
            faults: ["AU011"], answer: invalid, words: "32 bytes instead of 64"),
        Bad(
            name: "plain Base64", signature: { _, _ in "+/+/" }, faults: ["AU011"],
            answer: invalid, words: "plain Base64"),
        Bad(
            name: "two parts", wrap: { $0.split(separator: ".")[..<2].joined(separator: ".") },
            faults: ["AU011"], answer: invalid, words: "2 parts instead of three"),
        Bad(
            name: "a header that is no JSON", header: "nonsense", faults: ["AU011"],
            answer: invalid, words: "The header is not a JSON object"),
        Bad(
            name: "claims that are no object", claims: "[1]", faults: ["AU011"], answer: invalid,
            words: "The claims set is not a JSON object"),
        Bad(
            name: "another scheme", wrap: { "authorization: basic \($0)" }, faults: ["AU006"],
            answer: "MissingProviderToken", words: "not bearer"),
        Bad(
            name: "a line break inside",
            wrap: { String($0.prefix(60)) + "\n" + String($0.dropFirst(60)) },
            faults: ["AU011"], answer: invalid, words: "White space"),
    ]

    @Test("names every fault of a bad JWT, and never repeats the token", arguments: bad)
    func verify(bad: Bad) async throws {
        let now = WakeClock.system.now().secondsSinceEpoch
        let claims = bad.claims.replacingOccurrences(of: "NOW", with: "\(now - bad.age)")
        let message = Base64URL.encode(bad.header.utf8) + "." + Base64URL.encode(claims.utf8)
        let key = SigningKey.generate()
        let token = message + "." + bad.signature(key, message)
        let text = bad.wrap(token)

        let json = try await Rouse.run(["token", "--verify", "--json"], stdin: text)
        #expect(json.status == 1, "\(json.all)")
        let document = try json.json()
        #expect(document["sound"] as? Bool == false)
        let faults = try #require(document["faults"] as? [[String: Any]])
        #expect(faults.map { $0["rule"] as? String } == bad.faults, "\(json.out)")
        #expect(faults.first?["apns_answer"] as? String == bad.answer)

        let human = try await Rouse.run(["token", "--verify"], stdin: text)
        #expect(human.status == 1)
        let words = human.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(bad.words.isEmpty || words.contains(bad.words), "\(human.out)")
        for part in token.split(separator: ".") where part.count > 8 {
            #expect(!human.all.contains(part) && !json.all.contains(part))
        }
    }

    @Test("warns of what APNs takes against the rules, and claims no 403")
    func warnings() async throws {
        let folder = try TestFolder()
        let key = SigningKey.generate()
        let path = try folder.write(key.privateKeyPEM, to: "AuthKey_\(Self.ids.key).p8")
        let now = WakeClock.system.now().secondsSinceEpoch
        let message =
            Base64URL.encode(#"{"alg":"ES256","kid":"\#(Self.ids.key)"}"#.utf8) + "."
            + Base64URL.encode(#"{"iss":"\#(Self.ids.team)","iat":"\#(now)"}"#.utf8)
        // OpenSSL itself signs, as in Apple's example for the shell.
        let input = try folder.write(message, to: "message")
        let signed = try await Rouse.run(
            "/bin/sh",
            [
                "-c",
                "openssl dgst -binary -sha256 -sign '\(path)' '\(input)' | openssl base64 -A"
                    + " | tr -- '+/' '-_' | tr -d =",
            ])
        #expect(signed.status == 0, "\(signed.all)")
        let token = message + "." + signed.out
        for (options, isValid) in [([], nil), (["--key", path], true)] as [([String], Bool?)] {
            let json = try await Rouse.run(
                ["token", "--verify", "--json"] + options, stdin: token)
            #expect(json.status == 0, "\(json.all)")
            let document = try json.json()
            #expect(document["sound"] as? Bool == true)
            #expect((document["faults"] as? [Any])?.isEmpty == true)
            #expect(document["signature_valid"] as? Bool == isValid)
            let warnings = try #require(document["warnings"] as? [[String: Any]])
            #expect(warnings.map { $0["rule"] as? String } == ["AU011", "AU011"])
            let human = try await Rouse.run(["token", "--verify"] + options, stdin: token)
            #expect(human.status == 0)
            let words = human.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains("in DER") && words.contains("without quotes"), "\(words)")
            #expect(!words.contains("403") && words.contains("APNs takes it"), "\(words)")
        }
        let other = try folder.write(SigningKey.generate().privateKeyPEM, to: "other.p8")
        let forged = try await Rouse.run(["token", "--verify", "--key", other], stdin: token)
        #expect(forged.status == 1)
        #expect(forged.out.contains("not this key's"), "\(forged.all)")
    }

    @Test("tells a signature of another key, and ids that are not the key's")
    func otherKey() async throws {
        let folder = try TestFolder()
        let path = try folder.write(SigningKey.generate().privateKeyPEM, to: "key.p8")
        let claims = ProviderTokenClaims(
            keyID: try DeveloperID("ABCDE12345", field: "key id"),
            teamID: try DeveloperID("TEAM123456", field: "team id"),
            issuedAt: WakeClock.system.now())
        let signature = SigningKey.generate().signature(for: claims.signingInput.utf8)
        let token = claims.token(signature: signature)
        let result = try await Rouse.run(
            ["token", "--verify", token, "--key", path, "--team-id", "OTHERTEAM1", "--json"])
        #expect(result.status == 1)
        let faults = try #require(try result.json()["faults"] as? [[String: Any]])
        let messages = faults.compactMap { $0["message"] as? String }
        #expect(messages.contains { $0.contains("TEAM123456 and not OTHERTEAM1") })
        #expect(messages.contains { $0.contains("not this key's") })
        #expect(try result.json()["signature_valid"] as? Bool == false)
    }

    @Test("takes a token with its header field's name and scheme before it")
    func scheme() async throws {
        let claims = ProviderTokenClaims(
            keyID: try DeveloperID("ABCDE12345", field: "key id"),
            teamID: try DeveloperID("TEAM123456", field: "team id"),
            issuedAt: WakeClock.system.now())
        let token = claims.token(
            signature: SigningKey.generate().signature(for: claims.signingInput.utf8))
        for text in ["bearer \(token)", "Authorization: Bearer \(token)\n", "  \(token)\r\n"] {
            let result = try await Rouse.run(["token", "--verify"], stdin: text)
            #expect(result.status == 0, "\(result.all)")
        }
    }

    @Test("verifies a token in a file, where its arguments would show it to others")
    func file() async throws {
        let folder = try TestFolder()
        let claims = ProviderTokenClaims(
            keyID: try DeveloperID("ABCDE12345", field: "key id"),
            teamID: try DeveloperID("TEAM123456", field: "team id"),
            issuedAt: WakeClock.system.now())
        let token = claims.token(
            signature: SigningKey.generate().signature(for: claims.signingInput.utf8))
        let path = try folder.write(token + "\n", to: "token.txt")
        let result = try await Rouse.run(["token", "--verify", path])
        #expect(result.status == 0, "\(result.all)")
        #expect(result.out.contains("ABCDE12345"))
        let missing = try await Rouse.run(["token", "--verify", "tokne.txt"])
        #expect(missing.status == 66)
        #expect(missing.error.contains("neither a file nor a JWT"), "\(missing.all)")
        #expect(!missing.all.contains("tokne.txt"))
        let empty = try await Rouse.run(["token", "--verify", try folder.write("", to: "empty")])
        #expect(empty.status == 66 && empty.error.contains("is empty"), "\(empty.all)")
    }

    @Test("ends with 66 when there is nothing to verify, and 65 for what is far too long")
    func noInput() async throws {
        #expect(try await Rouse.run(["token", "--verify"]).status == 66)
        let long = String(repeating: "a", count: 20_000)
        #expect(try await Rouse.run(["token", "--verify"], stdin: long).status == 65)
    }
}
