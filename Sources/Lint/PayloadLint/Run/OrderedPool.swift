// SPDX-License-Identifier: Apache-2.0

/// Runs work in parallel, and passes on the results in the order of the input.
enum OrderedPool {
    /// Runs `work` on each unit that `next` returns, and `emit` on the results in the same order.
    /// At most `window` units are in progress or wait for their turn, so that the memory is
    /// bounded. Ends at the first error, after the work in progress is done.
    static func run<Unit: Sendable, Outcome: Sendable>(
        window: Int, next: () throws(LintProblem) -> Unit?,
        work: @escaping @Sendable (Unit) -> Outcome,
        emit: (Outcome) async throws(LintProblem) -> Void
    ) async throws(LintProblem) {
        let result = await withTaskGroup(of: (Int, Outcome).self) { group in
            var pool = Order<Outcome>()
            do throws(LintProblem) {
                while true {
                    while pool.hasRoom(window), let unit = try next() {
                        let number = pool.start()
                        group.addTask { (number, work(unit)) }
                    }
                    while pool.awaitsOldest, let (number, outcome) = await group.next() {
                        pool.finish(number, outcome)
                    }
                    guard let outcome = pool.takeOldest() else {
                        return Result<Void, LintProblem>.success(())
                    }
                    try await emit(outcome)
                }
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// The units in progress, and the results that wait for earlier ones.
    private struct Order<Outcome> {
        private var started = 0
        private var taken = 0
        private var waiting: [Int: Outcome] = [:]

        func hasRoom(_ window: Int) -> Bool { started - taken < window }

        /// Whether the oldest unit is in progress.
        var awaitsOldest: Bool { taken < started && waiting[taken] == nil }

        mutating func start() -> Int {
            started += 1
            return started - 1
        }

        mutating func finish(_ number: Int, _ outcome: Outcome) { waiting[number] = outcome }

        mutating func takeOldest() -> Outcome? {
            guard let outcome = waiting.removeValue(forKey: taken) else { return nil }
            taken += 1
            return outcome
        }
    }
}
