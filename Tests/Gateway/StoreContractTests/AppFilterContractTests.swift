// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeBudget
import WakeModel

@Suite("Contract: what a caller who may know of some apps is told")
struct AppFilterContractTests {
    private static let own: Set = [Samples.app.bundleID]
    private static let others: Set = [Samples.otherApp.bundleID]

    @Test("A page has only the wakes of these apps, full pages too", arguments: StoreKind.allCases)
    func pages(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            var mine: [WakeID] = []
            for device in 1..<8 {
                let wake = Samples.wake(device: UInt64(device))
                mine.insert(try await connection.admitOne(wake).id, at: 0)
                for _ in 0..<3 {
                    let other = Samples.wake(app: Samples.otherApp, device: UInt64(device))
                    _ = try await connection.admitOne(other)
                }
            }
            var found: [WakeID] = []
            var query = WakeQuery(apps: Self.own, limit: 3)
            while true {
                let page = try await connection.store.perform(ListWakes(query))
                found += page.wakes.map(\.id)
                guard let next = page.next else { break }
                #expect(page.wakes.count == 3, "The page was cut before it was filtered.")
                query.after = next
            }
            #expect(found == mine)

            let token = Samples.deviceToken(3)
            let byDevice = try await connection.store.perform(
                ListWakes(
                    WakeQuery(deviceToken: token, apps: Self.own)))
            #expect(byDevice.wakes.map(\.app) == [Samples.app])
            let none = try await connection.store.perform(
                ListWakes(
                    WakeQuery(deviceToken: token, app: Samples.otherApp, apps: Self.own)))
            #expect(none.wakes.isEmpty)
        }
    }

    @Test("The feed has only entries of these apps, in order", arguments: StoreKind.allCases)
    func feedback(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let refusal = Refusal(status: 400, reason: .badDeviceToken)
            var mine: [WakeID] = []
            for device in 1..<10 {
                let app = device.isMultiple(of: 3) ? Samples.app : Samples.otherApp
                let claim = try await connection.claimOne(
                    Samples.wake(app: app, device: UInt64(device)))
                try await connection.settle(
                    claim, .end(.rejected(refusal)), attempt: .refused(refusal))
                if app == Samples.app { mine.append(claim.id) }
            }
            let first = try await connection.store.perform(
                ReadFeedback(after: 0, limit: 2, of: Self.own))
            #expect(first.map(\.wake) == Array(mine.prefix(2)))
            let cursor = try #require(first.last?.number)
            let rest = try await connection.store.perform(
                ReadFeedback(after: cursor, limit: 2, of: Self.own))
            #expect(rest.map(\.wake) == Array(mine.dropFirst(2)))
            #expect(
                try await connection.store.perform(ReadFeedback(after: 0, limit: 9, of: [])).isEmpty
            )
            let both = try await connection.store.perform(
                ReadFeedback(
                    after: 0, limit: 100, of: Self.own.union(Self.others)))
            #expect(
                both == (try await connection.store.perform(ReadFeedback(after: 0, limit: 100))))
        }
    }

    @Test("A receipt for another app's wake is for an unknown one", arguments: StoreKind.allCases)
    func receipts(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let ref = Samples.name("order-1")
            let claim = try await connection.claimOne(
                Samples.wake(app: Samples.otherApp, ref: "order-1"))
            let subjects: [Receipt.Subject] = [.wake(claim.id), .ref(ref, Samples.deviceToken())]
            for subject in subjects {
                let stranger = try await connection.store.confirm(
                    [Receipt(subject, among: Self.own)], at: connection.now, under: connection.rules
                )
                #expect(stranger.answers == [.unknownWake])
            }
            let answers = try await connection.store.confirm(
                subjects.map { Receipt($0, among: Self.others) }, at: connection.now,
                under: connection.rules)
            #expect(answers.answers == [.recorded, .repeated])
        }
    }
}
