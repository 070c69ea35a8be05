// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

extension GatewayHTTPBenchmark {
    /// What stands for APNs, and how many wakes and devices there are: the same options for every
    /// benchmark of the gateway over HTTP.
    struct Amounts: ParsableArguments {
        @Option(help: "What stands for APNs: nghttpd, simulator.")
        var server = MeasuredServer.Kind.nghttpd

        @Option(help: "Wakes in requests of their own (20000, or 2000 with --quick).")
        var singles: Int?

        @Option(help: "Wakes in batches (100000, or 10000 with --quick).")
        var batched: Int?

        @Option(help: "Devices that the gateway knows already (100000, or 1000 with --quick).")
        var devices: Int?

        /// Refuses what makes no request; `batch` is how many wakes are in one.
        func check(batch: Int) throws {
            guard singles ?? 1 > 0, batched ?? batch >= batch, devices ?? 1 > 0 else {
                throw ValidationError(
                    "--singles and --devices begin at 1, --batched at a batch of \(batch).")
            }
        }

        /// Single requests, then batches.
        func forms(
            quick: Bool, connections: Int, http2Connections: Int = 0, batch: Int,
            batchConnections: Int
        ) -> [Form] {
            [
                Form(
                    wakes: singles ?? (quick ? 2000 : 20_000), batch: 1, connections,
                    http2Connections: http2Connections),
                Form(
                    wakes: batched ?? (quick ? 10_000 : 100_000), batch: batch, batchConnections),
            ]
        }

        /// How many devices are known before.
        func known(quick: Bool) -> Int {
            wholeBatches(devices ?? (quick ? 1000 : 100_000), of: warmUpBatch)
        }
    }
}
