// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

extension WorkingSet {
    /// How many of a device's latest wakes are looked at for those that wait, when it is forgotten.
    static let forgottenPushCount = 4_096

    /// Ends the plain pushes that wait for a device, because it is forgotten.
    ///
    /// Any number may wait, so no row lists them; they are found along the chain of the device's
    /// wakes, which goes back no further than a wake may wait.
    func cancelPushes(
        of device: inout DeviceRow, at now: WallInstant, _ queue: SeenQueue
    ) throws(RowFault) -> [EndedWake] {
        let earliest = now.advanced(bySeconds: -Int64(queue.policy.settings.holdSeconds))
        var ended: [EndedWake] = []
        var number = device.latest
        for _ in 0..<Self.forgottenPushCount where number != 0 {
            guard let seen = try readableWake(number, chain: Self.forgottenPushCount),
                seen.acceptedAt >= earliest
            else { break }
            number = seen.previous
            guard seen.state == .pending, var wake = try liveWake(seen.number) else { continue }
            if wake.tries == 0 { device.ledger.giveBackTurn(policy: queue.policy) }
            ended.append(try finish(&wake, .cancelled, at: now, queue))
        }
        return ended
    }
}
