// SPDX-License-Identifier: Apache-2.0

/// Rules about what iOS asks an app or its extension about a notification.
extension AppRules {
    static let notifications: [AppRule] = [
        AppRule(
            "CF059", .warning,
            "a path through a handler of notifications does not call its completion handler",
            why: """
                iOS waits for the call: without it a notification is not shown in the foreground, \
                the response to one counts as not handled, and a push with a service extension \
                is shown only when the extension's time is over, after about 30 seconds.
                """,
            from: [.notificationDelegate, .serviceExtension],
            fix: "Call the completion handler exactly once on every path, or use the async form."
        ) { facts, findings in
            eachObservation(in: facts) { bundle, seen in
                guard bundle.platform != .macOS else { return }
                switch seen.subject {
                case .fault(.notificationPathWithoutCompletion):
                    findings.suspect(bundle, at: seen.place, further: seen.further)
                case .fault(.contentPathWithoutHandler):
                    findings.suspect(
                        bundle, at: seen.place,
                        "a path through the notification service extension does not call its "
                            + "content handler",
                        fix: "Call it on every path, with the content as it came where nothing "
                            + "changes.", further: seen.further)
                default: return
                }
            }
        }
    ]
}
