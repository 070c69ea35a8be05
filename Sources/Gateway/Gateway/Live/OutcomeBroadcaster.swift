// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import WakeModel

/// Tells those who wait that a wake has ended. All of it is bounded: a subscriber that does not
/// keep up loses the oldest events, never the newest, and is told how many.
final class OutcomeBroadcaster: Sendable {
    private struct State {
        var waiters: [WakeID: [(key: Int, signal: AsyncSignal)]] = [:]
        var waiterCount = 0
        var subscribers: [Int: Subscription] = [:]
        var nextKey = 0
        /// How many outcomes there were, of each app: what a subscriber of some apps counts on from
        /// tells nothing of the others.
        var sequences: [BundleID: UInt64] = [:]
    }

    private struct Subscription {
        let subscriber: OutcomeEvents.Subscriber
        /// Only outcomes of these apps; `nil` for all.
        let apps: Set<BundleID>?
        /// Whose it is; `nil` for somebody of whom nothing is known.
        let caller: String?
        /// The sequence number of the last event.
        var sequence: UInt64

        func includes(_ app: AppIdentity) -> Bool { apps?.contains(app.bundleID) ?? true }
    }

    private let state = Mutex(State())
    private let limits: GatewayLimits

    init(limits: GatewayLimits) { self.limits = limits }

    // MARK: Waiting for one

    /// A signal that rings when this wake ends; `nil` when too many wait already.
    func signal(for id: WakeID) -> (key: Int, signal: AsyncSignal)? {
        state.withLock { state in
            guard state.waiterCount < limits.outcomeWaiterCount else { return nil }
            state.nextKey += 1
            state.waiterCount += 1
            let entry = (key: state.nextKey, signal: AsyncSignal())
            state.waiters[id, default: []].append(entry)
            return entry
        }
    }

    /// Nobody waits at this signal any more.
    func release(_ key: Int, for id: WakeID) {
        state.withLock { state in
            guard var entries = state.waiters[id] else { return }
            let before = entries.count
            entries.removeAll { $0.key == key }
            state.waiterCount -= before - entries.count
            state.waiters[id] = entries.isEmpty ? nil : entries
        }
    }

    // MARK: Listening to all

    /// A stream of all outcomes from now on, or of those of some apps; `nil` when too many listen
    /// already, or too many of this caller's.
    func subscribe(
        bufferedCount: Int, of apps: Set<BundleID>? = nil, caller: String? = nil
    ) -> OutcomeEvents? {
        let (stream, continuation) = AsyncStream.makeStream(
            of: OutcomeEvent.self, bufferingPolicy: .bufferingNewest(max(1, bufferedCount)))
        let subscriber = OutcomeEvents.Subscriber(continuation)
        let key = state.withLock { state -> Int? in
            let countOfCaller =
                caller == nil ? 0 : state.subscribers.values.count { $0.caller == caller }
            guard state.subscribers.count < limits.eventSubscriberCount,
                countOfCaller < limits.eventSubscriberCountOfCaller
            else { return nil }
            state.nextKey += 1
            let counted = state.sequences.filter { apps?.contains($0.key) ?? true }
            state.subscribers[state.nextKey] = Subscription(
                subscriber: subscriber, apps: apps, caller: caller,
                sequence: counted.values.reduce(0, +))
            return state.nextKey
        }
        guard let key else { return nil }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.subscribers[key] = nil }
        }
        return OutcomeEvents(stream: stream, subscriber: subscriber)
    }

    /// Tells what ended.
    func publish(_ ended: [EndedWake]) {
        guard !ended.isEmpty else { return }
        var signals: [AsyncSignal] = []
        var listeners: [Subscription] = []
        state.withLock { state in
            if state.waiterCount > 0 {
                for wake in ended {
                    if let entries = state.waiters[wake.id] { signals += entries.map(\.signal) }
                }
            }
            for wake in ended { state.sequences[wake.queue.app.bundleID, default: 0] += 1 }
            listeners = Array(state.subscribers.values)
            for (key, listener) in state.subscribers {
                let count = ended.count { listener.includes($0.queue.app) }
                state.subscribers[key]?.sequence += UInt64(count)
            }
        }
        for signal in signals { signal.ring() }
        for listener in listeners {
            var sequence = listener.sequence
            for wake in ended where listener.includes(wake.queue.app) {
                sequence += 1
                listener.subscriber.tell(OutcomeEvent(wake, sequence: sequence))
            }
        }
    }

    /// Ends all streams.
    func finish() {
        let subscribers = state.withLock { Array($0.subscribers.values) }
        for subscription in subscribers { subscription.subscriber.finish() }
    }
}

/// A wake has ended.
public struct OutcomeEvent: Hashable, Sendable {
    /// Its place among the outcomes since the gateway started, from 1: of all apps, or of those
    /// that the stream is of. Gaps are lost events.
    public let sequence: UInt64
    /// The wake.
    public let id: WakeID
    /// What its caller calls it.
    public let ref: WakeRef?
    /// Its app.
    public let app: AppIdentity
    /// What it is.
    public let kind: WakeKind
    /// How it ended.
    public let end: WakeEnd
    /// When.
    public let at: WallInstant
}

extension OutcomeEvent {
    fileprivate init(_ wake: EndedWake, sequence: UInt64) {
        self.init(
            sequence: sequence, id: wake.id, ref: wake.ref, app: wake.queue.app,
            kind: wake.queue.kind, end: wake.end, at: wake.at)
    }
}

/// Outcomes as they happen. When its reader does not keep up, the oldest are dropped.
public struct OutcomeEvents: AsyncSequence, Sendable {
    /// An outcome.
    public typealias Element = OutcomeEvent

    final class Subscriber: Sendable {
        private let continuation: AsyncStream<OutcomeEvent>.Continuation
        private let dropped = Atomic(0)

        init(_ continuation: AsyncStream<OutcomeEvent>.Continuation) {
            self.continuation = continuation
        }

        var droppedCount: Int { dropped.load(ordering: .relaxed) }

        func tell(_ event: OutcomeEvent) {
            if case .dropped = continuation.yield(event) {
                dropped.wrappingAdd(1, ordering: .relaxed)
            }
        }

        func finish() { continuation.finish() }
    }

    let stream: AsyncStream<OutcomeEvent>
    let subscriber: Subscriber

    /// How many events were dropped so far, because the reader did not keep up.
    public var droppedCount: Int { subscriber.droppedCount }

    /// Reads the events; one reader at a time. Ends when the gateway does.
    public func makeAsyncIterator() -> AsyncStream<OutcomeEvent>.AsyncIterator {
        stream.makeAsyncIterator()
    }
}
