// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import SeedKit
import StoreSQLite
import StoreTestKit
import Synchronization
import Testing
import WaitKit
import WakeModel

/// A world of random requests, answers and deaths around a real gateway on a real file.
@Suite("Random admissions, answers and deaths", .timeLimit(.minutes(10)))
struct ChaosTests {
    /// What the sender handed out, over all lives of the gateway.
    private final class Ledger: Sendable {
        struct Entry {
            var handedOut = 0
            var mayHaveRung = 0
        }

        private struct State {
            var entries: [WakeID: Entry] = [:]
            var generator: SeededGenerator
            var offences: [String] = []
        }

        private let state: Mutex<State>

        init(seed: UInt64) { state = Mutex(State(generator: SeededGenerator(seed: seed))) }

        /// Decides what APNs does with a push, and checks that VoIP comes at most once if it may
        /// have rung. `nil`: no answer ever.
        func answer(_ claim: Claim) -> Result<PushOutcome, SendFailure>? {
            state.withLock { state in
                let dice = Int.random(in: 0..<100, using: &state.generator)
                var entry = state.entries[claim.id, default: Entry()]
                entry.handedOut += 1
                if claim.kind == .voip && entry.mayHaveRung > 0 {
                    state.offences.append("\(claim.id) was sent again after it may have rung")
                }
                let (answer, mayHaveRung) = Self.answer(dice)
                if mayHaveRung { entry.mayHaveRung += 1 }
                state.entries[claim.id] = entry
                return answer
            }
        }

        private static func answer(_ dice: Int) -> (Result<PushOutcome, SendFailure>?, Bool) {
            switch dice {
            case 0..<60: (Samples.accepted, true)
            case 60..<70: (Samples.notSent, false)
            case 70..<80: (Samples.unknown, true)
            case 80..<85: (Samples.refusal(410, .unregistered), false)
            case 85..<90: (Samples.refusal(503, .shutdown), false)
            case 90..<92: (Samples.refusal(429, .tooManyRequests), false)
            case 92..<94: (Samples.refusal(403, .invalidProviderToken), false)
            case 94..<96: (Samples.refusal(400, .badDeviceToken), false)
            default: (nil, true)
            }
        }

        var offences: [String] { state.withLock { $0.offences } }
        func draw(_ range: Range<Int>) -> Int {
            state.withLock { Int.random(in: range, using: &$0.generator) }
        }
    }

    private var limits: GatewayLimits {
        var limits = GatewayLimits()
        limits.inFlightCount = 40
        limits.voipReserveCount = 10
        limits.claimBatchCount = 15
        // A second and a half by the clock below, so that none ends on the way to the sender.
        limits.leaseSeconds = 600
        limits.triesCount = 4
        limits.drainSeconds = 1
        return limits
    }

    @Test(
        "Every accepted wake ends once, and no phone rings twice",
        arguments: [1, 2, 3, 4] as [UInt64])
    func chaos(seed: UInt64) async throws {
        try await withTemporaryFolder { folder in
            let ledger = Ledger(seed: seed)
            let accepted = Mutex<Set<WakeID>>([])
            let clock = FastClock(factor: 400)
            for life in 0..<6 {
                try await live(
                    folder, ledger, clock, seed: seed * 100 + UInt64(life), accepted: accepted)
            }
            // The last life: APNs is well, and time goes on until all have ended.
            let store = try await reopen(folder + "/store.sqlite")
            let sender = ScriptedSender { claim in
                ledger.answer(claim) == nil ? Samples.unknown : Samples.accepted
            }
            let gateway = sampleGateway(
                store: store, sender: sender, clock: clock, limits: limits, seed: seed)
            try await withRunning(gateway) {
                while try await store.perform(CountWakes()).unended > 0 {
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            let count = try await store.perform(RecountWakes())
            #expect(count.isConserved, "seed \(seed)")
            #expect(count.unended == 0, "seed \(seed)")
            let ids = accepted.withLock { $0 }
            // A death may lose the answer to a request, never the wake of an answer.
            #expect(count.accepted >= ids.count, "seed \(seed)")
            for id in ids {
                let record = try #require(try await store.perform(FindWake(id)), "seed \(seed)")
                #expect(record.end != nil && record.endedAt != nil, "seed \(seed), \(id)")
                if record.state == .coalesced {
                    #expect(record.carrierEnd != nil, "seed \(seed), \(id)")
                }
            }
            #expect(ledger.offences.isEmpty, "seed \(seed)")
            try store.close()
        }
    }

    /// Opens the store as soon as the last life has let go of it: the object ends with the last
    /// task that waited for an answer of it.
    private func reopen(_ path: String) async throws -> SQLiteWakeStore {
        for _ in 0..<500 {
            do throws(StoreFailure) {
                return try SQLiteWakeStore(path: path, durability: .system)
            } catch {
                guard error.kind == .inUse else { throw error }
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        return try SQLiteWakeStore(path: path, durability: .system)
    }

    /// One life of the gateway, which ends by being cut off from its store, as by death.
    private func live(
        _ folder: String, _ ledger: Ledger, _ clock: FastClock, seed: UInt64,
        accepted: borrowing Mutex<Set<WakeID>>
    ) async throws {
        let store = try await reopen(folder + "/store.sqlite")
        let watchful = WatchfulStore(store)
        let sender = ScriptedSender { ledger.answer($0) }
        let gateway = sampleGateway(
            store: watchful, sender: sender, clock: clock, limits: limits, seed: seed)
        let run = Task { try await gateway.run() }
        for _ in 0..<ledger.draw(40..<120) {
            let request = Samples.request(
                ledger.draw(0..<3) == 0 ? .voip : .background,
                app: ledger.draw(0..<2) == 0 ? Samples.app : Samples.otherApp,
                device: UInt64(ledger.draw(0..<50)))
            if let id = await gateway.accept(request).admittedID {
                accepted.withLock { _ = $0.insert(id) }
            }
        }
        try await elapse(.milliseconds(ledger.draw(0..<300)))
        watchful.fail(with: StoreFailure(kind: .unavailable, message: "The process is dead."))
        run.cancel()
        try await run.value
        try store.close()
    }
}
