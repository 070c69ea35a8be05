// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import PayloadRules
import SeedKit
import StoreTestKit
import Testing
import WakeModel

@Suite("What every store keeps to: the wakes of a device, page by page")
struct DeviceListContractTests {
    /// Two apps in two environments each, for both kinds: eight queues of one token.
    private static let apps = ["com.example.app", "com.example.other"].flatMap { name in
        [APNsEnvironment.sandbox, .production].map { Samples.identity(name, $0) }
    }
    private static let wakeCount = 160

    /// A wake of a random queue; one in four is another device's.
    private static func wake(
        _ counter: Counter, _ generator: inout SeededGenerator
    ) -> WakeSubmission {
        Samples.wake(
            generator.chance(oneIn: 3) ? .voip : .background, app: generator.pick(apps),
            at: counter.now, device: generator.chance(oneIn: 4) ? 8 : 7)
    }

    /// Admits so many wakes a moment after each other; those of the device that is listed.
    private static func admit(
        _ count: Int, _ counter: inout Counter, _ generator: inout SeededGenerator
    ) async throws -> [(id: WakeID, app: AppIdentity)] {
        var listed: [(id: WakeID, app: AppIdentity)] = []
        for _ in 0..<count {
            counter.now = counter.now.advanced(byMilliseconds: Int64(generator.below(90_000)))
            let wake = wake(counter, &generator)
            let id = try await counter.admitOne(wake).id
            if wake.wake.deviceToken == Samples.deviceToken() {
                listed.append((id, wake.queue.app))
            }
        }
        return listed
    }

    @Test(
        "Nothing is missing, nothing comes twice, the newest is first, while new ones come in",
        arguments: StoreKind.allCases, [1, 3, 7, 50])
    func pages(_ kind: StoreKind, _ limit: Int) async throws {
        try await kind.withCounter { (counter) async throws in
            var counter = counter
            var generator = SeededGenerator(seed: UInt64(limit))
            var all = try await Self.admit(Self.wakeCount, &counter, &generator)
            let apps: [AppIdentity?] = [nil] + Self.apps
            for app in apps {
                let expected = all.filter { app == nil || $0.app == app }.map(\.id)
                var query = WakeQuery(
                    deviceToken: Samples.deviceToken(), app: app, limit: limit)
                var listed: [WakeID] = []
                var pageCount = 0
                repeat {
                    let page = try await counter.store.perform(ListWakes(query))
                    #expect(page.wakes.count <= limit)
                    listed += page.wakes.map(\.id)
                    query.after = page.next
                    pageCount += 1
                    if pageCount <= 20 {
                        all += try await Self.admit(2, &counter, &generator)
                    }
                } while query.after != nil && listed.count <= all.count
                #expect(listed == expected.reversed())
            }
        }
    }

    @Test(
        "By its digest a device's wakes are found among all, page by page",
        arguments: StoreKind.allCases)
    func byDigest(_ kind: StoreKind) async throws {
        try await kind.withCounter { (counter) async throws in
            var counter = counter
            var generator = SeededGenerator(seed: 5)
            let expected = try await Self.admit(Self.wakeCount, &counter, &generator).map(\.id)
            var query = WakeQuery(digest: Samples.deviceToken().digest, limit: 7)
            var listed: [WakeID] = []
            repeat {
                let page = try await counter.store.perform(ListWakes(query))
                listed += page.wakes.map(\.id)
                query.after = page.next
            } while query.after != nil && listed.count <= Self.wakeCount
            #expect(listed == expected.reversed())
            let nobody = WakeQuery(digest: "00000000")
            #expect(try await counter.store.perform(ListWakes(nobody)).wakes == [])
        }
    }
}
