// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import SeedKit
import StoreRows
import StoreTestKit
import Testing
import WakeBudget
import WakeModel

@testable import Gateway
@testable import StoreSQLite

/// Bytes that were right, and are spoiled a little: what is read of a file that is damaged.
struct Spoiler {
    private var random: SeededGenerator
    /// What pieces are taken from.
    private let others: [[UInt8]]

    init(seed: UInt64, others: [[UInt8]]) {
        random = SeededGenerator(seed: seed)
        self.others = others
    }

    /// Some changes, mostly few: bits, bytes, pieces, the length.
    mutating func spoil(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...random.below(4) { change(&bytes) }
        return bytes
    }

    /// One of the elements, of which there is one at least.
    mutating func pick<Element>(_ elements: [Element]) -> Element { random.pick(elements) }

    /// A number from 0 to below `limit`.
    mutating func below(_ limit: Int) -> Int { random.below(limit) }

    private mutating func change(_ bytes: inout [UInt8]) {
        let place = random.below(bytes.count + 1)
        switch random.below(8) {
        case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(random.below(8))
        case 1 where place < bytes.count:
            bytes[place] = random.pick([0, 1, 0x7f, 0x80, 0xfe, 0xff])
        case 2: bytes.removeLast(bytes.count - place)
        case 3: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
        case 4:
            // A number that is as large as it can be.
            let end = min(bytes.count, place + random.below(9))
            bytes.replaceSubrange(place..<end, with: repeatElement(0xff, count: 9) + [1])
        case 5:
            let other = random.pick(others)
            let start = random.below(other.count + 1)
            let piece = other[start..<min(other.count, start + random.below(16))]
            let end = min(bytes.count, place + piece.count)
            bytes.replaceSubrange(place..<end, with: piece)
        case 6 where place < bytes.count: bytes.remove(at: place)
        default:
            bytes = (0..<random.below(64)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        }
    }
}

/// Stored bytes are read without a trap, whatever they are, and what is read of them can be worked
/// with. `ROUSE_FUZZ_SECONDS` runs each part for so long instead of a moment; `ROUSE_FUZZ_SEED`
/// begins at a seed that failed.
@Suite("Stored rows that are spoiled at random", .serialized)
struct StoredRowsFuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["ROUSE_FUZZ_SECONDS"].flatMap(Double.init)
    private static let firstSeed = environment["ROUSE_FUZZ_SEED"].flatMap(UInt64.init) ?? 1

    /// Calls `body` with one seed after the other, so many or for as long as is asked; how many.
    @discardableResult
    private static func forSeeds(
        _ count: Int, _ body: (UInt64) async throws -> Void
    ) async throws -> Int {
        let end = seconds.map { ContinuousClock.now + .seconds($0) }
        var done = 0
        while end.map({ .now < $0 }) ?? (done < count) {
            try await body(firstSeed &+ UInt64(done))
            done += 1
        }
        if end != nil { print("\(done) seeds from \(firstSeed)") }
        return done
    }

    // MARK: Decoders

    @Test("A wake, an answer, a ledger and a debit are read or refused")
    func decoders() async throws {
        var wakes: [[UInt8]] = []
        var random = SeededGenerator(seed: 99)
        for state in WakeState.allCases {
            for _ in 0..<8 {
                var writer = ByteWriter()
                writer.put(try RandomWake.make(state, &random))
                wakes.append(writer.bytes)
            }
        }
        let ledgers = Self.ledgers()
        try await Self.forSeeds(5_000) { seed in
            var spoiler = Spoiler(seed: seed, others: wakes + ledgers)
            let bytes = spoiler.spoil(spoiler.pick(wakes))
            for state in WakeState.allCases {
                var reader = ByteReader(bytes)
                guard let wake = try? reader.wake(number: 1 << 52, state: state, device: 5) else {
                    continue
                }
                var writer = ByteWriter()
                writer.put(wake)
                #expect(wake.previous >= 0 && wake.previous <= wake.number, "seed \(seed)")
            }
            var reader = ByteReader(bytes)
            _ = try? reader.answer(wake: 1 << 52)
            _ = try? BudgetDebit(decoding: bytes)
            let ledger = spoiler.spoil(spoiler.pick(ledgers))
            if let ledger = try? DeviceLedger(decoding: ledger) {
                Self.use(ledger, debit: try? BudgetDebit(decoding: bytes))
            }
        }
    }

    /// Ledgers of both kinds with something in them.
    private static func ledgers() -> [[UInt8]] {
        var background = DeviceLedger(kind: .background)
        var calls = DeviceLedger(kind: .voip)
        var pushes = DeviceLedger(kind: .alert)
        var all = [background.encoded(), calls.encoded()]
        for minute in 0..<40 as Range<Int64> {
            let now = Samples.start.advanced(bySeconds: minute * 420)
            _ = background.admit(.background(), policy: .standard, at: now)
            if case .charged(let debit) = background.claim(policy: .standard, at: now) {
                _ = background.settle(debit, as: minute % 3 == 0 ? .notSent : .accepted)
                all.append(debit.encoded())
            }
            if minute % 7 == 0 { _ = background.report(.lowPowerMode(minute % 2 == 0), at: now) }
            let call = CallFingerprint(bits: UInt64(minute))
            _ = calls.admit(.voip(call), policy: .standard, at: now)
            all.append(background.encoded())
            _ = pushes.admit(
                .plain(until: now.advanced(bySeconds: 3_600)), policy: .standard, at: now)
            all.append(calls.encoded())
            all.append(pushes.encoded())
        }
        return all
    }

