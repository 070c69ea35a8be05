// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AdminAPI

@Suite("Which stranger's connection goes first")
struct StrangerOrderTests {
    private func peer(_ number: Int) -> PeerAddress {
        PeerAddress(ipAddress: "10.\(number >> 16).\(number >> 8 & 255).\(number & 255)")
    }

    @Test("Of the peer with the most, and of peers with as many, whoever is silent for longest")
    func order() {
        var order = StrangerOrder()
        var places: [UInt64: UInt64] = [:]
        for (number, owner) in [1, 2, 2, 3, 3].enumerated() {
            order.add(peer(owner))
            places[UInt64(number)] = order.append(UInt64(number), of: peer(owner))
        }
        #expect(order.first(of: nil) == 1)
        #expect(order.first(of: peer(1)) == 0)
        #expect(order.first(of: peer(9)) == nil)
        // It makes a request, and is silent again.
        if let place = places[1] { order.leave(place, of: peer(2)) }
        #expect(order.first(of: nil) == 2)
        places[1] = order.append(1, of: peer(2))
        #expect(order.first(of: nil) == 2)
        // The peer's second shows a key too: its count stays, and nobody of it has to go.
        for number: UInt64 in [1, 2] {
            if let place = places[number] { order.leave(place, of: peer(2)) }
        }
        #expect(order.first(of: nil) == 3)
        for number: UInt64 in [3, 4] {
            if let place = places[number] { order.leave(place, of: peer(3)) }
            order.remove(peer(3))
        }
        #expect(order.count(of: peer(3)) == 0 && order.count(of: peer(2)) == 2)
        #expect(order.first(of: nil) == 0)
    }

    @Test("To find it costs no more with many peers, whoever of them have keys")
    func work() {
        var order = StrangerOrder()
        // The counts are 1 to 40, of 50 peers each; every second peer has keys only.
        var number: UInt64 = 0
        for owner in 0..<2_000 {
            for _ in 0...(owner % 40) {
                number += 1
                order.add(peer(owner))
                if owner.isMultiple(of: 2) { _ = order.append(number, of: peer(owner)) }
            }
        }
        for _ in 0..<100 { #expect(order.first(of: nil) != nil) }
        #expect(order.steps <= 100 * 40)
        // As a flood has it: one connection each.
        var flood = StrangerOrder()
        for owner in 0..<10_000 {
            flood.add(peer(owner))
            _ = flood.append(UInt64(owner), of: peer(owner))
        }
        for owner in 0..<100 { #expect(flood.first(of: nil) == 0, "\(owner)") }
        #expect(flood.steps == 100)
    }
}
