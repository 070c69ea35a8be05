// SPDX-License-Identifier: Apache-2.0

package import Gateway
import Synchronization

/// The listener for rows that cannot be read; one for all connections of a store.
package final class DamageListener: Sendable {
    /// Not the closure itself: a lock stores a closure in another representation than its caller.
    private struct Listener: Sendable {
        let tell: @Sendable (DamagedRow) -> Void
    }

    private let listener = Mutex<Listener?>(nil)

    /// Creates one without a listener.
    package init() {}

    /// Sets the listener.
    package func listen(_ tell: @escaping @Sendable (DamagedRow) -> Void) {
        listener.withLock { $0 = Listener(tell: tell) }
    }

    /// Reports a row that cannot be read.
    package func note(_ row: DamagedRow) { listener.withLock { $0 }?.tell(row) }
}
