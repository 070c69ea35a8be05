// SPDX-License-Identifier: Apache-2.0

import CNghttp2Baseline

/// Runs a load with the C program on nghttp2 and libssl.
enum Nghttp2BaselineLoad {
    static func run(_ load: Load) throws -> LoadReport {
        let pushesPerConnection = max(1, load.pushes / load.connections)
        var latencies = [UInt32](repeating: 0, count: pushesPerConnection * load.connections)
        var result = CNghttp2BaselineResult()
        let paths = Sample.deviceTokens.map { "/3/device/" + $0 }
        let shared =
            try CurlBaselineLoad.sharedHeaders() + [(name: "user-agent", value: Sample.userAgent)]
        // SAFETY: every pointer is to memory that lives until the call has returned, and the
        // latencies have room for all pushes.
        let isDone = CStrings.lend(paths) { paths in
            CStrings.lend(shared.map(\.name)) { names in
                CStrings.lend(shared.map(\.value)) { values in
                    CStrings.lend(["127.0.0.1:\(load.port)", load.authorityPath]) { texts in
                        Sample.payload.withUnsafeBufferPointer { body in
                            latencies.withUnsafeMutableBufferPointer { latencies in
                                guard let body = body.baseAddress, let room = latencies.baseAddress
                                else { return false }
                                var settings = CNghttp2BaselineSettings(
                                    port: UInt16(load.port), authority: texts[0],
                                    certificateAuthorityFile: texts[1], paths: paths,
                                    pathCount: Sample.deviceTokens.count, sharedNames: names,
                                    sharedValues: values, sharedCount: shared.count, body: body,
                                    bodyLength: Sample.payload.count,
                                    connections: UInt32(load.connections),
                                    streamsPerConnection: UInt32(load.streamsPerConnection),
                                    warmUpPushes: UInt64(load.warmUpPushes / load.connections),
                                    pushesPerConnection: UInt64(pushesPerConnection),
                                    latencies: room)
                                return CNghttp2Baseline_run(&settings, &result)
                            }
                        }
                    }
                }
            }
        }
        guard isDone else { throw ChildProcess.Failure(description: "a connection was lost") }
        var report = LoadReport(
            accepted: Int(result.accepted), failed: Int(result.failed), failure: nil,
            wallSeconds: Double(result.wallNanoseconds) * 1e-9,
            cpuSeconds: Double(result.cpuNanoseconds) * 1e-9,
            medianMilliseconds: 0, p99Milliseconds: 0)
        report.summarize(latencies)
        return report
    }
}
