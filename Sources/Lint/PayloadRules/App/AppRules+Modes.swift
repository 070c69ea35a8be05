// SPDX-License-Identifier: Apache-2.0

/// Rules about background modes and the features that require them.
extension AppRules {
    static let modes: [AppRule] = [
        AppRule(
            "CF022", .warning, "location updates in the background lack their mode",
            why: "Setting allowsBackgroundLocationUpdates without the mode ends the app.",
            from: [.backgroundLocations], fix: "Add `location` to UIBackgroundModes."
        ) { facts, findings in
            for app in facts.apps where app.info != nil && app.mode(.location) == nil {
                for seen in app.observations where seen.subject == .backgroundLocation {
                    findings.suspect(
                        app, at: seen.place,
                        "allowsBackgroundLocationUpdates is set, and UIBackgroundModes lacks "
                            + "`location`")
                }
            }
        },
        AppRule(
            "CF030", .warning, "a background mode has no feature that needs it",
            why: """
                App Review refuses modes that the app does not use, and App Store Connect an \
                upload with a value that is no mode.
                """,
            from: [
                .backgroundModes, .backgroundTasks, .invalidMode, .backgroundLocations,
                .hotspotHelper,
            ],
            fix: "Remove the mode."
        ) { facts, findings in
            for app in facts.apps {
                for listed in app.modes {
                    guard let mode = BackgroundMode(rawValue: listed.value) else {
                        reportHotspotMode(listed, of: app, &findings)
                        reportUnknownMode(
                            listed, of: app, sends: facts.pushes(to: app), &findings)
                        continue
                    }
                    if mode == .location, mayLocateNowhere(app) {
                        findings.suspect(
                            app, at: listed.place,
                            "UIBackgroundModes has `location`, and nothing sets "
                                + "allowsBackgroundLocationUpdates, so that updates stop in the "
                                + "background",
                            fix: "Set it before the updates start, or remove the mode.")
                        continue
                    }
                    guard !mode.featureNames.isEmpty, app.platform != .macOS, app.sources != nil,
                        !app.shows({ $0 == .feature(mode) }),
                        // Rule CF015 covers it.
                        mode != .pushToTalk || app.entitlement(talkKey).placeIfNotTrue == nil
                    else { continue }
                    let use = "uses what the background mode `\(mode.rawValue)` is for"
                    let keys = mode.requiredKeys
                    if keys.isEmpty {
                        guard app.lacks(.features, { $0 == .feature(mode) }),
                            mode != .audio || !app.shows(isHeard)
                        else { continue }
                        findings.report(
                            app, at: listed.place, "no source text \(use)", severity: .note)
                    } else if let info = app.info, !app.mayBeIncomplete, !app.mayGetKeys,
                        !info.members.keys.contains(where: { keys.contains(where: $0.hasPrefix) })
                    {
                        // A library that was not read may not use it either.
                        findings.suspect(
                            app, at: listed.place,
                            """
                            no source text that was read \(use), and Info.plist lacks what iOS \
                            asks for before it is used
                            """)
                    }
                }
            }
        },
    ]

    /// Whether an app asks for locations, and for none that it gets in the background. A library of
    /// which only the name is known is taken to ask for none there.
    private static func mayLocateNowhere(_ app: AppFacts.Bundle) -> Bool {
        app.platform == .iOS && app.shows { $0 == .feature(.location) }
            && app.lacks(.likelyLocations) { $0 == .lastingLocation }
    }

    /// What may be heard, besides what is for sound alone: calls, and the pages and scripts of a
    /// framework.
    private static func isHeard(_ subject: SourceObservation.Subject) -> Bool {
        [.callInterface, .feature(.pushToTalk), .pluginHost].contains(subject)
    }

    /// Reports the mode of hotspot helpers in an app that Apple has not let be one.
    private static func reportHotspotMode(
        _ listed: Located<String>, of app: AppFacts.Bundle, _ findings: inout AppFindings
    ) {
        let key = "com.apple.developer.networking.HotspotHelper"
        guard app.platform == .iOS, listed.value == "network-authentication",
            app.entitlement(key).placeIfNotTrue != nil
        else { return }
        findings.suspect(
            app, at: listed.place,
            "UIBackgroundModes has `network-authentication`, which is for hotspot helpers, and the "
                + "entitlements lack `\(key)`")
    }

    private static func reportUnknownMode(
        _ listed: Located<String>, of app: AppFacts.Bundle, sends: Set<ServerPush>,
        _ findings: inout AppFindings
    ) {
        // A build setting that only Xcode can resolve. Watches have further modes.
        guard app.hasBackgroundTasks, !AppProperty.namesBuildSetting(listed.value),
            !BackgroundMode.otherValues.contains(listed.value)
        else { return }
        let meant = BackgroundMode.near(listed.value)
        // Rules CF001 and CF008 cover these.
        if meant == .remoteNotification, sends.contains(.background) { return }
        findings.report(
            app, at: listed.place, "`\(listed.value)` is no background mode",
            fix: meant.map { "Write `\($0.rawValue)`." } ?? "Remove it.")
    }
}
