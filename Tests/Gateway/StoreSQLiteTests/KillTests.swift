// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import SeedKit
import StoreSQLite
import StoreTestKit
import Testing
import WaitKit
import WakeModel

@Suite("kill -9", .serialized)
struct KillTests {
    /// Of a gateway whose clock runs a thousand times as fast: no lease ends on the way to the
    /// sender.
    private static var fastLimits: GatewayLimits {
        var limits = GatewayLimits()
        limits.leaseSeconds = 7_200
        return limits
    }

    /// Runs in a child process: takes wakes through a gateway, notes each accepted id in a file,
    /// and kills itself in the midst of it.
    static func acceptUntilKilled(
        in folder: String, after count: Int, _ durability: SQLiteWakeStore.Durability
    ) async throws {
        let store = try SQLiteWakeStore(
            path: folder + "/store.sqlite", durability: durability)
        // Some claims stay in flight for ever, so that the death leaves leases behind.
        let sender = ScriptedSender {
            $0.deviceToken.hex.utf8.first == 0x61 ? nil : Samples.accepted
        }
        let gateway = sampleGateway(store: store, sender: sender, seed: UInt64(count))
        let ledger = open(folder + "/accepted", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        try await withRunning(gateway) {
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        for number in 0... {
                            let request = Samples.request(
                                number % 5 == 0 ? .voip : .background,
                                device: UInt64(worker * 1_000 + number))
                            let answer = await gateway.accept(request)
                            guard let id = answer.admittedID else { continue }
                            let line = Array("\(id)\n".utf8)
                            _ = line.withUnsafeBytes { write(ledger, $0.baseAddress, $0.count) }
                        }
                    }
                }
                group.addTask {
                    await sender.waitUntilSent(count)
                    kill(getpid(), SIGKILL)
                }
            }
        }
    }

    /// After the death: every accepted wake is there, and a new gateway brings each to its end.
    private func check(_ folder: String) async throws {
        let text = try String(contentsOfFile: folder + "/accepted", encoding: .utf8)
        let accepted = try text.split(separator: "\n").filter { $0.count == 36 }.map {
            try WakeID($0)
        }
        #expect(accepted.count > 50)

        let store = try SQLiteWakeStore(path: folder + "/store.sqlite")
        for id in accepted { #expect(try await store.perform(FindWake(id)) != nil, "lost: \(id)") }
        let before = try await store.perform(RecountWakes())
        #expect(before.isConserved)
        #expect(before.accepted >= accepted.count)
        #expect(before.unended > 0)

        let sender = ScriptedSender()
        // What may have been sent waits for the spacing, a quarter of an hour.
        let clock = FastClock(factor: 1_000, at: SystemGatewayClock().now())
        try await withRunning(
            sampleGateway(
                store: store, sender: sender, clock: clock, limits: Self.fastLimits)
        ) {
            while try await store.perform(CountWakes()).byState[.pending, default: 0] > 0 {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        let after = try await store.perform(RecountWakes())
        #expect(after.isConserved)
        #expect(after.ended == before.accepted)
        for claim in sender.sent where claim.kind == .voip {
            // What the dead process may have sent is not among what was sent now.
            #expect(claim.tries == 0 && claim.ticket.fence == 1)
        }
        try store.close()
    }

    @Test(
        "What was accepted before a kill is there after it, and is sent", .timeLimit(.minutes(10)),
        arguments: SQLiteWakeStore.Durability.allCases)
    func killed(_ durability: SQLiteWakeStore.Durability) async throws {
        try await withTemporaryFolder { folder in
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [folder = folder as String, durability = durability.rawValue as String] in
                let durability = try #require(SQLiteWakeStore.Durability(rawValue: durability))
                try await KillTests.acceptUntilKilled(in: folder, after: 400, durability)
            }
            try await check(folder)
        }
    }

    // MARK: Three books

    /// The seed of the first life; each later one has the next.
    static let firstSeed: UInt64 = 1_000

    /// How often the long test kills; `ROUSE_KILLS=50` for the long version.
    static var lives: Int {
        ProcessInfo.processInfo.environment["ROUSE_KILLS"].flatMap { Int($0) } ?? 4
    }

    /// One life in a child process: requests come in from all sides until a kill at a random
    /// moment. Each answer 202 goes into one book when it is given, and each push into another when
    /// APNs would have it, before the gateway hears of it.
    static func liveUntilKilled(
        in folder: String, seed: UInt64, _ durability: SQLiteWakeStore.Durability
    ) async throws {
        var generator = SeededGenerator(seed: seed)
        let moment = Int.random(in: 100..<900, using: &generator)
        let store = try SQLiteWakeStore(
            path: folder + "/store.sqlite", durability: durability)
        let pushed = Book(folder + "/pushed")
        let answered = Book(folder + "/answered")
        let sender = ScriptedSender { claim in
            pushed.write("\(claim.kind) \(claim.id)")
            return claim.payload.count.isMultiple(of: 7) ? Samples.unknown : Samples.accepted
        }
        let gateway = sampleGateway(store: store, sender: sender, seed: seed)
        try await withRunning(gateway) {
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<8 as Range<UInt64> {
                    group.addTask {
                        for number in 0... as PartialRangeFrom<UInt64> {
                            let request = Samples.request(
                                number % 5 == 0 ? .voip : .background,
                                device: (seed &* 1_000 &+ worker &* 100 &+ number) % 5_000,
                                call: (seed &* 8 &+ worker) &* 100_000 &+ number)
                            if let id = await gateway.accept(request).admittedID {
                                answered.write("\(request.kind) \(id)")
                            }
                        }
                    }
                }
                group.addTask {
                    // The kill itself: whatever the process is doing then.
                    try? await elapse(.milliseconds(moment))
                    kill(getpid(), SIGKILL)
                }
            }
        }
    }

    /// A file of lines, each written at once.
    private final class Book: Sendable {
        private let descriptor: CInt

        init(_ path: String) { descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600) }

        func write(_ line: String) {
            let bytes = Array((line + "\n").utf8)
            _ = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        }
    }

    private func lines(_ path: String) throws -> [(kind: String, id: WakeID)] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").compactMap {
            let words = $0.split(separator: " ")
            guard words.count == 2, words[1].utf8.count == 36 else { return nil }
            return (String(words[0]), try WakeID(words[1]))
        }
    }

    @Test(
        "Killed again and again, the three books agree", .timeLimit(.minutes(10)),
        arguments: SQLiteWakeStore.Durability.allCases)
    func transaction(_ durability: SQLiteWakeStore.Durability) async throws {
        try await withTemporaryFolder { folder in
            for life in 0..<UInt64(Self.lives) {
                let seed = Self.firstSeed + life
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [
                        folder = folder as String, seed = seed as UInt64,
                        durability = durability.rawValue as String,
                    ] in
                    let durability = try #require(
                        SQLiteWakeStore.Durability(rawValue: durability))
                    try await KillTests.liveUntilKilled(in: folder, seed: seed, durability)
                }
            }
            let store = try SQLiteWakeStore(path: folder + "/store.sqlite")
            let pushed = Book(folder + "/pushed")
            let sender = ScriptedSender { claim in
                pushed.write("\(claim.kind) \(claim.id)")
                return Samples.accepted
            }
            let clock = FastClock(factor: 1_000, at: SystemGatewayClock().now())
            try await withRunning(
                sampleGateway(
                    store: store, sender: sender, clock: clock, limits: Self.fastLimits)
            ) {
                while try await store.perform(CountWakes()).unended > 0 {
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            try await compare(
                answered: lines(folder + "/answered"), pushed: lines(folder + "/pushed"), store,
                seed: Self.firstSeed)
            try store.close()
        }
    }

    private func compare(
        answered: [(kind: String, id: WakeID)], pushed: [(kind: String, id: WakeID)],
        _ store: SQLiteWakeStore, seed: UInt64
    ) async throws {
        let count = try await store.perform(RecountWakes())
        #expect(count.isConserved && count.unended == 0, "seed \(seed)")
        #expect(count.accepted >= Set(answered.map(\.id)).count, "seed \(seed)")
        let received = Set(pushed.map(\.id))
        for (_, id) in answered {
            guard let record = try await store.perform(FindWake(id)) else {
                Issue.record("Lost: \(id), seed \(seed)")
                continue
            }
            // What the store says was sent, APNs has; what another carried, by that one's id.
            if record.state == .sent { #expect(received.contains(id), "\(id), seed \(seed)") }
            if record.state == .coalesced {
                #expect(record.carrierEnd != nil, "\(id), seed \(seed)")
            }
        }
        for id in received {
            #expect(try await store.perform(FindWake(id)) != nil, "\(id), seed \(seed)")
        }
        let calls = pushed.filter { $0.kind == "voip" }.map(\.id)
        #expect(calls.count == Set(calls).count, "A phone rang twice, seed \(seed)")
        print(
            "\(Self.lives) kills: \(answered.count) answered, \(count.accepted) kept, "
                + "\(pushed.count) pushed, \(pushed.count - received.count) of them again")
    }
}
