// SPDX-License-Identifier: Apache-2.0

package import Gateway
import Synchronization

/// The damaged rows of a store: each once, and of many only how many.
package final class DamageCollector: Sendable {
    private struct State {
        var known: Set<DamagedRow> = []
        var first: [DamagedRow] = []
        var count = 0
    }

    /// The most rows that are distinguished; one beyond them counts each time it is read.
    private static let maximumKnownCount = 100_000

    private let state = Mutex(State())

    package init() {}

    package func note(_ row: DamagedRow) {
        state.withLock { state in
            guard state.known.count >= Self.maximumKnownCount || state.known.insert(row).inserted
            else { return }
            state.count += 1
            if state.first.count < StoreAudit.maximumFaults { state.first.append(row) }
        }
    }

    /// The first of them, and how many there are.
    package var found: (rows: [DamagedRow], count: Int) { state.withLock { ($0.first, $0.count) } }
}
