// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import WakeModel

/// Fires when events of one endpoint may have been written; see
/// ``Gateway/Gateway/webhookSignal(of:)``.
public final class WebhookSignal: Sendable {
    let endpoint: WebhookEndpointID
    private let signal = AsyncSignal()
    private let clock: any GatewayClock

    init(endpoint: WebhookEndpointID, clock: any GatewayClock) {
        self.endpoint = endpoint
        self.clock = clock
    }

    /// Fires; may be called from any thread. A signal without a waiting task is kept.
    public func ring() { signal.ring() }

    /// Returns when it fires, or has fired since the last wait; at the instant; or immediately when
    /// the task is cancelled. One task waits at a time.
    public func wait(until instant: WallInstant) async {
        await signal.wait(until: instant, clock: clock)
    }

    /// Returns when it fires, or has fired since the last wait; at the end of the time; or
    /// immediately when the task is cancelled. One task waits at a time.
    package func wait(until limit: TimeLimit) async {
        await signal.wait(until: limit, clock: clock)
    }
}

/// The signals of all endpoints, by weak references.
final class WebhookSignals: Sendable {
    private struct Entry {
        weak var signal: WebhookSignal?
    }

    private let entries = Mutex<[Entry]>([])

    /// A new signal.
    func make(for endpoint: WebhookEndpointID, clock: any GatewayClock) -> WebhookSignal {
        let signal = WebhookSignal(endpoint: endpoint, clock: clock)
        entries.withLock { entries in
            entries.removeAll { $0.signal == nil }
            entries.append(Entry(signal: signal))
        }
        return signal
    }

    /// Fires those of the endpoints for which something may have been written.
    func ring(where condition: (WebhookEndpointID) -> Bool) {
        for signal in entries.withLock({ $0.compactMap(\.signal) }) where condition(signal.endpoint)
        {
            signal.ring()
        }
    }
}
