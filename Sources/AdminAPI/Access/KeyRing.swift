// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The keys that the API takes at present, and how much each has used of its rate.
///
/// Keys can be replaced while requests come in; a key that stays keeps its bucket, so that a reload
/// is no way around a rate. May be used from any thread.
public final class KeyRing: Sendable {
    /// What a shown secret amounts to.
    enum Verdict {
        /// A key, with room in its rate.
        case known(APIKey)
        /// A key that has used up its rate; how many seconds until there is room.
        case tooMany(APIKey, retryAfterSeconds: Int)
        /// No key.
        case unknown
    }

    /// What a replacement of keys changed, by name; for the audit log.
    public struct Change: Hashable, Sendable {
        /// Keys that are new.
        public let added: [String]
        /// Keys that are no longer taken.
        public let removed: [String]
        /// Keys whose scopes or rate are others.
        public let changed: [String]

        /// Whether nothing changed.
        public var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }
    }

    private struct State {
        var keys: [APIKey]
        /// By digest: two keys may have one name.
        var buckets: [[UInt8]: TokenBucket] = [:]
    }

    private let state: Mutex<State>
    private let origin = ContinuousClock.now

    /// A ring of these keys.
    public init(_ keys: [APIKey]) { state = Mutex(State(keys: keys)) }

    /// Takes these keys from now on instead of the others.
    public func replace(with keys: [APIKey]) -> Change {
        state.withLock { state in
            let old = Dictionary(state.keys.map { ($0.digest, $0) }) { first, _ in first }
            let new = Dictionary(keys.map { ($0.digest, $0) }) { first, _ in first }
            let change = Change(
                added: keys.filter { old[$0.digest] == nil }.map(\.name).sorted(),
                removed: state.keys.filter { new[$0.digest] == nil }.map(\.name).sorted(),
                changed: keys.filter { key in old[key.digest].map { $0 != key } ?? false }
                    .map(\.name).sorted())
            state.keys = keys
            state.buckets = state.buckets.filter { digest, _ in
                new[digest] != nil && old[digest]?.rate == new[digest]?.rate
            }
            return change
        }
    }

    /// How many keys there are.
    public var count: Int { state.withLock { $0.keys.count } }

    /// Looks a secret up, and takes one request from its rate.
    func use(_ secret: Substring) -> Verdict {
        let keys = state.withLock { $0.keys }
        // Hashing and comparing outside the lock: requests do not wait for each other's.
        guard let key = APIKey.match(secret, among: keys) else { return .unknown }
        let now = nanoseconds
        let pause = state.withLock { state -> Int? in
            state.buckets[key.digest, default: TokenBucket(key.rate ?? .usual, at: now)]
                .take(at: now)
        }
        return pause.map { .tooMany(key, retryAfterSeconds: $0) } ?? .known(key)
    }

    /// Takes so many more requests from the rate of a key, even if that is more than it has left.
    /// Returns `nil`, or, when nothing was left before, in how many seconds there will be room.
    func charge(_ key: APIKey, for count: Int) -> Int? {
        let now = nanoseconds
        return state.withLock { state in
            state.buckets[key.digest, default: TokenBucket(key.rate ?? .usual, at: now)]
                .charge(count, at: now)
        }
    }

    private var nanoseconds: UInt64 {
        let elapsed = origin.duration(to: .now).components
        return UInt64(elapsed.seconds) * 1_000_000_000 + UInt64(elapsed.attoseconds / 1_000_000_000)
    }
}
