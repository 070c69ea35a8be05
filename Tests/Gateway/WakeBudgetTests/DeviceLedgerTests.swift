// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeBudget

@Suite("Device ledger")
struct DeviceLedgerTests {
    @Test("a ledger has at most 128 bytes, in memory and in a store")
    func size() {
        #expect(MemoryLayout<DeviceLedger>.size <= 128)
        #expect(EncodingTests.ledger("busy").encoded().count <= 128)
        #expect(EncodingTests.ledger("fresh").encoded().count <= 10)
    }
}
