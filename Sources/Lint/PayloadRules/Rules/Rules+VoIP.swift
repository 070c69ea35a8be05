// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Rules about VoIP pushes: size, identity of the call, headers.
extension Rules {
    static let voip: [Rule] = [
        Rule(
            "VO002", .error, "the body is over the size limit of VoIP pushes",
            why: "APNs refuses it with PayloadTooLarge.", from: [.generating, .pushKit],
            fix: "Send the call's id and the caller; the app fetches the rest.", for: .voip,
            in: .size, check: overLimit),
        Rule(
            "VO003", .warning, "the payload names no call",
            why: """
                The app must report a call for each VoIP push, and needs its identity for that. \
                What the key is called is a convention, so that this may be wrong.
                """,
            from: [.pushKit], fix: "Add the call's UUID, for example as \"callUUID\".", for: .voip,
            check: missingCallIdentifier),
        Rule(
            "VO004", .note, "the payload names no caller",
            why: "The call is shown without a name until the app has asked for it.",
            from: [.pushKit], fix: "Add the caller's handle or name, for example as \"handle\".",
            for: .voip
        ) { push, findings in
            // A push that is not an incoming call needs no caller: rules VO007 and VO008 apply.
            guard push.hasRootObject, !push.customRoles.contains(.caller), !namesCallerInAPS(push),
                !saysLaterCallEvent(push), !saysOtherThanCall(push), !push.isOpaque
            else { return }
            findings.report(.whole)
        },
        Rule(
            "VO005", .warning, "the expiration of a call is absent or far ahead",
            why: "A push that comes late rings for a call that is over, and must be reported too.",
            from: [.pushKit, .proposal], fix: "Use 0, or a few seconds ahead.", for: .voip,
            in: .headers, check: lateExpiration),
        Rule(
            "VO009", .warning, "a VoIP push has keys of a visible or silent push",
            why: "PushKit ignores them; the payload was probably copied from another push type.",
            from: [.proposal, .practice], fix: "Remove the key.", for: .voip
        ) { push, findings in
            let found = APSKey.withoutEffectInVoIP.compactMap { key in
                push.member(key).map { (name: key.name, node: $0.key) }
            }.sorted { $0.node < $1.node }
            guard let first = found.first else { return }
            // One copied payload is one finding. Each round of repairs removes one key.
            let names = found.map { "`\($0.name)`" }.joined(separator: ", ")
            let hasData = hasOwnDataInAlert(push)
            let removal = found.count == 1 ? "remove the key." : "remove the keys."
            findings.report(
                .node(first.node), "a VoIP push has \(names)",
                fix: hasData
                    ? "Move what the app needs from `alert` to beside `aps`, and \(removal)"
                    : found.count == 1 ? nil : "Remove the keys.",
                // The data of the call may be in it.
                repair: hasData ? nil : removing(first.node, push))
        },
        Rule(
            "VO010", .note, "a VoIP push has a collapse id",
            why: "Apple documents no effect.", from: [.proposal], fix: "Leave it out.", for: .voip,
            in: .headers
        ) { push, findings in
            if push.headers?.hasCollapseID == true { findings.report(.header(collapseIDHeader)) }
        },
        Rule(
            "VO015", .note, "the payload does not say when the call began",
            why: "A push can come after its expiration, and the app cannot recognise a late one.",
            from: [.proposal, .lateVoIP], fix: "Add a time, for example as \"timestamp\".",
            for: .voip
        ) { push, findings in
            if push.hasRootObject, !push.customRoles.contains(.creationTime), !push.isOpaque {
                findings.report(.whole)
            }
        },
    ]

    /// Whether the object of an alert has keys that are not Apple's, which the app may read there.
    private static func hasOwnDataInAlert(_ push: ValidationContext) -> Bool {
        guard let alert = push.member(.alert)?.value, let document = push.document,
            document.kind(alert) == .object
        else { return false }
        return document.members(of: alert).contains { !APSKey.isOfAlert($0.key, in: document) }
    }

    private static func missingCallIdentifier(_ push: ValidationContext, _ findings: inout Findings)
    {
        guard push.hasRootObject, !push.tellsCallsApart, !push.isOpaque else { return }
        if let key = push.unusableCallIdentifier {
            findings.report(
                .node(key), "the call's identifier is empty or neither text nor integer")
        } else {
            findings.report(.whole)
        }
    }

    private static func namesCallerInAPS(_ push: ValidationContext) -> Bool {
        var found = false
        forEachForeignKey(push) { key, _ in
            found = found || push.document?.keyRoles(key).contains(.caller) == true
        }
        guard !found, let alert = push.member(.alert)?.value, let document = push.document,
            document.kind(alert) == .object
        else { return found }
        // The data of the call may be in the object of an alert, where PushKit passes it too.
        return document.members(of: alert).contains { document.keyRoles($0.key).contains(.caller) }
    }

    private static func lateExpiration(_ push: ValidationContext, _ findings: inout Findings) {
        let limit = push.settings.voipExpirationLimitSeconds
        switch expiration(of: push) {
        case .absent:
            guard !isMisspelt(expirationHeader, in: push) else { return }
            findings.report(
                .header(expirationHeader),
                "the request has no expiration; APNs by itself would keep a call for 30 days")
        case .milliseconds:
            findings.report(.header(expirationHeader))
        case .ahead(let seconds) where seconds > limit:
            findings.report(
                .header(expirationHeader), "apns-expiration is more than \(limit) s ahead")
        case .unstated, .zero, .malformed, .relative, .ahead, .withoutClock: break
        }
    }
}
