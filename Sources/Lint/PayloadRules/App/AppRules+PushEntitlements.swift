// SPDX-License-Identifier: Apache-2.0

/// Rules about the entitlements for pushes and notifications.
extension AppRules {
    static let pushEntitlements: [AppRule] = [
        AppRule(
            "CF005", .error, "the app has no entitlement to receive pushes",
            why: "Without it iOS gives the app no device token.", from: [.apsEnvironment],
            fix: "Add the capability Push Notifications to the target.",
            check: missingPushEntitlement),
        AppRule(
            "CF006", .error, "the push environment is neither `development` nor `production`",
            why: "There are no other environments.", from: [.apsEnvironment],
            fix: "Write `development`; Xcode replaces it when it signs for distribution.",
            check: unknownEnvironment),
        AppRule(
            "CF007", .warning, "an exported app asks for the development environment",
            why: """
                Its device tokens are for the sandbox, and a server that pushes to production gets \
                BadDeviceToken.
                """,
            from: [.apsEnvironment],
            fix: "Export with a distribution profile, for which Xcode writes `production`."
        ) { facts, findings in
            for bundle in facts.bundles where bundle.isExported {
                guard case .present(let value) = bundle.pushEntitlement,
                    value.string == "development"
                else { continue }
                findings.report(bundle, at: value.place)
            }
        },
        AppRule(
            "CF012", .warning, "the entitlements ask for unrestricted VoIP pushes",
            why: "Few apps were given this entitlement; signing fails for all others.",
            from: [.unrestrictedVoIP],
            fix: "Remove the entitlement, and report a call for every VoIP push."
        ) { facts, findings in
            for bundle in facts.bundles {
                guard case .known(let list) = bundle.entitlements else { continue }
                for key in list.members.keys.sorted() where key.hasPrefix(unrestrictedVoIP) {
                    guard let property = list[key] else { continue }
                    findings.report(
                        bundle, at: property.place, "the entitlements ask for `\(key)`")
                }
            }
        },
        AppRule(
            "CF013", .warning, "an entitlement is in Info.plist",
            why: "iOS reads entitlements from the code signature and ignores it there.",
            from: [.unrestrictedVoIP, .apsEnvironment],
            fix: "Move the key to the target's entitlements, or remove it if they have it."
        ) { facts, findings in
            for bundle in facts.bundles {
                let members = (bundle.info?.members ?? [:]).sorted { $0.key < $1.key }
                for (key, property) in members where isEntitlement(key) {
                    findings.report(bundle, at: property.place, "Info.plist has `\(key)`")
                }
            }
        },
        AppRule(
            "CF018", .warning, "the server sends an interruption level that the app may not use",
            why: "Without its entitlement the system lowers the level.",
            from: [.generating, .practice],
            fix: "Add the entitlement, or send the level `active`.", check: interruptionLevels),
        AppRule(
            "CF029", .note, "communication notifications lack their entitlement",
            why: "Without it the notification shows without the person's name and picture.",
            from: [.practice], fix: "Add the capability Communication Notifications."
        ) { facts, findings in
            let key = "com.apple.developer.usernotifications.communication"
            for app in facts.apps where app.host == nil {
                let isUsed =
                    facts.sends(.communication, to: app)
                    || ([app] + facts.extensions(of: app)).contains {
                        $0.shows { $0 == .communicationStyle }
                    }
                guard isUsed, let place = app.entitlement(key).placeIfNotTrue else { continue }
                findings.report(app, at: place, "the entitlements lack `\(key)`")
            }
        },
        AppRule(
            "CF031", .note, "the broadcast capability cannot be checked here",
            why: "It is a setting of the App ID in the developer portal, and in no file of Xcode.",
            from: [.broadcastPushes],
            fix: "See that Broadcast is enabled for the App ID in the developer portal."
        ) { facts, findings in
            for app in facts.apps where facts.sends(.broadcast, to: app) {
                guard let place = app.anyPlace else { continue }
                findings.report(app, at: place)
            }
        },
    ]

    private static let unrestrictedVoIP = "com.apple.developer.pushkit.unrestricted-voip"

    /// Whether a key is that of an entitlement, which has no effect in an Info.plist.
    private static func isEntitlement(_ key: String) -> Bool {
        key == "aps-environment" || key.hasPrefix("com.apple.security.")
            || key.hasPrefix("com.apple.developer.") && !keysLikeEntitlements.contains(key)
    }

    /// The keys of Info.plist that look like entitlements: the tags that an app reads (Apple, Core
    /// NFC).
    private static let keysLikeEntitlements: Set = [
        "com.apple.developer.nfc.readersession.felica.systemcodes",
        "com.apple.developer.nfc.readersession.iso7816.select-identifiers",
    ]

