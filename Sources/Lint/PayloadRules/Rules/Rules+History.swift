// SPDX-License-Identifier: Apache-2.0

/// Rules about several pushes in order of time. ``PushHistory`` checks them.
extension Rules {
    static let history: [Rule] = [
        historyRule(
            "BG020", .warning, "a device gets too many background pushes in an hour",
            why: "Apple advises two or three an hour at most; the rest is held or dropped.",
            from: [.backgroundUpdates, .proposal],
            fix: "Join wakes, and let the app fetch all that changed at once.", for: .background),
        historyRule(
            "BG021", .warning, "two background pushes to a device follow each other too closely",
            why: "Launches are about 15 minutes apart: the second replaces the first or waits.",
            from: [.backgroundSession], fix: "Wait before the second one, or leave it out.",
            for: .background),
        historyRule(
            "BG025", .warning, "the same background push goes to very many devices at once",
            why: "All that wake ask the server for the same thing within the next half minute.",
            from: [.proposal], fix: "Spread the pushes over time, with jitter.", for: .background),
        historyRule(
            "VO011", .error, "one device token is used for VoIP and for other pushes",
            why: "PushKit gives an app a token of its own; the other kind of push is refused.",
            from: [.pushRegistry], fix: "Store the two tokens of a device apart."),
        historyRule(
            "VO012", .warning, "a device gets more VoIP pushes than anybody gets calls",
            why: "It looks like VoIP pushes that wake the app for something else.",
            from: [.proposal, .pushKit], fix: "Use background pushes for what is not a call.",
            for: .voip),
        historyRule(
            "VO013", .warning, "a VoIP push is sent again when the caller has gone",
            why: "A call that comes late rings for nobody, and must be reported all the same.",
            from: [.proposal, .pushKit], fix: "Report the missed call with an alert push.",
            for: .voip),
        historyRule(
            "VO014", .warning, "two VoIP pushes name the same call",
            why: "The app must report the second one too.", from: [.proposal],
            fix: "Send one push for each call.", for: .voip),
        historyRule(
            "LA006", .warning, "a Live Activity gets too many updates at priority 10",
            why: "They count against an hourly budget; updates at priority 5 do not.",
            from: [.liveActivities, .proposal], fix: "Use 5 for what can wait.",
            for: .liveactivity),
        historyRule(
            "LO002", .warning, "a device gets too many location pushes in an hour",
            why: "Apple allows about 360 in 24 hours.", from: [.locationPushes],
            fix: "Ask for the location when a person asks for it.", for: .location),
        historyRule(
            "PT002", .warning, "a device gets too many Push to Talk service updates in an hour",
            why: "The system has a budget for them.", from: [.pushToTalkBudget],
            fix: "Send service updates only when the service changes.", for: .pushtotalk),
        historyRule(
            "AU004", .warning, "a provider token is replaced too early",
            why: "APNs answers TooManyProviderTokenUpdates.", from: [.providerTokens],
            fix: "Keep a token for at least 20 minutes, and share it among all senders."),
        historyRule(
            "AU005", .error, "a provider token is used for more than an hour",
            why: "APNs answers ExpiredProviderToken to every push.", from: [.providerTokens],
            fix: "Make a new token every 20 to 60 minutes."),
        historyRule(
            "AU008", .warning, "several teams or keys share one stream of pushes",
            why: "A connection belongs to one team, and to one key or a key and its related one.",
            from: [.providerTokens], fix: "Use a connection pool for each key."),
        historyRule(
            "SQ001", .warning, "a push goes to a device token that APNs called inactive",
            why: "After a 410 the token is dead, unless the app has registered it anew.",
            from: [.responses], fix: "Delete the token if it was registered before the 410."),
        historyRule(
            "SQ002", .warning, "a device token is deleted that is perhaps of the other environment",
            why: """
                BadDeviceToken is what APNs says of a sandbox token in production, and of a \
                production token in the sandbox. The log shows no try in the other one.
                """,
            from: [.responses],
            fix: "Compare the app's aps-environment, or try the other host before deleting."),
        historyRule(
            "SQ003", .warning, "a push is sent again that APNs has refused for good",
            why: "Apple asks that such pushes never be tried again.", from: [.responses],
            fix: "Fix the push or drop it."),
        historyRule(
            "SQ004", .warning, "a push is sent again too soon after a fault of APNs",
            why: "Apple asks to wait 15 minutes after a status of 500 and above.",
            from: [.responses], fix: "Wait 15 minutes, and longer each time."),
    ]

    private static func historyRule(
        _ id: RuleID, _ severity: Severity, _ title: String, why rationale: String,
        from evidence: [Evidence], fix: String, for scope: PushTypeSet = .every
    ) -> Rule {
        // A single push has no findings.
        Rule(
            id, severity, title, why: rationale, from: evidence, fix: fix, for: scope, in: .history,
            check: { _, _ in })
    }
}
