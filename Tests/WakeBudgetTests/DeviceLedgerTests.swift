// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeBudget

@Suite("Device ledger")
struct DeviceLedgerTests {
    @Test("a ledger has at most 128 bytes")
    func size() { #expect(MemoryLayout<DeviceLedger>.size <= 128) }
}
