// SPDX-License-Identifier: Apache-2.0

/// Rules about apps with silent pushes.
extension AppRules {
    static let waking: [AppRule] = [
        AppRule(
            "CF001", .error, "the server sends background pushes, and the app does not allow them",
            why: """
                Without `remote-notification` in UIBackgroundModes a background push never \
                launches the app.
                """,
            from: [.backgroundUpdates], fix: "Add `remote-notification` to UIBackgroundModes.",
            check: missingRemoteNotificationMode),
        AppRule(
            "CF002", .warning, "nothing handles the pushes that wake the app",
            why: "A wake without a handler costs budget and does nothing.",
            from: [.remoteNotificationHandler],
            fix: """
                Implement application(_:didReceiveRemoteNotification:fetchCompletionHandler:), or \
                its async form, in the app delegate, or remove the mode.
                """
        ) { facts, findings in
            let deaf = reportDeafHandlers(facts, &findings)
            for app in facts.apps where !deaf.contains(app.name) {
                guard let mode = unhandledMode(of: app) else { continue }
                findings.suspect(
                    app, at: mode.place,
                    fix: app.sources?.unread.contains(.pushes) != true
                        ? nil
                        : """
                        Implement application(_:didReceiveRemoteNotification:\
                        fetchCompletionHandler:), or remove the mode unless code that was not read \
                        handles the pushes.
                        """)
            }
        },
        AppRule(
            "CF003", .warning, "a path through the handler does not call its completion handler",
            why: """
                iOS counts the time until the call; an app that does not call is terminated and \
                launched less often.
                """,
            from: [.remoteNotificationHandler],
            fix: "Call the completion handler exactly once on every path, or use the async form."
        ) { facts, findings in
            eachObservation(in: facts) { bundle, seen in
                let isFetched =
                    seen.subject == .fault(.fetchPathWithoutCompletion) && isFetched(bundle)
                guard seen.subject == .pathWithoutCompletion || isFetched else { return }
                findings.suspect(bundle, at: seen.place, further: seen.further)
            }
        },
        AppRule(
            "CF004", .warning, "background work hangs on a scene or a view",
            why: "A launch in the background connects no scene and shows no view.",
            from: [.backgroundTasks],
            fix: "Move it to the app delegate, or to the initialiser of the App.",
            check: lateWork),
    ]

    /// The mode for silent pushes of an app that handles none. A library of which only the name is
    /// known is taken to handle none.
    static func unhandledMode(of app: AppFacts.Bundle) -> Located<String>? {
        guard app.platform != .macOS, let mode = app.mode(.remoteNotification),
            app.lacks(.likelyHandlers, \.isHandler) || hasOldHandlerOnly(app),
            !syncsWithCloud(app), !app.shows({ $0 == .pushPlugin || $0 == .phoneSignIn }),
            !app.mayDeriveFromLibrary(.pushes)
        else { return nil }
        return mode
    }

    /// Reports handlers that iOS does not call. Returns the apps that have one.
    private static func reportDeafHandlers(
        _ facts: AppFacts, _ findings: inout AppFindings
    ) -> Set<String?> {
        var apps: Set<String?> = []
        for app in facts.apps where app.platform != .macOS {
            for seen in app.observations where !seen.isShared {
                switch seen.subject {
                case .fault(.mistypedHandler):
                    findings.suspect(
                        app, at: seen.place,
                        "iOS does not call this handler: its dictionary is no [AnyHashable: Any], "
                            + "so that it does not meet the delegate's requirement",
                        fix: "Give `userInfo` the type [AnyHashable: Any].")
                case .fault(.strayHandler) where app.mode(.remoteNotification) != nil:
                    findings.suspect(
                        app, at: seen.place,
                        "iOS does not call this handler, which is not the app delegate's, and "
                            + "nothing else does")
                case .fault(.delegateWithoutAdaptor)
                where app.mode(.remoteNotification) != nil && app.shows { $0 == .appOfScenes }:
                    findings.suspect(
                        app, at: seen.place,
                        "iOS does not call this handler: nothing makes its class the delegate of "
                            + "the app",
                        fix: "Name the class in the App: @UIApplicationDelegateAdaptor.")
                default: continue
                }
                apps.insert(app.name)
            }
        }
        return apps
    }

    /// Whether iOS may call the handler of background fetch: without its mode it never does, and
    /// rule CF051 covers one that it calls no more.
    static func isFetched(_ bundle: AppFacts.Bundle) -> Bool {
        (bundle.info == nil || bundle.mode(.fetch) != nil) && !endsFetch(bundle)
    }

    static func eachObservation(
        in facts: AppFacts, _ body: (AppFacts.Bundle, SourceObservation) -> Void
    ) {
        for bundle in facts.bundles {
            for observation in bundle.observations { body(bundle, observation) }
        }
    }

    /// Whether the system handles the app's pushes for a store with an iCloud container: Core Data,
    /// SwiftData or CKSyncEngine.
    private static func syncsWithCloud(_ app: AppFacts.Bundle) -> Bool {
        guard app.shows({ $0 == .cloudSync }) else { return false }
        if case .missing = app.entitlement("com.apple.developer.icloud-services") { return false }
        return true
    }

