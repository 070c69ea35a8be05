// SPDX-License-Identifier: Apache-2.0

/// Rules about registering for remote notifications.
extension AppRules {
    static let registration: [AppRule] = [
        AppRule(
            "CF026", .warning, "the device token may be stale",
            why: """
                A device token changes with a restore, a new device or a reinstall; only \
                registering on every launch finds out.
                """,
            from: [.registering],
            fix: """
                Register on every launch, and send the token that iOS then gives to the server \
                each time.
                """
        ) { facts, findings in
            for bundle in facts.bundles {
                let registrations = registrations(in: bundle)
                let registersAlways = registrations.contains {
                    $0.subject == .remoteNotificationRegistration(.launch)
                }
                let flag = registrations.first {
                    $0.subject == .remoteNotificationRegistration(.flag)
                }
                if let flag, !registersAlways {
                    findings.suspect(
                        bundle, at: flag.place,
                        "registering for remote notifications depends on whether it was done before"
                    )
                }
                // Once per file, because another file has another store.
                var files: Set<String> = []
                for stored in bundle.observations
                where stored.subject == .storedDeviceToken
                    && files.insert(stored.place.file).inserted
                {
                    findings.suspect(
                        bundle, at: stored.place, "the device token is kept in the user defaults")
                }
            }
        },
        AppRule(
            "CF032", .warning, "silent pushes wait for the permission to show alerts",
            why: """
                Silent pushes need no permission; without registering, a user who refuses alerts \
                gets none.
                """,
            from: [.registering],
            fix: "Call registerForRemoteNotifications() whatever the user answers.",
            check: registrationBehindPermission),
        AppRule(
            "CF054", .warning, "pushes are handled, and nothing registers for them",
            why: "APNs has no device token for an app that does not register, so no push comes.",
            from: [.registering],
            fix: "Call registerForRemoteNotifications() on every launch.",
            check: missingRegistration),
    ]

    /// Reports apps that handle silent pushes and never register for any, and those that register
    /// for pushes as it was before iOS 8 alone.
    private static func missingRegistration(_ facts: AppFacts, _ findings: inout AppFindings) {
        // What may register by itself.
        let others: Set<SourceObservation.Subject> = [
            .pushPlugin, .pluginHost, .cloudSync, .foreignModule,
        ]
        for app in facts.apps where app.platform == .iOS {
            guard app.lacks(.likelyPushes, \.isRegistration),
                app.lacks(.likelyPushes, others.contains)
            else { continue }
            if let old = app.own(.obsoleteRegistration) {
                findings.suspect(
                    app, at: old.place,
                    "registerForRemoteNotificationTypes does nothing since iOS 8")
            } else if app.mode(.remoteNotification) != nil || asksForToken(app),
                let handler = app.own(.remoteNotificationHandler(inSceneDelegate: false))
            {
                findings.suspect(app, at: handler.place)
            }
        }
    }

    /// Whether the entitlements of an app say that it gets pushes.
    private static func asksForToken(_ app: AppFacts.Bundle) -> Bool {
        if case .present = app.pushEntitlement { true } else { false }
    }

    private static func registrationBehindPermission(
        _ facts: AppFacts, _ findings: inout AppFindings
    ) {
        for bundle in facts.bundles {
            let registrations = registrations(in: bundle)
            // A mode that nothing handles is rule CF002's; iCloud needs no token of the app.
            guard facts.wantsSilentPushes(bundle), bundle.platform != .macOS,
                !(facts.pushes(to: bundle).isEmpty && bundle.lacks(.likelyHandlers, \.isHandler)),
                !bundle.shows({ $0 == .pushPlugin }),
                let first = registrations.first,
                registrations.allSatisfy({
                    $0.subject == .remoteNotificationRegistration(.permission)
                })
            else { continue }
            // The others are the same fault, which one call at each launch fixes.
            findings.suspect(bundle, at: first.place)
        }
    }

    /// The calls that register for pushes, in code that runs.
    private static func registrations(in bundle: AppFacts.Bundle) -> [SourceObservation] {
        bundle.observations.filter { $0.subject.isRegistration && !$0.isUncalled }
    }

    static let deviceToken: [AppRule] = [
        AppRule(
            "CF027", .warning, "the device token is turned into text that does not have its bytes",
            why: """
                Since iOS 13 the description of data is no longer its bytes. They are no UTF-8, \
                and each takes two digits.
                """,
            from: [.tokenDescription],
            fix: """
                Write each byte in hexadecimal: \
                deviceToken.map { String(format: "%02x", $0) }.joined().
                """
        ) { facts, findings in
            eachObservation(in: facts) { bundle, seen in
                switch seen.subject {
                case .describedDeviceToken:
                    findings.suspect(
                        bundle, at: seen.place,
                        "the device token is turned into text through its description")
                case .decodedDeviceToken:
                    findings.suspect(
                        bundle, at: seen.place,
                        "the device token is decoded as text, and its bytes are none")
                case .shortenedDeviceToken:
                    findings.suspect(
                        bundle, at: seen.place,
                        "the device token loses the zeros at the start of its bytes")
                default: return
                }
            }
        },
        AppRule(
            "CF028", .warning, "the length of a device token is taken for granted",
            why: "Apple says that device tokens vary in length; those of simulators are longer.",
            from: [.sending, .variableTokens], fix: "Take device tokens of any length."
        ) { facts, findings in
            eachObservation(in: facts) { bundle, seen in
                guard seen.subject == .fixedTokenLength else { return }
                findings.suspect(bundle, at: seen.place)
            }
        },
    ]
}
