// SPDX-License-Identifier: Apache-2.0

import WakeModel

extension ValidationContext {
    /// The headers that both wakes and drafts have.
    struct Headers {
        let expiration: ExpirationReading
        let hasCollapseID: Bool

        /// Whether no rule can have a finding about these headers of a wake: they have a usual
        /// expiration for its kind, and nothing else.
        func areUnremarkable(for kind: WakeKind, _ settings: WakeValidator.Settings) -> Bool {
            guard !hasCollapseID else { return false }
            switch (kind, expiration) {
            case (.background, .ahead(let seconds)): return (0...86_400).contains(seconds)
            case (.voip, .zero): return true
            case (.voip, .ahead(let seconds)):
                let limit = min(settings.voipExpirationLimitSeconds, 86_400)
                return seconds >= 0 && seconds <= limit
            default: return false
            }
        }

        /// Whether a background wake has no header but those that all have.
        var areAbsent: Bool {
            if case .absent = expiration { !hasCollapseID } else { false }
        }
    }
}

extension ValidationContext.Headers {
    /// Creates the headers of a wake, which are complete. A call without an expiration is sent
    /// with 0, as the rules require.
    init(_ request: WakeRequest, now: WallInstant) {
        expiration =
            switch request.expiration {
            case nil: request.kind == .voip ? .zero : .absent
            case .immediately: .zero
            case .at(let instant): ExpirationReading(instant.secondsSinceEpoch, now: now)
            }
        hasCollapseID = request.collapseID != nil
    }

    /// Creates the readable headers of a draft.
    init(_ draft: DraftHeaders) {
        hasCollapseID = draft["apns-collapse-id"] != nil
        guard let text = draft["apns-expiration"] else {
            expiration = draft.lacks("apns-expiration") ? .absent : .unstated
            return
        }
        expiration =
            switch DraftHeaders.integer(text) {
            case nil: .malformed
            case 0: .zero
            case .some(let seconds) where seconds < 0: .malformed
            case .some(let seconds): ExpirationReading(seconds, now: draft.now)
            }
    }
}

/// The meaning of a value of `apns-expiration`.
enum ExpirationReading {
    /// The header is unknown.
    case unstated
    case absent
    /// 0: one attempt.
    case zero
    /// Not a number of seconds (rule H010).
    case malformed
    /// Between 1 and 10^9 − 1: September 2001 and before, so a span of time.
    case relative(seconds: Int64)
    /// Above 10^11: the year 5138 and later, so milliseconds.
    case milliseconds
    /// A time, in seconds from now.
    case ahead(seconds: Int64)
    /// A time; the current time is unknown.
    case withoutClock

    /// A smaller value, in seconds since the epoch, is a duration: 9 September 2001.
    private static let earliestTime: Int64 = 1_000_000_000
    /// A larger value, in seconds since the epoch, is in milliseconds: the year 5138.
    private static let latestTime: Int64 = 100_000_000_000

    /// Interprets a value other than 0.
    init(_ seconds: Int64, now: WallInstant?) {
        if seconds < Self.earliestTime {
            self = .relative(seconds: seconds)
        } else if seconds > Self.latestTime {
            self = .milliseconds
        } else if let now {
            self = .ahead(seconds: seconds - now.secondsSinceEpoch)
        } else {
            self = .withoutClock
        }
    }
}

extension ValidationContext {
    /// Whether this is the update of a Wallet pass, which has an empty payload (Apple, Adding a web
    /// service to update passes).
    var isForPass: Bool { draft?.topic?.hasPrefix("pass.") == true }
}
