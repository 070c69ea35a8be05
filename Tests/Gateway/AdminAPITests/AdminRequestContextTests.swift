// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AdminAPI

@Suite("The id of a request")
struct AdminRequestContextTests {
    @Test("It has 32 digits, also where the first are zeros")
    func digits() {
        for count in [1, 16, 31, 32] {
            let id = String(repeating: "f", count: count)
            let zeros = String(repeating: "0", count: 32 - count)
            #expect(AdminRequestContext.padded(id) == zeros + id)
        }
    }
}
