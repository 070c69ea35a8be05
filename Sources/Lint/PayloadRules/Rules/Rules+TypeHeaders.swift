// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import WakeModel

/// Rules about the required headers of background and VoIP pushes, and about the consistency of
/// type and content. The kind of a wake prevents these faults.
extension Rules {
    static let backgroundHeaders: [Rule] = [
        Rule(
            "BG006", .error, "a background push is sent at priority 10",
            why: "Apple calls 10 an error for background pushes.", from: [.sending],
            fix: "Use 5.", for: .background, in: .draft
        ) { push, findings in
            if !push.isForPass, priority(of: push) == .immediate {
                findings.report(.header(priorityHeader))
            }
        },
        Rule(
            "BG007", .error, "a background push has no priority",
            why: "Without the header the priority is 10, which is an error for background pushes.",
            from: [.sending], fix: "Add apns-priority 5.", for: .background, in: .draft
        ) { push, findings in
            if !push.isForPass, push.draft?.lacks("apns-priority") == true {
                // Without a type it may be sent as an alert.
                findings.report(
                    .header(priorityHeader), severity: push.typeIsGuess ? .warning : nil)
            }
        },
        Rule(
            "BG008", .warning, "a background push is sent at priority 1",
            why: "Background pushes are always sent at 5; priority 1 never wakes the device.",
            from: [.sending], fix: "Use 5.", for: .background, in: .draft
        ) { push, findings in
            if priority(of: push) == .powerFirst { findings.report(.header(priorityHeader)) }
        },
        Rule(
            "BG009", .error, "the topic of a background push has a suffix",
            why: "Background pushes are sent to the bundle id.", from: [.sending],
            fix: "Use the bundle id alone.", for: .background, in: .draft
        ) { push, findings in
            guard let topic = push.draft?.topic, let suffix = typeSuffix(of: topic) else { return }
            findings.report(
                .header("apns-topic"), "the topic of a background push ends in \(suffix)")
        },
        Rule(
            "BG013", .error, "an alert push shows nothing, and does not wake the app either",
            why: """
                The system launches no app for an alert push that has nothing to show; only the \
                push type background does that.
                """,
            from: [.pushTypeMatrix, .systemInternals],
            fix: "Send it with apns-push-type background and apns-priority 5.", for: .alert,
            in: .draft
        ) { push, findings in
            guard push.draft?.pushType != nil, !push.hasVisibleKeys,
                let member = push.contentAvailable
            else { return }
            findings.report(.node(member.key))
        },
        Rule(
            "BG014", .warning, "a silent push has no push type",
            why: """
                watchOS does not deliver it, and elsewhere it depends on what APNs takes it for.
                """,
            from: [.sending, .troubleshooting], fix: "Add apns-push-type background.",
            for: .background, in: .draft
        ) { push, findings in
            guard push.draft?.lacks("apns-push-type") == true, push.contentAvailable != nil,
                !push.hasVisibleKeys
            else { return }
            findings.report(.header("apns-push-type"))
        },
        Rule(
            "BG015", .note, "a visible push also asks to wake the app",
            why: """
                That is allowed, but the wake depends on the same budget as that of a background \
                push.
                """,
            from: [.backgroundUpdates, .pushTypeMatrix],
            fix: "Do not rely on the wake; use a notification service extension to fetch content.",
            for: .alert, in: .draft
        ) { push, findings in
            guard push.hasVisibleKeys, let member = push.contentAvailable,
                // Only 1 asks for that (rule BG012).
                push.document.flatMap({ $0.double(member.value) }).map({ $0 == 1 }) != false,
                // Rule BG016 says that nothing is seen or heard.
                emptyTexts(push).isEmpty || push.apsKeys.contains(.badge)
            else { return }
            findings.report(.node(member.key))
        },
    ]

    static let voipHeaders: [Rule] = [
        Rule(
            "VO001", .error, "topic and push type of a VoIP push do not fit",
            why: "APNs takes VoIP pushes for the topic that ends in .voip, and only those.",
            from: [.sending, .pushKit], fix: "Use push type voip with the bundle id and .voip.",
            for: .every.subtracting(.background), in: .draft
        ) { push, findings in
            guard let topic = push.draft?.topic, !topic.isEmpty else { return }
            let isVoIPTopic = topic.hasSuffix(PushType.voip.topicSuffix)
            if topic == PushType.voip.topicSuffix {
                findings.report(
                    .header("apns-topic"), "the topic is .voip alone, without a bundle id",
                    fix: "Use the bundle id and .voip.")
            } else if push.type == .voip, !isVoIPTopic {
                findings.report(
                    .header("apns-topic"), "the topic of a VoIP push does not end in .voip",
                    fix: "Use the bundle id and .voip.")
            } else if push.type != .voip || push.mistakenType != nil, isVoIPTopic {
                findings.report(
                    .header("apns-push-type"), "the topic is for VoIP, and the push type is not",
                    fix: """
                        Use push type voip, or the topic of the other type; only a bundle id that \
                        itself ends in .voip is right here.
                        """)
            }
        },
        Rule(
            "VO016", .error, "Firebase sends no VoIP pushes",
            why: """
                Firebase Cloud Messaging sends to the app's own topic and device token, and a VoIP \
                push needs the token of PushKit and the topic that ends in .voip.
                """,
            from: [.practice, .pushRegistry],
            fix: "Send VoIP pushes to APNs itself, or through a service that does.", for: .voip,
            in: .draft
        ) { push, findings in
            guard let draft = push.draft, draft.isForFirebase else { return }
            findings.report(.header(draft.pushType != nil ? "apns-push-type" : "apns-topic"))
        },
        Rule(
            "VO006", .warning, "a VoIP push is not sent at priority 10",
            why: "A call cannot wait until the device has power to spare.", from: [.proposal],
            fix: "Use 10.", for: .voip, in: .draft
        ) { push, findings in
            guard let priority = priority(of: push), priority != .immediate else { return }
            findings.report(
                .header(priorityHeader), "a VoIP push is sent at priority \(priority)")
        },
    ]
}
