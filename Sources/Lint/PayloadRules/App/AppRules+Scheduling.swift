// SPDX-License-Identifier: Apache-2.0

/// Rules about work that the system schedules in the background.
extension AppRules {
    static let scheduling: [AppRule] = [
        AppRule(
            "CF019", .warning, "a background mode has no task that uses it",
            why: "App Review refuses modes that the app does not use.",
            from: [.backgroundTasks, .uploadCheck], fix: "Schedule the task, or remove the mode.",
            check: modesWithoutWork),
        AppRule(
            "CF020", .error, "a background task's identifier is not permitted",
            why: """
                The scheduler refuses an identifier that Info.plist does not list: notPermitted. \
                Case counts.
                """,
            from: [.backgroundTasks],
            fix: "Add the identifier to BGTaskSchedulerPermittedIdentifiers.",
            check: unpermittedIdentifiers),
        AppRule(
            "CF021", .warning, "a background task is registered twice or too late",
            why: """
                The scheduler ends the app for a second registration, and for one after the launch \
                has finished.
                """,
            from: [.backgroundTasks],
            fix: "Register each identifier once, before the app has finished launching.",
            check: repeatedRegistrations),
        AppRule(
            "CF049", .warning, "a background task is asked for without its background mode",
            why:
                "The scheduler refuses a request whose mode UIBackgroundModes lacks: notPermitted.",
            from: [.submitErrors, .backgroundModes],
            fix: "Add `fetch` for refresh tasks, `processing` for processing tasks.",
            check: tasksWithoutMode),
        AppRule(
            "CF051", .warning, "iOS does not call the handler of background fetch",
            why: """
                The older background fetch needs the mode `fetch` and an interval, and from iOS 13 \
                on BGTaskSchedulerPermittedIdentifiers in Info.plist ends it.
                """,
            from: [.taskScheduler],
            fix: """
                Do its work in the handler of a BGAppRefreshTask, and remove \
                performFetchWithCompletionHandler.
                """,
            check: endedFetch),
        AppRule(
            "CF052", .warning, "a background task is registered, asked for or permitted alone",
            why: """
                The scheduler launches a task only for a request that was submitted, and needs a \
                handler for it, and for each identifier that Info.plist permits.
                """,
            from: [.refreshTasks, .taskScheduler],
            fix: """
                Submit a request outside the handlers of tasks, for example when the app enters \
                the background.
                """,
            check: unmatchedTasks),
        AppRule(
            "CF056", .error, "a background task is cast to another kind than the one asked for",
            why: """
                The scheduler gives the handler a task of its request's kind: a BGAppRefreshTask \
                for a BGAppRefreshTaskRequest.
                """,
            from: [.backgroundTasks],
            fix: "Cast the task to the kind of its request, or submit a request of that kind.",
            check: miscastTasks),
    ]

    private static func endedFetch(_ facts: AppFacts, _ findings: inout AppFindings) {
        for app in facts.apps where app.role == .app && app.mode(.fetch) != nil && !endsFetch(app) {
            guard let handler = app.own(.legacyFetch),
                app.lacks(.likelyTasks, { $0 == .fetchInterval || $0 == .legacyFetchCall })
            else { continue }
            findings.suspect(
                app, at: handler.place,
                "iOS calls performFetchWithCompletionHandler only after "
                    + "setMinimumBackgroundFetchInterval, and no source text calls it",
                fix: "Use a BGAppRefreshTask, or set the interval when the app launches.")
        }
        for app in facts.apps
        where app.role == .app && app.platform == .iOS && !app.mayBeIncomplete
            && !endsFetch(app)
        {
            guard let info = app.info, app.mode(.fetch) == nil,
                let handler = app.own(.legacyFetch), !app.shows({ $0 == .legacyFetchCall })
            else { continue }
            findings.suspect(
                app, at: handler.place,
                "iOS does not call performFetchWithCompletionHandler in an app whose "
                    + "UIBackgroundModes lacks `fetch` (\(info.place.file))",
                fix: "Use a BGAppRefreshTask, or add `fetch` to UIBackgroundModes.")
        }
        for app in facts.apps {
            guard endsFetch(app), let handler = app.own(.legacyFetch) else { continue }
            findings.suspect(
                app, at: handler.place,
                "iOS calls no performFetchWithCompletionHandler in an app whose Info.plist has "
                    + "BGTaskSchedulerPermittedIdentifiers")
        }
    }

