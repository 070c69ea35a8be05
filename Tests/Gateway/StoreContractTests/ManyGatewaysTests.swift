// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import SeedKit
import StoreTestKit
import Synchronization
import Testing
import WaitKit
import WakeBudget
import WakeModel

/// Random wakes at several gateways on one store, of which one dies with its hands full and
/// another one is stopped.
@Suite("Several gateways on one store", .timeLimit(.minutes(10)))
struct ManyGatewaysTests {
    /// How many wakes each round brings, and how many rounds there are.
    private static let roundCount = 3
    private static let wakesPerRound = 800
    /// Wakes that come in one request.
    private static let batchCount = 40
    /// A few devices get half of the wakes, many get the other half.
    private static let fewDevices = 20
    private static let manyDevices = 5_000

    /// What all senders together were handed, and what they answered.
    private final class PushBook: Sendable {
        struct Push {
            let claim: Claim
            /// Whether it can have reached the device.
            let mayHaveArrived: Bool
            /// Whether the result will never be known.
            let isLeftBehind: Bool
        }

        private struct State {
            var pushes: [Push] = []
            var generator: SeededGenerator
        }

        private let state: Mutex<State>

        init(seed: UInt64) { state = Mutex(State(generator: SeededGenerator(seed: seed))) }

        var pushes: [Push] { state.withLock { $0.pushes } }

        /// The kinds of the pushes whose outcome will never be known.
        var kindsLeftBehind: Set<WakeKind> {
            Set(pushes.filter(\.isLeftBehind).map(\.claim.kind))
        }

        /// What APNs does with a push; nothing, for ever, where the gateway `isDying`.
        func answer(_ claim: Claim, isDying: Bool) -> Result<PushOutcome, SendFailure>? {
            state.withLock { state in
                let (answer, mayHaveArrived) =
                    isDying ? (nil, true) : Self.answer(state.generator.below(100))
                state.pushes.append(
                    Push(
                        claim: claim, mayHaveArrived: mayHaveArrived, isLeftBehind: answer == nil))
                return answer
            }
        }

        private static func answer(_ dice: Int) -> (Result<PushOutcome, SendFailure>, Bool) {
            switch dice {
            case 0..<75: (Samples.accepted, true)
            case 75..<85: (Samples.notSent, false)
            case 85..<93: (Samples.unknown, true)
            case 93..<96: (Samples.refusal(503, .shutdown), false)
            case 96..<98: (Samples.refusal(429, .tooManyRequests), false)
            default: (Samples.refusal(410, .unregistered), false)
            }
        }
    }

    private let clock = ManualClock()

    private var limits: GatewayLimits {
        var limits = GatewayLimits()
        // More than there are calls in a round, so that one gateway's hands hold others too.
        limits.inFlightCount = 400
        limits.voipReserveCount = 50
        limits.claimBatchCount = 60
        limits.leaseSeconds = 60
        return limits
    }

    @Test(
        "Every wake ends once, no phone rings twice, and no device gets more than its budget",
        arguments: [StoreKind.memory, .sqlite, .postgresql], [2, 3])
    func transaction(_ kind: StoreKind, _ count: Int) async throws {
        let book = PushBook(seed: UInt64(count))
        let isDying = Atomic(false)
        try await GatewayLives.with(kind, clock: clock) { lives, store in
            var generator = SeededGenerator(seed: UInt64(count))
            let dying = ScriptedSender { claim in
                book.answer(claim, isDying: isDying.load(ordering: .acquiring))
            }
            let doomed = lives.start(dying, limits: limits)
            let others = (1..<count).map { _ in
                lives.start(ScriptedSender { book.answer($0, isDying: false) }, limits: limits)
            }
            var listeners: [Task<[OutcomeEvent], Never>] = []
            for life in [doomed] + others {
                guard let events = try await life.gateway.events() else { continue }
                listeners.append(
                    Task { await events.reduce(into: []) { $0.append($1) } })
            }
            var alive = [doomed] + others
            var accepted: Set<WakeID> = []
            for round in 0..<Self.roundCount {
                if round == 1 { isDying.store(true, ordering: .releasing) }
                accepted.formUnion(await takeRound(alive, &generator))
                if round == 1 {
                    // How many it gets depends on how quick the others are.
                    let isLaden = try await comesTrue {
                        book.kindsLeftBehind == [.voip, .background]
                    }
                    #expect(isLaden, "Too little is in hand: \(book.kindsLeftBehind)")
                    await doomed.die()
                    alive = others
                } else if round == 2, alive.count > 1 {
                    try await alive.removeLast().stop()
                }
                try await letTimePass(seconds: 600, steps: 60)
            }
            while try await store.perform(CountWakes()).unended > 0 {
                try await letTimePass(seconds: 60, steps: 6)
            }
            try await audit(store, alive, accepted, book.pushes.filter(\.isLeftBehind))
            check(book.pushes, accepted)
            // Readers end with their gateways, once they have all that there is.
            for life in alive { try await life.stop() }
            try await checkFeed(store, listeners, alive.count, accepted)
        }
    }

