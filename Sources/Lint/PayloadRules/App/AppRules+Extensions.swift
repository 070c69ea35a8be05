// SPDX-License-Identifier: Apache-2.0

/// Rules about app extensions for pushes, and about Live Activities.
extension AppRules {
    static let extensions: [AppRule] = [
        AppRule(
            "CF016", .error, "iOS does not load the notification service extension",
            why: """
                It needs the app's bundle id as prefix, its extension point, and the name of its \
                class. Systems before its deployment target go without it.
                """,
            from: [.serviceExtension],
            fix: """
                Compare the extension's Info.plist with that of Xcode's template, and its \
                deployment target with the app's.
                """,
            check: unloadedServiceExtension),
        AppRule(
            "CF017", .warning, "the extension hides notifications without being entitled to",
            why: "Without the filtering entitlement iOS shows the push's original content.",
            from: [.filteringThread],
            fix: """
                Ask Apple for com.apple.developer.usernotifications.filtering, or show something, \
                or send a background push.
                """
        ) { facts, findings in
            for bundle in facts.bundles {
                guard
                    let hidden = bundle.observations.first(where: {
                        $0.subject == .hiddenNotification
                    }),
                    bundle.entitlement("com.apple.developer.usernotifications.filtering")
                        .placeIfNotTrue != nil
                else { continue }
                findings.suspect(bundle, at: hidden.place)
            }
        },
        AppRule(
            "CF023", .warning, "location pushes lack their entitlement",
            why: "Without it the app gets no token for location pushes.", from: [.locationPushes],
            fix: "Ask Apple for com.apple.developer.location.push, and add it to the app's target.",
            check: missingLocationEntitlement),
        AppRule(
            "CF024", .warning, "Live Activities are pushed, and the app does not support them",
            why: "Without NSSupportsLiveActivities no activity can be started.",
            from: [.liveActivities],
            fix: "Set NSSupportsLiveActivities to true in the app's Info.plist.",
            check: unsupportedLiveActivities),
        AppRule(
            "CF025", .warning, "a widget handles pushes, and its extension may not receive any",
            why: "Without the entitlement the widget gets no token.", from: [.widgetPushes],
            fix: "Add the capability Push Notifications to the widget's target."
        ) { facts, findings in
            for bundle in facts.bundles where bundle.role == .appExtension {
                let isWidget = bundle.extensionPoint?.value == widgetExtensionPoint
                guard
                    bundle.shows({ $0 == .widgetPushHandler })
                        || (isWidget && facts.pushes(to: bundle).contains(.widgets)),
                    case .missing(let place) = bundle.pushEntitlement
                else { continue }
                findings.suspect(
                    bundle, at: place, "the entitlements lack `\(bundle.pushEntitlementName)`")
            }
        },
    ]

    private static let serviceExtensionPoint = "com.apple.usernotifications.service"
    private static let locationExtensionPoint = "com.apple.location.push.service"
    private static let widgetExtensionPoint = "com.apple.widgetkit-extension"

    private static func unloadedServiceExtension(
        _ facts: AppFacts, _ findings: inout AppFindings
    ) {
        for bundle in facts.bundles where bundle.role == .appExtension {
            if let point = bundle.extensionPoint, point.value != serviceExtensionPoint {
                let isMisspelt = NearMiss.isNear(point.value, serviceExtensionPoint)
                // A library in the extension may contain such a class too.
                let isKnown =
                    point.value.hasPrefix("com.apple.")
                    || AppProperty.namesBuildSetting(point.value)
                let shows = bundle.shows { $0 == .serviceExtension }
                guard isMisspelt || (!isKnown && shows) else { continue }
                findings.report(
                    bundle, at: point.place, "the extension point is `\(point.value)`",
                    fix: "Write `\(serviceExtensionPoint)`.",
                    severity: isMisspelt ? .error : .warning)
                continue
            }
            guard bundle.extensionPoint != nil else { continue }
            checkPrincipalClass(bundle, &findings)
            checkPrefix(bundle, facts, &findings)
            checkDeploymentTarget(bundle, facts, &findings)
        }
    }

