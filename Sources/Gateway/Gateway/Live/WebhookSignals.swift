// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WakeModel

/// The signals of all endpoints, by weak references.
final class WebhookSignals: Sendable {
    private struct Entry {
        let endpoint: WebhookEndpointID
        weak var signal: AsyncSignal?
    }

    private let entries = Mutex<[Entry]>([])

    /// A new signal.
    func make(for endpoint: WebhookEndpointID) -> AsyncSignal {
        let signal = AsyncSignal()
        entries.withLock { entries in
            entries.removeAll { $0.signal == nil }
            entries.append(Entry(endpoint: endpoint, signal: signal))
        }
        return signal
    }

    /// Fires those of the endpoints for which something may have been written.
    func ring(where condition: (WebhookEndpointID) -> Bool) {
        let signals = entries.withLock { entries in
            entries.filter { condition($0.endpoint) }.compactMap(\.signal)
        }
        for signal in signals { signal.ring() }
    }
}
