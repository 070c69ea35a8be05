// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import WakeModel

/// Tells those who wait that a wake has ended. All of it is bounded: a subscriber that does not
/// keep up loses the oldest events, never the newest, and is told how many.
final class OutcomeHub: Sendable {
    private struct State {
        var waiters: [WakeID: [(key: Int, bell: Bell)]] = [:]
        var waiterCount = 0
        var subscribers: [Int: OutcomeEvents.Subscriber] = [:]
        var nextKey = 0
        var sequence: UInt64 = 0
    }

    private let state = Mutex(State())
    private let limits: GatewayLimits

    init(limits: GatewayLimits) { self.limits = limits }

    // MARK: Waiting for one

    /// A bell that rings when this wake ends; `nil` when too many wait already.
    func bell(for id: WakeID) -> (key: Int, bell: Bell)? {
        state.withLock { state in
            guard state.waiterCount < limits.outcomeWaiterCount else { return nil }
            state.nextKey += 1
            state.waiterCount += 1
            let entry = (key: state.nextKey, bell: Bell())
            state.waiters[id, default: []].append(entry)
            return entry
        }
    }

    /// Nobody waits at this bell any more.
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

    /// A stream of all outcomes from now on; `nil` when too many listen already.
    func subscribe(bufferedCount: Int) -> OutcomeEvents? {
        let (stream, continuation) = AsyncStream.makeStream(
            of: OutcomeEvent.self, bufferingPolicy: .bufferingNewest(max(1, bufferedCount)))
        let subscriber = OutcomeEvents.Subscriber(continuation)
        let key = state.withLock { state -> Int? in
            guard state.subscribers.count < limits.eventSubscriberCount else { return nil }
            state.nextKey += 1
            state.subscribers[state.nextKey] = subscriber
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
        var bells: [Bell] = []
        var listeners: [OutcomeEvents.Subscriber] = []
        let first = state.withLock { state in
            if state.waiterCount > 0 {
                for wake in ended {
                    if let entries = state.waiters[wake.id] { bells += entries.map(\.bell) }
                }
            }
            listeners = Array(state.subscribers.values)
            state.sequence += UInt64(ended.count)
            return state.sequence - UInt64(ended.count) + 1
        }
        for bell in bells { bell.ring() }
        guard !listeners.isEmpty else { return }
        for (offset, wake) in ended.enumerated() {
            let event = OutcomeEvent(
                sequence: first + UInt64(offset), id: wake.id, ref: wake.ref,
                app: wake.lane.app, kind: wake.lane.kind, end: wake.end, at: wake.at)
            for listener in listeners { listener.tell(event) }
        }
    }

    /// Ends all streams.
    func finish() {
        let subscribers = state.withLock { Array($0.subscribers.values) }
        for subscriber in subscribers { subscriber.finish() }
    }
}

/// A wake has ended.
public struct OutcomeEvent: Hashable, Sendable {
    /// Its place among all outcomes since the gateway started, from 1; gaps are lost events.
    public let sequence: UInt64
    /// The wake.
    public let id: WakeID
    /// What its caller calls it.
    public let ref: WakeRef?
    /// Its app.
    public let app: AppIdentity
    /// Background or VoIP.
    public let kind: WakeKind
    /// How it ended.
    public let end: WakeEnd
    /// When.
    public let at: WallInstant
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
