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
    }
}
