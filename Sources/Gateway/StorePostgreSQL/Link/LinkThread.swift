// SPDX-License-Identifier: Apache-2.0

internal import CLibpq
internal import Glibc

/// A thread for what blocks, which must not be one of Swift's cooperative pool.
enum LinkThread {
    private final class Body {
        let name: String
        let run: @Sendable () -> Void
        init(_ name: String, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts a detached thread. False if the system has no thread left; then nothing was started.
    static func start(named name: String, _ run: @escaping @Sendable () -> Void) -> Bool {
        // SAFETY: retained here once, released by the thread's first line, or below if there is no
        // thread.
        let body = Unmanaged.passRetained(Body(name, run))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                // SAFETY: `start` passes exactly this box, retained once.
                guard let argument else { return nil }
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                CLibpq_name_this_thread(body.name)
                body.run()
                return nil
            }, body.toOpaque())
        guard code == 0 else {
            body.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Monotonic milliseconds.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
