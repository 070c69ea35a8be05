// SPDX-License-Identifier: Apache-2.0

import PayloadRules

private let handler = SourceObservation.Subject.remoteNotificationHandler(inSceneDelegate: false)
private let sceneHandler = SourceObservation.Subject.remoteNotificationHandler(
    inSceneDelegate: true)

extension AppCase {
    static let waking: [AppCase] = [
        AppCase("CF001", "no modes", .app([.background], info: [:]), .error),
        AppCase(
            "CF001", "another mode", .app([.background], info: Plist.modes("fetch")), .error),
        AppCase(
            "CF001", "misspelt", .app([.background], info: Plist.modes("remote-notifications")),
            .error),
        AppCase(
            "CF001", "allowed", .app([.background], info: Plist.modes("remote-notification")), nil),
        AppCase(
            "CF001", "only assumed", .assumed(.app([.background], info: [:])), .warning),
        AppCase("CF001", "not sent", .app([.voip], info: [:]), nil),
        source("CF001", "a handler", [handler], info: Plist.modes("fetch"), .note),
        source("CF001", "a handler of silent pushes", [handler, .silentPushCheck], .warning),
        source(
            "CF001", "a handler and the mode", [handler, .silentPushCheck],
            info: Plist.modes("remote-notification"), nil),
        source("CF001", "a handler of plugins", [handler, .pluginHost], nil),
        AppCase("CF001", "a package's handler", .shared(.app(info: [:], seen: [handler])), nil),
        AppCase("CF001", "no Info.plist", .app([.background]), nil),
        AppCase("CF001", "macOS", .app([.background], info: [:], platform: .macOS), nil),

        source("CF002", "no handler", [], info: Plist.modes("remote-notification"), .warning),
        source("CF002", "handled", [handler], info: Plist.modes("remote-notification"), nil),
        AppCase(
            "CF002", "a store that takes its pushes by itself",
            .app(info: Plist.modes("remote-notification"), seen: [.cloudSync]), nil),
        AppCase(
            "CF002", "a store without iCloud",
            .app(
                info: Plist.modes("remote-notification"), entitlements: [:], seen: [.cloudSync]),
            .warning),
        AppCase(
            "CF002", "not all was read",
            .app(info: Plist.modes("remote-notification"), seen: [], isComplete: false), nil),
        AppCase(
            "CF002", "the older handler only",
            .ownText(
                .app(
                    info: Plist.modes("remote-notification"), seen: [.oldNotificationHandler])),
            .warning),
        AppCase(
            "CF002", "both handlers",
            .ownText(
                .app(
                    info: Plist.modes("remote-notification"),
                    seen: [.oldNotificationHandler, handler])), nil),
        source(
            "CF002", "a plugin handles them", [.pushPlugin],
            info: Plist.modes("remote-notification"), nil),
        AppCase(
            "CF002", "no source text", .app(info: Plist.modes("remote-notification")), nil),

        source("CF003", "a path", [handler, .pathWithoutCompletion], .warning),
        source(
            "CF003", "a fetch", [.fault(.fetchPathWithoutCompletion)], info: Plist.modes("fetch"),
            .warning),
        AppCase(
            "CF003", "a fetch that iOS does not call",
            .app(
                info: [
                    "UIBackgroundModes": .list("fetch"),
                    "BGTaskSchedulerPermittedIdentifiers": .list("a"),
                ], seen: [.fault(.fetchPathWithoutCompletion)], deploymentTarget: "13.0"), nil),
        source("CF003", "a fetch without its mode", [.fault(.fetchPathWithoutCompletion)], nil),
        source("CF003", "none", [handler], nil),

        source("CF002", "mistyped", [.fault(.mistypedHandler)], .warning),
        source(
            "CF002", "in another class", [.fault(.strayHandler), handler],
            info: Plist.modes("remote-notification"), .warning),
        source("CF002", "in another class, without the mode", [.fault(.strayHandler)], nil),
        source(
            "CF002", "without an adaptor",
            [.fault(.delegateWithoutAdaptor), handler, .appOfScenes],
            info: Plist.modes("remote-notification"), .warning),
        source(
            "CF002", "a delegate of UIKit", [.fault(.delegateWithoutAdaptor), handler], nil),
        source(
            "CF054", "no registration", [handler], info: Plist.modes("remote-notification"),
            .warning),
        source(
            "CF054", "a registration", [handler, .remoteNotificationRegistration(.unknown)],
            info: Plist.modes("remote-notification"), nil),
        source(
            "CF054", "a module that may register",
            [handler, .foreignModule], info: Plist.modes("remote-notification"), nil),
        source(
            "CF054", "a library that registers", [handler, .pushPlugin],
            info: Plist.modes("remote-notification"), nil),
        source("CF054", "no mode", [handler], nil),
        source("CF054", "a registration without effect", [.obsoleteRegistration], .warning),
        source(
            "CF054", "another one beside it",
            [.obsoleteRegistration, .remoteNotificationRegistration(.launch)], nil),
        source(
            "CF054", "a library beside it", [.obsoleteRegistration, .pushPlugin], nil),
        source("CF051", "no interval", [.legacyFetch], info: Plist.modes("fetch"), .warning),
        source(
            "CF051", "an interval", [.legacyFetch, .fetchInterval], info: Plist.modes("fetch"),
            nil),

        source("CF004", "scene delegate", [sceneHandler], .warning),
        source("CF004", "both delegates", [sceneHandler, handler], nil),
        source("CF004", "task in a view, which is CF021's", [.registeredTask("a", .view)], nil),
        source("CF004", "calls in a scene", [.voipRegistration(.scene)], .warning),
        source(
            "CF004", "calls with a tap, and in a view",
            [.voipRegistration(.event), .voipRegistration(.view)], .warning),
        source(
            "CF004", "calls in a scene, and where the launch may come",
            [.voipRegistration(.scene), .voipRegistration(.unknown)], nil),
        source("CF004", "calls soon after the launch", [.voipRegistration(.afterLaunch)], nil),
        source("CF004", "calls by a controller", [.voipRegistration(.viewController)], nil),
        source(
            "CF004", "token in a controller", [.remoteNotificationRegistration(.viewController)],
            info: Plist.modes("remote-notification"), .warning),
        source(
            "CF004", "token in a view", [.remoteNotificationRegistration(.view)],
            info: Plist.modes("remote-notification"), .warning),
        source(
            "CF004", "token in a view, for alerts", [.remoteNotificationRegistration(.view)], nil),
        source(
            "CF004", "token in a view too",
            [.remoteNotificationRegistration(.view), .remoteNotificationRegistration(.launch)],
            info: Plist.modes("remote-notification"), nil),
        source(
            "CF004", "token in a view, and in a function that may be called at launch",
            [.remoteNotificationRegistration(.view), .remoteNotificationRegistration(.unknown)],
            info: Plist.modes("remote-notification"), nil),
        source(
            "CF004", "token in a view, and once alerts are permitted",
            [.remoteNotificationRegistration(.view), .remoteNotificationRegistration(.permission)],
            info: Plist.modes("remote-notification"), nil),
    ]

