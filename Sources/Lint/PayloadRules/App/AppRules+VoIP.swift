// SPDX-License-Identifier: Apache-2.0

/// Rules about apps with VoIP pushes, and about Push to Talk.
extension AppRules {
    static let voip: [AppRule] = [
        AppRule(
            "CF008", .error, "VoIP pushes are only half configured",
            why: """
                Without the mode iOS does not launch the app for a call, and App Review refuses a \
                mode that is not used. A registry hands tokens and pushes to its delegate.
                """,
            from: [.callServices, .backgroundModes],
            fix: "Have both: `voip` in UIBackgroundModes, and a PKPushRegistry for VoIP pushes.",
            check: halfConfiguredVoIP),
        AppRule(
            "CF009", .error, "VoIP pushes are taken, and no call is reported",
            why: """
                iOS terminates an app that reports no call for a VoIP push, and stops the delivery \
                of further ones.
                """,
            from: [.pushKit],
            fix: """
                Report a call to CallKit or LiveCommunicationKit in the handler of VoIP pushes, \
                each time.
                """,
            check: unreportedCalls),
        AppRule(
            "CF010", .error, "a call is reported only after something that takes time",
            why: "The report must come before the handler returns, whatever the network does.",
            from: [.pushKit],
            fix: "Report the call first with what the push says, then update it."
        ) { facts, findings in
            eachObservation(in: facts) { bundle, seen in
                guard seen.subject == .lateReport else { return }
                findings.suspect(bundle, at: seen.place)
            }
        },
        AppRule(
            "CF011", .note, "the app does not use what VoIP pushes report since iOS 26.4",
            why: "`PKVoIPPushMetadata.mustReport` says whether a call has to be reported at all.",
            from: [.voipMetadata],
            fix: """
                Implement the delegate method with PKVoIPPushMetadata; keep the old one for older \
                systems.
                """
        ) { facts, findings in
            for bundle in facts.bundles where bundle.platform == .iOS {
                guard let target = bundle.deploymentTarget, target.value >= SystemVersion(26, 4),
                    bundle.shows(\.isVoIPHandler),
                    bundle.lacks(.calls, { $0 == .voipHandler(takesMetadata: true) })
                else { continue }
                let old = bundle.observations.first { $0.subject.isVoIPHandler }
                findings.report(bundle, at: old?.place ?? target.place)
            }
        },
        AppRule(
            "CF014", .warning, "an app for China mainland uses CallKit without looking where it is",
            why: """
                App Review refuses apps with active CallKit in that storefront, and VoIP pushes do \
                not work without it.
                """,
            from: [.chinaStorefront],
            fix: "Switch CallKit and VoIP registration off by storefront, and send alerts there."
        ) { facts, findings in
            guard facts.storefronts.contains("CHN") else { return }
            for bundle in facts.bundles where bundle.lacks(.calls, { $0 == .regionSwitch }) {
                guard let use = bundle.observations.first(where: { $0.subject == .callInterface })
                else { continue }
                findings.suspect(bundle, at: use.place)
            }
        },
        AppRule(
            "CF053", .warning, "a path neither fulfils nor fails an action of CallKit",
            why: """
                CallKit waits for the action until its time is up, which may end the call; the \
                system and the app then show different calls.
                """,
            from: [.callActions],
            fix: "Call fulfill() or fail() on every path."
        ) { facts, findings in
            eachObservation(in: facts) { bundle, seen in
                guard seen.subject == .fault(.actionLeftOpen), bundle.builds(seen) else { return }
                findings.suspect(bundle, at: seen.place, further: seen.further)
            }
        },
        AppRule(
            "CF015", .error, "Push to Talk is only half configured",
            why: """
                The channel manager cannot be made: missingBackgroundMode, missingEntitlement or \
                missingPushServerEnvironment.
                """,
            from: [.pushToTalkApps],
            fix: "Add the capabilities Push to Talk and Push Notifications.",
            check: halfConfiguredPushToTalk),
    ]

