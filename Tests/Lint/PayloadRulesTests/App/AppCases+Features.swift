// SPDX-License-Identifier: Apache-2.0

import PayloadRules

private let oldHandler = SourceObservation.Subject.voipHandler(takesMetadata: false)
private let newHandler = SourceObservation.Subject.voipHandler(takesMetadata: true)

extension AppCase {
    private static let talk = "com.apple.developer.push-to-talk"
    private static let location = "com.apple.developer.location.push"
    private static let filtering = "com.apple.developer.usernotifications.filtering"

    static let voip: [AppCase] = [
        source("CF008", "mode only", [], info: Plist.modes("voip"), .warning),
        source("CF008", "registration only", [.voipRegistration(.unknown)], info: [:], .warning),
        AppCase("CF008", "sent", .app([.voip], info: Plist.modes("fetch")), .error),
        source(
            "CF008", "calls without the pushes that are sent", [.callInterface],
            info: Plist.modes("voip"), sends: [.voip], .warning),
        source("CF008", "sent, and neither is there", [], info: [:], sends: [.voip], .error),
        source("CF008", "calls without pushes", [.callInterface], info: Plist.modes("voip"), nil),
        source("CF008", "both", [.voipRegistration(.unknown)], info: Plist.modes("voip"), nil),
        source("CF008", "neither", [], nil),
        source("CF008", "no delegate", [.fault(.pushRegistryWithoutDelegate)], .warning),
        source("CF008", "empty types", [.fault(.pushRegistryWithoutTypes)], .warning),
        source(
            "CF008", "empty types of one registry of two",
            [.fault(.pushRegistryWithoutTypes), .voipRegistration(.unknown)],
            info: Plist.modes("voip"), nil),
        source(
            "CF008", "no push types", [.pushRegistry, .callInterface], info: Plist.modes("voip"),
            .warning),
        source(
            "CF008", "push types of a variable", [.pushRegistry, .otherPushTypes, .callInterface],
            info: Plist.modes("voip"), nil),

        source("CF009", "no CallKit", [.voipRegistration(.unknown)], .warning),
        source(
            "CF009", "idle handler",
            [.voipRegistration(.unknown), oldHandler, .voipHandlerWithoutReport, .callInterface],
            .warning),
        source(
            "CF009", "an empty one alone",
            [.voipRegistration(.unknown), oldHandler, .emptyVoIPHandler, .callInterface], .warning),
        source(
            "CF009", "an empty one beside another",
            [
                .voipRegistration(.unknown), oldHandler, .emptyVoIPHandler, oldHandler,
                .callInterface,
            ], nil),
        source(
            "CF009", "reported", [.voipRegistration(.unknown), oldHandler, .callInterface], nil),

        source("CF053", "left open", [.fault(.actionLeftOpen)], .warning),
        source("CF053", "no fault", [.callInterface], nil),
        source("CF008", "a provider without delegate", [.fault(.callsWithoutDelegate)], .warning),

        source("CF010", "late", [oldHandler, .lateReport, .callInterface], .warning),
        source("CF010", "at once", [oldHandler, .callInterface], nil),

        AppCase(
            "CF011", "old handler", .app(seen: [oldHandler], deploymentTarget: "26.4"), .note),
        AppCase(
            "CF011", "both", .app(seen: [oldHandler, newHandler], deploymentTarget: "27.0"), nil),
        AppCase("CF011", "older", .app(seen: [oldHandler], deploymentTarget: "26.3"), nil),

        AppCase(
            "CF014", "no switch", .app(seen: [.callInterface], storefronts: ["CHN"]), .warning),
        AppCase(
            "CF014", "a switch",
            .app(seen: [.callInterface, .regionSwitch], storefronts: ["CHN"]), nil),
        AppCase("CF014", "elsewhere", .app(seen: [.callInterface], storefronts: ["FRA"]), nil),

        AppCase(
            "CF015", "no entitlements",
            .app(info: Plist.modes("push-to-talk"), entitlements: [:]), .error),
        AppCase(
            "CF015", "no push",
            .app(info: Plist.modes("push-to-talk"), entitlements: [talk: .boolean(true)]), .error),
        AppCase(
            "CF015", "no use",
            .app(info: Plist.modes("push-to-talk"), entitlements: [:], seen: []), .warning),
        AppCase(
            "CF015", "a use",
            .app(
                info: Plist.modes("push-to-talk"), entitlements: [:],
                seen: [.feature(.pushToTalk)]), .error),
        AppCase("CF015", "no mode", .app([.pushToTalk], info: [:]), .error),
        AppCase(
            "CF015", "whole",
            .app(
                info: Plist.modes("push-to-talk"),
                entitlements: [talk: .boolean(true), "aps-environment": .string("development")]),
            nil),
    ]

