// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTP2Transport

@Suite("How many pushes a connection gets in a row")
struct AdmissionTests {
    @Test(
        "until it is level with the next one, but not too few",
        arguments: [
            // Room on the least loaded connection, on the next one, and the run.
            (1000, 0, 1000), (1000, 400, 600), (1000, 990, 32), (1000, 1000, 32),
            (100, 100, 12), (8, 8, 1), (1, 1, 1), (1, 0, 1),
        ])
    func run(most: Int, second: Int, expected: Int) {
        #expect(HTTP2Loop.run(most: most, second: second) == expected)
    }
}