    private static func halfConfiguredVoIP(_ facts: AppFacts, _ findings: inout AppFindings) {
        for bundle in facts.bundles {
            for seen in bundle.observations
            where seen.subject == .fault(.pushRegistryWithoutDelegate) {
                findings.suspect(
                    bundle, at: seen.place,
                    "the PKPushRegistry has no delegate: no new token and no push reach the app",
                    fix: "Set its delegate before its desiredPushTypes.")
            }
            for seen in bundle.observations
            where seen.subject == .fault(.pushRegistryWithoutTypes)
                // One that empties its types ends what another one began.
                && !bundle.shows(\.isVoIPRegistration)
            {
                findings.suspect(
                    bundle, at: seen.place,
                    "the desiredPushTypes of the PKPushRegistry stay empty: no token and no push "
                        + "come",
                    fix: "Set them to VoIP, behind the registry's delegate.")
            }
            for seen in bundle.observations where seen.subject == .fault(.callsWithoutDelegate) {
                findings.suspect(
                    bundle, at: seen.place,
                    "the CXProvider has no delegate: no answer and no end of a call reach the app",
                    fix: "Call setDelegate(_:queue:) before the first call is reported.")
            }
        }
        for app in facts.apps {
            let registration = app.observations.first {
                $0.subject.isVoIPRegistration && !$0.isUncalled && app.builds($0)
            }
            if let mode = app.mode(.voip) {
                if registration == nil, app.platform != .watchOS,
                    app.sources?.isComplete(of: .calls) == true,
                    let dead = app.observations.first(where: {
                        $0.subject.isVoIPRegistration && !$0.isShared && app.builds($0)
                    })
                {
                    findings.suspect(
                        app, at: dead.place,
                        "UIBackgroundModes has `voip`, and nothing calls the function that "
                            + "registers for VoIP pushes",
                        fix: "Call it when the app launches, or remove the mode.")
                    continue
                }
                // An app that makes calls without pushes needs the mode for CallKit.
                let isPushedTo = facts.sends(.voip, to: app)
                // A library of which only the name is known is taken to make no calls.
                guard app.platform != .watchOS, app.lacks(.likelyCalls, \.isVoIPRegistration),
                    !app.mayDeriveFromLibrary(.calls)
                else { continue }
                let registry = app.observations.first {
                    $0.subject == .pushRegistry && !$0.isUncalled && app.builds($0)
                }
                // The registry's own finding says so.
                if app.own(.fault(.pushRegistryWithoutTypes)) != nil { continue }
                if let registry, app.lacks(.calls, { $0 == .otherPushTypes }) {
                    findings.suspect(
                        app, at: registry.place,
                        "a PKPushRegistry is made, and nothing sets its desiredPushTypes: no "
                            + "token and no push come",
                        fix: "Set them to VoIP, behind the registry's delegate.")
                    continue
                }
                let isPresumed = app.sources?.unread.contains(.calls) == true
                guard isPushedTo || app.lacks(.likelyCalls, { $0 == .callInterface }),
                    !(isPresumed && registry != nil)
                else { continue }
                findings.suspect(
                    app, at: mode.place,
                    "UIBackgroundModes has `voip`, and no source text registers for VoIP pushes",
                    fix: isPresumed
                        ? "Make a PKPushRegistry, or remove the mode unless code that was not "
                            + "read makes calls." : nil)
            } else if let place = app.modesPlace {
                if facts.sends(.voip, to: app) {
                    let misspelt = app.modes.first { BackgroundMode.near($0.value) == .voip }
                    findings.reportSent(
                        app, at: misspelt?.place ?? place,
                        "the server sends VoIP pushes, and UIBackgroundModes lacks `voip`",
                        fix: "Add `voip` to UIBackgroundModes.", by: .voip)
                    if app.platform != .watchOS, app.lacks(.calls, \.isVoIPRegistration) {
                        findings.suspect(
                            app, at: place,
                            "the server sends VoIP pushes, and no source text registers for them",
                            fix: "Make a PKPushRegistry whose desiredPushTypes has .voIP.")
                    }
                } else if let registration {
                    findings.suspect(
                        app, at: registration.place,
                        "the app registers for VoIP pushes, and UIBackgroundModes lacks `voip`",
                        fix: "Add `voip` to UIBackgroundModes.")
                }
            }
        }
    }

    private static func unreportedCalls(_ facts: AppFacts, _ findings: inout AppFindings) {
        for bundle in facts.bundles {
            let registrations = bundle.observations.filter { $0.subject.isVoIPRegistration }
            // No push comes to an app that never registers.
            guard registrations.isEmpty || registrations.contains(where: { !$0.isUncalled }) else {
                continue
            }
            let start = bundle.observations.first {
                $0.subject.isVoIPRegistration && !$0.isUncalled || $0.subject.isVoIPHandler
            }
            if let start, bundle.lacks(.calls, { $0 == .callInterface }) {
                findings.suspect(
                    bundle, at: start.place,
                    "VoIP pushes are taken, and neither CallKit nor LiveCommunicationKit is used")
                continue
            }
            // An empty handler in the form of iOS 8 may exist beside the one that iOS calls.
            let isOnly = bundle.observations.filter(\.subject.isVoIPHandler).count == 1
            for seen in bundle.observations
            where seen.subject == .voipHandlerWithoutReport
                || isOnly && seen.subject == .emptyVoIPHandler
            {
                findings.suspect(
                    bundle, at: seen.place, "this handler of VoIP pushes reports no call")
            }
        }
    }

    /// The name of the entitlement for Push to Talk.
    static let talkKey = "com.apple.developer.push-to-talk"

    private static func halfConfiguredPushToTalk(
        _ facts: AppFacts, _ findings: inout AppFindings
    ) {
        for app in facts.apps {
            if app.mode(.pushToTalk) == nil {
                guard facts.sends(.pushToTalk, to: app), let place = app.modesPlace else {
                    continue
                }
                findings.reportSent(
                    app, at: place,
                    "the server sends Push to Talk, and UIBackgroundModes lacks `push-to-talk`",
                    fix: "Add `push-to-talk` to UIBackgroundModes.")
            }
            let own = app.entitlement(talkKey).placeIfNotTrue
            var missing = own == nil ? [] : ["`\(talkKey)`, which must be true"]
            var place = own
            if case .missing(let other) = app.pushEntitlement {
                missing.append("`\(app.pushEntitlementName)`")
                place = place ?? other
            }
            guard let place else { continue }
            let message = "the entitlements lack " + missing.joined(separator: ", and ")
            let isUsed =
                app.sources == nil || app.shows { $0 == .feature(.pushToTalk) }
            if isUsed {
                findings.report(app, at: place, message)
            } else if facts.sends(.pushToTalk, to: app) {
                findings.reportSent(app, at: place, message)
            } else {
                // The mode may be there in vain.
                findings.suspect(
                    app, at: place, message,
                    fix: "Add the capabilities Push to Talk and Push Notifications, or remove "
                        + "`push-to-talk` from UIBackgroundModes if nothing uses PTChannelManager.")
            }
        }
    }
}