    static func service(
        _ extensionMembers: [String: String], identifier: String = "com.example.app.service",
        entitlements: [String: AppProperty.Value]? = nil, seen: [SourceObservation.Subject]? = nil
    ) -> AppFacts {
        .app(
            info: [:],
            extensions: [
                .sample(
                    "Service", identifier: identifier,
                    info: ["NSExtension": .members(extensionMembers)], entitlements: entitlements,
                    seen: seen)
            ])
    }

    /// The extension is embedded in some of two apps, and its id begins with that of the second.
    private static func serviceOfTwoApps(hosts: [String]) -> AppFacts {
        var facts = service(goodService, identifier: "com.example.beta.service")
        facts.bundles[1].host = "App"
        facts.bundles[1].hosts = hosts
        facts.bundles.append(.sample("Beta", .app, identifier: "com.example.beta", info: [:]))
        return facts
    }

    /// The extension needs a system, and the app another one.
    private static func service(
        from own: SystemVersion?, app: SystemVersion?, platform: AppPlatform = .iOS
    ) -> AppFacts {
        var facts = service(goodService)
        facts.bundles[0].platform = platform
        let place = AppPlace(file: "App.xcodeproj", line: 1)
        facts.bundles[0].deploymentTarget = app.map { Located($0, at: place) }
        facts.bundles[1].deploymentTarget = own.map { Located($0, at: place) }
        return facts
    }

    private static let servicePoint = "com.apple.usernotifications.service"
    private static let goodService = [
        "NSExtensionPointIdentifier": servicePoint, "NSExtensionPrincipalClass": "M.Service",
    ]

