// SPDX-License-Identifier: Apache-2.0

import PushTransport
import SeedKit
import Testing
import TransportTestKit

@testable import HTTP2Transport

@Suite("Slots and queues")
struct TransferStoreTests {
    @Test("a queue is an array, for many seeds", arguments: 1...5)
    func queue(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let pool = TransferPool()
        let queue = TransferQueue()
        var model: [TransferPool.Place] = []
        var numbers: [TransferPool.Place: UInt64] = [:]
        for number in 0..<3000 {
            switch random.next() % 4 {
            case 0, 1:
                let place = pool.insert(TestPush.submission(UInt64(number)), now: 5)
                numbers[place] = UInt64(number)
                if random.chance(oneIn: 3) {
                    queue.prepend(place, in: pool)
                    model.insert(place, at: 0)
                } else {
                    queue.append(place, in: pool)
                    model.append(place)
                }
            default:
                guard let place = model.randomElement(using: &random) else { continue }
                queue.remove(place, in: pool)
                #expect(pool.remove(place).id == numbers[place], "seed \(seed)")
                model.removeAll { $0 == place }
            }
            #expect(queue.first == model.first ?? TransferPool.none, "seed \(seed)")
            #expect(queue.count == model.count && pool.count == model.count, "seed \(seed)")
        }
        var walked: [TransferPool.Place] = []
        while queue.first != TransferPool.none {
            walked.append(queue.first)
            queue.remove(queue.first, in: pool)
        }
        #expect(walked == model, "seed \(seed)")
        #expect(Set(pool.all) == Set(model))
    }

    /// Guards a push that a polite server left out again and again, behind others of its age.
    @Test("those that are put back stand in the order in which they came", arguments: 1...5)
    func putBack(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let pool = TransferPool()
        let queue = TransferQueue()
        let all = (0..<60).map { number in
            pool.insert(TestPush.submission(UInt64(number)), now: 0)
        }
        for place in all { queue.append(place, in: pool) }
        for place in all[..<40] { queue.remove(place, in: pool) }
        for place in all[..<40].shuffled(using: &random) { queue.putBack(place, in: pool) }
        #expect(queue.count == 60)
        var walked: [TransferPool.Place] = []
        while queue.first != TransferPool.none {
            walked.append(queue.first)
            queue.remove(queue.first, in: pool)
        }
        #expect(walked == all, "seed \(seed)")
        queue.putBack(all[7], in: pool)
        queue.putBack(all[9], in: pool)
        #expect(queue.first == all[7] && queue.count == 2)
        for place in all { _ = pool.remove(place) }
    }

    @Test("a pool that is used while it lends a request ends the program")
    func lending() async {
        await #expect(processExitsWith: .failure) {
            let pool = TransferPool()
            let place = pool.insert(TestPush.submission(1), now: 0)
            pool.withRequest(place) { _ in _ = pool.bodyCount(place) }
        }
    }

    @Test("a budget for frames: requests add to it, time refills it, a flood ends it")
    func flood() {
        var budget = FloodBudget(now: 0)
        #expect(budget.spend(FloodBudget.burst, now: 0) == true)
        #expect(budget.spend(1, now: 0) == false)
        budget = FloodBudget(now: 0)
        for _ in 0..<100 { budget.didStartRequest() }
        #expect(budget.spend(FloodBudget.burst + 400, now: 500) == true)
        #expect(budget.left == 0)
        #expect(budget.spend(20, now: 2000) == true)
        #expect(budget.spend(1, now: 2000) == false)
        budget = FloodBudget(now: 0)
        for _ in 0..<1_000_000 { budget.didStartRequest() }
        #expect(budget.left == FloodBudget.maximum)
        // A PING a second for a day.
        var patient = FloodBudget(now: 0)
        for second in 0..<86_400 { #expect(patient.spend(1, now: Int64(second) * 1000) == true) }
    }
}
