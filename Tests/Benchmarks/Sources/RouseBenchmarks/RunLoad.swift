// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials

/// One measurement of one client, in the process that is measured.
struct RunLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run-load", abstract: "For the benchmark's own use.", shouldDisplay: false)

    @Argument var load: String

    func run() async throws {
        let load = try JSONDecoder().decode(Load.self, from: Data(load.utf8))
        let bytesAtStart = ProcessClocks.residentBytes.now
        var report =
            switch load.client {
            case .plainC, .tunedC: try CurlBaselineLoad.run(load)
            case .nghttp2C: try Nghttp2BaselineLoad.run(load)
            case .nativeTransport: try await TransportLoad(load).run()
            case .curlCalls, .curlBatches, .curlReceiving, .nativeCalls, .nativeBatches,
                .nativeReceiving:
                try await APNsClientLoad(load).run()
            }
        report.bytesAtStart = bytesAtStart
        report.peakBytes = ProcessClocks.residentBytes.peak
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }
}
