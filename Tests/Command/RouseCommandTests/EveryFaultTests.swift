// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Foundation
import Synchronization
import Testing
import WakeModel

/// A gateway that pushes to a simulator on which everything goes wrong, each fault for 1 % of the
/// requests, all at the same time; at the end every wake is held against three books, see
/// ``WakeCase``.
///
/// The long version takes about half an hour, because APNs wants 15 minutes after a 500 or 503; in
/// the short one such wakes have expired by then:
///
///     ROUSE_FAULT_WAKES=200000 ROUSE_FAULT_LIFE_SECONDS=1200 swift test --filter EveryFaultTests
@Suite("every fault at once", .timeLimit(.minutes(90)))
struct EveryFaultTests {
    private static let wakeCount = number("ROUSE_FAULT_WAKES") ?? 4_000
    /// How long a background wake is good for.
    private static let lifeSeconds = number("ROUSE_FAULT_LIFE_SECONDS") ?? 20
    /// Each has a key of its own, and so connections of its own: those that die young are opened
    /// again twice a second at most, for each key.
    private static let appCount = 20
    /// Wakes of one request.
    private static let batchCount = 100
    /// Senders wait while more wakes than that are with the transport.
    private static let inFlightCount = 300
    /// Every so manieth wake of an app is a call.
    private static let callInterval = 5
    /// Every so manieth device token is dead, and every so manieth of those was registered anew.
    private static let deadInterval = 97
    private static let anewInterval = 10
    /// How many wakes go to device tokens that are known as dead.
    private static let knownDeadCount = 200
    private static let share = 0.01

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }

    /// Those at the end of a request. A fault before it leaves no push in the simulator's book.
    private static let answerFaults: [Fault.Kind] =
        [
            .delay(milliseconds: 50), .drip(millisecondsPerByte: 1), .neverAnswer,
            .limitStreams(1), .resetStream(.internalError), .resetStream(.enhanceYourCalm),
            .goAway(.init()), .goAway(.init(lastStream: .highestSeen)), .closeConnection,
        ] + WakeCase.consequences.keys.sorted().map { .reject(RejectionReason(rawValue: $0)) }

    private static let faults: [Fault] =
        answerFaults.map { Fault($0, for: .share(share)) } + [
            Fault(.resetStream(.refusedStream), for: .share(share), at: .headers),
            Fault(.resetStream(.cancel), for: .share(share), at: .headers),
            Fault(.closeConnection, for: .share(share), at: .headers),
            Fault(
                .goAway(.init(code: .enhanceYourCalm, lastStream: .theOneBefore)),
                for: .share(share), at: .headers),
            Fault(.resetStream(.internalError), for: .share(share), at: .body),
            Fault(.closeConnection, for: .share(share), at: .body),
            Fault(.refuseTLS, for: .share(share)),
            Fault(.closeConnection, for: .share(share), at: .connection),
            Fault(.neverAnswer, for: .share(share), at: .connection),
            Fault(.delay(milliseconds: 100), for: .share(share), at: .connection),
        ]

    @Test("every wake ends as it should, and three books agree")
    func transaction() async throws {
        try await RunningSimulator.with {
            $0.log = .last(10 * Self.wakeCount)
            let key = $0.providerKeys[0]
            $0.providerKeys = (0..<Self.appCount).map {
                ProviderKey(teamID: key.teamID, keyID: Self.keyID($0), pem: key.pem)
            }
        } _: { simulator in
            let start = ContinuousClock.now
            try Self.registerDead(simulator.simulator)
            for fault in Self.faults { simulator.simulator.inject(fault) }
            let path = try await Self.configuration(simulator)
            let (gateway, base) = try await ServeTests.start(["--config", path])
            let run = Run(base: base)
            try await run.registerAnew()
            try await run.sendAll()
            try await run.waitUntilSettled()
            try await run.sendToKnownDead()
            try await run.waitUntilSettled()
            let transaction = Books(
                asked: run.asked, told: try await run.wakes(), feedback: try await run.feedback(),
                pushes: simulator.simulator.receivedPushes)
            #expect(try await gateway.end(SIGTERM) == 0, "\(gateway.error)")
            transaction.compare()
            let struck = Set(transaction.pushes.compactMap(\.fault))
            #expect(struck.isSuperset(of: Self.answerFaults), "a fault that never struck")
            let audit = try await Rouse.run([
                "audit-store", simulator.folder.path + "/wakes.sqlite", "--json",
            ])
            #expect(try audit.json()["sound"] as? Bool == true, "\(audit.all)")
            print(transaction.summary, simulator.simulator.counters.summary)
            print("in \(ContinuousClock.now - start)")
        }
    }

    // MARK: What is there

    private static func keyID(_ app: Int) -> String { "FAULTKEY" + String(app + 10) }

    private static func bundleID(_ app: Int) -> String { "\(RunningSimulator.bundleID)\(app)" }

    private static func app(of number: Int) -> Int { number % appCount }

    private static func isCall(_ number: Int) -> Bool { (number / appCount) % callInterval == 0 }

    private static func isRegisteredAnew(_ number: Int) -> Bool {
        number % (deadInterval * anewInterval) == 0
    }

    private static func device(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    /// The dead among the devices: since long ago, so that a registration of today outlives it.
    private static func registerDead(_ simulator: APNsSimulator) throws {
        for number in stride(from: 0, to: wakeCount, by: deadInterval) {
            simulator.register(
                RegisteredDevice(
                    token: try DeviceToken(hex: device(number)),
                    state: .unregistered(since: WallInstant(secondsSinceEpoch: 1_700_000_000))))
        }
    }

    private static func configuration(_ simulator: RunningSimulator) async throws -> String {
        let key = try String(contentsOfFile: simulator.keyPath, encoding: .utf8)
        let apps = try (0..<appCount).map { app in
            try simulator.folder.write(key, to: "AuthKey_\(keyID(app)).p8")
            return """
                  - bundle-id: \(bundleID(app))
                    environment: sandbox
                    team-id: \(RunningSimulator.teamID)
                    key-file: AuthKey_\(keyID(app)).p8
                    server: { host: 127.0.0.1, port: \(simulator.simulator.port), ca-file: ca.pem }
                """
        }
        let path = try simulator.folder.write(
            """
            listen: 127.0.0.1:0
            store: wakes.sqlite
            log-level: warning
            api-keys:
              - name: test
                sha256: none-yet
            budget: { call-deadline-seconds: 5 }
            apps:
            \(apps.joined(separator: "\n"))
            transport:
              proxy: none
              connections: 8
              streams-per-connection: 2
              connect-timeout-seconds: 1
              push-timeout-seconds: 5
            """, to: "rouse.yaml")
        try await ServeTests.setKey(path)
        return path
    }

    // MARK: The sender's side

    /// One gateway under test, and what is asked of it.
    private final class Run: Sendable {
        private let base: String
        private let ledger = Mutex<[String: AskedWake]>([:])
        private let next = Atomic(0)

        init(base: String) { self.base = base }

        var asked: [String: AskedWake] { ledger.withLock { $0 } }

        /// Tells the gateway of the devices that were registered anew.
        func registerAnew() async throws {
            for number in 0..<wakeCount where isRegisteredAnew(number) {
                let kind = isCall(number) ? "voip" : "background"
                let answer = try await ServeTests.curl([
                    "-H", "Content-Type: application/json", "-d",
                    #"{"app":"\#(bundleID(app(of: number)))","kind":"\#(kind)"}"#,
                    "\(base)/v1/devices/\(device(number))/registered",
                ])
                #expect(answer["status"] as? Int == nil, "\(answer)")
            }
        }

        /// Sends a wake to each device, as fast as the transport takes them.
        func sendAll() async throws {
            try await withThrowingTaskGroup { group in
                for _ in 0..<2 {
                    group.addTask {
                        while case let first = self.next.add(
                            batchCount, ordering: .relaxed
                        ).oldValue, first < wakeCount {
                            try await self.waitForRoom()
                            let numbers = first..<min(wakeCount, first + batchCount)
                            try await self.send(
                                numbers.map { number in
                                    AskedWake(
                                        isCall: isCall(number),
                                        bundleID: bundleID(app(of: number)),
                                        device: device(number),
                                        isRegisteredAnew: isRegisteredAnew(number))
                                })
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        /// Sends to device tokens that the feed calls dead, the same kind of wake.
        func sendToKnownDead() async throws {
            let asked = Dictionary(uniqueKeysWithValues: self.asked.values.map { ($0.device, $0) })
            let dead = try await feedback().values.joined().filter { $0.kind == "token-dead" }
            try await send(
                dead.prefix(knownDeadCount).map { entry in
                    var wake = try #require(asked[entry.device])
                    wake.isDeadAlready = true
                    return wake
                })
        }

        private func send(_ wakes: [AskedWake]) async throws {
            let lines = wakes.map { wake in
                let rest =
                    wake.isCall
                    ? #""kind":"voip","payload":{"callUUID":"\#(UUID())"}"#
                    : #""kind":"background","payload":{"aps":{"content-available":1}},"#
                        + #""ttl_seconds":\#(lifeSeconds)"#
                return #"{"app":"\#(wake.bundleID)","device_token":"\#(wake.device)",\#(rest)}"#
            }
            let answer = try await ServeTests.curl(
                [
                    "-m", "60", "-H", "Content-Type: application/x-ndjson", "--data-binary", "@-",
                    "\(base)/v1/wakes/batch",
                ], stdin: lines.joined(separator: "\n"))
            let items = try #require(answer["items"] as? [[String: Any]], "\(answer)")
            for (item, wake) in zip(items, wakes) {
                let accepted = try #require(item["wake"] as? [String: Any], "\(item)")
                let id = try #require(accepted["id"] as? String, "\(item)")
                ledger.withLock { $0[id] = wake }
            }
        }

        private func stats() async throws -> [String: Any] {
            try await ServeTests.curl(["\(base)/v1/stats"])
        }

        private func waitForRoom() async throws {
            while try #require(try await stats()["in_flight"] as? Int) > inFlightCount {
                try await Task.sleep(for: .milliseconds(100))
            }
        }

        /// Returns when each wake has ended; the last must have a while after its expiry.
        func waitUntilSettled() async throws {
            let deadline = ContinuousClock.now + .seconds(lifeSeconds + 60)
            while try await stats()["unended"] as? Int != 0 {
                try #require(ContinuousClock.now < deadline, "Some wakes have no end.")
                try await Task.sleep(for: .milliseconds(500))
            }
        }

        // MARK: The gateway's book

        /// Every wake by its id.
        func wakes() async throws -> [String: ToldWake] {
            var wakes: [String: ToldWake] = [:]
            var cursor = ""
            repeat {
                let page = try await ServeTests.curl(["\(base)/v1/wakes?limit=1000\(cursor)"])
                for wake in try #require(page["wakes"] as? [[String: Any]], "\(page)") {
                    let id = try #require(wake["id"] as? String)
                    let told = try #require(ToldWake(wake), "\(wake)")
                    #expect(wakes.updateValue(told, forKey: id) == nil, "twice in the list")
                }
                cursor = (page["next"] as? String).map { "&cursor=\($0)" } ?? ""
            } while !cursor.isEmpty
            return wakes
        }

        /// The whole feedback feed, by the wakes that found out.
        func feedback() async throws -> [String: [ToldFeedback]] {
            var feedback: [String: [ToldFeedback]] = [:]
            var cursor = 0
            while true {
                let page = try await ServeTests.curl(["\(base)/v1/feedback?after=\(cursor)"])
                let entries = try #require(page["entries"] as? [[String: Any]], "\(page)")
                if entries.isEmpty { return feedback }
                for entry in entries {
                    let wake = try #require(entry["wake"] as? String)
                    feedback[wake, default: []].append(
                        ToldFeedback(
                            kind: try #require(entry["kind"] as? String),
                            device: try #require(entry["device_token"] as? String)))
                }
                cursor = try #require(page["cursor"] as? Int)
            }
        }
    }

    // MARK: The comparison

    private struct Books {
        let asked: [String: AskedWake]
        let told: [String: ToldWake]
        let feedback: [String: [ToldFeedback]]
        let pushes: [ReceivedPush]

        func compare() {
            #expect(asked.count >= EveryFaultTests.wakeCount)
            #expect(Set(asked.keys) == Set(told.keys), "answered 202 and in the store differ")
            let sent = Dictionary(grouping: pushes) { $0["apns-id"] ?? "" }
            #expect(Set(sent.keys).isSubset(of: asked.keys), "pushes that nobody asked for")
            #expect(Set(feedback.keys).isSubset(of: asked.keys))
            var complaints: [String: [String]] = [:]
            for (id, wake) in asked {
                guard let told = told[id] else { continue }
                let inBooks = WakeCase(
                    asked: wake, told: told,
                    pushes: (sent[id] ?? []).sorted { $0.number < $1.number }.map(SeenPush.init),
                    feedback: feedback[id] ?? [])
                for complaint in inBooks.complaints {
                    complaints[complaint, default: []].append(
                        "\(id) \(told.attempts.map(\.result)) \(inBooks.pushes.map(\.status))")
                }
            }
            for (complaint, wakes) in complaints.sorted(by: { $0.key < $1.key }) {
                Issue.record("\(complaint): \(wakes.count) wakes, such as \(wakes.prefix(3))")
            }
        }

        var summary: String {
            func words(_ ids: [String]) -> String {
                let ends = ids.compactMap { told[$0] }.map { wake in
                    [wake.state, wake.cause ?? wake.reason].compactMap(\.self)
                        .joined(separator: " ")
                }
                return Dictionary(grouping: ends, by: \.self).sorted { $0.key < $1.key }
                    .map { "\($0.value.count) \($0.key)" }.joined(separator: ", ")
            }
            let calls = asked.filter(\.value.isCall).map(\.key)
            let others = asked.filter { !$0.value.isCall }.map(\.key)
            let twice = Dictionary(grouping: pushes) { $0["apns-id"] }.count { $0.value.count > 1 }
            return "\(calls.count) calls: \(words(calls)); \(others.count) background wakes: "
                + "\(words(others)); \(pushes.count) whole pushes, \(twice) wakes pushed again;"
        }
    }
}

extension Counters {
    fileprivate var summary: String {
        "\(faultsInjected) faults struck, \(connectionsOpened) connections"
    }
}