    private static func checkPrincipalClass(
        _ bundle: AppFacts.Bundle, _ findings: inout AppFindings
    ) {
        guard let dictionary = bundle.info?["NSExtension"] else { return }
        guard let name = dictionary["NSExtensionPrincipalClass"] else {
            findings.report(
                bundle, at: dictionary.place, "the extension names no principal class",
                fix: "Add NSExtensionPrincipalClass, $(PRODUCT_MODULE_NAME).NotificationService.")
            return
        }
        guard name.string?.isEmpty ?? true else { return }
        findings.report(bundle, at: name.place, "the name of the principal class is empty")
    }

    private static func checkPrefix(
        _ bundle: AppFacts.Bundle, _ facts: AppFacts, _ findings: inout AppFindings
    ) {
        // It need not fit all apps that have it: each may be built in a configuration of its own.
        let hosts = facts.apps.filter { bundle.hosts.contains($0.name ?? "") }
        guard let own = bundle.identifier, let app = facts.host(of: bundle)?.identifier,
            [own, app].allSatisfy({ isBundleID($0.value) }),
            !([app] + hosts.compactMap(\.identifier)).contains(where: {
                own.value.hasPrefix($0.value + ".")
            })
        else { return }
        findings.report(
            bundle, at: own.place,
            "the bundle id `\(own.value)` does not begin with the app's, `\(app.value)`",
            fix: "Begin the extension's bundle id with `\(app.value).`.")
    }

    /// Reports an extension that needs a later system than the app, which runs on earlier ones
    /// without it. Before iOS 10 there were no such extensions.
    private static func checkDeploymentTarget(
        _ bundle: AppFacts.Bundle, _ facts: AppFacts, _ findings: inout AppFindings
    ) {
        let others = facts.apps.filter { bundle.hosts.contains($0.name ?? "") }
        let apps = others + [facts.host(of: bundle)].compactMap(\.self)
        let known = apps.compactMap(\.deploymentTarget?.value)
        guard bundle.platform == .iOS, apps.allSatisfy({ $0.platform == .iOS }),
            let own = bundle.deploymentTarget, known.count == apps.count,
            let latest = known.max(), latest < own.value, own.value > SystemVersion(10)
        else { return }
        findings.report(
            bundle, at: own.place,
            "the extension needs iOS \(own.value), and the app runs from iOS \(latest)",
            fix: "Give the extension the app's deployment target.", severity: .warning)
    }

    /// Whether a text can be a bundle id, not a build setting or a placeholder.
    private static func isBundleID(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
                    || (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte & 0xdf)
            }
    }

    private static func missingLocationEntitlement(
        _ facts: AppFacts, _ findings: inout AppFindings
    ) {
        let key = "com.apple.developer.location.push"
        for app in facts.apps {
            let hasExtension = facts.extensions(of: app).contains {
                $0.extensionPoint?.value == locationExtensionPoint
            }
            guard
                hasExtension || facts.sends(.location, to: app)
                    || app.shows({ $0 == .locationPushes }),
                let place = app.entitlement(key).placeIfNotTrue
            else { continue }
            findings.report(app, at: place, "the entitlements lack `\(key)`")
        }
    }

    private static func unsupportedLiveActivities(
        _ facts: AppFacts, _ findings: inout AppFindings
    ) {
        for app in facts.apps where app.platform == .iOS || app.platform == nil {
            let sends =
                facts.sends(.liveActivity, to: app) || facts.sends(.broadcast, to: app)
            // A package may contain them for other apps.
            let pushes = app.observations.contains {
                $0.subject == .pushedLiveActivity && !$0.isShared
            }
            guard let info = app.info, sends || pushes else { continue }
            let supports = info["NSSupportsLiveActivities"]
            guard let supports, supports.isTrue else {
                findings.report(app, at: supports?.place ?? info.place)
                continue
            }
            if info["NSSupportsLiveActivitiesFrequentUpdates"] == nil {
                findings.report(
                    app, at: supports.place,
                    "the app does not ask for frequent updates of Live Activities",
                    fix: """
                        Set NSSupportsLiveActivitiesFrequentUpdates if the server sends many with \
                        priority 10.
                        """,
                    severity: .note)
            }
        }
    }
}
