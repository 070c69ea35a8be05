// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import Testing
import WakeModel

@Suite("The id of a wake")
struct WakeIDTests {
    @Test("It is a UUID of version 7 whose first 48 bits are the time")
    func form() {
        let instant = WallInstant(millisecondsSinceEpoch: 0x017f_22e2_79b0)
        let first = WakeID.firstNumber(at: instant)
        #expect(
            WakeID(number: first, entropy: 0).description
                == "017f22e2-79b0-7000-8000-000000000000")
        let last = WakeID(number: first + 4_095, entropy: .max)
        #expect(last.description == "017f22e2-79b0-7fff-bfff-ffffffffffff")
        #expect(last.number == first + 4_095)
    }

    @Test("It grows with time, whatever the entropy")
    func order() {
        let first = WakeID.firstNumber(at: Samples.start)
        let next = WakeID.firstNumber(at: Samples.start.advanced(byMilliseconds: 1))
        #expect(next == first + 4_096)
        let earlier = WakeID(number: first, entropy: .max)
        let later = WakeID(number: first + 1, entropy: 0)
        #expect(earlier.description < later.description)
    }

    @Test("Its text parses back, and it is the apns-id")
    func roundTrip() throws {
        let id = Samples.freshID()
        #expect(try WakeID(id.description) == id)
        #expect(id.apnsID.description == id.description)
        #expect(throws: InvalidField.self) { try WakeID("42") }
    }
}
