// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Foundation
import Synchronization
import Testing
import WaitKit
import WakeModel

/// A gateway that is killed again and again while others send wakes to it over HTTP; at the end
/// three books are compared: what was answered 202, what the store says, what the simulator got.
///
/// Faults strike some pushes when the simulator has the whole of them, so that the gateway does not
/// know what became of them, and its death comes on top of that. In the end, when nobody kills any
/// more, no fault strikes either.
///
/// `ROUSE_KILLS=200 swift test --filter CrashTests` is the long version.
@Suite("kill -9 at any moment", .timeLimit(.minutes(120)))
struct CrashTests {
    static let kills =
        ProcessInfo.processInfo.environment["ROUSE_KILLS"].flatMap { Int($0) } ?? 4
    /// Wakes of one request.
    private static let batchCount = 100
    /// Every so manieth wake is a call.
    private static let callInterval = 5
    /// Every so manieth wake, with this remainder, goes to one of a few devices that all senders
    /// wake, whose budget is the default one; each of the others goes to a device of its own.
    private static let sharedInterval = (10, remainder: 3)
    private static let sharedDevices = 1_000_000_000..<1_000_000_020
    /// How many wakes such a device may have in so many milliseconds: one in the default spacing.
    static let spacing = (count: 1, milliseconds: 15 * 60_000 as Int64)
    /// How long a background wake is good for. One whose fate is unknown would wait longer.
    private static let lifeSeconds = 30
    /// What strikes, each 1 % of the pushes.
    static let faults: [Fault.Kind] = [
        .closeConnection, .resetStream(.internalError), .neverAnswer,
        .goAway(.init(lastStream: .highestSeen)), .reject(.serviceUnavailable),
    ]

    /// What senders know: which wakes were answered 202, over all lives of the gateway.
    final class Ledger: Sendable {
        private let answered = Mutex<[String: Bool]>([:])
        private let next = Atomic(0)

        /// Numbers of devices that no wake went to.
        func devices(_ count: Int) -> Range<Int> {
            let end = next.add(count, ordering: .relaxed).newValue
            return end - count..<end
        }

        func enter(_ id: String, isCall: Bool) { answered.withLock { $0[id] = isCall } }
        var ids: [String: Bool] { answered.withLock { $0 } }
    }

    @Test(
        "three books agree: nothing answered is lost, no call is sent twice",
        arguments: ["disk", "system"])
    func transaction(durability: String) async throws {
        try await RunningSimulator.with {
            $0.log = .last(1_000_000)
        } _: { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            // The last section of it is the transport's.
            try "store-durability: \(durability)\n\(text)\n  push-timeout-seconds: 5\n"
                .write(toFile: path, atomically: true, encoding: .utf8)
            for fault in Self.faults { simulator.simulator.inject(Fault(fault, for: .share(0.01))) }
            let ledger = Ledger()
            for life in 0..<Self.kills {
                let (gateway, base) = try await ServeTests.start(["--config", path])
                let senders = Task {
                    await withTaskGroup { group in
                        for _ in 0..<2 { group.addTask { await Self.send(base, ledger) } }
                    }
                }
                // On a slow machine a first answer may take longer than a life; a book without
                // entries would agree with anything.
                for _ in 0..<600 where life == 0 && ledger.ids.isEmpty {
                    try await Task.sleep(for: .milliseconds(50))
                }
                // A kill at many different moments of a life, the same ones in each run.
                try await elapse(.milliseconds(50 + life * 197 % 650))
                #expect(try await gateway.end(SIGKILL) == -1)
                await senders.value
            }
            simulator.simulator.clearFaults()
            let (gateway, base) = try await ServeTests.start(["--config", path])
            try await Self.waitUntilSettled(base)
            let kept = try await Self.records(base)
            #expect(try await gateway.end(SIGTERM) == 0)
            Self.compare(ledger.ids, kept, simulator.simulator.receivedPushes)
            let audit = try await Rouse.run([
                "audit-store", simulator.folder.path + "/wakes.sqlite", "--json",
            ])
            #expect(try audit.json()["sound"] as? Bool == true, "\(audit.all)")
        }
    }

