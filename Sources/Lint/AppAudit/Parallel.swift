// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

extension Array where Element: Sendable {
    /// The results of a function for each element, in order, computed on all processors. Blocks the
    /// calling thread.
    func mapInParallel<Result: Sendable>(
        _ transform: @escaping @Sendable (Element) -> Result
    ) -> [Result] {
        let results = Mutex([Result?](repeating: nil, count: count))
        let next = Atomic(0)
        withThreads(Swift.min(count, AuditLimits.threads)) {
            while true {
                let index = next.add(1, ordering: .relaxed).oldValue
                guard index < count else { return }
                let result = transform(self[index])
                results.withLock { $0[index] = result }
            }
        }
        return results.withLock { $0.compactMap(\.self) }
    }
}

/// Runs a closure on the calling thread and on others, `count` in all or as many as the system has,
/// and returns once it has returned on each.
private func withThreads(_ count: Int, _ run: @Sendable () -> Void) {
    withoutActuallyEscaping(run) { run in
        let threads = (1..<Swift.max(1, count)).compactMap { _ in
            var thread = pthread_t()
            // SAFETY: retained here once, released by the thread's first line, or below if there is
            // no thread.
            let body = Unmanaged.passRetained(ThreadBody(run))
            let code = pthread_create(&thread, nil, ThreadBody.main, body.toOpaque())
            guard code != 0 else { return thread as pthread_t? }
            body.release()
            return nil
        }
        run()
        // Each has released the closure when it has ended.
        for thread in threads { pthread_join(thread, nil) }
    }
}

/// What a thread runs.
private final class ThreadBody {
    private let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }

    static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? =
        { argument in
            // SAFETY: `withThreads` passes exactly such an object, retained once.
            guard let argument else { return nil }
            Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
            return nil
        }
}
