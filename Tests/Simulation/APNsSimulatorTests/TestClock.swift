// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WakeModel

/// A clock that a test moves.
final class TestClock: Sendable {
    static let start = WallInstant(secondsSinceEpoch: TestToken.now)

    private let instant = Mutex(TestClock.start)

    var now: WallInstant { instant.withLock { $0 } }

    func advance(bySeconds seconds: Int64) {
        instant.withLock { $0 = $0.advanced(bySeconds: seconds) }
    }
}

extension WallInstant {
    /// Whole seconds after a test's start.
    var sinceStart: Int64 { milliseconds(since: TestClock.start) / 1000 }
}
