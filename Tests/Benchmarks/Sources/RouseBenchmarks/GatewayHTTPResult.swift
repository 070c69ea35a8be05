// SPDX-License-Identifier: Apache-2.0

/// The medians of all rounds.
struct GatewayHTTPResult: Encodable {
    /// What a gateway did.
    struct Rates: Encodable {
        let acceptedPerSecond: Double
        let settledPerSecond: Double
        let microsecondsPerWake: Double

        init(_ samples: [GatewaySample]) {
            acceptedPerSecond = samples.map { Double($0.wakes) / $0.acceptedSeconds }.median
            settledPerSecond = samples.map { Double($0.wakes) / $0.settledSeconds }.median
            microsecondsPerWake = samples.map { $0.cpuSeconds * 1e6 / Double($0.wakes) }.median
        }
    }

    /// What the server in Go did, with ratios to the gateway in process in the run beside it.
    struct Peer: Encodable {
        let rates: Rates
        let acceptedRatio: Double
        let settledRatio: Double
        let cpuRatio: Double
        let medianMilliseconds: Double
        let p99Milliseconds: Double

        /// `nil` unless it was measured in each run.
        init?(_ samples: [GatewayHTTPBenchmark.RunPair]) {
            let pairs = samples.compactMap { pair in pair.overPeer.map { (pair.inProcess, $0) } }
            guard !pairs.isEmpty else { return nil }
            rates = Rates(pairs.map(\.1.gateway))
            acceptedRatio =
                pairs.map { $0.acceptedSeconds / $1.gateway.acceptedSeconds }.median
            settledRatio = pairs.map { $0.settledSeconds / $1.gateway.settledSeconds }.median
            cpuRatio = pairs.map { $1.gateway.cpuSeconds / $0.cpuSeconds }.median
            medianMilliseconds = pairs.map(\.1.load.medianMilliseconds).median
            p99Milliseconds = pairs.map(\.1.load.p99Milliseconds).median
        }
    }

    let server: String
    /// Wakes of one request.
    let batch: Int
    let connections: Int
    let overHTTP: Rates
    let inProcess: Rates
    let acceptedRatio: Double
    let settledRatio: Double
    let cpuRatio: Double
    let loadMicrosecondsPerWake: Double
    let serverMicrosecondsPerWake: Double
    let medianMilliseconds: Double
    let p99Milliseconds: Double
    let peer: Peer?

    init(
        _ server: MeasuredServer.Kind, _ form: GatewayHTTPBenchmark.Form,
        samples: [GatewayHTTPBenchmark.RunPair]
    ) {
        self.server = server.rawValue
        batch = form.batch
        connections = form.connections
        overHTTP = Rates(samples.map(\.overHTTP.gateway))
        inProcess = Rates(samples.map(\.inProcess))
        acceptedRatio =
            samples.map {
                $0.inProcess.acceptedSeconds / $0.overHTTP.gateway.acceptedSeconds
            }.median
        settledRatio =
            samples.map {
                $0.inProcess.settledSeconds / $0.overHTTP.gateway.settledSeconds
            }.median
        cpuRatio = samples.map { $0.overHTTP.gateway.cpuSeconds / $0.inProcess.cpuSeconds }.median
        loadMicrosecondsPerWake =
            samples.map { $0.overHTTP.load.cpuSeconds * 1e6 / Double(form.wakes) }.median
        serverMicrosecondsPerWake =
            samples.map { $0.overHTTP.gateway.serverCPUSeconds * 1e6 / Double(form.wakes) }.median
        medianMilliseconds = samples.map(\.overHTTP.load.medianMilliseconds).median
        p99Milliseconds = samples.map(\.overHTTP.load.p99Milliseconds).median
        peer = Peer(samples)
    }
}
