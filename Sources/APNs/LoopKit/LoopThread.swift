// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A thread for a loop that blocks, which a thread of Swift's cooperative pool must not do.
package enum LoopThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a detached thread. False if the system has no thread left; then nothing was started.
    package static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        // SAFETY: retained here once, released by the thread's first line, or below if there is no
        // thread.
        let body = Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        guard pthread_create(&thread, nil, LoopThread.main, body.toOpaque()) == 0 else {
            body.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? =
        { argument in
            // SAFETY: `start` passes exactly this box, retained once.
            guard let argument else { return nil }
            let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
            body.run()
            return nil
        }
}
