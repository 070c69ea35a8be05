// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import SeedKit
import StorePostgreSQL
import StoreSQLite
import StoreTestKit
import Testing
import WakeBudget
import WakeModel

/// Runs the same random commands on two stores and compares every answer. Both give the same ids,
/// because numbers follow from the given time, and the rest is given with the wake. The numbers of
/// webhooks and of entries of the feed are each store's own.
struct StoreWalk {
    private let stores: [any WakeStore]
    private var generator: SeededGenerator
    private let seed: UInt64
    private var now = Samples.start
    private var ids: [WakeID] = []
    private var open: [Claim] = []
    private var settled: [Claim] = []
    private var items: [[WebhookItem]]
    private(set) var verbs: [String: Int] = [:]

    init(_ stores: [any WakeStore], seed: UInt64) {
        self.stores = stores
        items = stores.map { _ in [] }
        self.seed = seed
        generator = SeededGenerator(seed: seed)
    }

    private mutating func draw(_ range: Range<Int>) -> Int {
        Int.random(in: range, using: &generator)
    }

    mutating func walk(steps: Int) async throws {
        for step in 0..<steps {
            now = now.advanced(byMilliseconds: Int64(draw(0..<60_000)))
            let verb = draw(0..<100)
            try await take(verb)
            if step.isMultiple(of: 50) { try await compareBooks() }
        }
        try await compareBooks()
    }

    private mutating func take(_ verb: Int) async throws {
        switch verb {
        case 0..<35: try await admit()
        case 35..<50: try await claim()
        case 50..<70: try await settle()
        case 70..<74: try await expire()
        case 74..<78: try await reclaim()
        case 78..<82: try await cancel()
        case 82..<89: try await report()
        case 89..<93: try await confirm()
        case 93..<95: try await list()
        case 95..<97: try await webhooks()
        default: try await prune()
        }
    }

    /// Asks all stores and compares what they say.
    private mutating func ask<Answer: Equatable & Sendable>(
        _ name: String, _ verb: (any WakeStore) async throws -> Answer
    ) async throws -> Answer {
        verbs[name, default: 0] += 1
        let specified = try await verb(stores[0])
        for store in stores.dropFirst() {
            let answer = try await verb(store)
            try #require(answer == specified, "\(name), seed \(seed)")
        }
        return specified
    }

    // MARK: Verbs

    private mutating func admit() async throws {
        var submissions: [WakeSubmission] = []
        for _ in 0..<draw(1..<4) {
            let isCall = draw(0..<4) == 0
            let expiry: Expiration? =
                draw(0..<4) == 0
                ? .at(now.advanced(bySeconds: Int64(draw(1..<2_000)))) : nil
            let wake = Samples.wake(
                isCall ? .voip : .background,
                app: draw(0..<2) == 0 ? Samples.app : Samples.otherApp, at: now,
                dueIn: draw(0..<4) == 0 ? Int64(draw(1..<900)) : 0,
                device: UInt64(draw(0..<6)), expiration: expiry,
                payload: isCall
                    ? nil : #"{"aps":{"content-available":1},"k\#(draw(0..<3))":\#(draw(0..<9))}"#,
                call: UInt64(draw(0..<30)),
                urgency: Urgency.allCases[draw(0..<3)],
                coalescing: draw(0..<2) == 0 ? .replace : .union,
                ref: draw(0..<3) == 0 ? "r\(draw(0..<4))" : nil)
            var mark: IdempotencyKey?
            if draw(0..<3) == 0 {
                mark = IdempotencyKey(
                    key: [UInt8(draw(0..<20))], request: [UInt8(draw(0..<2))],
                    expiresAt: now.advanced(bySeconds: Int64(draw(1..<3_000))))
            }
            submissions.append(wake.with(mark))
        }
        var grant: ClaimGrant?
        if draw(0..<2) == 0 {
            grant = ClaimGrant(
                queues: Set(Samples.queues.filter { _ in draw(0..<3) != 0 }),
                background: draw(0..<3), calls: draw(0..<3), leaseSeconds: 60)
        }
        let batch = submissions
        let leave = grant
        let answer = try await ask("admit") { store in
            Said(try await store.perform(AdmitWakes(batch, grant: leave, under: Samples.rules)))
        }.admit
        for case .admitted(let wake) in answer.admissions where !ids.contains(wake.id) {
            ids.append(wake.id)
        }
        open += answer.claims
    }

