// SPDX-License-Identifier: Apache-2.0

import DeviceModel

/// The pushes of one device: all undecided ones, and the last of the others.
struct PushHistory: Sendable {
    /// How many decided pushes are kept for each device.
    static let capacity = 1000

    /// How many pushes there were.
    private(set) var count = 0
    /// How many of them came to the app.
    private(set) var reachedAppCount = 0
    private var undecided: [Int: ModelledPush] = [:]
    /// In the order in which they were decided, up to twice the capacity.
    private var decided: [ModelledPush] = []

    /// Adds an undecided push.
    mutating func add(_ push: ModelledPush) {
        count += 1
        undecided[push.number] = push
    }

    /// Records a push's outcome, and returns the push with it.
    mutating func decide(_ report: PushReport) -> ModelledPush? {
        guard var push = undecided.removeValue(forKey: report.number) else { return nil }
        push.fate = report.fate
        push.decidedAt = report.at
        if report.fate.reachedApp { reachedAppCount += 1 }
        // The older half is removed together, so that removal is cheap on average.
        if decided.count == 2 * Self.capacity { decided.removeFirst(Self.capacity) }
        decided.append(push)
        return push
    }

    /// All that are remembered, oldest first.
    var pushes: [ModelledPush] {
        (decided.suffix(Self.capacity) + undecided.values).sorted { $0.number < $1.number }
    }
}
