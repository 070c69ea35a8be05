// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Testing
import WakeModel

@testable import AdminAPI

@Suite("How webhooks are delivered, as it is told", .timeLimit(.minutes(10)))
struct WebhookHealthTests {
    private static let start = WallInstant(millisecondsSinceEpoch: 1_800_000_000_000)

    private static func items(_ numbers: ClosedRange<Int64>) -> [WebhookItem] {
        numbers.map { number in
            WebhookItem(
                ticket: .init(endpoint: WebhookEndpointID(rawValue: 1), number: number, fence: 1),
                event: .appHeld(
                    AppHold(queue: Samples.queues[0], isHeld: true, reason: "x", at: start)),
                createdAt: start.advanced(bySeconds: number), tries: 0)
        }
    }

    /// A round in which the receiver answers everything with a status.
    private static func round(_ items: [WebhookItem], _ status: Int) -> WebhookRound {
        var round = WebhookRound(items)
        while let part = round.next() { round.note(WebhookAnswer(.success(status)), to: part) }
        return round
    }

    @Test(
        "A receiver that takes nothing has a backlog, an oldest event, and after a minute a warning"
    )
    func failing() throws {
        let record = WebhookRecord(endpoint: "example.com")
        #expect(record.health.backlogCount == nil)
        #expect(record.health.warning(at: Self.start) == nil)
        let items = Self.items(1...3)
        let now = Self.start.advanced(bySeconds: 10)
        record.note(WebhookBatch(items: items, backlogCount: 52_000), dropped: 2)
        record.note(Self.round(items, 503), givenUp: [], at: now)
        let health = record.health
        #expect(health.backlogCount == 52_000 && health.droppedCount == 2)
        #expect(health.oldestAt == Self.start.advanced(bySeconds: 1))
        #expect(health.failingSince == now && health.lastFailure?.at == now)
        #expect(health.warning(at: now.advanced(bySeconds: 59)) == nil)
        let warning = try #require(health.warning(at: now.advanced(bySeconds: 60)))
        for part in [
            "example.com has taken nothing since \(now)", "it answered 503", "52000 events",
        ] {
            #expect(warning.contains(part), "\(warning)")
        }

        let later = now.advanced(bySeconds: 90)
        record.note(WebhookBatch(items: Self.items(1...2), backlogCount: 52_000), dropped: 0)
        record.note(Self.round(Self.items(1...2), 204), givenUp: [], at: later)
        let well = record.health
        #expect(well.failingSince == nil && well.lastDeliveredAt == later)
        #expect(well.oldestAt == Self.start.advanced(bySeconds: 3))
        #expect(well.lastFailure == health.lastFailure, "It stays to be read.")
        #expect(well.backlogCount == 51_998)
        #expect(well.warning(at: later.advanced(bySeconds: 999)) == nil)
        record.note(WebhookBatch(items: [], backlogCount: 0), dropped: 0)
        #expect(record.health.oldestAt == nil && record.health.backlogCount == 0)
    }

    @Test("A backlog that is nearly full is a warning, before events are dropped")
    func full() {
        let record = WebhookRecord(endpoint: "example.com")
        record.note(WebhookBatch(backlogCount: 899_999), dropped: 0)
        #expect(record.health.warning(at: Self.start) == nil)
        record.note(WebhookBatch(backlogCount: 900_000), dropped: 0)
        #expect(record.health.warning(at: Self.start)?.contains("events are dropped") == true)
    }

    @Test("Readiness stays green with a warning; the list and the metrics have the figures")
    func told() async throws {
        let bench = try APIBench()
        let record = WebhookRecord(endpoint: "hooks.example")
        let at = bench.gateway.now.advanced(bySeconds: -3_600)
        let items = Self.items(1...1)
        record.note(WebhookBatch(items: items, backlogCount: 7), dropped: 0)
        record.note(Self.round(items, 500), givenUp: [], at: at)
        try await bench.serve(webhooks: [record.health]) { caller in
            let ready = try await caller.send("GET", "/readyz", as: nil)
            #expect(ready.status == 200)
            let warnings = try #require(try ready.json()["warnings"] as? [String])
            #expect(warnings.count == 1 && warnings[0].contains("7 events wait"), "\(warnings)")
            let list = try await caller.send("GET", "/v1/webhooks", as: .read)
            let endpoint = try #require((try list.json()["endpoints"] as? [[String: Any]])?.first)
            #expect(endpoint["endpoint"] as? String == "hooks.example")
            #expect(endpoint["backlog"] as? Int == 7)
            #expect(endpoint["failing_since"] as? String == at.description)
            #expect(endpoint["last_failure"] as? String == "it answered 500")
            #expect(endpoint["oldest_at"] is String)
            #expect(endpoint["warning"] as? String == warnings[0])
            let metrics = try await caller.send("GET", "/metrics", as: .read).body
            let name = #"rouse_webhook_failing_seconds{endpoint="hooks.example"} 36"#
            #expect(metrics.contains(name), "\(metrics)")
            #expect(
                metrics.contains(#"rouse_webhook_oldest_age_seconds{endpoint="hooks.example"} "#))
        }
        try await APIBench().serve { caller in
            let ready = try await caller.send("GET", "/readyz", as: nil)
            #expect(try ready.json()["warnings"] as? [String] == [])
        }
    }
}
