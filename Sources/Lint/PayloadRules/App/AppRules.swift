// SPDX-License-Identifier: Apache-2.0

/// The rules about an app's configuration. Each subject has its own file.
public enum AppRules {
    /// All rules, by id (facts §8.2).
    public static let table: [AppRule] =
        (waking + registration + deviceToken + pushEntitlements + voip + extensions + notifications
        + scheduling + continuedTasks + scenes + modes + background).sorted { $0.id < $1.id }

    /// The rule with this id; `nil` for an unknown one.
    public static func rule(_ id: RuleID) -> AppRule? { table.first { $0.id == id } }

    /// Returns all findings in one build configuration, in the order of the rules.
    /// ``AppFinding/merged(_:)`` merges those of several configurations.
    public static func findings(in facts: AppFacts) -> [AppFinding] {
        findings(in: facts, of: table)
    }

    /// Returns what some rules find, in their order.
    private static func findings(in facts: AppFacts, of rules: [AppRule]) -> [AppFinding] {
        guard let first = rules.first else { return [] }
        var findings = AppFindings(of: first, configuration: facts.configuration)
        for rule in rules {
            findings.begin(rule)
            rule.check(facts, &findings)
        }
        return findings.found
    }

    /// The rules that find no more than that nothing uses a mode of the app.
    package static let ofModes: Set<RuleID> = ["CF002", "CF019", "CF030"]

    /// The rules that the sources that were not read decide only if they would find more without
    /// them: those of modes and of calls, that of time that nothing ends, that of a fetch that
    /// nothing asks for, and that of progress.
    package static let decidable: Set<RuleID> = ofModes.union([
        "CF008", "CF045", "CF051", "CF057",
    ])

    /// The decidable rules that the sources that were not read decide, by the name of the app:
    /// those that find more, besides what was found, if nothing else is in them.
    package static func undecided(
        in facts: AppFacts, besides found: [AppFinding]
    ) -> [String: Set<RuleID>] {
        var read = facts
        for index in read.bundles.indices {
            let known = read.bundles[index].observations
            read.bundles[index].sources = AppFacts.Sources(known)
        }
        let told = Set(found.map(Mode.init))
        let asked = table.filter { decidable.contains($0.id) }
        let left = findings(in: read, of: asked).filter { !told.contains(Mode($0)) }
        var undecided: [String: Set<RuleID>] = [:]
        for app in facts.apps {
            let rules = left.filter { $0.target == app.name }.map(\.diagnostic.rule)
            var all = app.info == nil ? ofModes.union(rules) : Set(rules)
            // A library may register for calls in an app without their mode.
            if app.mode(.voip) == nil { all.insert("CF008") }
            undecided[app.name ?? "", default: []].formUnion(all)
        }
        return undecided
    }

    /// A rule, and the place of a mode.
    private struct Mode: Hashable {
        let rule: RuleID
        let target: String?
        let place: Int
        let pointer: String

        init(_ finding: AppFinding) {
            rule = finding.diagnostic.rule
            target = finding.target
            place = finding.diagnostic.offset
            pointer = finding.diagnostic.pointer
        }
    }
}

extension Evidence {
    static let backgroundModes = Evidence("Apple, UIBackgroundModes", .documented)
    static let backgroundLocations = Evidence(
        "Apple, CLLocationManager, allowsBackgroundLocationUpdates", .documented)
    static let hotspotHelper = Evidence("Apple, Hotspot helper (NEHotspotHelper)", .documented)
    static let apsEnvironment = Evidence("Apple, aps-environment", .documented)
    static let registering = Evidence(
        "Apple, Registering your app with APNs", .documented)
    static let pushToTalkApps = Evidence(
        "Apple, Creating a Push to Talk app; PTInstantiationError", .documented)
    static let voipMetadata = Evidence(
        "Apple, Responding to VoIP Notifications from PushKit, iOS 26.4", .documented)
    static let broadcastPushes = Evidence(
        "Apple, Setting up broadcast push notifications", .documented)
    static let notificationDelegate = Evidence(
        "Apple, UNUserNotificationCenterDelegate", .documented)
    static let filteringThread = Evidence("Apple Developer Forums, thread 696068", .engineer)
    static let backgroundTasks = Evidence(
        "collected notes on BGTaskScheduler from WWDC sessions and Apple's pages", .engineer)
    static let taskScheduler = Evidence("Apple, BGTaskScheduler", .documented)
    static let unrestrictedVoIP = Evidence(
        "public repositories whose signing failed with the entitlement", .observed)
    static let chinaStorefront = Evidence(
        "reports of App Review about CallKit in China mainland since May 2018", .observed)
    static let tokenDescription = Evidence(
        "NSHipster, Apple Push Notification Device Tokens", .observed)
    static let variableTokens = Evidence("Apple, Xcode 14 Release Notes", .documented)
    static let callActions = Evidence(
        "Apple, CXAction, and provider(_:timedOutPerforming:)", .documented)
    static let callServices = Evidence("reading of callservicesd", .reverseEngineered)
}
