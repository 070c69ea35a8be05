// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization

/// The listener for rows that cannot be read; one for all connections of a store.
final class DamageListener: Sendable {
    /// Not the closure by itself: a lock keeps a closure in another form than its caller does.
    private struct Listener: Sendable {
        let tell: @Sendable (DamagedRow) -> Void
    }

    private let listener = Mutex<Listener?>(nil)

    /// From now on `tell` is called.
    func listen(_ tell: @escaping @Sendable (DamagedRow) -> Void) {
        listener.withLock { $0 = Listener(tell: tell) }
    }

    /// A row was met that cannot be read.
    func note(_ row: DamagedRow) { listener.withLock { $0 }?.tell(row) }
}
