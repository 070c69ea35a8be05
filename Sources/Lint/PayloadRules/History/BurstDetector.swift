// SPDX-License-Identifier: Apache-2.0

/// Detects the same payload for very many devices at once (rule BG025).
struct BurstDetector: Sendable {
    private struct Burst {
        let payload: UInt64
        var startedAt: Int64
        var devices: Int
        var isReported: Bool
    }

    /// The maximum number of payloads that are tracked; the oldest one is dropped.
    private static let maximumBursts = 64

    private var bursts: [Burst] = []

    /// Counts a push. Returns whether it makes its burst too large, once per burst. `isNew` is
    /// whether the device's previous payload was different.
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
