// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WakeBudget
import WakeModel

/// How fast the wake budget decides, and what a device costs in memory.
struct BudgetBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "budget",
        abstract: "Decisions of the wake budget per second, and bytes per device.")

    /// Decisions a second on one processor that the design asks for.
    static let goal = 5e6

    @OptionGroup var options: BenchmarkOptions

    func run() async throws {
        let result = Self.measure(options)
        if options.json {
            try JSONOutput.print(result)
        } else {
            print(Self.report(result))
        }
    }

    static func measure(_ options: BenchmarkOptions) -> BudgetResult {
        let decisions = options.quick ? 1_000_000 : 20_000_000
        let rows = BudgetFleet.State.allCases.map { state in
            let fleet = BudgetFleet(state)
            return BudgetResult.Row(
                state: state.rawValue,
                decisionsPerSecond: (0..<options.rounds).map { _ in fleet.rate(of: decisions) }
                    .median,
                storedBytes: fleet.storedBytes)
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
            "devices", "decisions/CPU s", "of the goal", "of reading them", "bytes in a store")
        for row in result.rows {
            table.add(
                row.state, row.decisionsPerSecond.grouped,
                (row.decisionsPerSecond / goal).fixed(2),
                (row.decisionsPerSecond / result.readsPerSecond).fixed(3), row.storedBytes.fixed(1))
        }
        return "\nThe wake budget, on one processor\n\n" + table.text
            + "\n\nReading as many bytes of as many devices, and nothing else: "
            + result.readsPerSecond.grouped + " per CPU second. The goal is "
            + goal.grouped + " decisions.\nAdmit, claim, settle and receipt of one wake: "
            + result.cyclesPerSecond.grouped + " wakes per CPU second. A ledger takes "
            + "\(result.ledgerBytes) bytes in memory, whatever its state.\n"
    }
}

/// What was measured.
struct BudgetResult: Encodable {
    struct Row: Encodable {
        /// What the devices have behind them.
        let state: String
        let decisionsPerSecond: Double
        /// The mean length of their encoding.
        let storedBytes: Double
    }

    let rows: [Row]
    /// What the memory lets through: the reference of the rows.
    let readsPerSecond: Double
    let cyclesPerSecond: Double
    let ledgerBytes: Int
}

/// Ledgers of many devices, more than a processor's caches hold.
struct BudgetFleet {
    enum State: String, CaseIterable {
        case fresh
        case idle = "idle after 20 sends"
        case waiting = "a wake waits"
    }

    static let count = 1 << 16
    static let start = WallInstant(secondsSinceEpoch: 1_800_000_000)

    private let ledgers: [DeviceLedger]
    private let policy = BudgetPolicy.standard.with(confirmsLaunches: true)
    private let now: WallInstant

    init(_ state: State) {
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
        ledgers = Array(repeating: ledger, count: Self.count)
        self.now = now.advanced(bySeconds: state == .waiting ? 10 : 3_600)
    }

    /// Decisions per second of processor time, on devices in no order.
    func rate(of decisions: Int) -> Double {
        let request = BudgetRequest.background()
        var index = 0
        var sends = 0
        let begin = ProcessClocks.cpuSeconds
        for _ in 0..<decisions {
            index = Self.next(index)
            let decision = ledgers[index].decide(on: request, policy: policy, at: now)
            if case .send = decision { sends += 1 }
        }
        let seconds = ProcessClocks.cpuSeconds - begin
        // All devices are alike, so the decisions are; this also keeps them from being left out.
        precondition(sends == 0 || sends == decisions, "Equal ledgers decide alike.")
        return Double(decisions) / seconds
    }

    /// The device after another, in no order; all are met before one is met again.
    private static func next(_ index: Int) -> Int { (index &* 5 &+ 12_345) & (count - 1) }

    /// Reads per second of processor time, of as many bytes of as many devices in the same order.
    static func rateOfReads(_ reads: Int) -> Double {
        let words = MemoryLayout<DeviceLedger>.stride / MemoryLayout<UInt64>.stride
        let memory = (0..<UInt64(count * words)).map { $0 }
        var index = 0
        var sum: UInt64 = 0
        let begin = ProcessClocks.cpuSeconds
        for _ in 0..<reads {
            index = next(index)
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
        var ledgers = Array(repeating: DeviceLedger(kind: .background), count: count)
        var now = start
        let begin = ProcessClocks.cpuSeconds
        for number in 0..<cycles {
            let index = next(number)
            if index == 0 { now = now.advanced(bySeconds: 1_801) }
            cycle(&ledgers[index], policy, now)
        }
        return Double(cycles) / (ProcessClocks.cpuSeconds - begin)
    }

    private static func cycle(
        _ ledger: inout DeviceLedger, _ policy: BudgetPolicy, _ now: WallInstant
    ) {
        _ = ledger.admit(.background(), policy: policy, at: now)
        guard case .charged(let charge) = ledger.claim(policy: policy, at: now) else { return }
        _ = ledger.settle(charge, as: .accepted, at: now)
        _ = ledger.confirmLaunch(ofSendAt: charge.at, at: now.advanced(bySeconds: 2))
    }
}