    /// The names of the apps of which only a deployment target would show that iOS does not call
    /// their handler of background fetch.
    package static func appsWithUnjudgedFetch(in facts: AppFacts) -> [String] {
        guard let rule = rule("CF051") else { return [] }
        var findings = AppFindings(of: rule, configuration: nil)
        for var app in facts.apps where app.deploymentTarget == nil {
            app.deploymentTarget = app.info.map { Located(SystemVersion(13), at: $0.place) }
            endedFetch(AppFacts(bundles: [app]), &findings)
        }
        return findings.found.map { $0.target ?? "" }
    }

    /// Whether iOS calls no handler of background fetch in an app, and its own code does not.
    static func endsFetch(_ app: AppFacts.Bundle) -> Bool {
        guard app.role == .app, app.platform == .iOS, !app.mayBeIncomplete,
            app.info?["BGTaskSchedulerPermittedIdentifiers"] != nil,
            let target = app.deploymentTarget, target.value >= SystemVersion(13)
        else { return false }
        // The handler of a task may do its work by it.
        return !app.shows { $0 == .legacyFetchCall }
    }

    private static func tasksWithoutMode(_ facts: AppFacts, _ findings: inout AppFindings) {
        let modes: [(work: SourceObservation.BackgroundWork, mode: BackgroundMode)] = [
            (.appRefresh, .fetch), (.processing, .processing),
        ]
        for app in facts.apps
        where !app.isAppClip && (app.platform == .iOS || app.platform == nil) {
            // What generates the file may add modes.
            guard !app.mayBeIncomplete, let info = app.info else { continue }
            let permitted = Set(app.permittedIdentifiers.map(\.value))
            for (work, mode) in modes where app.mode(mode) == nil {
                let request = app.observations.first { seen in
                    guard case .requestedTask(let identifier, work) = seen.subject else {
                        return false
                    }
                    // A package's task may be another app's, unless this one permits it.
                    let isOwn =
                        !seen.isShared
                        || !seen.isUncalled && identifier.map(permitted.contains) == true
                    return isOwn && app.builds(seen)
                }
                guard let request else { continue }
                findings.suspect(
                    app, at: request.place,
                    "a \(work.rawValue) is asked for, and UIBackgroundModes of "
                        + "\(info.place.file) lacks `\(mode.rawValue)`",
                    fix: "Add `\(mode.rawValue)` to UIBackgroundModes.")
            }
        }
    }

    private static func modesWithoutWork(_ facts: AppFacts, _ findings: inout AppFindings) {
        // Apple does not document whether continued processing requires the mode.
        let processing: Set<SourceObservation.Subject> = [
            .backgroundWork(.processing), .backgroundWork(.healthResearch),
            .backgroundWork(.continued),
        ]
        let fetching: Set<SourceObservation.Subject> = [.backgroundWork(.appRefresh), .legacyFetch]
        for app in facts.apps where app.hasBackgroundTasks {
            // A library of which only the name is known is taken to have none.
            let isPresumed = app.sources?.unread.contains(.tasks) == true
            let isIdle =
                !app.permittedIdentifiers.isEmpty && !app.shows(\.isOfBackgroundTasks)
            let mode =
                isIdle
                ? "the mode and what BGTaskSchedulerPermittedIdentifiers permits" : "the mode"
            let fix =
                "Schedule the task, or remove \(mode)"
                + (isPresumed ? " unless code that was not read uses it." : ".")
            if let mode = app.mode(.fetch), app.lacks(.likelyTasks, fetching.contains),
                !app.mayDeriveFromLibrary(.tasks)
            {
                findings.suspect(
                    app, at: mode.place,
                    "UIBackgroundModes has `fetch`, and no source text uses BGAppRefreshTask",
                    fix: fix)
            } else if let mode = app.mode(.fetch), mayFetchNothing(app) {
                findings.suspect(
                    app, at: mode.place,
                    "UIBackgroundModes has `fetch`, Info.plist permits no task, and the app "
                        + "delegate fetches nothing")
            }
            if let mode = app.mode(.processing), mayProcessNothing(app) {
                findings.suspect(
                    app, at: mode.place,
                    "UIBackgroundModes has `processing`, and Info.plist permits no task",
                    fix: """
                        List the tasks in BGTaskSchedulerPermittedIdentifiers, without which App \
                        Store Connect refuses the app, or remove the mode.
                        """)
            } else if let mode = app.mode(.processing),
                app.lacks(.likelyTasks, processing.contains), !app.mayDeriveFromLibrary(.tasks)
            {
                findings.suspect(
                    app, at: mode.place,
                    "UIBackgroundModes has `processing`, and no source text uses BGProcessingTask",
                    fix: fix)
            } else if let mode = app.mode(.processing), refreshesOnly(app) {
                findings.suspect(
                    app, at: mode.place,
                    "UIBackgroundModes has `processing`, and each permitted task is a "
                        + "BGAppRefreshTask")
            }
        }
    }

