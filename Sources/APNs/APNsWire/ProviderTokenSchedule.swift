// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Decides when a provider token is minted. Pure: both clocks are arguments.
///
/// Apple requires that a token is renewed at least every 60 minutes and at most every 20 (facts
/// §4.1, rules AU004 and AU005). The age is measured with both clocks and the higher one counts:
/// the monotonic clock does not run while a machine is suspended, and the wall clock may be set
/// back.
public struct ProviderTokenSchedule: Sendable {
    /// The earliest age at which a token is replaced without a request by APNs: 40 minutes.
    public static let renewalAgeMinimum: Duration = .seconds(40 * 60)
    /// The latest age at which a token is replaced: 55 minutes.
    public static let renewalAgeMaximum: Duration = .seconds(55 * 60)
    /// The least time between two mintings, forced ones included: 20 minutes.
    public static let mintingInterval: Duration = .seconds(20 * 60)

    /// The age at which a token is replaced.
    public let renewalAge: Duration
    private var minted: (at: WallInstant, uptime: Duration)?

    /// Creates a schedule without a token. `renewalAge` is limited to 40 to 55 minutes; several
    /// processes that share a key should differ in it.
    public init(renewalAge: Duration = .seconds(50 * 60)) {
        self.renewalAge = min(max(renewalAge, Self.renewalAgeMinimum), Self.renewalAgeMaximum)
    }

    /// Whether a token must be minted before the next push: none yet, or too old by either clock,
    /// or issued in the future, because the wall clock was set back since.
    public func mustMint(now: WallInstant, uptime: Duration) -> Bool {
        guard let minted else { return true }
        let wallAge = Duration.milliseconds(now.milliseconds(since: minted.at))
        guard max(wallAge, uptime - minted.uptime) < renewalAge else { return true }
        return wallAge < .seconds(-60) && mayMint(now: now, uptime: uptime)
    }

    /// Whether Apple's 20 minutes since the last minting are over, by either clock.
    public func mayMint(now: WallInstant, uptime: Duration) -> Bool {
        guard let minted else { return true }
        let wallAge = Duration.milliseconds(now.milliseconds(since: minted.at))
        return max(wallAge, uptime - minted.uptime) >= Self.mintingInterval
    }

    /// Records that a token was minted.
    public mutating func didMint(now: WallInstant, uptime: Duration) {
        minted = (now, uptime)
    }
}