    /// Asks a ledger all that a store asks one.
    private static func use(_ ledger: DeviceLedger, debit: BudgetDebit?) {
        let year: Int64 = 366 * 86_400
        for offset in [0, 1, -1, 3_600, -3_600, year, -year, 40 * year, -60 * year] {
            var ledger = ledger
            let now = Samples.start.advanced(bySeconds: offset)
            _ = ledger.explain(policy: .standard, at: now)
            let request: BudgetRequest =
                switch ledger.discipline {
                case .background: .background()
                case .call: .voip(CallFingerprint(bits: 3))
                case .plain: .plain(until: now.advanced(bySeconds: 60))
                }
            _ = ledger.decide(on: request, policy: .standard, at: now)
            _ = ledger.admit(request, policy: .standard, at: now)
            _ = ledger.outlook(policy: .standard, at: now)
            if let debit { _ = ledger.settle(debit, as: .notSent, returns: true) }
            if case .charged(let new) = ledger.claim(policy: .standard, at: now) {
                _ = ledger.settle(new, as: .unknown, returns: true)
            }
            _ = ledger.report(.forceQuit, at: now)
            _ = ledger.report(.battery(percent: 3, isCharging: false), at: now)
            _ = ledger.confirmLaunch(ofSendAt: now, launchedAt: now, hasSynced: true, at: now)
            _ = ledger.refund(CallFingerprint(bits: 3))
            ledger.giveBackTurn(policy: .standard)
            _ = ledger.cancelPending(at: now)
            _ = try? DeviceLedger(decoding: ledger.encoded())
        }
    }

    // MARK: A whole file

    @Test("Every verb works on a spoiled file of any version, and every wake is accounted for")
    func file() async throws {
        try await Self.forSeeds(12) { seed in
            try await withTemporaryFolder { folder in
                try await Self.live(folder + "/store.sqlite", seed)
            }
        }
    }

    private static func live(_ path: String, _ seed: UInt64) async throws {
        let first = try SQLiteWakeStore(path: path, durability: .system)
        var connection = Counter(store: first)
        let devices = 1...12 as ClosedRange<UInt64>
        try await fill(connection, devices)
        try first.close()
        var spoiler = Spoiler(seed: seed, others: ledgers())
        try spoil(path, &spoiler)
        // As each version of the schema left it, in turn, the newest most often.
        let steps = min(1 + Int(seed % 12), EarlierStore.stepCount)
        try EarlierStore.makeEarlier(path, steps: steps)

        let audit = try SQLiteWakeStore.audit(path: path)
        #expect(audit.count.isConserved, "seed \(seed)")
        let store = try SQLiteWakeStore(path: path, durability: .system, cachedDevices: 0)
        connection = Counter(store: store)
        var claims: [Claim] = []
        do {
            for round in 1...4 as ClosedRange<Int64> {
                connection.now = Samples.start.advanced(bySeconds: round * 2_000)
                _ = try await store.perform(
                    ReclaimLeases(
                        at: connection.now, limit: 100, under: connection.rules))
                _ = try await store.perform(
                    ExpireWakes(
                        at: connection.now, limit: 100, under: connection.rules))
                claims += try await connection.claim().claims
                let answer = try await connection.admit(
                    devices.flatMap { device in
                        WakeKind.allCases.map { kind in
                            Samples.wake(
                                kind, at: connection.now, device: device, call: device,
                                coalescing: round % 2 == 0 ? .union : .replace)
                        }
                    })
                claims += answer.claims
                #expect(answer.admissions.count == devices.count * WakeKind.allCases.count)
                for (place, claim) in claims.enumerated() {
                    let effects: [(Settlement.Effect, AttemptResult?)] = [
                        (.end(.sent(apnsUniqueID: nil)), .accepted(apnsUniqueID: nil)),
                        (.retry(at: connection.now, charged: true), .abandoned), (.release, nil),
                    ]
                    let (effect, attempt) = effects[place % 3]
                    try await connection.settle(claim, effect, attempt: attempt)
                }
                claims = []
                try await look(store, connection, devices)
                let webhooks = try await store.perform(
                    ClaimWebhooks(
                        of: Samples.endpoint, at: connection.now, until: connection.now, limit: 100)
                )
                try await store.perform(
                    SettleWebhooks(
                        webhooks.items.map { WebhookSettlement(ticket: $0.ticket, effect: .done) }))
                _ = try await store.prune(
                    PruneOrder(
                        now: connection.now,
                        wakesBefore: connection.now.advanced(bySeconds: -3_000),
                        devicesBefore: connection.now.advanced(bySeconds: -3_000),
                        webhooks: connection.rules.webhooks, limit: 100))
                let count = try await store.perform(RecountWakes())
                #expect(count.isConserved, "seed \(seed)")
            }
        } catch {
            Issue.record("seed \(seed): \(error)")
        }
        try store.close()
    }

