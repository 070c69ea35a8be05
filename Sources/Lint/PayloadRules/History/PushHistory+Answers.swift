// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Checks pushes after answers of APNs (rules SQ001 to SQ004).
extension PushHistory {
    /// Reasons after which Apple says not to retry (facts §3.3), except those of a 410, which rule
    /// SQ001 covers.
    private static let finalReasons: Set<String> = [
        "BadDeviceToken", "DeviceTokenNotForTopic", "Forbidden", "PayloadTooLarge",
    ]

    func examineAnswers(
        _ push: SentPush, _ payload: UInt64, _ now: Int64,
        _ device: inout DeviceHistory, _ findings: inout HistoryFindings
    ) {
        if let since = device.inactiveSince, !isRegistered(push, after: since) {
            findings.report("SQ001")
        }
        if let refusal = device.refusal, refusal.payload == payload {
            let pause = settings.thresholds.serverErrorPauseSeconds
            let age = (now - refusal.at) / 1000
            if refusal.isForGood {
                findings.report("SQ003")
            } else if age < pause {
                findings.report("SQ004", "a push is sent again \(age) s after a fault of APNs")
            }
        }
        guard let answer = push.answer else { return }
        let inactiveAt = answer.inactiveAt?.millisecondsSinceEpoch ?? now
        device.inactiveSince = answer.status == 410 ? inactiveAt : nil
        switch answer.status {
        case 500... where answer.reason != "Shutdown":
            // A server that shuts down; another one accepts the push immediately.
            device.refusal = .init(payload: payload, at: now, isForGood: false)
        case 400..<500 where answer.reason.map(Self.finalReasons.contains) == true:
            device.refusal = .init(payload: payload, at: now, isForGood: true)
        default:
            device.refusal = nil
        }
    }

    /// Checks the deletion of a device token after this answer.
    func examineDeletion(
        _ push: SentPush, _ environment: APNsEnvironment?, _ device: inout DeviceHistory,
        _ findings: inout HistoryFindings
    ) {
        let isBad = push.answer?.reason == "BadDeviceToken"
        if isBad, let environment { device.refusedIn.insert(environment) }
        guard push.token.isDeleted else { return }
        if isBad, device.refusedIn.count < APNsEnvironment.allCases.count {
            findings.report("SQ002")
        }
        if let since = device.inactiveSince, isRegistered(push, after: since) {
            findings.report(
                "SQ001", "a device token is deleted that was registered after APNs' timestamp",
                fix: "Keep a token that was registered after the timestamp of the 410.")
        }
    }

    private func isRegistered(_ push: SentPush, after milliseconds: Int64) -> Bool {
        push.token.registeredAt.map { $0.millisecondsSinceEpoch > milliseconds } ?? false
    }
}

/// The findings about one push of a history.
struct HistoryFindings {
    private(set) var diagnostics: [Diagnostic] = []

    /// Reports a finding; omitted values are those of the rule.
    mutating func report(
        _ id: RuleID, _ message: String? = nil, fix: String? = nil, severity: Severity? = nil,
        header: String? = nil
    ) {
        guard let rule = Rules.rule(id) else { preconditionFailure("There is no rule \(id).") }
        diagnostics.append(
            Diagnostic(
                rule: id, severity: severity ?? rule.severity, message: message ?? rule.title,
                fix: fix ?? rule.fix, header: header))
    }
}