    static let registration: [AppCase] = [
        source("CF026", "behind a flag", [.remoteNotificationRegistration(.flag)], .warning),
        source("CF026", "in defaults", [.storedDeviceToken], .warning),
        source(
            "CF026", "behind a flag, and at launch",
            [.remoteNotificationRegistration(.flag), .remoteNotificationRegistration(.launch)],
            nil),
        source("CF026", "at launch", [.remoteNotificationRegistration(.launch)], nil),

        source("CF027", "described", [.describedDeviceToken], .warning),
        source("CF027", "decoded", [.decodedDeviceToken], .warning),
        source("CF027", "without zeros", [.shortenedDeviceToken], .warning),
        source("CF027", "not described", [handler], nil),

        source("CF028", "fixed", [.fixedTokenLength], .warning),
        source("CF028", "not fixed", [handler], nil),

        source(
            "CF032", "sent", [.remoteNotificationRegistration(.permission)], sends: [.background],
            .warning),
        source(
            "CF032", "allowed", [.remoteNotificationRegistration(.permission), handler],
            info: Plist.modes("remote-notification"), .warning),
        source(
            "CF032", "not handled", [.remoteNotificationRegistration(.permission)],
            info: Plist.modes("remote-notification"), nil),
        source(
            "CF032", "allowed, and not sent", [.remoteNotificationRegistration(.permission)],
            info: Plist.modes("remote-notification"), sends: [.alert, .voip], nil),
        source(
            "CF032", "a plugin registers",
            [.remoteNotificationRegistration(.permission), .pushPlugin],
            sends: [.background], nil),
        AppCase(
            "CF032", "a Mac",
            .app(
                [.background], info: [:], seen: [.remoteNotificationRegistration(.permission)],
                platform: .macOS), nil),
        source(
            "CF032", "only alerts", [.remoteNotificationRegistration(.permission)],
            sends: [.alert], nil),
        source(
            "CF032", "elsewhere too",
            [
                .remoteNotificationRegistration(.permission),
                .remoteNotificationRegistration(.launch),
            ],
            sends: [.background], nil),
    ]

    private static let critical = "com.apple.developer.usernotifications.critical-alerts"
    private static let unrestricted = "com.apple.developer.pushkit.unrestricted-voip"
    private static let communication = "com.apple.developer.usernotifications.communication"

