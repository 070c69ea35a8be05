// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Gateway

@Suite("Callers share each batch at intake")
struct CallerQueuesTests {
    private static let start = ContinuousClock.now

    /// Queues with so many items for each caller; each item says whose it is.
    private static func queues(_ counts: KeyValuePairs<String, Int>) -> CallerQueues<String> {
        var queues = CallerQueues<String>()
        for (place, (caller, count)) in counts.enumerated() {
            queues.append(
                Array(repeating: caller, count: count), group: place, of: caller, at: start)
        }
        return queues
    }

    @Test("One request is served in the next batch, whatever another caller has waiting")
    func oneBesideMany() {
        var queues = Self.queues(["flood": 5_000, "one": 1])
        let batch = queues.take(64)
        #expect(batch.items.count == 64)
        #expect(batch.items.first == "one")
        #expect(batch.items.dropFirst().allSatisfy { $0 == "flood" })
    }

    @Test("Callers that all have much get the same, and each comes first in its turn")
    func even() {
        var queues = Self.queues(["a": 100, "b": 100, "c": 100])
        var served: [String: Int] = [:]
        for _ in 0..<3 {
            for item in queues.take(10).items { served[item, default: 0] += 1 }
        }
        #expect(served.values.allSatisfy { 9...12 ~= $0 })
        #expect(served.values.reduce(0, +) == 30)
    }

    @Test("A caller that is alone gets whole batches, in the order of arrival")
    func alone() {
        var queues = CallerQueues<Int>()
        queues.append(Array(0..<10), group: 1, of: "a", at: Self.start)
        queues.append(Array(10..<20), group: 2, of: "a", at: Self.start)
        var items: [Int] = []
        while !queues.isEmpty {
            let batch = queues.take(7)
            items += batch.items
            #expect(batch.portions.map(\.count).reduce(0, +) == batch.items.count)
            queues.written(batch.portions, at: Self.start)
        }
        #expect(items == Array(0..<20))
        #expect(queues.count == 0)
    }

    @Test("With more callers than a batch has places, all are served in turns")
    func manyCallers() {
        var queues = CallerQueues<Int>()
        for caller in 0..<10 {
            queues.append(
                [caller, caller], group: caller, of: "caller \(caller)", at: Self.start)
        }
        var seen: Set<Int> = []
        for _ in 0..<4 { seen.formUnion(queues.take(3).items) }
        #expect(seen.count == 10)
    }

    @Test("A full intake has room for each caller that has nothing there yet")
    func room() {
        var queues = Self.queues(["flood": 100])
        #expect(CallerQueues.room(for: "flood", in: [queues], total: 100, own: 25) == 0)
        #expect(CallerQueues.room(for: "other", in: [queues], total: 100, own: 25) == 25)
        queues.append(["x"], group: 9, of: "other", at: Self.start)
        #expect(CallerQueues.room(for: "other", in: [queues], total: 100, own: 25) == 24)
        // What is in hand counts until it is written.
        let batch = queues.take(60)
        #expect(CallerQueues.room(for: "flood", in: [queues], total: 100, own: 25) == 0)
        queues.written(batch.portions, at: Self.start)
        #expect(queues.count == 41)
        #expect(CallerQueues.room(for: "flood", in: [queues], total: 100, own: 25) == 59)
    }

    @Test("Callers share batches while several have requests, and for a while after that")
    func sharing() {
        var queues = Self.queues(["a": 100])
        func areShared(after span: Duration) -> Bool {
            queues.callers(at: Self.start + span, within: .seconds(1)).count > 1
        }
        #expect(!areShared(after: .zero))
        queues.append(["b"], group: 9, of: "b", at: Self.start)
        #expect(areShared(after: .zero))
        let batch = queues.take(10)
        queues.written(batch.portions, at: Self.start)
        #expect(areShared(after: .milliseconds(999)))
        #expect(!areShared(after: .seconds(1)))
    }
}
