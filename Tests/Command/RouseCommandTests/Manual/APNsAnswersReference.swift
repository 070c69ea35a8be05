// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// What each answer of APNs means and what follows from it, from the table of reasons and from the
/// gateway's own policy, which is asked.
struct APNsAnswersReference {
    /// Statuses whose unknown reasons are told apart.
    private static let unknownReasons = [400, 403, 410, 429, 500].map {
        PushOutcome.Rejection(status: $0, reason: RejectionReason(rawValue: "Unknown"))
    }

    private let policy = RetryPolicy(limits: GatewayLimits())
    private let now = WallInstant(secondsSinceEpoch: 1_800_000_000)
    private let claim: Claim

    init() throws {
        let app = AppIdentity(
            bundleID: try BundleID("com.example.app"), environment: .production)
        // A wake that was never tried, and lives long enough for every pause.
        claim = Claim(
            ticket: Claim.Ticket(
                id: try WakeID("01a1fdf1-b34f-7c1a-8bdd-ae615cfdd65e"), fence: 1),
            app: app, kind: .background, deviceToken: try DeviceToken(hex: "ab"), payload: [],
            expiration: .immediately, collapseID: nil, deadline: now.advanced(bySeconds: 86_400),
            dueAt: now, tries: 0, previousReason: nil, claimedAt: now,
            leaseUntil: now.advanced(bySeconds: 120))
    }

    /// The table in Markdown.
    func markdown() throws -> String {
        var table = ManualTable([
            "Status", "Reason", "Meaning", "The wake", "The app", "The device token", "What you do",
        ])
        let known = RejectionReason.table.sorted {
            ($0.status, $0.reason.rawValue) < ($1.status, $1.reason.rawValue)
        }
        for entry in known {
            let rejection = PushOutcome.Rejection(status: entry.status, reason: entry.reason)
            table.add(row(rejection, "`\(entry.reason)`", entry.meaning))
        }
        for rejection in Self.unknownReasons {
            table.add(row(rejection, "any other", "New to Rouse; it is kept word for word."))
        }
        for status in [400, 403, 410] {
            let rejection = PushOutcome.Rejection(status: status, reason: nil)
            table.add(row(rejection, "none", "Something other than APNs may have answered."))
        }
        return table.text
    }

    private func row(
        _ rejection: PushOutcome.Rejection, _ reason: String, _ meaning: String
    ) -> [String] {
        let decision = policy.decide(
            claim, .success(.rejected(rejection)), now: now, jitter: 0)
        return [
            "\(rejection.status)", reason, meaning,
            words(decision, rejection.advice), words(decision.signal),
            words(rejection.advice.deviceToken), rejection.advice.remedy,
        ]
    }

    private func words(_ decision: RetryPolicy.Decision, _ advice: RejectionReason.Advice) -> String
    {
        switch (decision.settlement.effect, decision.signal) {
        case (.end(let end), _):
            return "ends as `\(end.state)`"
        case (_, .blocked), (.release, _):
            return "waits until the app goes on"
        case (.retry(let due, _), _):
            guard case .later(let backoff) = advice.retry else {
                return advice.renewsProviderToken
                    ? "goes again at once, with a new provider token; if that is refused too, the "
                        + "app is held"
                    : "goes again at once"
            }
            let seconds = Int(due.milliseconds(since: now) / 1000)
            return "goes again after \(length(seconds)), doubling up to "
                + length(backoff.maximumSeconds)
        }
    }

    private func words(_ signal: RetryPolicy.QueueSignal) -> String {
        switch signal {
        case .answered, .unanswered: "goes on"
        case .blocked(_, let seconds):
            seconds.map { "is held for \(length($0))" } ?? "is held, and probed"
        }
    }

    private func words(_ verdict: RejectionReason.DeviceTokenVerdict) -> String {
        switch verdict {
        case .unaffected: "stays"
        case .deadUnlessRegisteredSince: "is dead, unless registered since"
        case .deadForTopic: "is dead for this topic"
        case .suspectEnvironment: "stays; it may be of the other environment"
        }
    }

    private func length(_ seconds: Int) -> String {
        seconds % 3600 == 0 ? "\(seconds / 3600) h" : "\(seconds / 60) min"
    }
}
