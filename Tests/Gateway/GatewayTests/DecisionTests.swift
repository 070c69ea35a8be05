// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Testing
import WakeModel

@testable import Gateway

/// What a decision asks for, and what it changes.
@Suite("A decision over loaded rows")
struct DecisionTests {
    @Test("One round asks for the missing rows of all parts")
    func missing() throws {
        let ids = (0..<3).map { _ in Samples.freshID() }
        let command = SettleWakes(
            ids.map { id in
                Settlement(
                    ticket: Claim.Ticket(id: id, fence: 1), at: Samples.start, attempt: nil,
                    effect: .release)
            }, under: StoreRules())
        guard case .needs(let reads) = command.decide(over: LoadedRows(), noting: { _ in }) else {
            Issue.record("It was decided without any row.")
            return
        }
        #expect(Set(reads.wakes.keys) == Set(ids.map(\.number)))
    }

    @Test("A wake that is admitted and merged into in one command is written once")
    func once() throws {
        var rows = LoadedRows()
        var queue = WakeQueueRow(
            number: 1, queue: WakeQueueKey(app: Samples.app, kind: .background))
        queue.confirmsLaunches = true
        rows.queues.insert(queue)
        let name = ReadSet.DeviceName(token: Samples.deviceToken(), queue: 1)
        rows.deviceNumbers[name] = 5
        rows.devices[5] = .absent
        let command = AdmitWakes(
            (0..<3).map { _ in Samples.wake(dueIn: 60) }, grant: nil,
            under: StoreRules())
        guard case .made(let answer, let changes) = command.decide(over: rows, noting: { _ in })
        else {
            Issue.record("It was not decided.")
            return
        }
        #expect(answer.admissions.count == 3)
        #expect(changes.newWakes.map(\.state) == [.pending, .coalesced, .coalesced])
        #expect(changes.wakes.isEmpty && changes.newQueues.isEmpty)
        #expect(changes.devices.map(\.row.number) == [5] && changes.devices.first?.kind == .made)
        #expect(changes.counters[.accepted] == 3 && changes.counters[.ended(.coalesced)] == 2)
        #expect(changes.lastNumber == changes.newWakes.last?.number)
    }

    @Test("A row that cannot be read fails what needs it, and nothing else")
    func damaged() throws {
        var rows = LoadedRows()
        rows.queues.insert(
            WakeQueueRow(number: 1, queue: WakeQueueKey(app: Samples.app, kind: .background)))
        let failure = StoreFailure(kind: .damaged, message: "A test.")
        for device in 1...2 as ClosedRange<Int64> {
            let token = Samples.deviceToken(UInt64(device))
            rows.deviceNumbers[ReadSet.DeviceName(token: token, queue: 1)] = device
        }
        rows.devices[1] = .damaged(failure, rest: nil)
        rows.devices[2] = .absent
        let command = AdmitWakes(
            [Samples.wake(device: 1), Samples.wake(device: 2)],
            grant: nil, under: StoreRules())
        guard case .made(let answer, let changes) = command.decide(over: rows, noting: { _ in })
        else {
            Issue.record("It was not decided.")
            return
        }
        #expect(answer.admissions.first == .damaged("A test."))
        #expect(changes.newWakes.count == 1 && changes.newWakes.first?.device == 2)
    }
}