    private mutating func claim() async throws {
        let order = ClaimOrder(
            shares: Samples.queues.map { .init(queue: $0, limit: draw(0..<5)) },
            limit: draw(0..<9), now: now, leaseUntil: now.advanced(bySeconds: 60))
        let answer = try await ask("claim") { store in
            let answer = try await store.perform(ClaimWakes(order, under: Samples.rules))
            return Claimed(claims: answer.claims, ended: answer.ended)
        }
        open += answer.claims
    }

    private mutating func settle() async throws {
        var settlements: [Settlement] = []
        for _ in 0..<draw(1..<4) {
            let isOld = draw(0..<8) == 0
            let source = isOld ? settled : open
            guard !source.isEmpty else { continue }
            let claim = source[draw(0..<source.count)]
            if !isOld { open.removeAll { $0.ticket == claim.ticket } }
            settled.append(claim)
            settlements.append(settlement(claim))
        }
        let batch = settlements
        _ = try await ask("settle") { store in
            let answer = try await store.perform(SettleWakes(batch, under: Samples.rules))
            return Settled(
                verdicts: answer.verdicts, ended: answer.ended, nextDue: answer.nextDue)
        }
    }

    private mutating func settlement(_ claim: Claim) -> Settlement {
        let refusal = Refusal(
            status: 410, reason: .unregistered,
            tokenDeadSince: now.advanced(bySeconds: Int64(draw(-2_000..<0))))
        let mismatch = Refusal(status: 400, reason: .badDeviceToken)
        let lost = SendFailure(certainty: .unknown, description: "lost")
        let unsent = SendFailure(certainty: .notSent, description: "refused")
        let due = now.advanced(bySeconds: Int64(draw(0..<120)))
        let choices: [(AttemptResult?, Settlement.Effect)] = [
            (.accepted(apnsUniqueID: nil), .end(.sent(apnsUniqueID: nil))),
            (.accepted(apnsUniqueID: "u"), .end(.sent(apnsUniqueID: "u"))),
            (.refused(refusal), .end(.undeliverable(refusal))),
            (.refused(mismatch), .end(.rejected(mismatch))),
            (.unanswered(lost), .end(.failed(.fateUnknown))),
            (.unanswered(lost), .retry(at: due, charged: true)),
            (.unanswered(unsent), .retry(at: due, charged: false)),
            (nil, .release), (nil, .end(.expired)),
        ]
        let (attempt, effect) = choices[draw(0..<choices.count)]
        return Settlement(ticket: claim.ticket, at: now, attempt: attempt, effect: effect)
    }

    private mutating func expire() async throws {
        let (at, limit) = (now, draw(1..<5))
        _ = try await ask("expire") { store in
            try await store.perform(ExpireWakes(at: at, limit: limit, under: Samples.rules))
        }
    }

    private mutating func reclaim() async throws {
        let (at, limit) = (now, draw(1..<5))
        _ = try await ask("reclaim") { store in
            try await store.perform(ReclaimLeases(at: at, limit: limit, under: Samples.rules))
        }
    }

    private mutating func cancel() async throws {
        guard !ids.isEmpty else { return }
        let (id, at) = (ids[draw(0..<ids.count)], now)
        _ = try await ask("cancel") { store in
            let outcome = try await store.perform(CancelWake(id, at: at, under: Samples.rules))
            return Cancelled(isCancelled: outcome.isCancelled, ended: outcome.ended)
        }
    }

