// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Synchronization

/// A counter. May be used from any thread.
final class CounterSeries: CounterHandler {
    private let total = Atomic<Int64>(0)

    /// The current value.
    var value: Int64 { total.load(ordering: .relaxed) }

    func increment(by amount: Int64) { total.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { total.store(0, ordering: .relaxed) }
}

/// A gauge. May be used from any thread.
final class GaugeSeries: RecorderHandler, MeterHandler {
    private let number = Mutex(0.0)

    /// The current value.
    var value: Double { number.withLock { $0 } }

    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { number.withLock { $0 = value } }
    func increment(by amount: Double) { number.withLock { $0 += amount } }
    func decrement(by amount: Double) { number.withLock { $0 -= amount } }
}

/// A histogram: the number of values in each bucket, and their sum. May be used from any thread.
final class HistogramSeries: RecorderHandler, TimerHandler {
    /// The state of a histogram.
    struct Snapshot {
        let bounds: [Double]
        /// The number of values in each bucket, not cumulative; the last bucket is above all
        /// bounds.
        fileprivate(set) var counts: [Int]
        fileprivate(set) var sum: Double

        var count: Int { counts.reduce(0, +) }
    }

    private let state: Mutex<Snapshot>

    /// Creates an empty histogram. `bounds` are inclusive and in ascending order.
    init(bounds: [Double]) {
        state = Mutex(
            Snapshot(bounds: bounds, counts: Array(repeating: 0, count: bounds.count + 1), sum: 0))
    }

    var snapshot: Snapshot { state.withLock { $0 } }

    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }

    func record(_ value: Double) {
        state.withLock { state in
            var bucket = 0
            while bucket < state.bounds.count, value > state.bounds[bucket] { bucket += 1 }
            state.counts[bucket] += 1
            state.sum += value
        }
    }
}
