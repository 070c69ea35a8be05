// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
public import WakeModel

/// What the budget decided on a request, with the wake that it concerns.
public enum WakeDecision: Hashable, Sendable {
    /// It may be sent immediately: nothing delays it, and it is sent when there is a free in-flight
    /// slot.
    case send
    /// It waits until this instant, by the present state, for these reasons. Its app may be paused
    /// or its queue held: then the end of the wait is not known.
    case deferred(until: WallInstant, because: DelayReasons)
    /// It merged into the wake that waits for the same device, which carries it from now on, and
    /// is due at this instant because of these rules.
    case coalesced(into: WakeID, Coalescing, until: WallInstant, because: DelayReasons)
    /// VoIP: the same call was requested within the deadline. This is that wake; nothing new is
    /// kept.
    case sameCall(WakeID)
    /// It ended: it cannot be sent before its expiry. The earliest instant at which the rules would
    /// have allowed it, and the rules.
    case expired(earliest: WallInstant, because: DelayReasons)
    /// It ended: it must not be sent.
    case suppressed(WakeSuppression)

    private enum Word: String, CaseIterable {
        case send
        case deferred
        case coalesced
        case sameCall = "same-call"
        case suppressed
        case expired
    }

    private var name: Word {
        switch self {
        case .send: .send
        case .deferred: .deferred
        case .coalesced: .coalesced
        case .sameCall: .sameCall
        case .expired: .expired
        case .suppressed: .suppressed
        }
    }

    /// One stable word, for programs and for metrics.
    public var word: String { name.rawValue }

    /// The words of all decisions.
    public static let words = Word.allCases.map(\.rawValue)

    /// The decision as a sentence, of a wake that ends at `deadline` at the latest.
    public func message(until deadline: WallInstant) -> String { text(until: deadline) }

    /// The same, without what its deadline makes of it if that is `nil`.
    fileprivate func text(until deadline: WallInstant?) -> String {
        switch self {
        case .send: "Will be sent now."
        case .deferred(let until, let reasons):
            WaitExplanation.deferral(
                reasons, until: reasons.haveNoTime ? nil : until, deadline: deadline)
        case .coalesced(let carrier, let coalescing, let until, let reasons):
            (coalescing == .replace
                ? "It takes the place of what wake \(carrier) carried. "
                : "It was united with wake \(carrier). ")
                + "That wake: "
                + (reasons.isEmpty
                    ? "Will be sent now."
                    : WaitExplanation.deferral(
                        reasons, until: reasons.haveNoTime ? nil : until, deadline: deadline))
        case .sameCall(let wake): "The same call was asked for already: it is wake \(wake)."
        case .expired(let earliest, let reasons):
            reasons.isEmpty
                ? "Its time was over before it could be sent."
                : "It expires before it could be sent at \(earliest) (\(reasons.words))."
        case .suppressed(let suppression): suppression.sentence
        }
    }
}

extension WakeDecision {
    /// The same in retrospect, for a wake whose current state is shown beside it: its deadline may
    /// be another one since.
    public var pastMessage: String {
        switch self {
        case .send: return "When it was accepted, nothing kept it back."
        case .deferred, .coalesced:
            let message = text(until: nil)
            return "When it was accepted: " + message.prefix(1).lowercased() + message.dropFirst()
        case .sameCall, .expired, .suppressed: return text(until: nil)
        }
    }
}

/// The reason why a wake is not sent at all.
public enum WakeSuppression: Hashable, Sendable {
    /// Background App Refresh was reported off; the report counts until this instant.
    case backgroundAppRefreshOff(until: WallInstant)
    /// VoIP: too many calls in an hour; another is allowed from this instant on.
    case tooManyCalls(until: WallInstant)
    /// APNs reports the device token as unregistered since this instant.
    case deviceTokenDead(since: WallInstant)

    /// The same as the budget says it.
    init(_ suppression: Suppression) {
        switch suppression {
        case .backgroundAppRefreshOff(let until): self = .backgroundAppRefreshOff(until: until)
        case .tooManyCalls(let until): self = .tooManyCalls(until: until)
        }
    }

    /// One stable word, for programs.
    public var word: String {
        switch self {
        case .backgroundAppRefreshOff: "background-app-refresh-off"
        case .tooManyCalls: "too-many-calls"
        case .deviceTokenDead: "device-token-dead"
        }
    }

    /// What happened and what to do, as a sentence.
    public var sentence: String {
        switch self {
        case .backgroundAppRefreshOff(let until):
            Suppression.backgroundAppRefreshOff(until: until).sentence
        case .tooManyCalls(let until): Suppression.tooManyCalls(until: until).sentence
        case .deviceTokenDead(let since):
            "APNs reported this token unregistered at \(since). Remove it, or report the app's "
                + "registration if the token is in use again."
        }
    }
}

extension DelayReasons {
    /// Whether none of them has a due time: the wake is then delayed only by what cannot be
    /// predicted.
    fileprivate var haveNoTime: Bool {
        !isEmpty && all.allSatisfy { DelayReasons($0).areOpenEnded }
    }
}
