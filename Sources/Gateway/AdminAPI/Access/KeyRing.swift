// SPDX-License-Identifier: Apache-2.0

public import Gateway
import Synchronization
public import WakeModel

/// The current API keys, the state of their rate limits, and the time of their last use.
///
/// The keys can be replaced at any time. A key whose rate is unchanged keeps its token bucket, so
/// that a reload does not reset its limit. May be used from any thread.
public final class KeyRing: Sendable {
    /// The result of checking a secret.
    enum Verdict {
        /// The secret is valid, and its key is within its rate limit.
        case known(KeyGrant)
        /// The key has exceeded its rate limit; a request is possible after this number of seconds.
        case tooMany(APIKey, retryAfterSeconds: Int)
        /// The key or the secret expired at this time.
        case expired(APIKey, at: WallInstant)
        /// No key has this secret.
        case unknown
    }

    /// The difference between two sets of keys, as names of keys; for the audit log.
    public struct Change: Hashable, Sendable {
        /// The names of new keys.
        public let added: [String]
        /// The names of keys that were removed.
        public let removed: [String]
        /// The names of keys with other secrets, scopes, apps, rate or expiry.
        public let changed: [String]

        /// Whether the two sets are equal.
        public var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }
    }

    private struct State {
        var keys: [APIKey]
        /// By the name of the key: its two secrets share one rate limit.
        var buckets: [String: TokenBucket] = [:]
        /// The last uses, by the digest of the secret.
        var uses: [[UInt8]: WallInstant] = [:]
        /// Signals of waiting holders of a grant, which check its validity when the keys change.
        var holders: [Int: AsyncSignal] = [:]
        var nextHolder = 0
        /// Called before a secret is refused as unknown; may replace the keys.
        var look: (@Sendable () -> Void)?

        /// The remaining validity of a grant.
        func term(of grant: KeyGrant) -> Term {
            for key in keys where key.name == grant.key.name {
                guard key.scopes == grant.key.scopes, key.apps == grant.key.apps,
                    let secret = key.secrets.first(where: { $0.digest == grant.secret.digest })
                else { return .over }
                return key.end(of: secret).map { .until($0) } ?? .open
            }
            return .over
        }
    }

    /// The remaining validity of a grant.
    private enum Term {
        /// It has ended: the key or the secret was removed, or the key's scopes or apps have
        /// changed.
        case over
        /// Until the key is changed.
        case open
        /// Until this time, or until the key is changed.
        case until(WallInstant)
    }

    private let state: Mutex<State>
    private let clock: any GatewayClock
    private let origin = ContinuousClock.now

    /// Creates a key ring. `clock` determines when keys expire.
    public init(_ keys: [APIKey], clock: any GatewayClock = SystemGatewayClock()) {
        state = Mutex(State(keys: keys))
        self.clock = clock
    }

    /// Replaces the keys, and ends the grants of keys that were removed or whose scopes or apps
    /// have changed. Returns the difference.
    @discardableResult
    public func replace(with keys: [APIKey]) -> Change {
        let (change, holders) = state.withLock { state in
            let old = Dictionary(state.keys.map { ($0.name, $0) }) { first, _ in first }
            let new = Dictionary(keys.map { ($0.name, $0) }) { first, _ in first }
            let change = Change(
                added: keys.filter { old[$0.name] == nil }.map(\.name).sorted(),
                removed: state.keys.filter { new[$0.name] == nil }.map(\.name).sorted(),
                changed: keys.filter { key in old[key.name].map { $0 != key } ?? false }
                    .map(\.name).sorted())
            state.keys = keys
            state.buckets = state.buckets.filter { name, _ in
                new[name] != nil && old[name]?.rate == new[name]?.rate
            }
            let digests = Set(keys.flatMap { $0.secrets.map(\.digest) })
            state.uses = state.uses.filter { digests.contains($0.key) }
            return (change, Array(state.holders.values))
        }
        for holder in holders { holder.ring() }
        return change
    }

    /// Sets a function that is called before a secret is refused as unknown, on the thread of the
    /// request. It may replace the keys. It must return quickly.
    public func whenUnknown(_ look: @escaping @Sendable () -> Void) {
        state.withLock { $0.look = look }
    }

    /// The number of keys.
    public var count: Int { state.withLock { $0.keys.count } }

    /// The time of the last use of each valid secret since the ring was created, by its SHA-256 in
    /// hexadecimal. Requests over the rate limit count as uses.
    public var uses: [String: WallInstant] {
        let uses = state.withLock { $0.uses }
        return Dictionary(uniqueKeysWithValues: uses.map { (KeySecret.hex($0), $1) })
    }

    /// Checks a secret, and counts one request against the rate limit of its key. If it is to be
    /// `isQuick`, the function of ``whenUnknown(_:)`` is not called.
    func use(_ text: Substring, isQuick: Bool = false) -> Verdict {
        guard let (key, secret) = find(text, isQuick: isQuick) else { return .unknown }
        let now = clock.now()
        if let end = key.end(of: secret), end <= now { return .expired(key, at: end) }
        let instant = nanoseconds
        let pause = state.withLock { state -> Int? in
            state.uses[secret.digest] = now
            return state.buckets[key.name, default: TokenBucket(key.rate ?? .usual, at: instant)]
                .take(at: instant)
        }
        return pause.map { .tooMany(key, retryAfterSeconds: $0) }
            ?? .known(KeyGrant(key: key, secret: secret, ring: self))
    }

    /// Whether a secret is one of a known key and has not expired.
    func knows(_ text: Substring) -> Bool {
        guard let (key, secret) = find(text, isQuick: true) else { return false }
        return key.end(of: secret).map { $0 > clock.now() } ?? true
    }

    private func find(
        _ text: Substring, isQuick: Bool
    ) -> (key: APIKey, secret: APIKey.Secret)? {
        let (keys, look) = state.withLock { ($0.keys, $0.look) }
        // Hashed and compared outside the lock, so that requests do not block each other.
        if let found = APIKey.match(text, among: keys) { return found }
        guard let look, !isQuick else { return nil }
        look()
        let fresh = state.withLock { $0.keys }
        return fresh == keys ? nil : APIKey.match(text, among: fresh)
    }

    /// The maximum sleep while waiting for an expiry, in milliseconds: the system clock may be set
    /// meanwhile.
    private static let lookMilliseconds: Int64 = 1_000

    /// Whether a grant has ended.
    func isOver(_ grant: KeyGrant) -> Bool {
        switch state.withLock({ $0.term(of: grant) }) {
        case .over: true
        case .open: false
        case .until(let end): end <= clock.now()
        }
    }

    /// Returns when a grant has ended; see ``KeyGrant/end()``.
    func end(of grant: KeyGrant) async {
        let change = AsyncSignal()
        let holder = state.withLock { state in
            state.nextHolder += 1
            state.holders[state.nextHolder] = change
            return state.nextHolder
        }
        defer { state.withLock { $0.holders[holder] = nil } }
        while !Task.isCancelled {
            switch state.withLock({ $0.term(of: grant) }) {
            case .over: return
            case .open: await change.waitUnlessCancelled()
            case .until(let end):
                let now = clock.now()
                guard now < end else { return }
                let next = min(end, now.advanced(byMilliseconds: Self.lookMilliseconds))
                await change.wait(until: next, clock: clock)
            }
        }
    }

    /// Counts further requests against the rate limit of a key, even if that overdraws it. Returns
    /// `nil`, or, if the limit is overdrawn already, the number of seconds until a request is
    /// possible; then nothing is counted.
    func debit(_ key: APIKey, for count: Int) -> Int? {
        let now = nanoseconds
        return state.withLock { state in
            state.buckets[key.name, default: TokenBucket(key.rate ?? .usual, at: now)]
                .debit(count, at: now)
        }
    }

    private var nanoseconds: UInt64 {
        let elapsed = origin.duration(to: .now).components
        return UInt64(elapsed.seconds) * 1_000_000_000 + UInt64(elapsed.attoseconds / 1_000_000_000)
    }
}