    /// Whether the app delegate handles pushes only in the way that does not wake the app. Packages
    /// leave it so: iOS calls one of the two functions.
    private static func hasOldHandlerOnly(_ app: AppFacts.Bundle) -> Bool {
        app.sources?.isOwnComplete == true && !app.shows(\.isHandler)
            && app.shows { $0 == .oldNotificationHandler }
    }

    private static func missingRemoteNotificationMode(
        _ facts: AppFacts, _ findings: inout AppFindings
    ) {
        handlersWithoutMode(facts, &findings)
        for app in facts.apps
        where app.platform != .macOS && facts.sends(.background, to: app) {
            guard let place = app.modesPlace, app.mode(.remoteNotification) == nil else {
                continue
            }
            let misspelt = app.modes.first {
                BackgroundMode.near($0.value) == .remoteNotification
            }
            if let misspelt {
                findings.reportSent(
                    app, at: misspelt.place,
                    "UIBackgroundModes has `\(misspelt.value)`, which is no background mode",
                    fix: "Write `remote-notification`.")
            } else {
                findings.reportSent(app, at: place)
            }
        }
    }

    /// Reports the handler of pushes that wake an app which does not allow them; iOS writes of it
    /// to the log at each launch. An app that looks for silent pushes, or subscribes to them,
    /// expects to be woken.
    private static func handlersWithoutMode(_ facts: AppFacts, _ findings: inout AppFindings) {
        for app in facts.apps
        where app.role == .app && app.platform == .iOS && !app.mayBeIncomplete
            && app.modesPlace != nil && app.mode(.remoteNotification) == nil
            && !facts.sends(.background, to: app)
        {
            let handler = app.own(.remoteNotificationHandler(inSceneDelegate: false))
            // What hands pushes on to plugins has the handler for those that need it.
            guard let handler, !app.shows({ $0 == .pluginHost }),
                // Rule CF030 reports the mistake.
                !app.modes.contains(where: {
                    BackgroundMode.near($0.value) == .remoteNotification
                })
            else { continue }
            let expectsWakes = app.own(.silentPushCheck) != nil
            findings.report(
                app, at: handler.place,
                "UIBackgroundModes lacks `remote-notification`: no push wakes the app for this "
                    + "handler",
                severity: expectsWakes ? .warning : .note)
        }
    }

    private static func lateWork(_ facts: AppFacts, _ findings: inout AppFindings) {
        workInScenes(facts, &findings)
        for bundle in facts.bundles where bundle.lacks(.calls, { $0 == .otherPushTypes }) {
            let registrations = bundle.observations.filter {
                $0.subject.isVoIPRegistration && !$0.isUncalled && bundle.mayRun($0)
            }
            let late: [SourceObservation.Subject] = [
                .voipRegistration(.scene), .voipRegistration(.view), .voipRegistration(.event),
            ]
            guard let first = registrations.first, bundle.builds(first),
                registrations.allSatisfy({ late.contains($0.subject) })
            else { continue }
            findings.suspect(
                bundle, at: first.place,
                "the app registers for VoIP pushes only once it is in use, and not when a push "
                    + "launches it",
                fix: "Make the PKPushRegistry when the app launches.")
        }
    }

    private static func workInScenes(_ facts: AppFacts, _ findings: inout AppFindings) {
        for bundle in facts.bundles {
            let hasOtherHandler = bundle.shows {
                $0 == .remoteNotificationHandler(inSceneDelegate: false)
            }
            // What waits for the permission may run at launch.
            var registersElsewhere = bundle.shows {
                $0 == .remoteNotificationRegistration(.launch)
                    || $0 == .remoteNotificationRegistration(.unknown)
                    || $0 == .remoteNotificationRegistration(.permission)
            }
            for seen in bundle.observations {
                switch seen.subject {
                case .remoteNotificationHandler(inSceneDelegate: true) where !hasOtherHandler:
                    findings.suspect(
                        bundle, at: seen.place,
                        "a scene's delegate handles remote notifications, and the app's does not",
                        fix: "Move the handler to the app delegate.")
                case .fault(.pushHandedToScene):
                    findings.suspect(
                        bundle, at: seen.place,
                        "a scene's delegate gets the pushes, and nothing completes them without a "
                            + "scene",
                        fix: "Handle them in the app delegate.")
                case .remoteNotificationRegistration(let occasion)
                where [.view, .viewController].contains(occasion) && !registersElsewhere
                    && facts.wantsSilentPushes(bundle):
                    findings.suspect(
                        bundle, at: seen.place,
                        "the app registers for remote notifications only when a view appears",
                        fix: "Register when the app launches.")
                    // The others are the same fault, which one call at launch fixes.
                    registersElsewhere = true
                default: continue
                }
            }
        }
    }
}

extension SourceObservation.Subject {
    /// Whether this is a handler of pushes that wake the app.
    var isHandler: Bool {
        if case .remoteNotificationHandler = self { true } else { false }
    }

    /// Whether this registers for remote notifications, at any time.
    var isRegistration: Bool {
        if case .remoteNotificationRegistration = self { true } else { false }
    }

    /// Whether this is a handler of VoIP pushes.
    var isVoIPHandler: Bool {
        if case .voipHandler = self { true } else { false }
    }
}
