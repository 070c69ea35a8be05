// SPDX-License-Identifier: Apache-2.0

package import Gateway
import GatewayTestKit
package import SeedKit
import WakeBudget
import WakeModel

/// Wakes of all forms that a row may have, with instants at their edges, by a seed.
package enum RandomWake {
    private static func instant(_ random: inout SeededGenerator) -> WallInstant {
        let edges: [Int64] = [.min, -1, 0, 1, .max]
        let milliseconds: Int64 =
            Int.random(in: 0..<4, using: &random) == 0
            ? edges.randomElement(using: &random) ?? 0
            : Samples.start.millisecondsSinceEpoch
                + .random(in: -1_000_000...1_000_000_000, using: &random)
        return WallInstant(millisecondsSinceEpoch: milliseconds)
    }

    private static func end(
        _ state: WakeState, _ random: inout SeededGenerator
    ) -> WakeEnd? {
        let other = RejectionReason(rawValue: "Ünknown")
        let reasons: [RejectionReason?] = [nil, .unregistered, other]
        let refusal = Refusal(
            status: .random(in: 0...599, using: &random),
            reason: reasons.randomElement(using: &random) ?? nil,
            tokenDeadSince: Bool.random(using: &random) ? instant(&random) : nil)
        switch state {
        case .pending, .claimed: return nil
        case .sent: return .sent(apnsUniqueID: Bool.random(using: &random) ? "A-1" : nil)
        case .expired: return .expired
        case .rejected: return .rejected(refusal)
        case .undeliverable: return .undeliverable(refusal)
        case .failed: return .failed(.fateUnknown)
        case .coalesced: return .coalesced(into: Samples.freshID())
        case .superseded: return .superseded
        case .suppressed: return .suppressed(.tooManyCalls(until: instant(&random)))
        case .cancelled: return .cancelled
        case .damaged: return .damaged
        }
    }

    /// A wake in this state.
    package static func make(
        _ state: WakeState, _ random: inout SeededGenerator
    ) throws -> WakeRow {
        let id = WakeID(
            number: .random(in: 1...(1 << 59), using: &random), entropy: random.next())
        let end = end(state, &random)
        var wake = WakeRow(
            id: id, device: .random(in: 1...(1 << 62), using: &random),
            queue: .random(in: 1...1_000, using: &random),
            previous: Bool.random(using: &random) ? 0 : id.number - 1,
            acceptedAt: instant(&random), decision: .send,
            coalescing: Bool.random(using: &random) ? .union : .replace,
            ref: Bool.random(using: &random) ? try WakeRef("order-4711.b_2") : nil,
            call: Bool.random(using: &random) ? CallFingerprint(bits: random.next()) : nil,
            urgency: Urgency.allCases.randomElement(using: &random) ?? .normal, state: state,
            dueAt: instant(&random), notBefore: instant(&random), deadline: instant(&random),
            holds: DelayReasons(rawValue: .random(in: 0...0x7ff, using: &random)), payload: [],
            expiration: Bool.random(using: &random) ? .at(instant(&random)) : .immediately,
            collapseID: Bool.random(using: &random) ? try CollapseID("a-ö-z") : nil)
        wake.fence = .random(in: 0...300, using: &random)
        wake.tries = .random(in: 0...300, using: &random)
        wake.claimedAt = instant(&random)
        if state == .claimed { wake.leaseUntil = instant(&random) }
        if Bool.random(using: &random) { wake.previousReason = .tooManyRequests }
        wake.end = end
        if state.isEnd { wake.endedAt = instant(&random) }
        if Bool.random(using: &random) { wake.launchedAt = instant(&random) }
        return wake
    }
}
