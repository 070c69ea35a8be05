// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StorePostgreSQL

@Suite("Opening a connection")
struct ConnectionOpeningTests {
    @Test(
        "what libpq says in several lines is one, with its parts apart",
        arguments: [
            ("", ""), ("out of memory\n", "out of memory"),
            (
                "connection to server at \"a\" failed: Connection refused\n\tIs it running?\n",
                "connection to server at \"a\" failed: Connection refused; Is it running?"
            ),
        ])
    func oneLine(_ text: String, _ expected: String) {
        #expect(ConnectionOpening.oneLine(text) == expected)
    }
}
