// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WakeModel

/// The store's feed of outcomes, for the readers on this gateway.
///
/// The feed is in the store, numbered as it is committed, so each gateway reads the same one. While
/// there is a reader, one task follows the end of the feed for all of them: it reads when this
/// gateway has written an outcome, and otherwise at intervals. Readers that are behind its buffer
/// read from the store themselves.
final class OutcomeFeed: Sendable {
    private struct State {
        var subscribers: [Int: Subscriber] = [:]
        var nextKey = 0
        /// The newest outcomes: all after `start` and up to `end`.
        var tail: [OutcomeEvent] = []
        var start: Int64 = 0
        var end: Int64 = 0
        var isFollowed = false
        var isFinished = false
    }

    private struct Subscriber {
        let caller: String?
        let signal: AsyncSignal
    }

    /// The most entries of one read.
    private static let pageCount = 500
    /// The most outcomes that are kept for readers at the end of the feed.
    private static let tailCount = 4_096

    private let state = Mutex(State())
    private let store: any WakeStore
    private let watch: StoreWatch
    private let clock: any GatewayClock
    private let limits: GatewayLimits
    /// Fires when the feed may have grown.
    private let growth = AsyncSignal()

    init(
        store: any WakeStore, watch: StoreWatch, clock: any GatewayClock, limits: GatewayLimits
    ) {
        self.store = store
        self.watch = watch
        self.clock = clock
        self.limits = limits
    }

    // MARK: Readers

    /// A reader of the outcomes after a cursor, or from now on; `nil` when there are too many
    /// readers, or too many of this caller. Outcomes before `oldest` may have been removed.
    func subscribe(
        after cursor: Int64?, keptFrom oldest: Int64, of apps: Set<BundleID>?, caller: String?
    ) async throws(StoreFailure) -> OutcomeEvents? {
        let signal = AsyncSignal()
        let key = state.withLock { state -> Int? in
            let countOfCaller =
                caller == nil ? 0 : state.subscribers.values.count { $0.caller == caller }
            guard state.subscribers.count < limits.eventSubscriberCount,
                countOfCaller < limits.eventSubscriberCountOfCaller
            else { return nil }
            state.nextKey += 1
            state.subscribers[state.nextKey] = Subscriber(caller: caller, signal: signal)
            return state.nextKey
        }
        guard let key else { return nil }
        // From here on the subscription releases its place.
        let subscription = OutcomeSubscription(feed: self, key: key, signal: signal, apps: apps)
        let last = try await perform(FindLastOutcome())
        // A cursor after the end of the feed was issued before a failover, or before a backup was
        // restored.
        let start = min(cursor ?? last, last)
        subscription.position.store(start, ordering: .releasing)
        state.withLock { state in
            guard !state.isFollowed, !state.isFinished else { return }
            (state.start, state.end, state.tail) = (last, last, [])
            state.isFollowed = true
            Task { await self.follow() }
        }
        return OutcomeEvents(
            subscription: subscription, start: start,
            mayHaveMissed: cursor.map { $0 > 0 && $0 < oldest } ?? false)
    }

    fileprivate func release(_ key: Int) { state.withLock { $0.subscribers[key] = nil } }

    private enum Step {
        case page(OutcomePage)
        case read(isLast: Bool, known: Int64)
        case wait
    }

    /// The outcomes after a cursor, as soon as there are any; `nil` when there will be none.
    fileprivate func page(after cursor: Int64, signal: AsyncSignal) async -> OutcomePage? {
        while !Task.isCancelled {
            let step = state.withLock { state -> Step in
                guard !state.isFinished else { return .read(isLast: true, known: 0) }
                guard cursor >= state.start else {
                    return .read(isLast: false, known: state.start)
                }
                guard cursor < state.end else { return .wait }
                var page = OutcomePage(cursor: state.end, isFull: true)
                // From the end, where most readers are.
                let known = state.tail.lastIndex { $0.cursor <= cursor }
                page.events = Array(state.tail[(known.map { $0 + 1 } ?? 0)...])
                return .page(page)
            }
            switch step {
            case .page(let page): return page
            case .wait:
                await withTaskCancellationHandler {
                    await signal.wait()
                } onCancel: {
                    signal.ring()
                }
            case .read(let isLast, let known):
                do throws(StoreFailure) {
                    let page = try await perform(
                        ReadOutcomes(after: cursor, limit: Self.pageCount))
                    if page.cursor > cursor { return page }
                    if isLast { return nil }
                    // Up to there the feed was known before it was read: nothing lies between.
                    return OutcomePage(cursor: known, isFull: false)
                } catch {
                    if isLast { return nil }
                    await pause(milliseconds: limits.storePauseMilliseconds)
                }
            }
        }
        return nil
    }

    // MARK: Following

    /// Reports that the feed may have grown.
    func ring() { if state.withLock({ $0.isFollowed }) { growth.ring() } }

    /// Ends all streams after the present outcomes.
    func finish() {
        state.withLock { $0.isFinished = true }
        growth.ring()
        ringAll()
    }

    private func ringAll() {
        let signals = state.withLock { $0.subscribers.values.map(\.signal) }
        for signal in signals { signal.ring() }
    }

    /// Reads the end of the feed for as long as there is a reader.
    private func follow() async {
        while true {
            let cursor = state.withLock { state -> Int64? in
                guard !state.isFinished, !state.subscribers.isEmpty else {
                    state.isFollowed = false
                    return nil
                }
                return state.end
            }
            guard let cursor else { return }
            do throws(StoreFailure) {
                let page = try await perform(ReadOutcomes(after: cursor, limit: Self.pageCount))
                take(page)
                guard !page.isFull else { continue }
                let look = clock.now().advanced(
                    byMilliseconds: Int64(limits.outcomeLookMilliseconds))
                await growth.wait(until: look, clock: clock)
            } catch {
                await pause(milliseconds: limits.storePauseMilliseconds)
            }
        }
    }

    private func take(_ page: OutcomePage) {
        let hasGrown = state.withLock { state in
            guard page.cursor > state.end else { return false }
            state.tail += page.events
            state.end = page.cursor
            let surplus = state.tail.count - Self.tailCount
            if surplus > 0 {
                state.start = state.tail[surplus - 1].cursor
                state.tail.removeFirst(surplus)
            }
            return true
        }
        if hasGrown { ringAll() }
    }

    private func perform<Command: StoreCommand>(
        _ command: Command
    ) async throws(StoreFailure) -> Command.Answer {
        try await watch.observe(.read) { () async throws(StoreFailure) in
            try await store.perform(command)
        }
    }

    private func pause(milliseconds: Int) async {
        // A cancelled sleep ends the pause, which its caller checks next.
        try? await clock.sleep(until: clock.now().advanced(byMilliseconds: Int64(milliseconds)))
    }
}

/// A reader's position in the feed of outcomes, released with its last reference.
final class OutcomeSubscription: Sendable {
    let apps: Set<BundleID>?
    let position = Atomic<Int64>(0)
    private let feed: OutcomeFeed
    private let key: Int
    private let signal: AsyncSignal

    fileprivate init(
        feed: OutcomeFeed, key: Int, signal: AsyncSignal, apps: Set<BundleID>?
    ) {
        self.feed = feed
        self.key = key
        self.signal = signal
        self.apps = apps
    }

    deinit { feed.release(key) }

    func page(after cursor: Int64) async -> OutcomePage? {
        await feed.page(after: cursor, signal: signal)
    }
}
