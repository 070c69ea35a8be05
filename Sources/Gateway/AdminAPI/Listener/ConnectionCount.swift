// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The number of open connections. May be used from any thread.
final class ConnectionCount: Sendable {
    private let count = Atomic<Int>(0)

    /// The present number.
    var value: Int { count.load(ordering: .relaxed) }

    func opened() { count.wrappingAdd(1, ordering: .relaxed) }
    func closed() { count.wrappingSubtract(1, ordering: .relaxed) }
}
