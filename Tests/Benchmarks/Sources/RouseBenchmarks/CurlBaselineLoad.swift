// SPDX-License-Identifier: Apache-2.0

import APNsClient
import CCurlBaseline
import Glibc

/// Runs a load with the C programs.
enum CurlBaselineLoad {
    static func run(_ load: Load) throws -> LoadReport {
        let pushesPerConnection = max(1, load.pushes / load.connections)
        var latencies = [UInt32](repeating: 0, count: pushesPerConnection * load.connections)
        var result = CCurlBaselineResult()
        let paths = Sample.deviceTokens.map { "/3/device/" + $0 }
        let headers = try sharedHeaders().map { "\($0.name): \($0.value)" }
        let url = "https://127.0.0.1:\(load.port)/"
        // SAFETY: every pointer is to memory that lives until the call has returned, and the
        // latencies have room for all pushes.
        let isDone = CStrings.lend(paths) { paths in
            CStrings.lend(headers) { headers in
                CStrings.lend([url, load.authorityPath, Sample.userAgent]) { texts in
                    Sample.payload.withUnsafeBufferPointer { body in
                        latencies.withUnsafeMutableBufferPointer { latencies in
                            guard let body = body.baseAddress, let room = latencies.baseAddress
                            else { return false }
                            var settings = CCurlBaselineSettings(
                                url: texts[0], certificateAuthorityFile: texts[1],
                                paths: paths, pathCount: Sample.deviceTokens.count,
                                sharedHeaders: headers, sharedHeaderCount: 4,
                                userAgent: texts[2], body: body,
                                bodyLength: Sample.payload.count,
                                connections: UInt32(load.connections),
                                streamsPerConnection: UInt32(load.streamsPerConnection),
                                warmUpPushes: UInt64(load.warmUpPushes / load.connections),
                                pushesPerConnection: UInt64(pushesPerConnection),
                                isTuned: load.client == .tunedC, latencies: room)
                            return CCurlBaseline_run(&settings, &result)
                        }
                    }
                }
            }
        }
        guard isDone else { throw ChildProcess.Failure(description: "libcurl gave no handle") }
        var report = LoadReport(
            accepted: Int(result.accepted), failed: Int(result.failed),
            failure: result.failed > 0 ? "CURLcode \(result.firstFailure)" : nil,
            wallSeconds: Double(result.wallNanoseconds) * 1e-9,
            cpuSeconds: Double(result.cpuNanoseconds) * 1e-9,
            medianMilliseconds: 0, p99Milliseconds: 0)
        report.summarize(latencies)
        return report
    }

    /// The header fields that APNsClient sends with every push of the sample, but for `apns-id`.
    static func sharedHeaders() throws -> [(name: String, value: String)] {
        let token = try APNsClientLoad.tokenSource().current().value
        return [
            ("authorization", "bearer " + token), ("apns-topic", Sample.bundleID),
            ("apns-push-type", "background"), ("apns-priority", "5"),
        ]
    }
}