    static let extensions: [AppCase] = [
        AppCase("CF016", "prefix", service(goodService, identifier: "com.example.service"), .error),
        AppCase(
            "CF016", "no class", service(["NSExtensionPointIdentifier": servicePoint]), .error),
        AppCase(
            "CF016", "misspelt point",
            service(["NSExtensionPointIdentifier": "com.apple.usernotification.service"]), .error),
        AppCase(
            "CF016", "other point",
            service(
                ["NSExtensionPointIdentifier": "com.example.notifications"],
                seen: [.serviceExtension]),
            .warning),
        AppCase("CF016", "placeholder", service(goodService, identifier: "*"), nil),
        AppCase(
            "CF016", "unknown point",
            service(["NSExtensionPointIdentifier": "$(POINT)"], seen: [.serviceExtension]), nil),
        AppCase("CF016", "in two apps", serviceOfTwoApps(hosts: ["App", "Beta"]), nil),
        AppCase("CF016", "of another app", serviceOfTwoApps(hosts: ["App"]), .error),
        AppCase(
            "CF016", "widget with a library",
            service(
                ["NSExtensionPointIdentifier": "com.apple.widgetkit-extension"],
                seen: [.serviceExtension]), nil),
        AppCase("CF016", "good", service(goodService), nil),
        AppCase("CF016", "later", service(from: .init(17, 2), app: .init(17)), .warning),
        AppCase("CF016", "as late", service(from: .init(17), app: .init(17)), nil),
        AppCase("CF016", "the first system with any", service(from: .init(10), app: .init(9)), nil),
        AppCase(
            "CF016", "a system of another platform",
            service(from: .init(17), app: .init(14), platform: .macOS), nil),
        AppCase("CF016", "an unknown system", service(from: .init(17), app: nil), nil),
        AppCase(
            "CF016", "a widget",
            service(["NSExtensionPointIdentifier": "com.apple.widgetkit-extension"]), nil),

        AppCase(
            "CF017", "not entitled",
            service(goodService, entitlements: [:], seen: [.hiddenNotification]), .warning),
        AppCase(
            "CF017", "entitled",
            service(
                goodService, entitlements: [filtering: .boolean(true)],
                seen: [.hiddenNotification]),
            nil),

        AppCase("CF023", "sent", .app([.location], entitlements: [:]), .warning),
        AppCase(
            "CF023", "an extension",
            .app(
                entitlements: [:],
                extensions: [
                    .sample(
                        "Location",
                        info: [
                            "NSExtension": .members([
                                "NSExtensionPointIdentifier": "com.apple.location.push.service"
                            ])
                        ])
                ]), .warning),
        AppCase(
            "CF023", "entitled", .app([.location], entitlements: [location: .boolean(true)]), nil),

        AppCase("CF024", "sent", .app([.liveActivity], info: [:]), .warning),
        AppCase(
            "CF024", "false",
            .app(info: ["NSSupportsLiveActivities": .boolean(false)], seen: [.pushedLiveActivity]),
            .warning),
        AppCase(
            "CF024", "not frequent",
            .app([.liveActivity], info: ["NSSupportsLiveActivities": .boolean(true)]), .note),
        AppCase(
            "CF024", "supported",
            .app(
                [.liveActivity],
                info: [
                    "NSSupportsLiveActivities": .string("YES"),
                    "NSSupportsLiveActivitiesFrequentUpdates": .boolean(false),
                ]), nil),

        AppCase(
            "CF025", "not entitled",
            .app(
                extensions: [.sample("Widget", entitlements: [:], seen: [.widgetPushHandler])]),
            .warning),
        AppCase(
            "CF025", "entitled",
            .app(
                extensions: [
                    .sample(
                        "Widget", entitlements: ["aps-environment": .string("development")],
                        seen: [.widgetPushHandler])
                ]), nil),
    ]

    private static func permitting(_ identifier: String) -> [String: AppProperty.Value] {
        ["BGTaskSchedulerPermittedIdentifiers": .list(identifier)]
    }

    /// An app whose packages were not read.
    private static func unread(
        _ rule: RuleID, _ name: String, _ seen: [SourceObservation.Subject],
        info: [String: AppProperty.Value] = Plist.modes("fetch"), _ severity: Severity?
    ) -> AppCase {
        AppCase(rule, name, .ownText(.app(info: info, seen: seen)), severity)
    }

    private static func clip(_ seen: [SourceObservation.Subject]) -> AppFacts {
        var facts = AppFacts.app(info: permitting("b"), seen: seen)
        for index in facts.bundles.indices { facts.bundles[index].isAppClip = true }
        return facts
    }

    private static func asking(
        _ requests: AppFacts.Sources.BackgroundRequests, for name: String? = "a"
    ) -> AppFacts {
        var facts = AppFacts.app(seen: [.taskHandler(name)])
        for index in facts.bundles.indices {
            facts.bundles[index].sources?.backgroundRequests = requests
        }
        return facts
    }

    private static func registering(
        _ names: [String?], isKnown: Bool = true, isCertain: Bool = true,
        work: SourceObservation.BackgroundWork = .processing,
        info: [String: AppProperty.Value] = [:]
    ) -> AppFacts {
        var facts = AppFacts.app(
            info: info, seen: names.map { .taskHandler($0) } + [.requestedTask("a.b", work)])
        for index in facts.bundles.indices {
            facts.bundles[index].sources?.knowsRegistrations = isKnown
            let last = (facts.bundles[index].sources?.observations.count ?? 0) - 1
            facts.bundles[index].sources?.observations[last].isCertainRequest = isCertain
        }
        return facts
    }

