// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization

/// A bounded buffer between the task that reads events and the task that sends them to one reader.
///
/// The producer waits while the buffer is full: events that a slow reader has not received stay in
/// the store. Only one task may call ``put(_:)``, and only one ``take()``; the other methods may be
/// called from any thread.
final class EventOutbox: Sendable {
    /// The maximum number of buffered events; they are written together.
    static let eventCount = 64

    /// The buffered events and flags.
    struct Load {
        var events: [OutcomeEvent] = []
        /// The cursor of a pulse that is due: all events up to it have been buffered. Without
        /// pulses, proxies close silent streams, and a lost reader is not detected.
        var pulse: Int64?
        /// Whether nothing follows.
        var isLast = false

        fileprivate var isEmpty: Bool { events.isEmpty && pulse == nil && !isLast }
    }

    private let load = Mutex(Load())
    /// Fires when something was buffered.
    private let arrivals = AsyncSignal()
    /// Fires when the buffer is below its limit again.
    private let room = AsyncSignal()

    /// Adds an event once there is room. Adds nothing if the task is cancelled or the outbox has
    /// ended.
    func put(_ event: OutcomeEvent) async {
        while !putAtOnce(event) {
            await room.waitUnlessCancelled()
            if Task.isCancelled { return }
        }
        arrivals.ring()
    }

    private func putAtOnce(_ event: OutcomeEvent) -> Bool {
        load.withLock { load in
            guard !load.isLast else { return true }
            guard load.events.count < Self.eventCount else { return false }
            load.events.append(event)
            return true
        }
    }

    /// Requests a pulse. All events up to this cursor have been buffered.
    func pulse(at cursor: Int64) {
        load.withLock { $0.pulse = cursor }
        arrivals.ring()
    }

    /// Ends the outbox after the buffered events.
    func end() {
        load.withLock { $0.isLast = true }
        arrivals.ring()
    }

    /// Ends the outbox and discards the buffered events, because the reader has lost access.
    func cut() {
        load.withLock { $0 = Load(isLast: true) }
        arrivals.ring()
        room.ring()
    }

    /// Takes everything that is buffered; waits if there is nothing. Returns a last load if the
    /// task is cancelled.
    func take() async -> Load {
        while true {
            let taken = load.withLock { load in
                defer { load = Load(isLast: load.isLast) }
                return load
            }
            if !taken.isEmpty {
                room.ring()
                return taken
            }
            await arrivals.waitUnlessCancelled()
            if Task.isCancelled { return Load(isLast: true) }
        }
    }
}
