// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// A token bucket for RST_STREAM frames, as nghttp2 has one.
struct ResetLimiter: Sendable {
    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var lastRefill: NIODeadline?

    /// `nil` when there is no limit.
    init?(_ limit: APNsSimulator.ResetLimit) {
        guard case .limited(let burst, let perSecond) = limit else { return nil }
        self.burst = Double(burst)
        self.perSecond = Double(perSecond)
        tokens = Double(burst)
    }

    /// Counts one frame; false when it is one too many.
    mutating func admit(at now: NIODeadline) -> Bool {
        if let lastRefill {
            let seconds = Double((now - lastRefill).nanoseconds) / 1e9
            tokens = min(burst, tokens + seconds * perSecond)
        }
        lastRefill = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