    /// Sends one round of wakes, each request to one of the gateways; the ids that were answered.
    private func takeRound(
        _ alive: [GatewayLife], _ generator: inout SeededGenerator
    ) async -> Set<WakeID> {
        var batches: [(GatewayLife, [Inquiry])] = []
        for _ in 0..<Self.wakesPerRound / Self.batchCount {
            let inquiries = (0..<Self.batchCount).map { _ in
                let device =
                    generator.chance(oneIn: 2)
                    ? generator.below(Self.fewDevices) : 100 + generator.below(Self.manyDevices)
                return Inquiry(
                    Samples.request(
                        generator.chance(oneIn: 4) ? .voip : .background,
                        app: generator.chance(oneIn: 3) ? Samples.otherApp : Samples.app,
                        device: UInt64(device)), environment: nil)
            }
            batches.append((generator.pick(alive), inquiries))
        }
        return await withTaskGroup(of: [AdmissionResult].self) { group in
            for (life, inquiries) in batches {
                group.addTask { await life.gateway.accept(inquiries) }
            }
            return await group.reduce(into: []) { $0.formUnion($1.compactMap(\.admittedID)) }
        }
    }

    /// Each reader has what the feed holds, from its beginning and in its order; those at gateways
    /// that were there to the end have all of it.
    private func checkFeed(
        _ store: any WakeStore, _ readers: [Task<[OutcomeEvent], Never>], _ aliveCount: Int,
        _ accepted: Set<WakeID>
    ) async throws {
        var feed: [OutcomeEvent] = []
        while true {
            let page = try await store.perform(
                ReadOutcomes(after: feed.last?.cursor ?? 0, limit: 100))
            feed += page.events
            guard page.isFull else { break }
        }
        #expect(zip(feed, feed.dropFirst()).allSatisfy { $0.cursor < $1.cursor })
        #expect(Set(feed.map(\.id)) == accepted && feed.count == accepted.count)
        var wholeCount = 0
        for reader in readers {
            let events = await reader.value
            #expect(events == Array(feed.prefix(events.count)))
            if events.count == feed.count { wholeCount += 1 }
        }
        #expect(wholeCount >= aliveCount)
    }

    /// Moves the clock in steps, with a moment for everybody after each.
    private func letTimePass(seconds: Int64, steps: Int64) async throws {
        for _ in 0..<steps {
            clock.advance(bySeconds: seconds / steps)
            try await elapse(.milliseconds(2))
        }
    }

    // MARK: What must be so

    private func audit(
        _ store: any WakeStore, _ alive: [GatewayLife], _ accepted: Set<WakeID>,
        _ leftBehind: [PushBook.Push]
    ) async throws {
        let count = try await store.perform(RecountWakes())
        #expect(count.isConserved && count.unended == 0)
        #expect(count.accepted >= accepted.count)
        #expect(accepted.count == Self.roundCount * Self.wakesPerRound)
        // Another one, with no state but the store's.
        let stranger = sampleGateway(store: store, sender: ScriptedSender(), clock: clock)
        for id in accepted {
            let record = try #require(try await stranger.record(of: id))
            #expect(record.end != nil && record.endedAt != nil, "\(id)")
            for life in alive { #expect(try await life.gateway.record(of: id) == record) }
        }
        // Another gateway finds what the dead one had in hand, and takes none of it for unsent.
        for push in leftBehind {
            let record = try #require(try await stranger.record(of: push.claim.id))
            let results = record.attempts.map(\.result)
            #expect(results.contains(.abandoned), "\(push.claim): \(record)")
            guard push.claim.kind == .voip else { continue }
            #expect(record.end == .failed(.fateUnknown), "\(push.claim): \(record)")
        }
    }

    private func check(_ pushes: [PushBook.Push], _ accepted: Set<WakeID>) {
        #expect(pushes.allSatisfy { accepted.contains($0.claim.id) })
        let calls = Dictionary(grouping: pushes.filter { $0.claim.kind == .voip }, by: \.claim.id)
        let rungTwice = calls.filter { $0.value.dropLast().contains(where: \.mayHaveArrived) }
        #expect(rungTwice.isEmpty, "\(rungTwice.count) calls went out again")
        let fences = Dictionary(grouping: pushes.map(\.claim.ticket), by: \.self)
        #expect(fences.allSatisfy { $0.value.count == 1 }, "A lease was given twice.")

        let budget = BudgetPolicy.standard.settings
        // Ledgers count in whole seconds.
        let spacing = Int64(budget.spacingSeconds - 1) * 1000
        let background = pushes.filter { $0.claim.kind == .background && $0.mayHaveArrived }
        for (_, pushes) in Dictionary(
            grouping: background, by: { [$0.claim.app.description, "\($0.claim.deviceToken.hex)"] })
        {
            let inOrder = pushes.map(\.claim).sorted { $0.claimedAt < $1.claimedAt }
            // The same push again costs nothing more; its latest attempt counts.
            let counted = inOrder.enumerated().filter { place, claim in
                !inOrder[(place + 1)...].contains { $0.id == claim.id }
            }.map(\.element)
            for (earlier, later) in zip(counted, counted.dropFirst(budget.hourlySends)) {
                #expect(later.claimedAt.milliseconds(since: earlier.claimedAt) > 3_599_000)
            }
            for (earlier, later) in zip(inOrder, inOrder.dropFirst()) where earlier.id != later.id {
                let gap = later.claimedAt.milliseconds(since: earlier.claimedAt)
                #expect(gap >= spacing, "\(earlier.id) and \(later.id) were \(gap) ms apart")
            }
        }
    }
}
