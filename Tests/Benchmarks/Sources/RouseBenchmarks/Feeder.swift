// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Lets a transport's sink hand new work to the transport, which is made with the sink and can
/// therefore not be named in it.
final class Feeder: Sendable {
    /// Not the closure by itself, which the lock would wrap twice more at each look.
    private struct Source: Sendable {
        let submit: @Sendable (Int) -> Void
    }

    private let source = Mutex<Source?>(nil)

    /// From now on `submit` is called with how many are wanted.
    func start(_ submit: @escaping @Sendable (Int) -> Void) {
        source.withLock { $0 = Source(submit: submit) }
    }

    /// Asks for so many.
    func feed(_ count: Int) { source.withLock { $0 }?.submit(count) }

    /// Lets go of what was given.
    func stop() { source.withLock { $0 = nil } }
}
