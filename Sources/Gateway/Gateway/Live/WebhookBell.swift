// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import WakeModel

/// Rings when events of one endpoint may have been written; see
/// ``Gateway/Gateway/webhookBell(of:)``.
public final class WebhookBell: Sendable {
    let endpoint: WebhookEndpointID
    private let bell = Bell()
    private let clock: any GatewayClock

    init(endpoint: WebhookEndpointID, clock: any GatewayClock) {
        self.endpoint = endpoint
        self.clock = clock
    }

    /// Rings; may be called from anywhere. A ring before anybody waits is remembered.
    public func ring() { bell.ring() }

    /// Returns when it rings, or rang since the last wait; at the instant; or at once when the task
    /// is cancelled. One task waits at a time.
    public func wait(until instant: WallInstant) async {
        await bell.wait(until: instant, clock: clock)
    }
}

/// The bells of all endpoints. A bell counts for as long as somebody holds it.
final class WebhookBells: Sendable {
    private struct Entry {
        weak var bell: WebhookBell?
    }

    private let entries = Mutex<[Entry]>([])

    /// A new bell.
    func make(for endpoint: WebhookEndpointID, clock: any GatewayClock) -> WebhookBell {
        let bell = WebhookBell(endpoint: endpoint, clock: clock)
        entries.withLock { entries in
            entries.removeAll { $0.bell == nil }
            entries.append(Entry(bell: bell))
        }
        return bell
    }

    /// Rings those of the endpoints for which something may have been written.
    func ring(where condition: (WebhookEndpointID) -> Bool) {
        for bell in entries.withLock({ $0.compactMap(\.bell) }) where condition(bell.endpoint) {
            bell.ring()
        }
    }
}
