// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The last pushes, in a ring of fixed size.
final class PushLog: Sendable {
    private let capacity: Int
    private let ring: Mutex<Ring>

    private struct Ring {
        var pushes: [ReceivedPush] = []
        /// The index of the oldest entry once the ring is full.
        var oldest = 0
    }

    /// A capacity of 0 keeps nothing.
    init(capacity: Int) {
        self.capacity = capacity
        ring = Mutex(Ring())
    }

    func append(_ push: ReceivedPush) {
        guard capacity > 0 else { return }
        ring.withLock { ring in
            if ring.pushes.count < capacity {
                ring.pushes.append(push)
            } else {
                ring.pushes[ring.oldest] = push
                ring.oldest = (ring.oldest + 1) % capacity
            }
        }
    }

    /// Oldest first.
    var pushes: [ReceivedPush] {
        ring.withLock { Array($0.pushes[$0.oldest...] + $0.pushes[..<$0.oldest]) }
    }

    func removeAll() {
        ring.withLock { $0 = Ring() }
    }
}
