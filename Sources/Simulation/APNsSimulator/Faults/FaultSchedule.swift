// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WakeModel

/// The injected faults, and which of them a request meets.
struct FaultSchedule: Sendable {
    /// Fixes which requests of a share are hit.
    var seed: UInt64
    /// In the order in which they were injected.
    private(set) var faults: [ArmedFault] = []

    init(seed: UInt64) { self.seed = seed }

    /// A fault with what is left of its count. A class, because every event loop's copy of the
    /// schedule draws from the same count.
    final class ArmedFault: Sendable {
        let fault: Fault
        private let remaining: Atomic<Int>

        init(_ fault: Fault) {
            self.fault = fault
            remaining = Atomic(fault.count ?? .max)
        }

        /// Uses the fault once; false when its count is used up.
        func use() -> Bool {
            if fault.count == nil { return true }
            return remaining.subtract(1, ordering: .relaxed).oldValue > 0
        }
    }

    var isEmpty: Bool { faults.isEmpty }

    mutating func add(_ fault: Fault) { faults.append(ArmedFault(fault)) }

    /// Whether its share finds requests that no other's has. A fault keeps its share until it is
    /// taken away, also when its count is used up.
    func hasRoom(for fault: Fault) -> Bool {
        guard let share = fault.share else { return true }
        // A hundred shares of a hundredth add up to a little over 1.
        return share <= room(beside: fault) + 1e-9
    }

    /// How large a share the other faults leave to a fault at the same kind of stage.
    func room(beside fault: Fault) -> Double {
        faults.reduce(1) { room, armed in
            armed.fault.stage.isOfRequest == fault.stage.isOfRequest
                ? room - (armed.fault.share ?? 0) : room
        }
    }

    mutating func removeAll() { faults.removeAll() }

    /// The fault that strikes request number `number` at this stage, if any. `deviceToken` is the
    /// one in lower-case hexadecimal of the path.
    func fault(
        at stage: Fault.Stage, number: Int, deviceToken: @autoclosure () -> String?
    ) -> Fault? {
        var shareBelow = 0.0
        for armed in faults where armed.fault.stage.isOfRequest == stage.isOfRequest {
            let fits: Bool
            switch armed.fault.target {
            case .all: fits = true
            case .deviceToken(let token): fits = token.hex == deviceToken()
            case .share(let share):
                // The shares of other stages count along: else those who end at an early one would
                // be the very requests that a later one was to hit.
                let bits = SplitMix64.value(seed: seed, index: UInt64(number))
                let fraction = Double(bits >> 11) * 0x1p-53
                fits = fraction >= shareBelow && fraction < shareBelow + share
                shareBelow += share
            }
            if fits, armed.fault.stage == stage, armed.use() { return armed.fault }
        }
        return nil
    }
}

extension Fault {
    fileprivate var share: Double? {
        if case .share(let share) = target { share } else { nil }
    }
}

extension Fault.Stage {
    /// Whether its numbers are those of requests, rather than of connections.
    fileprivate var isOfRequest: Bool { self != .connection }
}