    /// Whether no code, of any package, can use the mode `fetch`: Info.plist permits no identifier,
    /// and the app delegate, which alone gets the older fetch, does not implement it.
    private static func mayFetchNothing(_ app: AppFacts.Bundle) -> Bool {
        guard app.platform == .iOS, !app.mayBeIncomplete, let info = app.info,
            info["BGTaskSchedulerPermittedIdentifiers"] == nil, app.sources?.isOwnComplete == true
        else { return false }
        let seen = Set(app.observations.map(\.subject))
        return seen.contains(.plainDelegate) && !seen.contains(.pluginHost)
            && !seen.contains(.legacyFetch) && !seen.contains(.backgroundWork(.appRefresh))
    }

    /// Whether the app requests each permitted task as a refresh task, so that packages have none
    /// left to process.
    private static func refreshesOnly(_ app: AppFacts.Bundle) -> Bool {
        let permitted = Set(app.permittedIdentifiers.map(\.value))
        guard !app.mayBeIncomplete, !permitted.isEmpty,
            !permitted.contains(where: { $0.hasSuffix("*") })
        else { return false }
        var refreshed: Set<String> = []
        var hasUnknown = false
        for seen in app.observations {
            switch seen.subject {
            case .requestedTask(let identifier, .appRefresh), .sceneTask(let identifier):
                if let identifier { refreshed.insert(identifier) } else { hasUnknown = true }
            case .requestedTask: return false
            case .backgroundWork(let work) where work != .appRefresh: return false
            default: continue
            }
        }
        // A request with an unresolved identifier is for the only one.
        return permitted.isSubset(of: refreshed)
            || (permitted.count == 1 && hasUnknown && app.sources?.isOwnComplete == true)
    }

    /// Whether no code, of any package, can schedule a processing task, because Info.plist permits
    /// no identifier. If the app requests one with a known identifier, rule CF020 covers it.
    private static func mayProcessNothing(_ app: AppFacts.Bundle) -> Bool {
        guard app.platform == .iOS, !app.mayBeIncomplete, let info = app.info,
            info["BGTaskSchedulerPermittedIdentifiers"] == nil
        else { return false }
        return !app.observations.contains { scheduledIdentifier($0.subject, in: app) != nil }
    }

    /// A resolved identifier in an app with a known Info.plist is certain enough for an error.
    private static func unpermittedIdentifiers(
        _ facts: AppFacts, _ findings: inout AppFindings
    ) {
        for bundle in facts.apps where !bundle.isAppClip {
            let key = "BGTaskSchedulerPermittedIdentifiers"
            // A generator may add the whole list.
            guard let info = bundle.info, !bundle.mayBeIncomplete || info[key] != nil else {
                continue
            }
            var reported: Set<String> = []
            for seen in bundle.observations
            where !seen.isUncalled && bundle.mayRun(seen)
                && (!seen.isConditional || seen.isBuiltForIOS)
            {
                guard let use = scheduledIdentifier(seen.subject, in: bundle),
                    reported.insert(use.identifier).inserted,
                    let problem = problem(with: use, permitted: bundle.permittedIdentifiers)
                else { continue }
                let list = info[key]?.place ?? info.place
                findings.report(
                    bundle, at: seen.place,
                    "\(problem.text) in \(key) of \(list.file)",
                    fix: problem.meant.map {
                        "Write `\($0)` here, or `\(use.identifier)` there: case counts."
                    })
            }
        }
    }

    private struct ScheduledIdentifier {
        let identifier: String
        let isContinued: Bool
    }

    private static func scheduledIdentifier(
        _ subject: SourceObservation.Subject, in bundle: AppFacts.Bundle
    ) -> ScheduledIdentifier? {
        switch subject {
        case .registeredTask(let identifier?, _):
            // A registration does not contain the kind of task; the request does.
            let mayContinue = bundle.shows { subject in
                if case .requestedTask(_, .continued) = subject { return true }
                return subject == .backgroundWork(.continued)
            }
            return ScheduledIdentifier(identifier: identifier, isContinued: mayContinue)
        case .requestedTask(let identifier?, let work):
            return ScheduledIdentifier(identifier: identifier, isContinued: work == .continued)
        default:
            return nil
        }
    }