    private mutating func report() async throws {
        let reports: [DeviceReport] = [
            .signals([.lowPowerMode(draw(0..<2) == 0)]),
            .signals([.battery(percent: draw(0..<100), isCharging: draw(0..<2) == 0)]),
            .signals([.backgroundAppRefresh(draw(0..<3) != 0)]), .signals([.forceQuit]),
            .signals([.foreground, .lowPowerMode(false)]), .registered(at: now), .forget,
        ]
        let (report, at, makes) = (reports[draw(0..<reports.count)], now, draw(0..<2) == 0)
        let token = Samples.deviceToken(UInt64(draw(0..<7)))
        _ = try await ask("report") { store in
            let outcome = try await store.perform(
                ReportDevice(
                    report, of: token, in: Samples.queues, makes: makes, at: at,
                    under: Samples.rules))
            return Reported(devices: outcome.devices, ended: outcome.ended)
        }
    }

    private mutating func confirm() async throws {
        guard !ids.isEmpty else { return }
        let at = now
        let receipts = (0..<draw(1..<3)).map { _ in
            Receipt(
                draw(0..<3) == 0
                    ? .ref(
                        Samples.name("r\(draw(0..<4))"),
                        Samples.deviceToken(UInt64(draw(0..<6))))
                    : .wake(ids[draw(0..<ids.count)]),
                launchedAt: draw(0..<2) == 0 ? now.advanced(bySeconds: -1) : nil,
                hasSynced: draw(0..<2) == 0)
        }
        _ = try await ask("confirm") { store in
            let outcome = try await store.confirm(receipts, at: at, under: Samples.rules)
            return Confirmed(answers: outcome.answers, ended: outcome.ended)
        }
    }

    private mutating func list() async throws {
        let query = WakeQuery(
            deviceToken: draw(0..<2) == 0 ? Samples.deviceToken(UInt64(draw(0..<6))) : nil,
            app: draw(0..<2) == 0 ? Samples.app : nil,
            states: draw(0..<2) == 0 ? [.pending, .sent] : nil,
            after: ids.isEmpty || draw(0..<2) == 0 ? nil : ids[draw(0..<ids.count)],
            limit: draw(1..<9))
        _ = try await ask("wakes") { store in try await store.perform(ListWakes(query)) }
        let (token, at) = (Samples.deviceToken(UInt64(draw(0..<6))), now)
        _ = try await ask("devices") { store in
            try await store.perform(
                FindDevices(token, in: Samples.queues, at: at, under: Samples.rules))
        }
        _ = try await ask("feedback") { store in
            try await store.perform(ReadFeedback(after: 2, limit: 5)).map(Self.unnumbered)
        }
        _ = try await ask("due") { store in try await store.perform(NextDue(in: Samples.queues)) }
    }

    private mutating func webhooks() async throws {
        let (at, limit) = (now, draw(1..<9))
        let areDone = items[0].map { _ in draw(0..<2) == 0 }
        var claimed: [[WebhookItem]] = []
        for (store, items) in zip(stores, items) {
            let effects = zip(items, areDone).map { item, isDone in
                WebhookSettlement(
                    ticket: item.ticket,
                    effect: isDone ? .done : .retry(at: at.advanced(bySeconds: 9)))
            }
            try await store.perform(SettleWebhooks(effects))
            let batch = try await store.perform(
                ClaimWebhooks(
                    of: Samples.endpoint, at: at, until: at.advanced(bySeconds: 60), limit: limit))
            claimed.append(batch.items)
        }
        items = claimed
        verbs["webhooks", default: 0] += 1
        let told = claimed.map { $0.map(Told.init) }
        for items in told.dropFirst() {
            try #require(items == told[0], "webhooks, seed \(seed)")
        }
    }

    private mutating func prune() async throws {
        let order = PruneOrder(
            now: now, wakesBefore: now.advanced(bySeconds: -40_000),
            devicesBefore: WallInstant(millisecondsSinceEpoch: 0),
            webhooks: Samples.rules.webhooks, limit: draw(1..<9))
        _ = try await ask("prune") { store in
            var pruned = try await store.prune(order)
            // Whether a device that comes during a walk is met by it depends on its number, which
            // each store gives as it likes.
            pruned.isSweeping = false
            return pruned
        }
    }

