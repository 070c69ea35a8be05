// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization

/// What a reader of events is to be sent next. One task fills it, one empties it.
///
/// It holds few events, and who brings them waits while it is full: what a slow reader has not got
/// stays in the store.
final class EventOutbox: Sendable {
    /// The most events that wait here; they are written together.
    static let eventCount = 64

    /// What waits.
    struct Load {
        var events: [OutcomeEvent] = []
        /// A sign of life is due, and up to which cursor all events have been put here. A silent
        /// stream would be closed by proxies, and a reader that is gone is found out only by
        /// writing to it.
        var pulse: Int64?
        /// Nothing comes after this.
        var isLast = false

        fileprivate var isEmpty: Bool { events.isEmpty && pulse == nil && !isLast }
    }

    private let load = Mutex(Load())
    /// Signals that an event waits. A signal without a listener is kept.
    private let arrivals = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))
    /// Signals that the buffer is below its limit again.
    private let room = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// Adds an event as soon as there is room for it. A cancelled task adds nothing.
    func put(_ event: OutcomeEvent) async {
        var openings = room.stream.makeAsyncIterator()
        while !putAtOnce(event) {
            guard await openings.next() != nil else { return }
        }
        arrivals.continuation.yield()
    }

    private func putAtOnce(_ event: OutcomeEvent) -> Bool {
        load.withLock { load in
            guard !load.isLast else { return true }
            guard load.events.count < Self.eventCount else { return false }
            load.events.append(event)
            return true
        }
    }

    /// A sign of life is due. All events up to this cursor have been put here.
    func pulse(at cursor: Int64) {
        load.withLock { $0.pulse = cursor }
        arrivals.continuation.yield()
    }

    /// What waits now is the last.
    func end() {
        load.withLock { $0.isLast = true }
        arrivals.continuation.yield()
    }

    /// Nothing comes any more, not even what waits: its reader may not have it.
    func cut() {
        load.withLock { $0 = Load(isLast: true) }
        arrivals.continuation.yield()
        room.continuation.yield()
    }

    /// Takes all that waits, as soon as there is anything. For a cancelled task it is the last.
    func take() async -> Load {
        var ringing = arrivals.stream.makeAsyncIterator()
        while true {
            let taken = load.withLock { load in
                defer { load = Load(isLast: load.isLast) }
                return load
            }
            if !taken.isEmpty {
                room.continuation.yield()
                return taken
            }
            guard await ringing.next() != nil else { return Load(isLast: true) }
        }
    }
}
