// SPDX-License-Identifier: Apache-2.0

#if THREAD_SANITIZER
internal import Glibc

/// The standard library's `Mutex`, whose code is not instrumented, appears to the thread sanitizer
/// not to lock. Builds with the sanitizer use a system lock instead, which the sanitizer
/// understands.
///
/// `@unchecked`: `value` is touched only while `mutex` is held, and `mutex` never moves.
package final class StateLock<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Locks around a value.
    package init(_ value: sending Value) {
        // SAFETY: initialized by the next two lines, destroyed and freed by `deinit` alone.
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        self.value = value
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with the lock held.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
#else
package import Synchronization

/// A lock around a value.
package typealias StateLock = Mutex
#endif
