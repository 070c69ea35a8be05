// SPDX-License-Identifier: Apache-2.0

public import Gateway
import Synchronization
public import WakeModel

/// The keys that the API takes at present, how much each has used of its rate, and when.
///
/// Keys can be replaced while requests come in; a key that stays keeps its bucket, so that a reload
/// is no way around a rate. May be used from any thread.
public final class KeyRing: Sendable {
    /// What a shown secret amounts to.
    enum Verdict {
        /// A key that is within its rate.
        case known(KeyGrant)
        /// A key that has used up its rate, and in how many seconds a request is possible.
        case tooMany(APIKey, retryAfterSeconds: Int)
        /// A key that was refused from this instant on, or a secret of it.
        case expired(APIKey, at: WallInstant)
        /// No key.
        case unknown
    }

    /// What a replacement of keys changed, by name; for the audit log.
    public struct Change: Hashable, Sendable {
        /// Keys that are new.
        public let added: [String]
        /// Keys that are no longer taken.
        public let removed: [String]
        /// Keys whose secrets, scopes, apps, rate or expiry are others.
        public let changed: [String]

        /// Whether nothing changed.
        public var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }
    }

    private struct State {
        var keys: [APIKey]
        /// By name: the two secrets of a key share its rate.
        var buckets: [String: TokenBucket] = [:]
        /// By digest.
        var uses: [[UInt8]: WallInstant] = [:]
        /// Holders of a grant, which check its validity when the keys change.
        var holders: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextHolder = 0
        /// Looks for keys that are new, before a secret is refused as unknown.
        var look: (@Sendable () -> Void)?

        /// How long what was granted lasts.
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

    /// How long a grant lasts.
    private enum Term {
        /// It has ended: its key or its secret is gone, or the key may do something else.
        case over
        /// Until the key is changed.
        case open
        /// Until then at the latest.
        case until(WallInstant)
    }

    private let state: Mutex<State>
    private let clock: any GatewayClock
    private let origin = ContinuousClock.now

    /// A ring of these keys, which expire by this clock.
    public init(_ keys: [APIKey], clock: any GatewayClock = SystemGatewayClock()) {
        state = Mutex(State(keys: keys))
        self.clock = clock
    }

    /// Takes these keys from now on instead of the others. What callers go on with by a key that
    /// is gone, or may do less, ends.
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
        for holder in holders { holder.yield() }
        return change
    }

    /// Has `look` called, on the caller's thread, before a secret is refused that no key has: it
    /// may replace the keys. It must be quick.
    public func whenUnknown(_ look: @escaping @Sendable () -> Void) {
        state.withLock { $0.look = look }
    }

    /// How many keys there are.
    public var count: Int { state.withLock { $0.keys.count } }

    /// When each secret was shown last since the ring was made, by its SHA-256 in hexadecimal.
    public var uses: [String: WallInstant] {
        let uses = state.withLock { $0.uses }
        return Dictionary(uniqueKeysWithValues: uses.map { (KeySecret.hex($0), $1) })
    }

    /// Looks a secret up, and takes one request from its rate.
    func use(_ text: Substring) -> Verdict {
        guard let (key, secret) = find(text) else { return .unknown }
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

    private func find(_ text: Substring) -> (key: APIKey, secret: APIKey.Secret)? {
        let (keys, look) = state.withLock { ($0.keys, $0.look) }
        // Hashing and comparing outside the lock: requests do not wait for each other's.
        if let found = APIKey.match(text, among: keys) { return found }
        guard let look else { return nil }
        look()
        let fresh = state.withLock { $0.keys }
        return fresh == keys ? nil : APIKey.match(text, among: fresh)
    }

    /// How long a wait for an expiry sleeps at a time, in milliseconds: the clock may be set.
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
        let (looks, look) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let holder = state.withLock { state in
            state.nextHolder += 1
            state.holders[state.nextHolder] = look
            return state.nextHolder
        }
        defer { state.withLock { $0.holders[holder] = nil } }
        let clock = clock
        await withDiscardingTaskGroup { group in
            var looking = looks.makeAsyncIterator()
            waiting: while true {
                switch state.withLock({ $0.term(of: grant) }) {
                case .over: break waiting
                case .open: break
                case .until(let end):
                    let now = clock.now()
                    guard now < end else { break waiting }
                    let next = min(end, now.advanced(byMilliseconds: Self.lookMilliseconds))
                    group.addTask {
                        // A cancelled sleep is no longer waited for.
                        try? await clock.sleep(until: next)
                        look.yield()
                    }
                }
                // A cancelled task gets nothing.
                guard await looking.next() != nil else { break }
            }
            group.cancelAll()
        }
    }

    /// Takes so many more requests from the rate of a key, even if that is more than it has left.
    /// Returns `nil`, or, when nothing was left before, in how many seconds a request is possible.
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
