// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WakeBudget
import WakeModel

/// How fast the wake budget decides, and what a device costs in memory.
struct BudgetBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "budget",
        abstract: "Decisions of the wake budget per second, and bytes per device.")

    /// Decisions a second on one processor that are enough for any gateway.
    static let goal = 5e6

    @OptionGroup var options: BenchmarkOptions

    func run() async throws {
        let result = Self.measure(options)
        try options.show(result, as: Self.report)
    }

    static func measure(_ options: BenchmarkOptions) -> BudgetResult {
        let decisions = options.quick ? 1_000_000 : 20_000_000
        let rows = BudgetFleet.State.allCases.map { state in
            let fleets = [BudgetFleet.fewDevices, BudgetFleet.manyDevices].map {
                BudgetFleet(state, count: $0)
            }
            let rates = fleets.map { fleet in
                (0..<options.rounds).map { _ in fleet.rate(of: decisions) }.median
            }
            return BudgetResult.Row(
                state: state.rawValue, cachedDecisionsPerSecond: rates[0],
                decisionsPerSecond: rates[1], storedBytes: fleets[0].storedBytes)
        }
        let cycles = (0..<options.rounds).map { _ in BudgetFleet.rateOfCycles(decisions / 4) }
        let reads = (0..<options.rounds).map { _ in BudgetFleet.rateOfReads(decisions) }
        return BudgetResult(
            rows: rows, readsPerSecond: reads.median, cyclesPerSecond: cycles.median,
            ledgerBytes: MemoryLayout<DeviceLedger>.stride)
    }

    /// The result as a table.
    static func report(_ result: BudgetResult) -> String {
        var table = TextTable(
            "devices", "in cache", "of the goal", "from memory", "of the goal", "bytes in a store")
        for row in result.rows {
            table.add(
                row.state, row.cachedDecisionsPerSecond.grouped,
                (row.cachedDecisionsPerSecond / goal).fixed(2), row.decisionsPerSecond.grouped,
                (row.decisionsPerSecond / goal).fixed(2), row.storedBytes.fixed(1))
        }
        return "\nThe wake budget: decisions per CPU second\n\n" + table.text
            + "\n\nIn cache: \(BudgetFleet.fewDevices) devices. From memory: "
            + "\(BudgetFleet.manyDevices) devices in no order, of which each\n"
            + "decision waits for one; reading as many bytes of them and nothing else: "
            + result.readsPerSecond.grouped + ".\nThe goal is " + goal.grouped
            + " decisions.\nAdmit, claim, settle and receipt of one wake: "
            + result.cyclesPerSecond.grouped + " wakes per CPU second. A ledger takes "
            + "\(result.ledgerBytes) bytes in memory, whatever its state.\n"
    }
}

/// What was measured.
struct BudgetResult: Encodable {
    struct Row: Encodable {
        /// What the devices have behind them.
        let state: String
        /// With devices that the processor's caches hold.
        let cachedDecisionsPerSecond: Double
        /// With more devices than that.
        let decisionsPerSecond: Double
        /// The mean length of their encoding.
        let storedBytes: Double
    }

    let rows: [Row]
    /// What the memory lets through.
    let readsPerSecond: Double
    let cyclesPerSecond: Double
    let ledgerBytes: Int
}

/// Ledgers of some devices.
struct BudgetFleet {
    enum State: String, CaseIterable {
        case fresh
        case idle = "idle after 20 sends"
        case waiting = "a wake waits"
    }

    /// 32 KiB of ledgers: a processor's nearest caches hold them.
    static let fewDevices = 1 << 8
    /// 8 MiB of ledgers, of which those caches hold few.
    static let manyDevices = 1 << 16
    static let start = WallInstant(secondsSinceEpoch: 1_800_000_000)

    private let ledgers: [DeviceLedger]
    private let policy = BudgetPolicy.standard.with(confirmsLaunches: true)
    private let now: WallInstant

    init(_ state: State, count: Int) {
        var ledger = DeviceLedger(kind: .background)
        var now = Self.start
        if state != .fresh {
            for _ in 0..<20 {
                now = now.advanced(bySeconds: 1_801)
                Self.cycle(&ledger, policy, now)
            }
            _ = ledger.report(.foreground, at: now)
            _ = ledger.report(.battery(percent: 80, isCharging: false), at: now)
        }
        if state == .waiting { _ = ledger.admit(.background(), policy: policy, at: now) }
        ledgers = Array(repeating: ledger, count: count)
        self.now = now.advanced(bySeconds: state == .waiting ? 10 : 3_600)
    }

    /// Decisions per second of processor time, on devices in no order.
    func rate(of decisions: Int) -> Double {
        let request = BudgetRequest.background()
        var index = 0
        var sends = 0
        let begin = ProcessClocks.cpuSeconds
        for _ in 0..<decisions {
            index = Self.next(index, of: ledgers.count)
            let decision = ledgers[index].decide(on: request, policy: policy, at: now)
            if case .send = decision { sends += 1 }
        }
        let seconds = ProcessClocks.cpuSeconds - begin
        // All devices are alike, so the decisions are; this also keeps them from being left out.
        precondition(sends == 0 || sends == decisions, "Equal ledgers decide alike.")
        return Double(decisions) / seconds
    }

    /// The device after another, in no order; all are met before one is met again. The count is a
    /// power of two.
    private static func next(_ index: Int, of count: Int) -> Int {
        (index &* 5 &+ 12_345) & (count - 1)
    }

    /// Reads per second of processor time: of the bytes of as many devices, in the same order.
    static func rateOfReads(_ reads: Int) -> Double {
        let words = MemoryLayout<DeviceLedger>.stride / MemoryLayout<UInt64>.stride
        let memory = (0..<UInt64(manyDevices * words)).map { $0 }
        var index = 0
        var sum: UInt64 = 0
        let begin = ProcessClocks.cpuSeconds
        for _ in 0..<reads {
            index = next(index, of: manyDevices)
            for word in index * words..<(index + 1) * words { sum &+= memory[word] }
        }
        let seconds = ProcessClocks.cpuSeconds - begin
        // This keeps the reads from being left out.
        precondition(sum != 0, "The sum of numbers is one.")
        return Double(reads) / seconds
    }

    /// The mean length of an encoded ledger.
    var storedBytes: Double {
        Double(ledgers.reduce(0) { $0 + $1.encoded().count }) / Double(ledgers.count)
    }

    /// Whole lives of wakes per second of processor time.
    static func rateOfCycles(_ cycles: Int) -> Double {
        let policy = BudgetPolicy.standard.with(confirmsLaunches: true)
        var ledgers = Array(repeating: DeviceLedger(kind: .background), count: manyDevices)
        var now = start
        let begin = ProcessClocks.cpuSeconds
        for number in 0..<cycles {
            let index = next(number, of: manyDevices)
            if index == 0 { now = now.advanced(bySeconds: 1_801) }
            cycle(&ledgers[index], policy, now)
        }
        return Double(cycles) / (ProcessClocks.cpuSeconds - begin)
    }

    private static func cycle(
        _ ledger: inout DeviceLedger, _ policy: BudgetPolicy, _ now: WallInstant
    ) {
        _ = ledger.admit(.background(), policy: policy, at: now)
        guard case .charged(let debit) = ledger.claim(policy: policy, at: now) else { return }
        _ = ledger.settle(debit, as: .accepted)
        _ = ledger.confirmLaunch(ofSendAt: debit.at, at: now.advanced(bySeconds: 2))
    }
}
