// SPDX-License-Identifier: Apache-2.0

public import APNsWire
internal import LoopKit
internal import Synchronization
public import WakeModel

/// One signing key's provider token, shared by every connection and client that pushes with it.
///
/// Apple counts token changes for the key, so there is one source for each (team, key), shared by
/// everything that pushes with that key. All methods may be called from any thread.
public final class ProviderTokenSource: Sendable {
    /// The key's id (`kid`).
    public let keyID: DeveloperID
    /// The team's id (`iss`).
    public let teamID: DeveloperID
    private let key: SigningKey
    private let clock: WakeClock
    private let state: StateLock<State>

    private struct State {
        var schedule: ProviderTokenSchedule
        var token: ProviderToken?
        var mintings: UInt64 = 0
    }

    /// Creates a source, which mints its first token on demand.
    ///
    /// `renewalAge` is limited to 40 to 55 minutes; by default it is random in that range, so that
    /// processes that share a key do not renew at the same moment.
    public init(
        key: SigningKey, keyID: DeveloperID, teamID: DeveloperID, renewalAge: Duration? = nil,
        clock: WakeClock = .system
    ) {
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
        self.clock = clock
        let age = renewalAge ?? .seconds(Int.random(in: 40 * 60...55 * 60))
        state = StateLock(State(schedule: ProviderTokenSchedule(renewalAge: age)))
    }

    /// The token to push with now. Mints a new one when the present one has reached `renewalAge`.
    public func current() -> ProviderToken {
        let (now, uptime) = (clock.now(), clock.uptime())
        return state.withLock { state in
            if let token = state.token, !state.schedule.mustMint(now: now, uptime: uptime) {
                return token
            }
            return mint(&state, now: now, uptime: uptime)
        }
    }

    /// A token later than the one of `generation`, which APNs called expired; `nil` if there is
    /// none to be had, because that one is less than 20 minutes old and a new one would only be
    /// refused as one too many. Then the machine's clock is the likely cause.
    public func replacement(forGeneration generation: UInt64) -> ProviderToken? {
        let (now, uptime) = (clock.now(), clock.uptime())
        return state.withLock { state in
            if let token = state.token, token.generation > generation { return token }
            guard state.schedule.mayMint(now: now, uptime: uptime) else { return nil }
            return mint(&state, now: now, uptime: uptime)
        }
    }

    private func mint(_ state: inout State, now: WallInstant, uptime: Duration) -> ProviderToken {
        let claims = ProviderTokenClaims(keyID: keyID, teamID: teamID, issuedAt: now)
        let signature = key.signature(for: claims.signingInput.utf8)
        state.mintings += 1
        let token = ProviderToken(
            value: claims.token(signature: signature), issuedAt: now, generation: state.mintings)
        state.schedule.didMint(now: now, uptime: uptime)
        state.token = token
        return token
    }
}

extension ProviderTokenSource: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// Key and team; neither the key itself nor a token.
    public var description: String { "provider tokens of key \(keyID), team \(teamID)" }
    /// The same: a debugger's output ends in logs too.
    public var debugDescription: String { description }
    /// No children, so that a dump shows no token.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A minted provider token.
public struct ProviderToken: Hashable, Sendable, CustomStringConvertible,
    CustomDebugStringConvertible, CustomReflectable
{
    /// The JSON Web Token. Secret: its bearer can push for an hour.
    public let value: String
    /// Its `iat`.
    public let issuedAt: WallInstant
    /// Counts the tokens of one source, from 1.
    public let generation: UInt64

    /// When it was issued; never the token itself.
    public var description: String { "provider token #\(generation) of \(issuedAt)" }
    /// The same: a debugger's output ends in logs too.
    public var debugDescription: String { description }
    /// No children, so that a dump does not show the token.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