    /// The problem of an identifier, as the start of a message, and the permitted one that was
    /// probably meant; `nil` if it is permitted.
    private static func problem(
        with use: ScheduledIdentifier, permitted: [Located<String>]
    ) -> (text: String, meant: String?)? {
        let texts = permitted.map(\.value)
        if texts.contains(use.identifier) { return nil }
        if let wildcard = texts.first(where: { covers($0, use.identifier) }) {
            guard !use.isContinued else { return nil }
            let text = "`\(use.identifier)` meets only `\(wildcard)`, which permits continued "
            return (text + "processing alone,", nil)
        }
        let lowercase = use.identifier.lowercased()
        if let other = texts.first(where: { $0.lowercased() == lowercase }) {
            return ("`\(use.identifier)` is written as `\(other)`, in other case,", other)
        }
        if let near = texts.first(where: { NearMiss.isNear(use.identifier, $0) }) {
            return ("`\(use.identifier)` is missing, and `\(near)` is there,", near)
        }
        // An identifier with an unresolved build setting can be any.
        if texts.contains(where: AppProperty.namesBuildSetting) { return nil }
        return ("`\(use.identifier)` is missing", nil)
    }

    /// Whether an identifier is one of those that a wildcard such as `com.example.*` permits.
    static func covers(_ wildcard: String, _ identifier: String) -> Bool {
        wildcard.hasSuffix(".*") && identifier.hasPrefix(wildcard.dropLast())
            && identifier.utf8.count >= wildcard.utf8.count
    }

    private static func repeatedRegistrations(
        _ facts: AppFacts, _ findings: inout AppFindings
    ) {
        for bundle in facts.bundles {
            for seen in bundle.observations where seen.subject == .fault(.registeredAgain) {
                guard bundle.hasBackgroundTasks else { break }
                findings.report(
                    bundle, at: seen.place,
                    "each launch registers a background task again by this call")
            }
            var first: [String: (place: AppPlace, occasion: SourceObservation.Occasion)] = [:]
            // The files of which the first late registration is told: others have the same cause.
            var late: Set<String> = []
            // Rule CF044 covers these.
            let scenes = Set(
                bundle.observations.compactMap { seen in
                    if case .sceneTask = seen.subject { seen.place } else { nil }
                })
            let continued = Set(
                bundle.observations.compactMap { seen -> String? in
                    if case .requestedTask(let name, .continued) = seen.subject {
                        name
                    } else {
                        nil
                    }
                })
            // Such a task may have a name that is not known, or its request another type's name.
            var mayContinue =
                continued.isEmpty && bundle.shows { $0 == .backgroundWork(.continued) }
            var planned: Set<String> = []
            for seen in bundle.observations {
                switch seen.subject {
                case .requestedTask(nil, .continued): mayContinue = true
                case .requestedTask(_, .continued): continue
                case .requestedTask(let name?, _): planned.insert(name)
                default: continue
                }
            }
            for seen in bundle.observations
            where bundle.builds(seen) && bundle.mayRun(seen) && !seen.isUncalled
                && !scenes.contains(seen.place)
            {
                guard case .registeredTask(let identifier, let occasion) = seen.subject else {
                    continue
                }
                if let identifier {
                    if let earlier = first[identifier] {
                        // A function that registers what it gets is seen with its call.
                        guard
                            earlier.place.file != seen.place.file
                                || earlier.place.line != seen.place.line
                        else { continue }
                        // A function that is called from nowhere in its file may never run.
                        let isCertain = ![occasion, earlier.occasion].contains(.elsewhere)
                        findings.report(
                            bundle, at: seen.place,
                            "`\(identifier)` is registered here and in "
                                + "\(earlier.place.file), line \(earlier.place.line)",
                            severity: isCertain ? .warning : .note)
                    } else {
                        first[identifier] = (seen.place, occasion)
                    }
                }
                // Tasks of continued processing are registered on demand.
                if identifier.map(continued.contains) ?? !continued.isEmpty { continue }
                if mayContinue, identifier.map(planned.contains) != true { continue }
                if occasion.isLate,
                    late.insert(seen.place.file).inserted
                {
                    findings.suspect(
                        bundle, at: seen.place,
                        "a background task is registered after the launch has finished")
                }
            }
        }
    }
}
