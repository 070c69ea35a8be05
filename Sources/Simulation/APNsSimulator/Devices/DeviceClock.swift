// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The devices' time relative to the senders': ahead by an offset that only grows.
///
/// Whatever crosses from one side to the other is translated, so that a sender in real time and
/// devices whose time was moved agree on how long a push may be stored.
struct DeviceClock: Hashable, Sendable {
    /// How far the devices' time can be ahead, in milliseconds: 100 years, so that no sum of times
    /// leaves its range.
    static let maximumOffset: Int64 = 100 * 365 * 86_400_000

    /// In milliseconds.
    private(set) var offset: Int64 = 0
    /// When it was last moved, in the senders' time.
    private var movedAt = WallInstant(millisecondsSinceEpoch: .min)

    /// Moves the devices' time ahead, as far as ``maximumOffset``. Less than 0 counts as 0.
    mutating func advance(byMilliseconds milliseconds: Int64, at now: WallInstant) {
        offset += min(max(0, milliseconds), Self.maximumOffset - offset)
        movedAt = now
    }

    /// The devices' time at an instant of the senders' time.
    func deviceTime(at instant: WallInstant) -> WallInstant {
        instant.advanced(byMilliseconds: offset)
    }

    /// A header's expiration in the devices' time.
    func deviceTime(of expiration: Expiration?) -> Expiration? {
        guard case .at(let instant) = expiration else { return expiration }
        return .at(deviceTime(at: instant))
    }

    /// The senders' time at an instant of the devices' time. What happened while the devices' time
    /// was moved happened, for the senders, as it was moved.
    func senderTime(at instant: WallInstant) -> WallInstant {
        max(movedAt, instant.advanced(byMilliseconds: -offset))
    }
}