    private mutating func compareBooks() async throws {
        let count = try await ask("recount") { store in try await store.perform(RecountWakes()) }
        try #require(count.isConserved, "seed \(seed)")
        let counters = try await ask("count") { store in try await store.perform(CountWakes()) }
        try #require(counters.unended == count.unended, "seed \(seed)")
        try #require(counters.accepted == count.accepted, "seed \(seed)")
        for id in ids.suffix(40) {
            _ = try await ask("record") { store in try await store.perform(FindWake(id)) }
        }
    }

    // MARK: Answers that can be compared

    private static func unnumbered(_ entry: FeedbackEntry) -> FeedbackEntry {
        FeedbackEntry(
            number: 0, kind: entry.kind, app: entry.app, wakeKind: entry.wakeKind,
            deviceToken: entry.deviceToken, at: entry.at, refusal: entry.refusal, wake: entry.wake)
    }

    private struct Told: Equatable {
        let event: WebhookEvent
        let createdAt: WallInstant
        let tries: Int
        let fence: Int64

        init(_ item: WebhookItem) {
            event =
                if case .tokenDead(let entry) = item.event {
                    .tokenDead(StoreWalk.unnumbered(entry))
                } else {
                    item.event
                }
            createdAt = item.createdAt
            tries = item.tries
            fence = item.ticket.fence
        }
    }

    private struct Said: Equatable, Sendable {
        let admit: AdmitAnswer
        init(_ admit: AdmitAnswer) { self.admit = admit }
        static func == (left: Said, right: Said) -> Bool {
            left.admit.admissions == right.admit.admissions
                && left.admit.claims == right.admit.claims
                && left.admit.ended == right.admit.ended
                && left.admit.nextDue == right.admit.nextDue
                && left.admit.leftDue == right.admit.leftDue
        }
    }
    private struct Claimed: Equatable, Sendable {
        let claims: [Claim]
        let ended: [EndedWake]
    }
    private struct Settled: Equatable, Sendable {
        let verdicts: [SettlementVerdict]
        let ended: [EndedWake]
        let nextDue: WallInstant?
    }
    private struct Cancelled: Equatable, Sendable {
        let isCancelled: Bool?
        let ended: [EndedWake]
    }
    private struct Reported: Equatable, Sendable {
        let devices: Int
        let ended: [EndedWake]
    }
    private struct Confirmed: Equatable, Sendable {
        let answers: [ReceiptAnswer]
        let ended: [EndedWake]
    }
}

@Suite("Each store does what the specification does", .timeLimit(.minutes(10)))
struct StoreWalkTests {
    @Test("A random life has the same answers in SQLite", arguments: 1...6 as ClosedRange<UInt64>)
    func walk(seed: UInt64) async throws {
        try await withTemporaryFolder { folder in
            let file = try SQLiteWakeStore(
                path: folder + "/store.sqlite", durability: .system,
                cachedDevices: seed.isMultiple(of: 2) ? 4 : 1_000)
            var walk = StoreWalk([InMemoryWakeStore(), file], seed: seed)
            try await walk.walk(steps: 500)
            #expect(walk.verbs.count >= 14, "seed \(seed)")
            try file.close()
        }
    }

    @Test("So it has in PostgreSQL", arguments: 1...3 as ClosedRange<UInt64>)
    func walkOfShared(seed: UInt64) async throws {
        try await StoreKind.withDatabase { url in
            var settings = PostgreSQLWakeStore.Settings()
            settings.writerCount = 1
            let shared = try await PostgreSQLWakeStore.open(url: url, settings: settings)
            // The only writer has the first slot.
            let specification = InMemoryWakeStore(
                numbers: NumberSeries(slot: 0, slotCount: 64)
            ) { nil }
            var walk = StoreWalk([specification, shared], seed: seed)
            try await walk.walk(steps: 500)
            #expect(walk.verbs.count >= 14, "seed \(seed)")
            await shared.close()
        }
    }
}
