// SPDX-License-Identifier: Apache-2.0

import Gateway
import PushTransport
import StoreSQLite

extension GatewayHTTPBenchmark {
    /// How wakes are asked for.
    struct Form {
        let wakes: Int
        let batch: Int
        let connections: Int
        /// Connections of HTTP/2 for single wakes; 0 for HTTP/1.1.
        let http2Connections: Int

        init(wakes: Int, batch: Int, _ connections: Int, http2Connections: Int = 0) {
            self.wakes = GatewayHTTPBenchmark.wholeBatches(wakes, of: batch)
            self.batch = batch
            self.connections = connections
            self.http2Connections = batch == 1 ? http2Connections : 0
        }

        /// One run over HTTP, with a new gateway that knows so many devices. `watch` gets the
        /// gateway, warmed up, and calls the load, whatever it does before and after that.
        func overHTTP(
            _ known: Int, _ server: MeasuredServer, on bench: Bench,
            watch: (MeasuredGateway, () throws -> HTTPLoadReport) throws -> HTTPLoadReport = {
                try $1()
            }
        ) async throws -> HTTPSample {
            let gateway = try MeasuredGateway.start(against: server, on: bench)
            let _: HTTPLoadReport = try bench.runOurselves(
                RunHTTPLoad.name,
                HTTPLoad(
                    port: gateway.port, key: gateway.key, firstDevice: 0, wakes: known,
                    batch: GatewayHTTPBenchmark.warmUpBatch, connections: 4),
                processor: nil)
            let before = (gateway: gateway.cpuSeconds, server: server.cpuSeconds)
            let report = try watch(gateway) {
                try bench.runOurselves(
                    RunHTTPLoad.name,
                    HTTPLoad(
                        port: gateway.port, key: gateway.key, firstDevice: known, wakes: wakes,
                        batch: batch, connections: connections,
                        http2Connections: http2Connections),
                    processor: nil)
            }
            let used = (
                gateway: gateway.cpuSeconds - before.gateway,
                server: server.cpuSeconds - before.server
            )
            let count = try await gateway.stop()
            guard count.accepted == known + wakes, count.byState[.sent] == known + wakes else {
                throw ChildProcess.Failure(
                    description: "\(known + wakes) wakes were accepted, but the store holds "
                        + "\(count.accepted): \(count.byState)")
            }
            var gatewaySample = GatewaySample(
                wakes: wakes, acceptedSeconds: report.acceptedSeconds,
                settledSeconds: report.settledSeconds, cpuSeconds: used.gateway, notSent: 0)
            gatewaySample.serverCPUSeconds = used.server
            return HTTPSample(gateway: gatewaySample, load: report)
        }

        /// The same with the server in Go instead of the gateway.
        func overPeer(
            _ program: String, _ known: Int, _ server: MeasuredServer, on bench: Bench
        ) throws -> HTTPSample {
            let peer = try MeasuredPeer.start(program, against: server, on: bench)
            let load = HTTPLoad(
                port: peer.port, key: peer.key, firstDevice: known, wakes: wakes, batch: batch,
                connections: connections)
            let _: HTTPLoadReport = try bench.runOurselves(
                RunHTTPLoad.name,
                HTTPLoad(
                    port: peer.port, key: peer.key, firstDevice: 0, wakes: known,
                    batch: GatewayHTTPBenchmark.warmUpBatch, connections: 4),
                processor: nil)
            let before = (peer: peer.cpuSeconds, server: server.cpuSeconds)
            let report: HTTPLoadReport = try bench.runOurselves(
                RunHTTPLoad.name, load, processor: nil)
            var sample = GatewaySample(
                wakes: wakes, acceptedSeconds: report.acceptedSeconds,
                settledSeconds: report.settledSeconds, cpuSeconds: peer.cpuSeconds - before.peer,
                notSent: 0)
            sample.serverCPUSeconds = server.cpuSeconds - before.server
            try peer.stop(load)
            return HTTPSample(gateway: sample, load: report)
        }

        /// The same wakes handed to a gateway in process, as many requests at a time.
        func inProcess(
            _ known: Int, _ server: MeasuredServer, on bench: Bench
        ) throws -> GatewaySample {
            let task = GatewayTask(
                transport: .native, port: server.port, authorityPath: server.authorityPath,
                wakes: wakes, batch: batch, batchesAtATime: connections, durability: .disk,
                devices: known + wakes, warmUpWakes: known)
            let sample: GatewaySample = try bench.runOurselves(
                RunGateway.name, task, processor: nil)
            guard sample.notSent == 0 else {
                throw ChildProcess.Failure(
                    description: "\(sample.notSent) wakes in process were not sent")
            }
            return sample
        }
    }

    /// One run over HTTP.
    struct HTTPSample {
        let gateway: GatewaySample
        let load: HTTPLoadReport
    }

    /// Runs beside each other.
    struct RunPair {
        let overHTTP: HTTPSample
        let inProcess: GatewaySample
        /// Absent unless a peer is measured.
        let overPeer: HTTPSample?
    }
}
