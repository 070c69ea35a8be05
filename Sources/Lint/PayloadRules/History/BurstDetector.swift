// SPDX-License-Identifier: Apache-2.0

/// Detects that the same payload goes to very many devices together (rule BG025).
struct BurstDetector: Sendable {
    private struct Burst {
        let payload: UInt64
        var startedAt: Int64
        var devices: Int
        var isReported: Bool
    }

    /// How many payloads are followed at a time; the one that began first is dropped.
    private static let maximumBursts = 64

    private var bursts: [Burst] = []

    /// Counts a push and says whether it makes its burst too large, once for each burst. `isNew`
    /// says whether the device got another payload before.
    mutating func add(
        _ payload: UInt64, isNew: Bool, _ now: Int64,
        _ limits: WakeValidator.Thresholds
    ) -> Bool {
        guard isNew else { return false }
        guard let index = bursts.firstIndex(where: { $0.payload == payload }) else {
            if bursts.count == Self.maximumBursts { bursts.removeFirst() }
            bursts.append(Burst(payload: payload, startedAt: now, devices: 1, isReported: false))
            return limits.burstDevices < 1
        }
        if (now - bursts[index].startedAt) / 1000 >= limits.burstSeconds {
            bursts[index].startedAt = now
            bursts[index].devices = 0
            bursts[index].isReported = false
        }
        bursts[index].devices += 1
        guard bursts[index].devices > limits.burstDevices, !bursts[index].isReported else {
            return false
        }
        bursts[index].isReported = true
        return true
    }
}
