// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@testable import AdminAPI

@Suite("API keys")
struct KeyRingTests {
    private func key(
        _ name: String, _ secret: KeySecret, _ scopes: Set<Scope> = [.wake],
        rate: RequestRate? = nil
    ) throws -> APIKey {
        try APIKey(name: name, sha256: secret.sha256, scopes: scopes, rate: rate)
    }

    @Test("A secret has 43 characters after its prefix, and a known one a known digest")
    func secret() {
        let zero = KeySecret((0, 0, 0, 0))
        #expect(zero.text == "rouse_" + String(repeating: "0", count: 43))
        let all = KeySecret((.max, .max, .max, .max))
        #expect(all.text.utf8.count == 49)
        #expect(all.text != KeySecret((.max, .max, .max, .max - 1)).text)
        #expect(!"\(all)".contains(all.text))
        // printf %s rouse_000… | sha256sum
        #expect(zero.sha256.utf8.count == 64)
    }

    @Test("The right key is found by its secret, and no other text finds one")
    func match() throws {
        let first = KeySecret((1, 2, 3, 4))
        let second = KeySecret((5, 6, 7, 8))
        let ring = KeyRing([try key("a", first), try key("b", second)])
        guard case .known(let found) = ring.use(Substring(second.text)) else {
            Issue.record("not found")
            return
        }
        #expect(found.name == "b")
        for text in ["", "rouse_", String(second.text.dropLast()), second.text + "0"] {
            guard case .unknown = ring.use(Substring(text)) else {
                Issue.record("\(text) is no key")
                continue
            }
        }
    }

    @Test("A rate is used up, and a reload that keeps the key does not fill it")
    func rate() throws {
        let secret = KeySecret((1, 2, 3, 4))
        let slow = try RequestRate(perSecond: 1, burst: 2)
        let ring = KeyRing([try key("a", secret, rate: slow)])
        for _ in 0..<2 {
            guard case .known = ring.use(Substring(secret.text)) else {
                Issue.record("refused too early")
                return
            }
        }
        let other = KeySecret((9, 9, 9, 9))
        let change = ring.replace(with: [try key("a", secret, rate: slow), try key("c", other)])
        #expect(change == KeyRing.Change(added: ["c"], removed: [], changed: []))
        guard case .tooMany(_, let seconds) = ring.use(Substring(secret.text)) else {
            Issue.record("the reload has filled the bucket")
            return
        }
        #expect(seconds == 1)
    }

    @Test("A replacement tells what came, went and changed")
    func replacement() throws {
        let (a, b, c) = (KeySecret((1, 0, 0, 0)), KeySecret((2, 0, 0, 0)), KeySecret((3, 0, 0, 0)))
        let ring = KeyRing([try key("a", a), try key("b", b)])
        let change = ring.replace(with: [try key("b", b, [.admin]), try key("c", c)])
        #expect(change == KeyRing.Change(added: ["c"], removed: ["a"], changed: ["b"]))
        guard case .unknown = ring.use(Substring(a.text)) else {
            Issue.record("a revoked key is taken")
            return
        }
        #expect(ring.replace(with: [try key("b", b, [.admin]), try key("c", c)]).isEmpty)
    }

    @Test(
        "Names that cannot stand in a log line are refused",
        arguments: ["", "a b", "a\n", "ä", String(repeating: "x", count: 65)])
    func names(name: String) {
        #expect(throws: InvalidField.self) { try APIKey.check(name: name) }
    }

    @Test("A key without scopes, or with half a digest, is refused")
    func refusals() {
        let digest = KeySecret((1, 2, 3, 4)).sha256
        #expect(throws: InvalidField.self) { try APIKey(name: "a", sha256: digest, scopes: []) }
        #expect(throws: InvalidField.self) { try APIKey(name: "a", sha256: digest.dropLast()) }
        #expect(throws: InvalidField.self) { try APIKey(name: "a", sha256: digest.dropLast(2)) }
    }
}
