// SPDX-License-Identifier: Apache-2.0

import HTTP2Transport
import PushTransport
import Synchronization
import WakeModel

/// Runs a load with the native transport by itself: no client above it, no decisions, requests put
/// together from parts that are ready. Every group of answers is followed by as many new pushes,
/// from inside the sink.
final class TransportLoad: Sendable {
    private struct State {
        var started = 0
        var wanted = 0
        var accepted = 0
        var failure: String?
        /// When the push that is in a place was handed over.
        var startedAt: [UInt64] = []
        /// In microseconds.
        var latencies: [UInt32] = []
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let load: Load
    private let shared: SharedHeaders
    private let devices: [DeviceToken]
    private let state = Mutex(State())
    /// Set once, before the first push.
    private let transport = Mutex<HTTP2Transport?>(nil)

    init(_ load: Load) throws {
        self.load = load
        shared = SharedHeaders(
            try CurlBaselineLoad.sharedHeaders().map { HeaderField(name: $0.name, value: $0.value) }
        )
        devices = try Sample.deviceTokens.map { token in try DeviceToken(hex: token) }
        var reach = TransportConfiguration(host: "127.0.0.1")
        reach.port = load.port
        reach.trust = .file(path: load.authorityPath)
        reach.proxy = .none
        reach.maximumConnections = load.connections
        reach.maximumStreamsPerConnection = load.streamsPerConnection
        reach.userAgent = Sample.userAgent
        let made = try HTTP2Transport(reach) { [self] batch in receive(batch) }
        transport.withLock { $0 = made }
    }

    /// Warms up, measures, and shuts down.
    func run() async throws -> LoadReport {
        guard let transport = transport.withLock({ $0 }) else {
            preconditionFailure("The initializer made it.")
        }
        await send(load.warmUpPushes)
        let before = (wall: ProcessClocks.wallSeconds, cpu: ProcessClocks.cpuSeconds)
        await send(load.pushes)
        let after = (wall: ProcessClocks.wallSeconds, cpu: ProcessClocks.cpuSeconds)
        var report = state.withLock { state in
            LoadReport(
                accepted: state.accepted, failed: load.pushes - state.accepted,
                failure: state.failure, wallSeconds: after.wall - before.wall,
                cpuSeconds: after.cpu - before.cpu, medianMilliseconds: 0, p99Milliseconds: 0,
                connectionsOpened: transport.gauges.connectionsOpened)
        }
        report.summarize(state.withLock { $0.latencies })
        await transport.shutDown(gracePeriod: .seconds(1))
        self.transport.withLock { $0 = nil }
        return report
    }

    private func send(_ count: Int) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.started = 0
                state.wanted = count
                state.accepted = 0
                state.startedAt = Array(repeating: 0, count: count)
                state.latencies = []
                state.latencies.reserveCapacity(count)
                state.waiter = continuation
            }
            submit(load.inFlight)
        }
    }

    private func submit(_ count: Int) {
        let now = ProcessClocks.nanoseconds
        let numbers = state.withLock { state -> Range<Int> in
            let first = state.started
            state.started = min(state.wanted, first + count)
            for number in first..<state.started { state.startedAt[number] = now }
            return first..<state.started
        }
        guard !numbers.isEmpty else { return }
        let batch = numbers.map { number in
            TransportRequest(
                id: UInt64(number),
                request: WireRequest(
                    to: devices[number % devices.count], sharedHeaders: shared,
                    apnsID: APNsID(entropy: 0, UInt64(number)), body: Sample.payload),
                timeout: .seconds(30))
        }
        transport.withLock { $0 }?.submit(batch)
    }

    private func receive(_ batch: [Completion]) {
        let now = ProcessClocks.nanoseconds
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            for completion in batch {
                let taken = now - state.startedAt[Int(completion.id)]
                state.latencies.append(UInt32(clamping: taken / 1000))
                switch completion.result {
                case .success(let answer) where answer.status == 200: state.accepted += 1
                case .success(let answer): state.failure = "status \(answer.status)"
                case .failure(let failure): state.failure = "\(failure)"
                }
            }
            guard state.latencies.count == state.wanted else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        if let waiter { waiter.resume() } else { submit(batch.count) }
    }
}