    static let scheduling: [AppCase] = [
        source("CF019", "fetch", [], info: Plist.modes("fetch"), .warning),
        source(
            "CF019", "processing", [.backgroundWork(.appRefresh)], info: Plist.modes("processing"),
            .warning),
        source(
            "CF019", "used", [.backgroundWork(.appRefresh), .backgroundWork(.processing)],
            info: Plist.modes("fetch", "processing").merging(permitting("a")) { $1 }, nil),
        source(
            "CF019", "continued processing", [.backgroundWork(.continued)],
            info: Plist.modes("processing").merging(permitting("a")) { $1 }, nil),
        source(
            "CF019", "nothing permitted", [.backgroundWork(.processing)],
            info: Plist.modes("processing"), .warning),
        source(
            "CF019", "CF020 says it",
            [.requestedTask("a", .processing), .backgroundWork(.processing)],
            info: Plist.modes("processing"), nil),
        source("CF019", "older way", [.legacyFetch], info: Plist.modes("fetch"), nil),
        AppCase(
            "CF019", "a watch",
            .app(info: Plist.modes("fetch"), seen: [], platform: .watchOS), nil),
        unread("CF019", "the delegate has no fetch", [.plainDelegate], .warning),
        unread("CF019", "the delegate may be a package's", [], nil),
        unread("CF019", "plugins", [.plainDelegate, .pluginHost], nil),
        unread("CF019", "the older way, packages", [.plainDelegate, .legacyFetch], nil),
        unread(
            "CF019", "tasks of packages", [.plainDelegate],
            info: Plist.modes("fetch").merging(permitting("a")) { $1 }, nil),
        unread(
            "CF019", "all tasks are refreshes", [.requestedTask("a", .appRefresh)],
            info: Plist.modes("processing").merging(permitting("a")) { $1 }, .warning),
        unread(
            "CF019", "the only task is a refresh", [.requestedTask(nil, .appRefresh)],
            info: Plist.modes("processing").merging(permitting("a")) { $1 }, .warning),
        unread(
            "CF019", "a task is left", [.requestedTask("b", .appRefresh)],
            info: Plist.modes("processing").merging(permitting("a")) { $1 }, nil),
        unread(
            "CF019", "one of each kind",
            [.requestedTask("a", .appRefresh), .requestedTask(nil, .processing)],
            info: Plist.modes("processing").merging(permitting("a")) { $1 }, nil),

        source(
            "CF049", "refresh", [.requestedTask("a", .appRefresh)],
            info: Plist.modes("processing", "remote-notification"), .warning),
        source("CF049", "processing", [.requestedTask(nil, .processing)], info: [:], .warning),
        source(
            "CF049", "there",
            [.requestedTask("a", .appRefresh), .requestedTask("b", .processing)],
            info: Plist.modes("fetch", "processing"), nil),
        source("CF049", "continued", [.requestedTask("a", .continued)], info: [:], nil),
        AppCase(
            "CF049", "a package's task that the app permits",
            .shared(.app(info: permitting("a"), seen: [.requestedTask("a", .appRefresh)])),
            .warning),
        AppCase(
            "CF049", "another app's task in a package",
            .shared(.app(info: permitting("b"), seen: [.requestedTask("a", .appRefresh)])), nil),
        AppCase(
            "CF049", "a package's task of any name",
            .shared(.app(info: permitting("a"), seen: [.requestedTask(nil, .appRefresh)])), nil),
        AppCase(
            "CF049", "may not be built",
            .conditional(.app(info: [:], seen: [.requestedTask("a", .appRefresh)])), nil),
        AppCase(
            "CF049", "built for iOS",
            .conditional(
                .app(info: [:], seen: [.requestedTask("a", .appRefresh)]), isBuiltForIOS: true),
            .warning),

        AppCase(
            "CF051", "permitted tasks",
            .app(info: permitting("a"), seen: [.legacyFetch], deploymentTarget: "13.0"), .warning),
        AppCase(
            "CF051", "for older systems too",
            .app(
                info: Plist.modes("fetch").merging(permitting("a")) { $1 },
                seen: [.legacyFetch, .fetchInterval], deploymentTarget: "12.4"), nil),
        AppCase(
            "CF051", "the handler of a task calls it",
            .app(
                info: permitting("a"), seen: [.legacyFetch, .legacyFetchCall],
                deploymentTarget: "17.0"), nil),
        AppCase(
            "CF051", "no permitted tasks",
            .app(
                info: Plist.modes("fetch"), seen: [.legacyFetch, .fetchInterval],
                deploymentTarget: "17.0"), nil),
        AppCase(
            "CF051", "no mode", .app(info: [:], seen: [.legacyFetch], deploymentTarget: "17.0"),
            .warning),
        source("CF051", "no mode, and the app calls it", [.legacyFetch, .legacyFetchCall], nil),

        AppCase("CF052", "no request", asking(.nowhere), .warning),
        AppCase("CF052", "requests in handlers", asking(.inHandlers), .warning),
        AppCase("CF052", "requests", asking(.unknown), nil),
        AppCase("CF052", "a wildcard", asking(.nowhere, for: "a.*"), nil),
        AppCase("CF052", "a handler of any name", asking(.nowhere, for: nil), nil),
        AppCase("CF052", "a package's handler", .shared(asking(.nowhere)), nil),
        AppCase("CF052", "packages", .ownText(asking(.nowhere)), nil),
        AppCase("CF052", "no registration", registering([]), .warning),
        AppCase("CF052", "the registration of another", registering(["a.c"]), .warning),
        AppCase("CF052", "a registration", registering(["a.c", "a.b"]), nil),
        AppCase("CF052", "a registration by a wildcard", registering(["a.*"]), nil),
        AppCase("CF052", "a registration of any name", registering(["a.c", nil]), nil),
        AppCase(
            "CF052", "a permitted task that nothing registers",
            registering(["a.b"], info: permitting("a.c")), .note),
        AppCase(
            "CF052", "a permitted task that is registered",
            registering(["a.b"], info: permitting("a.b")), nil),
        AppCase(
            "CF052", "a permitted wildcard", registering(["a.b"], info: permitting("a.*")), nil),
        AppCase(
            "CF052", "permitted, and a registration of any name",
            registering(["a.b", nil], info: permitting("a.c")), nil),
        AppCase("CF020", "an App Clip", clip([.requestedTask("a", .appRefresh)]), nil),
        AppCase("CF049", "an App Clip", clip([.requestedTask("b", .appRefresh)]), nil),
        AppCase("CF052", "registrations elsewhere", registering([], isKnown: false), nil),
        AppCase("CF052", "a request of another name", registering([], isCertain: false), nil),
        AppCase("CF052", "a continued task", registering([], work: .continued), nil),
        AppCase("CF052", "a package's request", .shared(registering([])), nil),
        AppCase("CF052", "a request beside packages", .ownText(registering([])), nil),

        source("CF020", "no list", [.registeredTask("a.sync", .launch)], .error),
        source(
            "CF020", "case", [.registeredTask("a.Sync", .launch)], info: permitting("a.sync"),
            .error),
        source(
            "CF020", "requested", [.requestedTask("a.sync", .appRefresh)],
            info: permitting("a.other"), .error),
        source(
            "CF020", "wildcard, refresh", [.requestedTask("a.sync", .appRefresh)],
            info: permitting("a.*"), .error),
        source(
            "CF020", "wildcard, continued", [.requestedTask("a.sync", .continued)],
            info: permitting("a.*"), nil),
        source(
            "CF020", "permitted", [.registeredTask("a.sync", .launch)], info: permitting("a.sync"),
            nil),
        source("CF020", "not resolved", [.registeredTask(nil, .launch)], nil),
        AppCase(
            "CF020", "a watch",
            .app(info: [:], seen: [.registeredTask("a", .launch)], platform: .watchOS), nil),
        AppCase(
            "CF020", "a television",
            .app(info: [:], seen: [.registeredTask("a", .launch)], platform: .tvOS), .error),
        source(
            "CF020", "a setting", [.registeredTask("com.example.sync", .launch)],
            info: permitting("$(PRODUCT_BUNDLE_IDENTIFIER).sync"), nil),

        source(
            "CF021", "twice", [.registeredTask("a", .launch), .registeredTask("a", .launch)],
            .warning),
        source(
            "CF021", "once, and where nothing may call it",
            [.registeredTask("a", .launch), .registeredTask("a", .elsewhere)], .note),
        source("CF021", "late", [.registeredTask("a", .view)], .warning),
        source("CF021", "after the launch", [.registeredTask("a", .afterLaunch)], .warning),
        source(
            "CF021", "continued processing",
            [.registeredTask("a", .view), .requestedTask("a", .continued)], nil),
        source(
            "CF021", "two", [.registeredTask("a", .launch), .registeredTask("b", .launch)], nil),
        AppCase(
            "CF021", "in two branches of #if",
            AppFacts(bundles: [
                AppFacts.Bundle(
                    sources: AppFacts.Sources(
                        [0, 1].map {
                            SourceObservation(
                                .registeredTask("a", .launch), at: AppPlace(file: "a", offset: $0),
                                isConditional: true)
                        }))
            ]), nil),
    ]

