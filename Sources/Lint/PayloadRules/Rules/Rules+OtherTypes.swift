// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import WakeModel

/// Rules about widget, control, location, Push to Talk, File Provider, complication and device
/// management pushes.
extension Rules {
    static let otherTypes: [Rule] = [
        Rule(
            "WG001", .error, "`content-changed` is not true",
            why: "It is what makes WidgetKit reload widgets and controls.",
            from: [.widgetPushes, .controlPushes], fix: "Set `content-changed` to true.",
            for: [.widgets, .controls], check: nothingChanged),
        Rule(
            "WG002", .warning, "`aps` holds more than `content-changed`",
            why: "Apple documents no other key for this push type.", from: [.proposal],
            fix: "Remove the key.", for: [.widgets, .controls]
        ) { push, findings in
            guard !push.apsKeys.isSubset(of: APSKeySet(.contentChanged)) else { return }
            forEachAppleKey(push) { key, node in
                guard key != .contentChanged else { return }
                findings.report(
                    .node(node), "a push of this type has `\(key.name)`",
                    repair: removing(node, push))
            }
        },
        Rule(
            "LO001", .error, "a location push needs a provider token",
            why: "APNs takes location pushes with token authentication only.", from: [.sending],
            fix: "Authenticate with a provider token.", for: .location, in: .draft
        ) { push, findings in
            if usesCertificate(push) { findings.report(.header("authorization")) }
            if priority(of: push) == .powerFirst {
                findings.report(
                    .header(priorityHeader), "a location push is sent at priority 1",
                    fix: "Use 10 for an immediate answer, else 5.", severity: .warning)
            }
        },
        Rule(
            "LO003", .warning, "a location push has keys of a visible push",
            why: "It goes to the app's location push service extension, and nothing is shown.",
            from: [.locationPushes], fix: "Remove the key.", for: .location
        ) { push, findings in
            let keys = [APSKey.alert, .badge, .sound].filter { push.apsKeys.contains($0) }
            guard let first = keys.first.flatMap({ push.member($0) }) else { return }
            let names = keys.map { "`\($0.name)`" }.joined(separator: ", ")
            findings.report(
                .node(first.key), "a location push has \(names)",
                fix: keys.count == 1 ? nil : "Remove the keys.", repair: removing(first.key, push))
        },
        Rule(
            "PT001", .warning, "a Push to Talk push can come late",
            why: "Somebody is speaking now: such a push is sent at priority 10 and not stored.",
            from: [.pushToTalk, .practice], fix: "Use apns-priority 10 and apns-expiration 0.",
            for: .pushtotalk, in: .draft, check: latePushToTalk),
        Rule(
            "FP001", .warning, "a File Provider push names no container",
            why: """
                The extension is told by `container-identifier` what changed, and by `domain` \
                where, if it has domains.
                """,
            from: [.fileProvider, .fileProviderDomains],
            fix: "Add `container-identifier` at the top level.", for: .fileprovider
        ) { push, findings in
            guard push.hasRootObject else { return }
            if push.rootMember("container-identifier") == nil { findings.report(.whole) }
            if push.rootMember("domain") == nil {
                findings.report(
                    .whole, "a File Provider push names no domain",
                    fix: "Add `domain` if the app registers domains.", severity: .note)
            }
        },
        Rule(
            "CM001", .note, "complication pushes are a thing of the past",
            why: "ClockKit is retired, and such pushes have a budget of 50 a day.",
            from: [.complications],
            fix: "Use widgets and WidgetKit pushes on watchOS 10 and later.",
            for: .complication
        ) { _, findings in findings.report(.whole) },
        Rule(
            "MD001", .error, "a device management push is not the PushMagic string alone",
            why: "The device looks for the top-level key `mdm` with its PushMagic, and no `aps`.",
            from: [.deviceManagement], fix: "Send {\"mdm\":\"<PushMagic>\"}.", for: .mdm,
            check: wrongDeviceManagement),
    ]

    /// Calls `body` with each of Apple's keys inside `aps` and its node.
    static func forEachAppleKey(_ push: ValidationContext, _ body: (APSKey, Int) -> Void) {
        guard let document = push.document, let aps = push.apsObject else { return }
        for member in document.members(of: aps) {
            if let key = APSKey.named(member.key, in: document) { body(key, member.key) }
        }
    }

    private static func nothingChanged(_ push: ValidationContext, _ findings: inout Findings) {
        guard let document = push.document, let aps = push.apsObject else { return }
        guard let member = push.member(.contentChanged) else {
            var hasSpelling = false
            forEachForeignKey(push) { _, near in
                hasSpelling = hasSpelling || near == .contentChanged
            }
            guard push.draft == nil || !hasSpelling else { return }
            let text = Array("\"content-changed\":true".utf8)
            findings.report(
                .node(aps), "`content-changed` is missing",
                repair: hasSpelling
                    ? nil
                    : Repair(edits: [document.inserting(text, intoObject: aps)], isSafe: false))
            return
        }
        guard document.kind(member.value) != .trueLiteral else { return }
        let isMeant =
            APSKey.Shape.boolean.intended(by: member.value, in: document) == "true"
        findings.report(
            .node(member.value),
            repair: Repair(edits: [document.replacing(member.value, with: "true")], isSafe: isMeant)
        )
    }

    private static func latePushToTalk(_ push: ValidationContext, _ findings: inout Findings) {
        if let priority = priority(of: push), priority != .immediate {
            findings.report(
                .header(priorityHeader), "a Push to Talk push is sent at priority \(priority)",
                fix: "Use 10.")
        }
        switch expiration(of: push) {
        case .unstated, .zero, .malformed: break
        case .absent, .relative, .milliseconds, .ahead, .withoutClock:
            findings.report(
                .header(expirationHeader), "a Push to Talk push is kept for later",
                fix: "Use 0.")
        }
    }

    private static func wrongDeviceManagement(_ push: ValidationContext, _ findings: inout Findings)
    {
        guard push.hasRootObject, let document = push.document else { return }
        if let aps = push.aps {
            // A library for all types of pushes (apns2 for Go) writes an empty one.
            let isEmpty = push.hasEmptyAPSBesideData
            findings.report(
                .node(aps.key), "a device management push has `aps`", fix: "Remove `aps`.",
                severity: isEmpty ? .note : nil,
                repair: Repair(
                    edits: [document.removing(memberWithKey: aps.key, of: 0)], isSafe: false))
        }
        guard let member = push.rootMember("mdm") else {
            findings.report(.whole, "`mdm` is missing")
            return
        }
        let isText =
            document.kind(member.value) == .string && !document.isEmptyString(member.value)
        if !isText { findings.report(.node(member.value), "`mdm` is not the PushMagic string") }
    }
}
