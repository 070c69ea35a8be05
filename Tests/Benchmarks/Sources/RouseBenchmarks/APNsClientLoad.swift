// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import PushTransport
import Synchronization
import WakeModel

/// Runs a load with ``APNsClient``.
struct APNsClientLoad {
    let load: Load
    let client: APNsClient
    let devices: [DeviceToken]
    let bundleID: BundleID
    /// How many batches are in flight with ``Load/Client/batches``.
    static let batchesInFlight = 4

    init(_ load: Load) throws {
        self.load = load
        devices = try Sample.deviceTokens.map { token in try DeviceToken(hex: token) }
        bundleID = try BundleID(Sample.bundleID)
        client = try Self.client(
            load.client.transportKind ?? .native, port: load.port,
            authorityPath: load.authorityPath, connections: load.connections,
            streamsPerConnection: load.streamsPerConnection)
    }

    static func tokenSource() throws -> ProviderTokenSource {
        ProviderTokenSource(
            key: .generate(), keyID: try DeveloperID(Sample.keyID, field: "key id"),
            teamID: try DeveloperID(Sample.teamID, field: "team id"))
    }

    static func client(
        _ kind: TransportKind, port: Int, authorityPath: String, connections: Int,
        streamsPerConnection: Int?
    ) throws -> APNsClient {
        var transport = TransportConfiguration(host: "127.0.0.1")
        transport.port = port
        transport.trust = .file(path: authorityPath)
        transport.proxy = .none
        transport.maximumConnections = connections
        transport.maximumStreamsPerConnection = streamsPerConnection
        transport.userAgent = Sample.userAgent
        var configuration = APNsClient.Configuration(
            transport: transport, authentication: .providerToken(try tokenSource()))
        configuration.transportKind = kind
        return try APNsClient(configuration)
    }

    /// Warms up, measures, and shuts down.
    func run() async throws -> LoadReport {
        _ = await send(load.warmUpPushes)
        let before = (wall: ProcessClocks.wallSeconds, cpu: ProcessClocks.cpuSeconds)
        let tally = await send(load.pushes)
        let after = (wall: ProcessClocks.wallSeconds, cpu: ProcessClocks.cpuSeconds)
        var report = LoadReport(
            accepted: tally.accepted, failed: tally.failed, failure: tally.failure,
            wallSeconds: after.wall - before.wall, cpuSeconds: after.cpu - before.cpu,
            medianMilliseconds: 0, p99Milliseconds: 0,
            connectionsOpened: client.gauges.connectionsOpened)
        report.summarize(tally.latencies)
        await client.shutDown(gracePeriod: .seconds(1))
        return report
    }

    /// Sends so many pushes in the load's manner and waits for all replies.
    func send(_ count: Int) async -> Tally {
        switch load.client {
        case .curlCalls, .nativeCalls: await sendByCalls(count)
        case .curlBatches, .nativeBatches: await sendByBatches(count)
        case .curlReceiving, .nativeReceiving, .nativeTransport, .plainC, .tunedC, .nghttp2C:
            await ReceivingLoad(self, pushes: count).run()
        }
    }

    /// The push with this number.
    func push(_ number: Int) -> Push {
        let apnsID = APNsID(
            entropy: UInt64(number), UInt64(number) &* 0x9e37_79b9_7f4a_7c15)
        do throws(InvalidField) {
            return try .background(
                to: devices[number % devices.count], of: bundleID, payload: Sample.payload,
                apnsID: apnsID)
        } catch {
            preconditionFailure("The sample is a valid push: \(error)")
        }
    }

    private func sendByCalls(_ count: Int) async -> Tally {
        let next = Counter()
        let log = LatencyLog(count: count)
        var tally = await withTaskGroup(of: Tally.self) { group in
            for _ in 0..<load.inFlight {
                group.addTask {
                    var tally = Tally()
                    while let number = next.take(below: count) {
                        let start = ProcessClocks.nanoseconds
                        let result: Result<PushOutcome, TransportFailure>
                        do throws(TransportFailure) {
                            result = .success(try await client.send(push(number)))
                        } catch {
                            result = .failure(error)
                        }
                        log.add(number, since: start)
                        tally.count(result)
                    }
                    return tally
                }
            }
            return await group.reduce(into: Tally()) { $0.merge($1) }
        }
        tally.latencies = log.latencies
        return tally
    }

    private func sendByBatches(_ count: Int) async -> Tally {
        let size = max(1, load.inFlight / Self.batchesInFlight)
        let next = Counter()
        return await withTaskGroup(of: Tally.self) { group in
            for _ in 0..<Self.batchesInFlight {
                group.addTask {
                    var tally = Tally()
                    tally.latencies.reserveCapacity(2 * count / Self.batchesInFlight)
                    while let first = next.take(size, below: count) {
                        let start = ProcessClocks.nanoseconds
                        let pushes = (first..<min(count, first + size)).map(push)
                        for reply in await client.send(pushes) {
                            tally.add(reply.result, since: start)
                        }
                    }
                    return tally
                }
            }
            return await group.reduce(into: Tally()) { $0.merge($1) }
        }
    }
}

/// Hands out numbers from 0 to any number of tasks.
final class Counter: Sendable {
    private let next = Atomic<Int>(0)

    /// The first of `count` numbers, `nil` when it is not below `limit`.
    func take(_ count: Int = 1, below limit: Int) -> Int? {
        let taken = next.add(count, ordering: .relaxed).oldValue
        return taken < limit ? taken : nil
    }
}

/// The latencies of pushes that are sent by as many tasks as are in flight, in the order of the
/// pushes. Notes of each of a thousand tasks by itself lie so far apart that to make them took up
/// to a seventh of the time that was measured.
///
/// `@unchecked`: each place is written once, by the task that took its number from a ``Counter``,
/// and all are read when the tasks have ended.
final class LatencyLog: @unchecked Sendable {
    private let places: UnsafeMutableBufferPointer<UInt32>

    init(count: Int) {
        // SAFETY: initialized as a whole here, given back by `deinit` alone.
        places = .allocate(capacity: count)
        places.initialize(repeating: 0)
    }

    deinit { places.deallocate() }

    /// The time since a reading of ``ProcessClocks/nanoseconds``.
    static func microseconds(since start: UInt64) -> UInt32 {
        UInt32(clamping: (ProcessClocks.nanoseconds - start) / 1000)
    }

    func add(_ number: Int, since start: UInt64) {
        precondition(places.indices.contains(number), "There is no push of this number.")
        places[number] = Self.microseconds(since: start)
    }

    /// All of them, in microseconds.
    var latencies: [UInt32] { Array(places) }
}

/// The replies that one task has seen.
struct Tally: Sendable {
    var accepted = 0
    var failed = 0
    var failure: String?
    /// In microseconds.
    var latencies: [UInt32] = []

    mutating func add(_ result: Result<PushOutcome, TransportFailure>, since start: UInt64) {
        latencies.append(LatencyLog.microseconds(since: start))
        count(result)
    }

    /// Counts a reply whose latency is noted elsewhere.
    mutating func count(_ result: Result<PushOutcome, TransportFailure>) {
        switch result {
        case .success(.accepted): accepted += 1
        case .success(.rejected(let rejection)): fail("\(rejection)")
        case .failure(let failure): fail("\(failure)")
        }
    }

    private mutating func fail(_ reason: String) {
        failed += 1
        if failure == nil { failure = reason }
    }

    mutating func merge(_ other: Tally) {
        accepted += other.accepted
        failed += other.failed
        failure = failure ?? other.failure
        latencies += other.latencies
    }
}
