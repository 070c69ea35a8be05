// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

extension WorkingSet {
    /// The number of a removed device's wakes that one transaction searches for pending ones.
    static let forgottenPushCount = 4_096

    /// Ends the plain pushes that wait for a device, because it is removed: those among the wakes
    /// that one transaction reads, the newest first. `rest` becomes the number of the wake with
    /// which the next one continues, 0 if there is none.
    ///
    /// Any number may wait, so no row lists them; they are found along the chain of the device's
    /// wakes, which goes back no further than a wake may wait.
    func cancelPushes(
        of device: inout DeviceRow, from first: Int64, at now: WallInstant, _ queue: SeenQueue,
        _ rest: inout Int64
    ) throws(RowFault) -> [EndedWake] {
        let earliest = now.advanced(bySeconds: -Int64(queue.policy.settings.holdSeconds))
        var ended: [EndedWake] = []
        rest = first
        for _ in 0..<Self.forgottenPushCount where rest != 0 {
            guard let seen = try readableWake(rest, chain: Self.forgottenPushCount),
                seen.acceptedAt >= earliest
            else {
                rest = 0
                break
            }
            rest = seen.previous
            guard seen.state == .pending, var wake = try liveWake(seen.number) else { continue }
            if wake.tries == 0 { device.ledger.giveBackTurn(policy: queue.policy) }
            ended.append(try finish(&wake, .cancelled, at: now, queue))
        }
        return ended
    }
}
