// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Testing
import WakeModel

@testable import Gateway

@Suite("The leases that a gateway holds")
struct HeldLeasesTests {
    private let start = Samples.start

    @Test("An admission under way keeps its promise when another one ends")
    func twoAdmissions() {
        var leases = HeldLeases()
        let first = leases.promise(until: start.advanced(bySeconds: 120))
        let second = leases.promise(until: start.advanced(bySeconds: 150))
        leases.promiseEnded(second)
        // The first may have given leases that have ended: none may be taken back.
        #expect(leases.lapsed(at: start.advanced(bySeconds: 120)) == nil)
        #expect(leases.lapsed(at: start.advanced(bySeconds: 119)) == [])
        leases.promiseEnded(first)
        #expect(leases.lapsed(at: start.advanced(bySeconds: 200)) == [])
    }
}
