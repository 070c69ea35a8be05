// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Testing
import WakeBudget
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
        #expect(changes.devices.keys.elementsEqual([5]) && changes.devices[5]?.kind == .made)
        #expect(changes.counters[.accepted] == 3 && changes.counters[.ended(.coalesced)] == 2)
        #expect(changes.lastNumber == changes.newWakes.last?.number)
    }

    @Test(
        "What had merged into a carrier without parts waits on when that is cancelled",
        arguments: [1, 2])
    func withoutParts(count: Int) throws {
        var rows = LoadedRows()
        rows.queues.insert(
            WakeQueueRow(number: 1, queue: WakeQueueKey(app: Samples.app, kind: .background)))
        let name = ReadSet.DeviceName(token: Samples.deviceToken(), queue: 1)
        rows.deviceNumbers[name] = 5
        rows.devices[5] = .absent
        var ids: [WakeID] = []
        // As an earlier version left it after the first; another request merges now.
        for place in 0..<1 + count {
            let command = AdmitWakes(
                [
                    Samples.wake(
                        dueIn: 60, payload: #"{"aps":{"content-available":1},"k\#(place)":1}"#,
                        coalescing: .union)
                ], grant: nil, under: StoreRules())
            guard case .made(_, let changes) = command.decide(over: rows, noting: { _ in }),
                let device = changes.devices[5]?.row
            else {
                Issue.record("It was not decided.")
                return
            }
            rows.devices[5] = .found(device, version: 1)
            rows.lastNumber = changes.lastNumber
            for change in changes.wakes {
                var row = change.row
                if place == 1 { row.parts = [] }
                rows.wakes[row.number] = .found(row, hasPayload: true, version: 1)
            }
            for row in changes.newWakes {
                ids.append(row.id)
                rows.wakes[row.number] = .found(row, hasPayload: true, version: 1)
            }
        }
        let command = CancelWake(ids[0], at: Samples.start, under: StoreRules())
        guard case .made(let outcome, let changes) = command.decide(over: rows, noting: { _ in })
        else {
            Issue.record("It was not decided.")
            return
        }
        #expect(outcome.isCancelled == true && outcome.ended.map(\.id) == [ids[0]])
        let heir = try #require(changes.wakes.first { $0.row.state == .pending }?.row)
        #expect(heir.id == ids[count] && changes.devices[5]?.row.pending == heir.number)
        let payload = String(decoding: heir.payload, as: UTF8.self)
        // What the first asked for cannot be told apart from what the second did.
        for place in 1...count { #expect(payload.contains("k\(place)"), "\(payload)") }
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