    static let entitlements: [AppCase] = [
        AppCase("CF005", "sent", .app([.alert], entitlements: [:]), .error),
        AppCase(
            "CF005", "the mode",
            .app(info: Plist.modes("remote-notification"), entitlements: [:]), .warning),
        AppCase(
            "CF005", "the mode, and the source text asks",
            .app(
                info: Plist.modes("remote-notification"), entitlements: [:],
                seen: [.remoteNotificationRegistration(.launch)]), .error),
        AppCase(
            "CF005", "the mode, and what may not be built asks",
            .conditional(
                .app(
                    info: Plist.modes("remote-notification"), entitlements: [:],
                    seen: [.remoteNotificationRegistration(.unknown)])), .warning),
        AppCase(
            "CF005", "the mode of a watch",
            .app(
                info: Plist.modes("remote-notification"), entitlements: [:], platform: .watchOS),
            nil),
        AppCase(
            "CF005", "the mode of a Mac",
            .app(info: Plist.modes("remote-notification"), entitlements: [:], platform: .macOS),
            nil),
        AppCase(
            "CF005", "source text", .app(entitlements: [:], seen: [.voipRegistration(.unknown)]),
            .warning),
        AppCase(
            "CF005", "a token for Firebase, and a library that may register",
            .app(entitlements: [:], seen: [.tokenForFirebase], isComplete: false), .warning),
        AppCase(
            "CF005", "a token for Firebase, and nothing registers",
            .app(entitlements: [:], seen: [.tokenForFirebase]), nil),
        AppCase(
            "CF005", "macOS, asked for on iOS alone",
            .conditional(
                .app(entitlements: [:], seen: [.voipRegistration(.unknown)], platform: .macOS),
                isBuiltForIOS: true), nil),
        AppCase(
            "CF005", "macOS, iOS's name",
            .app(
                [.alert], entitlements: ["aps-environment": .string("production")], platform: .macOS
            ),
            .error),
        AppCase(
            "CF005", "platform not known",
            .app(
                [.alert],
                entitlements: ["com.apple.developer.aps-environment": .string("production")],
                platform: nil),
            nil),
        AppCase(
            "CF005", "there",
            .app([.alert], entitlements: ["aps-environment": .string("development")]), nil),
        AppCase("CF005", "not known", .app([.alert]), nil),
        AppCase("CF005", "no pushes", .app(info: [:], entitlements: [:], seen: []), nil),

        AppCase(
            "CF006", "sandbox", .app(entitlements: ["aps-environment": .string("sandbox")]),
            .error),
        AppCase(
            "CF006", "another case",
            .app(entitlements: ["aps-environment": .string("Production")]), .warning),
        AppCase("CF006", "true", .app(entitlements: ["aps-environment": .boolean(true)]), .error),
        AppCase(
            "CF006", "a setting",
            .app(entitlements: ["aps-environment": .string("$(APS_ENVIRONMENT)")]), nil),
        AppCase(
            "CF006", "production", .app(entitlements: ["aps-environment": .string("production")]),
            nil),

        AppCase(
            "CF007", "exported",
            .app(entitlements: ["aps-environment": .string("development")], isExported: true),
            .warning),
        AppCase(
            "CF007", "in the project",
            .app(entitlements: ["aps-environment": .string("development")]), nil),
        AppCase(
            "CF007", "production",
            .app(entitlements: ["aps-environment": .string("production")], isExported: true), nil),

        AppCase("CF012", "asked", .app(entitlements: [unrestricted: .boolean(true)]), .warning),
        AppCase(
            "CF012", "for talk", .app(entitlements: [unrestricted + ".ptt": .boolean(true)]),
            .warning),
        AppCase("CF012", "not asked", .app(entitlements: [:]), nil),

        AppCase("CF013", "misplaced", .app(info: [unrestricted: .boolean(true)]), .warning),
        AppCase(
            "CF013", "the environment", .app(info: ["aps-environment": .string("production")]),
            .warning),
        AppCase(
            "CF013", "another one",
            .app(info: ["com.apple.developer.associated-domains": .array([])]), .warning),
        AppCase(
            "CF013", "the groups of apps",
            .app(info: ["com.apple.security.application-groups": .array([])]), .warning),
        AppCase(
            "CF013", "a key of Core NFC",
            .app(info: [
                "com.apple.developer.nfc.readersession.felica.systemcodes": .array([])
            ]), nil),
        AppCase(
            "CF013", "the entitlement of Core NFC",
            .app(info: ["com.apple.developer.nfc.readersession.formats": .array([])]), .warning),
        AppCase("CF013", "not there", .app(info: [:]), nil),

        AppCase("CF018", "missing", .app([.timeSensitive], entitlements: [:]), .warning),
        AppCase(
            "CF018", "false", .app([.critical], entitlements: [critical: .boolean(false)]),
            .warning),
        AppCase(
            "CF018", "granted", .app([.critical], entitlements: [critical: .boolean(true)]), nil),
        AppCase("CF018", "not sent", .app([.alert], entitlements: [:]), nil),

        AppCase("CF029", "sent", .app([.communication], entitlements: [:]), .note),
        AppCase(
            "CF029", "source text", .app(entitlements: [:], seen: [.communicationStyle]), .note),
        AppCase(
            "CF029", "granted",
            .app([.communication], entitlements: [communication: .boolean(true)]), nil),

        AppCase("CF031", "sent", .app([.broadcast], info: [:]), .note),
        AppCase("CF031", "not sent", .app([.liveActivity], info: [:]), nil),
    ]
}
