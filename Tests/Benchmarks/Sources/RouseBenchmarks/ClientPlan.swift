// SPDX-License-Identifier: Apache-2.0

import PushTransport

/// Which clients are measured against which servers, and how.
struct ClientPlan {
    var servers = MeasuredServer.Kind.allCases
    /// Beside c-plain, which is always there: it is what the others are compared with.
    var clients: [Load.Client] = [
        .tunedC, .curlCalls, .curlBatches, .curlReceiving, .nghttp2C, .nativeTransport,
        .nativeReceiving, .nativeBatches, .nativeCalls,
    ]
    var connections = [1, 4]
    var inFlight = [100, 1000]
    var pushes: Int
    var rounds: Int

    func measure(on bench: Bench) throws -> [ClientResult] {
        var results: [ClientResult] = []
        for kind in servers {
            let server = try MeasuredServer.start(kind, on: bench)
            for connections in connections {
                for inFlight in inFlight {
                    let load = Load(
                        client: .plainC, port: server.port, authorityPath: server.authorityPath,
                        connections: connections, inFlight: inFlight, pushes: pushes)
                    results += try measure(load, server: server, on: bench)
                }
            }
            try server.stop()
        }
        return results
    }

    /// One group of rows: all clients with the same load. Each round measures all of them, one
    /// after the other, so that a ratio is between neighbours in time.
    private func measure(
        _ load: Load, server: MeasuredServer, on bench: Bench
    ) throws -> [ClientResult] {
        let names = ["c-plain"] + clients.map(\.rawValue) + [ClientResult.limit]
        var samples: [[ClientSample]] = Array(repeating: [], count: names.count)
        for round in 1...rounds {
            bench.progress(
                "client: \(server.kind.rawValue), \(load.connections) connections, "
                    + "\(load.inFlight) in flight, round \(round) of \(rounds)")
            for (place, client) in ([.plainC] + clients).enumerated() {
                var load = load
                load.client = client
                if client.isFast { load.pushes *= Load.fastFactor }
                samples[place].append(try sample(of: server) { try bench.run(load) })
            }
            var limit = load
            limit.pushes *= Load.fastFactor / H2Load.pushFactor
            samples[names.count - 1].append(
                try sample(of: server) { try H2Load.run(limit, bodyPath: bench.bodyPath) })
        }
        return names.indices.map { place in
            ClientResult(
                server: server.kind.rawValue, client: names[place], load: load,
                samples: samples[place], plain: samples[0],
                limit: samples[names.count - 1])
        }
    }

    private func sample(
        of server: MeasuredServer, _ run: () throws -> LoadReport
    ) rethrows -> ClientSample {
        let before = server.cpuSeconds
        let report = try run()
        return ClientSample(report: report, serverCPUSeconds: server.cpuSeconds - before)
    }
}

/// One run of one client.
struct ClientSample {
    let report: LoadReport
    /// What the server spent on the whole run, warm-up and handshakes included.
    let serverCPUSeconds: Double

    var pushes: Double { Double(report.accepted + report.failed) }
    var pushesPerCPUSecond: Double { pushes / report.cpuSeconds }
    var pushesPerSecond: Double { pushes / report.wallSeconds }
}

extension ClientResult {
    /// The server and the load, which rows of one table have in common.
    var load: String {
        let plural = connections == 1 ? "" : "s"
        return "\(server), \(connections) connection\(plural), \(inFlight) in flight"
    }
}

/// One row: the medians of one client's runs, and of its ratios to plain C.
struct ClientResult: Encodable {
    /// The name of the row that shows what HTTP/2 itself costs.
    static let limit = "h2load"

    let server: String
    let connections: Int
    let inFlight: Int
    let client: String
    let pushesPerCPUSecond: Double
    let pushesPerSecond: Double
    let cpuRatio: Double
    let wallRatio: Double
    /// Pushes per CPU second, to those of h2load.
    let limitRatio: Double
    let medianMilliseconds: Double
    let p99Milliseconds: Double
    let p99Ratio: Double
    let serverMicrosecondsPerPush: Double
    let peakMegabytes: Double
    /// What of them the program that measures has before it pushes.
    let startMegabytes: Double
    let failed: Int
    let failure: String?

    init(
        server: String, client: String, load: Load, samples: [ClientSample], plain: [ClientSample],
        limit: [ClientSample]
    ) {
        self.server = server
        self.client = client
        connections = load.connections
        inFlight = load.inFlight
        pushesPerCPUSecond = samples.map(\.pushesPerCPUSecond).median
        pushesPerSecond = samples.map(\.pushesPerSecond).median
        let pairs = zip(samples, plain)
        cpuRatio = pairs.map { $0.pushesPerCPUSecond / $1.pushesPerCPUSecond }.median
        wallRatio = pairs.map { $0.pushesPerSecond / $1.pushesPerSecond }.median
        limitRatio =
            zip(samples, limit).map { $0.pushesPerCPUSecond / $1.pushesPerCPUSecond }.median
        medianMilliseconds = samples.map(\.report.medianMilliseconds).median
        p99Milliseconds = samples.map(\.report.p99Milliseconds).median
        p99Ratio = pairs.map { $0.report.p99Milliseconds / $1.report.p99Milliseconds }.median
        let warmUp = client == Self.limit ? 0 : Double(load.warmUpPushes)
        serverMicrosecondsPerPush =
            samples.map { $0.serverCPUSeconds * 1e6 / ($0.pushes + warmUp) }.median
        peakMegabytes = samples.map { Double($0.report.peakBytes) / 1e6 }.median
        startMegabytes = samples.map { Double($0.report.bytesAtStart) / 1e6 }.median
        failed = samples.map(\.report.failed).reduce(0, +)
        failure = samples.compactMap(\.report.failure).first
    }
}
