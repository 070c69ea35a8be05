// SPDX-License-Identifier: Apache-2.0

package import Gateway
import Synchronization

/// Collects the damaged rows of a store: counts each row once, and keeps the first ones. May be
/// used from any thread.
package final class DamageCollector: Sendable {
    private struct State {
        var known: Set<DamagedRow> = []
        var first: [DamagedRow] = []
        var count = 0
    }

    /// The maximum number of rows that are told apart. Further rows are counted each time they are
    /// read.
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

    /// The first damaged rows, at most ``Gateway/StoreAudit/maximumFaults``, and the number of all.
    package var found: (rows: [DamagedRow], count: Int) { state.withLock { ($0.first, $0.count) } }
}
