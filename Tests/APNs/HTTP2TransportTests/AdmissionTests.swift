// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTP2Transport

@Suite("How many pushes a connection gets in a row")
struct AdmissionTests {
    @Test(
        "until it is level with the next one, but not too few",
        arguments: [
            // Room on the least loaded connection, on the next one, streams, and the run.
            (1000, 0, 1000, 1000), (1000, 400, 1000, 600), (1000, 990, 1000, 32),
            (1000, 1000, 1000, 32), (100, 100, 100, 12), (8, 8, 8, 1), (1, 1, 1, 1), (1, 0, 1, 1),
            // Little room, because many answers are out.
            (50, 40, 250, 31), (10, 10, 1000, 32), (2, 1, 8, 1),
        ])
    func run(most: Int, second: Int, streams: Int, expected: Int) {
        #expect(HTTP2Loop.run(most: most, second: second, streams: streams) == expected)
    }
}
