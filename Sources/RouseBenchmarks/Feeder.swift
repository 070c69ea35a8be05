// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Lets a transport's sink hand new work to the transport, which is made with the sink and can
/// therefore not be named in it.
final class Feeder: Sendable {
    private let submit = Mutex<(@Sendable (Int) -> Void)?>(nil)

    /// From now on `submit` is called with how many are wanted.
    func start(_ submit: @escaping @Sendable (Int) -> Void) { self.submit.withLock { $0 = submit } }

    /// Asks for so many.
    func feed(_ count: Int) { submit.withLock { $0 }?(count) }

    /// Lets go of what was given.
    func stop() { submit.withLock { $0 = nil } }
}