    private static func fill(_ connection: Counter, _ devices: ClosedRange<UInt64>) async throws {
        for device in devices {
            for kind in WakeKind.allCases {
                let wake = Samples.wake(kind, device: device, call: device, ref: "r\(device)")
                let claim = try await connection.claimOne(wake)
                switch device % 3 {
                case 0: try await connection.settleSent(claim)
                case 1:
                    let refusal = Refusal(status: 410, reason: .unregistered)
                    try await connection.settle(
                        claim, .end(.undeliverable(refusal)), attempt: .refused(refusal))
                default:
                    try await connection.settle(
                        claim, .retry(at: connection.now, charged: true), attempt: .abandoned)
                }
            }
        }
        let mark = IdempotencyKey(
            key: Array(repeating: 7, count: 32), request: Array(repeating: 8, count: 32),
            expiresAt: connection.now.advanced(bySeconds: 86_400))
        _ = try await connection.store.perform(
            AdmitWakes(
                devices.map { Samples.wake(device: $0).with(mark) },
                grant: ClaimGrant(
                    queues: Set(Samples.queues), background: 6, calls: 6, leaseSeconds: 60),
                under: connection.rules))
    }

    /// All that reads, on what is there. A row that somebody asks for by name may be damaged.
    private static func look(
        _ store: SQLiteWakeStore, _ connection: Counter, _ devices: ClosedRange<UInt64>
    ) async throws {
        let page = try await store.perform(ListWakes(WakeQuery(limit: 100)))
        for wake in page.wakes {
            _ = try await store.perform(FindWake(wake.id))
            _ = try await store.confirm(
                [Receipt(id: wake.id, launchedAt: connection.now, hasSynced: true)],
                at: connection.now,
                under: connection.rules)
        }
        for device in devices {
            do throws(StoreFailure) {
                _ = try await store.perform(
                    FindDevices(
                        Samples.deviceToken(device), in: Samples.queues, at: connection.now,
                        under: connection.rules))
                _ = try await store.perform(
                    ReportDevice(
                        .signals([.backgroundAppRefresh(true)]), of: Samples.deviceToken(device),
                        in: Samples.queues, makes: true, at: connection.now, under: connection.rules
                    ))
            } catch {
                #expect(error.kind == .damaged)
            }
            if device % 5 == 0 {
                _ = try await store.perform(
                    ReportDevice(
                        .forget, of: Samples.deviceToken(device), in: Samples.queues, makes: false,
                        at: connection.now, under: connection.rules))
            }
        }
        _ = try await store.perform(ReadFeedback(after: 0, limit: 5))
        _ = try await store.perform(CountWakes())
        _ = try await store.perform(ListQueues())
    }

    /// Spoils some of the rows of each table, in the columns that hold more than a key.
    private static func spoil(_ path: String, _ spoiler: inout Spoiler) throws {
        let columns = [
            ("wake", "rest"), ("wake", "rest"), ("wake", "rest"), ("wake", "payload"),
            ("device", "ledger"), ("device", "ledger"), ("device", "token"), ("device", "queue"),
            ("device", "pending"), ("device", "latest"), ("idempotency", "answer"),
            ("idempotency", "wake"), ("attempt", "result"), ("attempt", "status"),
            ("feedback", "token"), ("feedback", "kind"), ("feedback", "queue"),
            ("webhook", "kind"), ("webhook", "subject"), ("webhook", "fence"), ("webhook", "tries"),
            ("wake", "state"), ("queue", "environment"), ("queue", "kind"), ("wake", "device"),
        ]
        let other = try Connection(path)
        for _ in 0...spoiler.below(12) {
            let (table, column) = spoiler.pick(columns)
            let key = ["idempotency": "key", "attempt": "wake"][table] ?? "number"
            let rows = try other.rows(
                "SELECT \(key), \(column) FROM \(table) ORDER BY \(key) LIMIT 1 "
                    + "OFFSET (SELECT \(spoiler.below(1 << 30)) % max(1, count(*)) FROM \(table))")
            guard let row = rows.first else { continue }
            let bit = spoiler.below(63)
            let new: CopiedValue
            switch row[1] {
            case .bytes(let bytes): new = .bytes(spoiler.spoil(bytes))
            case .text(let text):
                let bytes = spoiler.spoil(Array(text.utf8))
                new = .text(String(decoding: bytes, as: UTF8.self).replacing("\0", with: ""))
            case .integer(let number):
                new = .integer(
                    spoiler.pick(
                        [.max, .min, 0, -1, number &+ 1, number ^ (1 << Int64(bit))] as [Int64]))
            case .null: continue
            }
            // Another queue of the same name is no damage that the file allows.
            try other.rows(
                "UPDATE OR IGNORE \(table) SET \(column) = ? WHERE \(key) = ?", [new, row[0]])
        }
        try other.close()
    }
}
