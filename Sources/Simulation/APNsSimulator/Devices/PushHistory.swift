// SPDX-License-Identifier: Apache-2.0

import DeviceModel

/// The pushes of one device: all whose fate is open, and the last of the others.
struct PushHistory: Sendable {
    /// How many pushes with a known fate are remembered for each device.
    static let capacity = 1000

    /// How many pushes there were.
    private(set) var count = 0
    /// How many of them came to the app.
    private(set) var reachedAppCount = 0
    private var undecided: [Int: ModelledPush] = [:]
    /// In the order in which they were decided, up to twice the capacity.
    private var decided: [ModelledPush] = []

    /// Adds a push whose fate is open.
    mutating func add(_ push: ModelledPush) {
        count += 1
        undecided[push.number] = push
    }

    /// Notes a push's fate, and returns the push with it.
    mutating func decide(_ report: PushReport) -> ModelledPush? {
        guard var push = undecided.removeValue(forKey: report.number) else { return nil }
        push.fate = report.fate
        push.decidedAt = report.at
        if report.fate.reachedApp { reachedAppCount += 1 }
        // The older half goes at once, so that forgetting costs nothing to speak of.
        if decided.count == 2 * Self.capacity { decided.removeFirst(Self.capacity) }
        decided.append(push)
        return push
    }

    /// All that are remembered, oldest first.
    var pushes: [ModelledPush] {
        (decided.suffix(Self.capacity) + undecided.values).sorted { $0.number < $1.number }
    }
}
