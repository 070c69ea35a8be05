// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import Synchronization
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
        #expect(found.key.name == "b")
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

    @Test("Both secrets of a key are taken, share its rate, and end when they are said to")
    func rotation() async throws {
        let (old, new) = (KeySecret((1, 0, 0, 0)), KeySecret((2, 0, 0, 0)))
        let clock = ManualClock()
        let end = clock.now().advanced(bySeconds: 60)
        let key = try APIKey(
            name: "a", sha256: new.sha256, rate: try RequestRate(perSecond: 1, burst: 3),
            expiresAt: end.advanced(bySeconds: 60),
            previous: .init(sha256: old.sha256, expiresAt: end))
        let ring = KeyRing([key], clock: clock)
        for secret in [old, new, old] {
            guard case .known(let grant) = ring.use(Substring(secret.text)) else {
                Issue.record("refused")
                return
            }
            #expect(grant.key == key)
        }
        guard case .tooMany = ring.use(Substring(new.text)) else {
            Issue.record("two secrets are no way around a rate")
            return
        }
        #expect(ring.uses == [old.sha256: clock.now(), new.sha256: clock.now()])
        clock.advance(bySeconds: 60)
        guard case .expired(_, at: end) = ring.use(Substring(old.text)) else {
            Issue.record("the old secret outlives its time")
            return
        }
        clock.advance(bySeconds: 60)
        guard case .expired = ring.use(Substring(new.text)) else {
            Issue.record("the key outlives its time")
            return
        }
    }

    @Test("Keys with one name, or one secret, are told apart from those that can stand together")
    func conflicts() throws {
        let (a, b) = (KeySecret((1, 0, 0, 0)), KeySecret((2, 0, 0, 0)))
        #expect(APIKey.conflict(among: [try key("a", a), try key("b", b)]) == nil)
        #expect(
            APIKey.conflict(among: [try key("a", a), try key("a", b)])
                == "Two API keys are named a. Rename one, or revoke it.")
        let rotated = try APIKey(
            name: "c", sha256: b.sha256, previous: .init(sha256: a.sha256))
        #expect(
            APIKey.conflict(among: [try key("a", a), rotated])?.contains("same secret") == true)
        #expect(throws: InvalidField.self) {
            try APIKey(name: "c", sha256: b.sha256, previous: .init(sha256: b.sha256))
        }
        #expect(throws: InvalidField.self) { try APIKey(name: "c", sha256: b.sha256, apps: []) }
    }

    @Test("A secret that no key has may be one that came just now")
    func look() throws {
        let (a, b) = (KeySecret((1, 0, 0, 0)), KeySecret((2, 0, 0, 0)))
        let ring = KeyRing([try key("a", a)])
        let keys = [try key("a", a), try key("b", b)]
        let looks = Mutex(0)
        ring.whenUnknown { [weak ring] in
            looks.withLock { $0 += 1 }
            ring?.replace(with: keys)
        }
        guard case .known = ring.use(Substring(a.text)) else {
            Issue.record("refused")
            return
        }
        #expect(looks.withLock { $0 } == 0)
        guard case .known(let grant) = ring.use(Substring(b.text)) else {
            Issue.record("refused")
            return
        }
        #expect(grant.key.name == "b")
        guard case .unknown = ring.use("rouse_none") else {
            Issue.record("found")
            return
        }
        #expect(looks.withLock { $0 } == 2)
    }

    @Test(
        "A grant ends with its key, its secret, or what the key may do; not with its rate",
        .timeLimit(.minutes(10)), arguments: ["revoked", "rotated away", "fewer apps", "expired"])
    func ends(how: String) async throws {
        let (old, new) = (KeySecret((1, 0, 0, 0)), KeySecret((2, 0, 0, 0)))
        let clock = ManualClock()
        let end = clock.now().advanced(bySeconds: 60)
        func key(
            _ sha256: String, apps: Set<BundleID>? = nil, rate: RequestRate? = nil,
            previous: APIKey.PreviousSecret? = nil
        ) throws -> APIKey {
            try APIKey(
                name: "a", sha256: sha256, apps: apps, rate: rate,
                expiresAt: how == "expired" ? end : nil, previous: previous)
        }
        let ring = KeyRing([try key(old.sha256)], clock: clock)
        guard case .known(let grant) = ring.use(Substring(old.text)) else {
            Issue.record("refused")
            return
        }
        let ended = Mutex(false)
        let waiting = Task {
            await grant.end()
            ended.withLock { $0 = true }
        }
        // What leaves the grant as it was ends nothing.
        ring.replace(with: [try key(old.sha256, rate: try RequestRate(perSecond: 5))])
        ring.replace(with: [try key(new.sha256, previous: .init(sha256: old.sha256))])
        await Task.yield()
        #expect(!ended.withLock { $0 })
        switch how {
        case "revoked": ring.replace(with: [])
        case "rotated away": ring.replace(with: [try key(new.sha256)])
        case "fewer apps":
            ring.replace(
                with: [
                    try key(
                        new.sha256, apps: [Samples.app.bundleID],
                        previous: .init(sha256: old.sha256))
                ])
        default: clock.advance(bySeconds: 60)
        }
        // One that does not end by itself is ended by the time limit.
        await withTaskCancellationHandler {
            await waiting.value
        } onCancel: {
            waiting.cancel()
        }
        #expect(ended.withLock { $0 })
    }

    @Test("Changes of the keys add no sleeper to a wait for an expiry", .timeLimit(.minutes(10)))
    func oneSleeper() async throws {
        let secret = KeySecret((1, 0, 0, 0))
        let clock = ManualClock()
        let end = clock.now().advanced(bySeconds: 60)
        let key = try APIKey(name: "a", sha256: secret.sha256, expiresAt: end)
        let ring = KeyRing([key], clock: clock)
        guard case .known(let grant) = ring.use(Substring(secret.text)) else {
            Issue.record("refused")
            return
        }
        let waiting = Task { await grant.end() }
        for change in 0..<5 {
            let look = clock.now().advanced(bySeconds: 1)
            while !clock.isAwaited(at: look) { await Task.yield() }
            #expect(clock.sleeperCount == 1, "after \(change) changes")
            clock.advance(byMilliseconds: 1)
            ring.replace(with: [key])
        }
        clock.advance(bySeconds: 60)
        await waiting.value
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