    static let modes: [AppCase] = [
        source("CF022", "no mode", [.backgroundLocation], .warning),
        source("CF022", "the mode", [.backgroundLocation], info: Plist.modes("location"), nil),

        source("CF030", "no feature", [], info: Plist.modes("audio"), .note),
        source("CF030", "no feature, nor key", [], info: Plist.modes("location"), .warning),
        source(
            "CF030", "the key of a feature", [],
            info: Plist.modes("bluetooth-central").merging([
                "NSBluetoothAlwaysUsageDescription": .string("For rides")
            ]) { $1 }, nil),
        source(
            "CF030", "protocols of accessories", [],
            info: Plist.modes("external-accessory").merging([
                "UISupportedExternalAccessoryProtocols": .string("com.example.p")
            ]) { $1 }, nil),
        source(
            "CF030", "a feature without its key", [.feature(.nearbyInteraction)],
            info: Plist.modes("nearby-interaction"), nil),
        source("CF030", "no mode at all", [], info: Plist.modes("audoi"), .warning),
        source(
            "CF030", "no mode, in the words of a feature", [],
            info: Plist.modes("background-fetch"), .warning),
        source("CF030", "of another time", [], info: Plist.modes("newsstand-content"), nil),
        source("CF030", "of Apple's apps", [], info: Plist.modes("continuous"), nil),
        AppCase(
            "CF030", "of a hotspot helper that may not be one",
            .app(info: Plist.modes("network-authentication"), entitlements: [:]), .warning),
        AppCase(
            "CF030", "of a hotspot helper",
            .app(
                info: Plist.modes("network-authentication"),
                entitlements: ["com.apple.developer.networking.HotspotHelper": .boolean(true)]),
            nil),
        source(
            "CF030", "of hotspot helpers", [], info: Plist.modes("network-authentication"), nil),
        AppCase(
            "CF030", "of a watch",
            .app(info: Plist.modes("self-care"), platform: .watchOS), nil),
        source("CF030", "a feature", [.feature(.audio)], info: Plist.modes("audio"), nil),
    ]
}
