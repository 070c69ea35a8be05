// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import ArgumentParser
import CurlTransport
import HTTP2Transport
import Logging
import PushTransport
import WakeModel

/// Pushes through every fault of the simulator, with books.
struct FaultBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faults",
        abstract: "Sends pushes through every fault of the simulator and balances the books.",
        discussion: """
            Each submission must have one answer; what is called not sent must not have arrived; \
            what was accepted must have, and nothing may arrive twice. Ends with 1 if that does \
            not hold. Not a measurement, and no part of `all`.
            """)

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Only this transport (native or curl); both by default.")
    var transport: [TransportKind] = []

    @Option(help: "Pushes for each transport (1000000, or 20000 with --quick).")
    var pushes: Int?

    @Option(help: "The part of all requests that each fault hits.")
    var share = 0.01

    func run() async throws {
        let kinds = transport.isEmpty ? TransportKind.allCases : transport
        let phases = FaultPhase.all(share: share)
        let total = pushes ?? (options.quick ? 20_000 : 1_000_000)
        // A costly phase gets a fiftieth; the others share what is left.
        let costly = max(100, total / 50)
        let costlyCount = phases.count(where: \.isCostly)
        let light = max(100, (total - costly * costlyCount) / (phases.count - costlyCount))
        var results: [FaultResult] = []
        for kind in kinds {
            for phase in phases {
                let run = FaultRun(kind, phase, pushes: phase.isCostly ? costly : light)
                let result = try await run.result()
                results.append(result)
                Bench.report(
                    "faults: \(kind.rawValue), \(phase.name): \(result.seconds.fixed(1)) s")
            }
        }
        try options.show(results, as: Self.report)
        if results.contains(where: { $0.audit.wrong > 0 }) { throw ExitCode.failure }
    }

    private static func report(_ results: [FaultResult]) -> String {
        var table = TextTable(
            "transport", "fault", "pushes", "struck", "200", "other", "not sent", "unknown",
            "arrived", "connections", "s", "wrong")
        for result in results {
            let audit = result.audit
            table.add(
                result.transport, result.phase, String(result.pushes), String(result.struck),
                String(audit.accepted), String(audit.otherAnswers), String(audit.notSent),
                String(audit.unknown), String(audit.unknownArrived), String(result.connections),
                result.seconds.fixed(1), String(audit.wrong))
        }
        let total = results.map(\.pushes).reduce(0, +)
        let wrong = results.map(\.audit.wrong).reduce(0, +)
        return "\nPushes through every fault (arrived: of the unknown)\n\n" + table.text
            + "\n\n\(total) pushes, \(wrong) wrong.\n"
    }
}

/// What came of one phase with one transport.
struct FaultResult: Encodable {
    let transport: String
    let phase: String
    let pushes: Int
    /// How often the fault struck.
    let struck: Int
    let connections: Int
    let seconds: Double
    let audit: FaultAudit
}

/// One phase with one transport: a simulator and a client in this process.
struct FaultRun {
    /// In flight at a time.
    private static let window = 2000
    private static let shared = SharedHeaders([
        // In form a provider token; the simulator has no keys and asks no more.
        HeaderField(name: "authorization", value: "bearer " + token),
        HeaderField(name: "apns-topic", value: Sample.bundleID),
        HeaderField(name: "apns-push-type", value: "background"),
        HeaderField(name: "apns-priority", value: "5"),
    ])
    private static let token: String = {
        do {
            return try APNsClientLoad.tokenSource().current().value
        } catch {
            preconditionFailure("The sample's key signs: \(error)")
        }
    }()

    private let kind: TransportKind
    private let phase: FaultPhase
    private let book: FaultBook

    init(_ kind: TransportKind, _ phase: FaultPhase, pushes: Int) {
        self.kind = kind
        self.phase = phase
        book = FaultBook(count: pushes)
    }

    func result() async throws -> FaultResult {
        var configuration = APNsSimulator.Configuration()
        configuration.log = .countsOnly
        var logger = Logger(label: "simulator")
        logger.logLevel = .warning
        let simulator = try await APNsSimulator.start(configuration, logger: logger)
        for fault in phase.faults { simulator.inject(fault) }
        let start = ProcessClocks.wallSeconds
        let connections = try await push(to: simulator)
        let seconds = ProcessClocks.wallSeconds - start
        // Every byte that was written has been read when the server has seen every end.
        while simulator.counters.connectionsOpen > 0 {
            try await Task.sleep(for: .milliseconds(10))
        }
        let arrivals = simulator.pushCounts
        let struck = simulator.counters.faultsInjected
        try await simulator.shutdown()
        return FaultResult(
            transport: kind.rawValue, phase: phase.name, pushes: book.count, struck: struck,
            connections: connections, seconds: seconds,
            audit: book.audit { arrivals[Self.device($0)] ?? 0 })
    }

    private func push(to simulator: APNsSimulator) async throws -> Int {
        var reach = TransportConfiguration(host: "127.0.0.1")
        reach.port = simulator.port
        reach.trust = .pem(simulator.certificateAuthorityPEM)
        reach.proxy = .none
        reach.connectTimeout = .seconds(1)
        let feeder = Feeder()
        let sink: CompletionSink = { [book] batch in
            book.enter(batch)
            feeder.feed(batch.count)
        }
        let transport: any PushTransport =
            switch kind {
            case .native: try HTTP2Transport(reach, sink: sink)
            case .curl: try CurlTransport(reach, sink: sink)
            }
        let replaces = phase.replacesConnections
        feeder.start { [book] count in
            let numbers = book.take(count)
            guard !numbers.isEmpty else { return }
            transport.submit(numbers.map(Self.submission))
            if replaces, numbers.contains(where: { $0 % 100 == 0 }) {
                transport.replaceConnections()
            }
        }
        feeder.feed(Self.window)
        await book.waitUntilFull()
        feeder.stop()
        await transport.shutDown(gracePeriod: .zero)
        return transport.gauges.connectionsOpened
    }

    /// Each push is to a device of its own, so that the simulator's counts are of pushes.
    private static func device(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    private static func submission(_ number: Int) -> TransportRequest {
        TransportRequest(
            id: UInt64(number),
            request: WireRequest(
                to: try? DeviceToken(hex: device(number)), sharedHeaders: shared,
                apnsID: APNsID(entropy: 0, UInt64(number)), body: Sample.payload),
            timeout: .seconds(3))
    }
}