    /// Sends batches until the gateway is gone, or the task is cancelled.
    static func send(_ base: String, _ ledger: Ledger) async {
        while !Task.isCancelled {
            let devices = ledger.devices(batchCount)
            let lines = devices.map { number in
                let token = String(device(of: number), radix: 16)
                let kind = number % callInterval == 0 ? "voip" : "background"
                let payload =
                    kind == "voip"
                    ? #"{"callUUID":"\#(UUID())"}"# : #"{"aps":{"content-available":1}}"#
                return #"{"kind":"\#(kind)","app":"\#(RunningSimulator.bundleID)","device_token":""#
                    + String(repeating: "0", count: 64 - token.count) + token
                    + #"","payload":\#(payload)"#
                    + (kind == "voip" ? "}" : #","ttl_seconds":\#(lifeSeconds)}"#)
            }
            guard
                let answer = try? await ServeTests.curl(
                    [
                        "-m", "10", "-H", "Content-Type: application/x-ndjson", "--data-binary",
                        "@-", "\(base)/v1/wakes/batch",
                    ], stdin: lines.joined(separator: "\n")),
                let items = answer["items"] as? [[String: Any]]
            else { return }
            for (item, number) in zip(items, devices) {
                guard let wake = item["wake"] as? [String: Any], let id = wake["id"] as? String
                else {
                    #expect(item["status"] as? Int != 400, "\(item)")
                    continue
                }
                ledger.enter(id, isCall: number % callInterval == 0)
            }
        }
    }

    private static func device(of number: Int) -> Int {
        guard number % sharedInterval.0 == sharedInterval.remainder else { return number }
        return sharedDevices.lowerBound + number / sharedInterval.0 % sharedDevices.count
    }

    static func waitUntilSettled(_ base: String, leaseSeconds: Int = 0) async throws {
        // One look goes over so many records, and a page may be empty with others behind it.
        var cursor = ""
        for _ in 0..<(lifeSeconds + leaseSeconds + 60) * 10 {
            let page = try await ServeTests.curl([
                "\(base)/v1/wakes?state=pending,claimed&limit=1\(cursor)"
            ])
            let wakes = try #require(page["wakes"] as? [Any], "\(page)")
            let next = page["next"] as? String
            if wakes.isEmpty {
                guard let next else { return }
                cursor = "&cursor=\(next)"
            } else {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        Issue.record("Some wakes have no end a minute after their expiry.")
    }

    /// Every wake's state by its id.
    static func records(_ base: String) async throws -> [String: String] {
        var states: [String: String] = [:]
        var cursor = ""
        repeat {
            let page = try await ServeTests.curl(["\(base)/v1/wakes?limit=1000\(cursor)"])
            for wake in try #require(page["wakes"] as? [[String: Any]], "\(page)") {
                guard let id = wake["id"] as? String, let state = wake["state"] as? String else {
                    continue
                }
                states[id] = state
            }
            cursor = (page["next"] as? String).map { "&cursor=\($0)" } ?? ""
        } while !cursor.isEmpty
        return states
    }

    static func compare(
        _ answered: [String: Bool], _ kept: [String: String], _ pushes: [ReceivedPush],
        budget: (count: Int, milliseconds: Int64) = spacing
    ) {
        #expect(answered.values.contains(true) && answered.values.contains(false))
        #expect(pushes.count > 0)
        let lost = answered.keys.filter { kept[$0] == nil }
        #expect(lost.isEmpty, "answered 202, and not in the store: \(lost.prefix(5))")
        let attempts = Dictionary(grouping: pushes) { $0["apns-id"] ?? "" }
        let strange = attempts.keys.filter { kept[$0] == nil }
        #expect(strange.isEmpty, "pushed, and not in the store: \(strange.prefix(5))")
        let unsent = kept.filter { $0.value == "sent" && attempts[$0.key] == nil }
        #expect(unsent.isEmpty, "said to be sent, and never received: \(unsent.prefix(5))")
        // What was refused has reached nobody.
        let arrived = attempts.mapValues { $0.filter { $0.status == nil || $0.status == 200 } }
        let refused = kept.filter { $0.value == "sent" && arrived[$0.key]?.isEmpty == true }
        #expect(refused.isEmpty, "said to be sent, and refused: \(refused.prefix(5))")
        let twice = arrived.filter { $0.value.count > 1 }
        #expect(
            twice.values.allSatisfy { $0[0]["apns-push-type"] == "background" },
            "a call was sent twice")
        let struck = Set(pushes.compactMap(\.fault))
        #expect(kills < 20 || struck.isSuperset(of: faults), "a fault that never struck")
        let byDevice = Dictionary(grouping: pushes, by: \.deviceTokenHex)
        let shared = Set(
            sharedDevices.map {
                let token = String($0, radix: 16)
                return String(repeating: "0", count: 64 - token.count) + token
            })
        #expect(
            byDevice.allSatisfy { device, pushes in
                shared.contains(device ?? "") || Set(pushes.map { $0["apns-id"] }).count == 1
            }, "a wake went out under two ids")
        let exceeded = shared.filter { device in
            let pushes = byDevice[device]?.filter { $0.status == nil || $0.status == 200 } ?? []
            let times = Dictionary(grouping: pushes) { $0["apns-id"] }.values
                .compactMap { $0.map(\.receivedAt).min() }.sorted()
            return zip(times, times.dropFirst(budget.count)).contains {
                $1.milliseconds(since: $0) < budget.milliseconds
            }
        }
        #expect(exceeded.isEmpty, "a device got more than its budget: \(exceeded)")
        let woken = shared.filter { byDevice[$0] != nil }
        let sharedPushes = shared.reduce(0) { sum, device in
            sum + Set(byDevice[device]?.map { $0["apns-id"] } ?? []).count
        }
        #expect(!woken.isEmpty, "no device that several senders woke was reached")
        let states = Dictionary(grouping: kept.values, by: \.self).mapValues(\.count)
        print(
            "\(kills) kills: \(answered.count) answered, \(kept.count) kept \(states), "
                + "\(pushes.count) pushed, \(twice.count) of them again, "
                + "\(pushes.count { $0.fault != nil }) faults struck, \(lost.count) lost, "
                + "\(woken.count) shared devices with \(sharedPushes) wakes, "
                + "\(exceeded.count) budgets exceeded")
    }
}