    /// Whether an app without the entitlement for pushes is not told of, so that a request for a
    /// token in text that was not read may be in vain.
    package static func mayLackPushEntitlement(
        _ all: [AppFacts], besides found: [AppFinding]
    ) -> Bool {
        let told = found.filter { $0.diagnostic.rule == "CF005" }
        return all.flatMap(\.apps).contains { app in
            guard app.platform != .macOS, app.platform != .watchOS,
                !told.contains(where: { app.name.map($0.targets.contains) ?? true }),
                case .missing = app.pushEntitlement
            else { return false }
            return true
        }
    }

    private static func missingPushEntitlement(
        _ facts: AppFacts, _ findings: inout AppFindings
    ) {
        let ofPhones = Set(
            facts.apps.filter { $0.platform == .iOS }.flatMap(\.observations).map(\.place.file))
        for app in facts.apps {
            guard case .missing(let place) = app.pushEntitlement else { continue }
            let message = "the entitlements lack `\(app.pushEntitlementName)`"
            let requests = app.observations.filter { seen in
                !seen.isShared && !seen.isUncalled
                    && (seen.subject.isRegistration || seen.subject.isVoIPRegistration)
                    // An app for iOS and macOS may request it on one of them only.
                    && (app.platform != .macOS || app.builds(seen))
                    // Code that an iOS app has too may be for that alone.
                    && (app.platform != .tvOS || !ofPhones.contains(seen.place.file))
            }
            let asksForToken = !requests.isEmpty
            let hasMode = app.mode(.remoteNotification) != nil && app.platform != .watchOS
            // Code in `#if` may be for the simulator only.
            let isCertain = hasMode && requests.contains(where: app.builds)
            if !facts.pushes(to: app).isEmpty || isCertain {
                findings.reportSent(app, at: place, message)
            } else if asksForToken {
                findings.suspect(app, at: place, message + ", and the source text asks for a token")
            } else if hasMode, app.platform != .macOS {
                // The background modes are for iOS, whose app may share them. Rule CF002 reports a
                // mode that nothing needs.
                let isUnused =
                    unhandledMode(of: app) != nil && !app.shows { $0 == .oldNotificationHandler }
                findings.report(
                    app, at: place,
                    message + ", and UIBackgroundModes has `remote-notification`",
                    severity: .warning, isSaidBy: isUnused ? "CF002" : nil)
            } else if app.platform == .iOS, app.own(.tokenForFirebase) != nil,
                app.sources?.isComplete(of: .likelyPushes) == false
            {
                // Where all was read, nothing registers, and the function never runs.
                findings.suspect(
                    app, at: place,
                    message + ", and the app delegate hands its device token to Firebase")
            }
        }
    }

    private static func unknownEnvironment(_ facts: AppFacts, _ findings: inout AppFindings) {
        for bundle in facts.bundles {
            guard case .present(let value) = bundle.pushEntitlement else { continue }
            guard let text = value.string else {
                findings.report(bundle, at: value.place, "the push environment is not a text")
                continue
            }
            // An unresolved build setting.
            guard !AppProperty.namesBuildSetting(text) else { continue }
            guard text != "development", text != "production" else { continue }
            let known = ["development", "production"]
            if let meant = known.first(where: { $0 == text.lowercased() }) {
                // Xcode replaces the value at signing, so that distributed apps are correct.
                findings.report(
                    bundle, at: value.place, "the push environment is `\(text)`: case counts",
                    fix: "Write `\(meant)`.", severity: .warning)
                continue
            }
            let meant = known.first { NearMiss.isNear(text, $0) }
            findings.report(
                bundle, at: value.place, "the push environment is `\(text)`",
                fix: meant.map { "Write `\($0)`." })
        }
    }

    private static func interruptionLevels(_ facts: AppFacts, _ findings: inout AppFindings) {
        let levels: [(push: ServerPush, entitlement: String)] = [
            (.timeSensitive, "com.apple.developer.usernotifications.time-sensitive"),
            (.critical, "com.apple.developer.usernotifications.critical-alerts"),
        ]
        for level in levels {
            for app in facts.apps where facts.sends(level.push, to: app) {
                guard let place = app.entitlement(level.entitlement).placeIfNotTrue else {
                    continue
                }
                findings.report(
                    app, at: place,
                    "the server sends `\(level.push)`, and the entitlements lack "
                        + "`\(level.entitlement)`")
            }
        }
    }
}

extension AppFacts.Bundle {
    /// A place for findings about the whole bundle.
    var anyPlace: AppPlace? {
        if let info { return info.place }
        switch entitlements {
        case .known(let list): return list.place
        case .none(let place): return place
        case .unknown: return observations.first?.place
        }
    }
}
