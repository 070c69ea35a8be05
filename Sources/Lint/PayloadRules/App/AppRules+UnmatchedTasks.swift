// SPDX-License-Identifier: Apache-2.0

/// Compares the background tasks that an app registers, asks for and permits.
extension AppRules {
    /// Reports tasks that are registered, asked for or permitted, and of which one of these lacks.
    static func unmatchedTasks(_ facts: AppFacts, _ findings: inout AppFindings) {
        unrequestedTasks(facts, &findings)
        unregisteredTasks(facts, &findings)
        unsubmittedRequests(facts, &findings)
        leftoverPermissions(facts, &findings)
    }

    /// Reports an app that permits tasks and has none. Where it also has their mode, rule CF019
    /// tells of the same.
    private static func leftoverPermissions(_ facts: AppFacts, _ findings: inout AppFindings) {
        for app in facts.apps
        where app.runsBackgroundTasks && !app.mayBeIncomplete && app.mode(.processing) == nil
            && app.mode(.fetch) == nil && app.sources?.namesTasks == false
        {
            guard let permitted = app.permittedIdentifiers.first,
                app.lacks(.likelyTasks, \.isOfBackgroundTasks)
            else { continue }
            let task =
                AppProperty.namesBuildSetting(permitted.value)
                ? "a background task" : "`\(permitted.value)`"
            findings.report(
                app, at: permitted.place,
                "\(task) is permitted, and the app has no background tasks",
                fix: "Remove BGTaskSchedulerPermittedIdentifiers, or register and submit the task.")
        }
    }

    /// Reports requests that are set up, and that nothing submits.
    private static func unsubmittedRequests(_ facts: AppFacts, _ findings: inout AppFindings) {
        for app in facts.apps where app.runsBackgroundTasks {
            for seen in app.observations where !seen.isUncalled && app.builds(seen) {
                guard case .unsubmittedRequest(let name) = seen.subject else { continue }
                let task = name.map { "`\($0)`" } ?? "a background task"
                findings.report(
                    app, at: seen.place,
                    "the request for \(task) is set up, and nothing submits it",
                    fix: "Submit it with BGTaskScheduler.shared.submit(_:).")
            }
        }
    }

    /// Reports requests for tasks that no code registers, the first for each.
    private static func unregisteredTasks(_ facts: AppFacts, _ findings: inout AppFindings) {
        for app in facts.apps
        where app.runsBackgroundTasks && app.sources?.isComplete(of: .likelyTasks) == true {
            guard app.sources?.knowsRegistrations == true else { continue }
            var known: Set<String> = []
            var uncalled: Set<String> = []
            var isKnown = true
            for seen in app.observations {
                guard case .taskHandler(let name) = seen.subject else { continue }
                guard let name else {
                    isKnown = false
                    break
                }
                // A part for debug builds, or a package for other apps too, may be there.
                if seen.isUncalled, !seen.isShared, app.builds(seen) {
                    uncalled.insert(name)
                } else {
                    known.insert(name)
                }
            }
            for seen in app.observations where isKnown && app.builds(seen) && !seen.isShared {
                // Tasks of continued processing are registered on demand.
                guard case .requestedTask(let name?, let work) = seen.subject, work != .continued,
                    seen.isCertainRequest, !known.contains(where: { covers($0, name) }),
                    known.insert(name).inserted
                else { continue }
                findings.report(
                    app, at: seen.place,
                    uncalled.contains(name)
                        ? "`\(name)` is asked for, and nothing calls what registers it"
                        : "`\(name)` is asked for, and nothing registers it",
                    fix: "Register it before the app has finished launching.")
            }
            // The other ones may be those of a library.
            if isKnown, app.sources?.isComplete(of: .tasks) == true {
                unusedPermissions(app, known, uncalled, &findings)
            }
        }
    }

    /// Reports permitted tasks that are registered nowhere, if others are.
    private static func unusedPermissions(
        _ app: AppFacts.Bundle, _ known: Set<String>, _ uncalled: Set<String>,
        _ findings: inout AppFindings
    ) {
        guard !known.isEmpty else { return }
        for permitted in app.permittedIdentifiers {
            let name = permitted.value
            // A wildcard, or what a build setting says, may be any.
            guard !name.contains("*"), !name.contains("$"),
                !known.contains(where: { $0 == name || covers($0, name) })
            else { continue }
            findings.report(
                app, at: permitted.place,
                uncalled.contains(name)
                    ? "`\(name)` is permitted, and nothing calls what registers it"
                    : "`\(name)` is permitted, and nothing registers it",
                fix: "Register it before the app has finished launching, or remove it.",
                severity: .note)
        }
    }

    /// Reports handlers that are never called, the first of an app. A request in a file of another
    /// target leaves open what is asked for.
    private static func unrequestedTasks(_ facts: AppFacts, _ findings: inout AppFindings) {
        for app in facts.apps
        where app.runsBackgroundTasks && app.sources?.isComplete(of: .likelyTasks) == true {
            var message: String?
            var requested: Set<String> = []
            var isTold = false
            switch app.sources?.backgroundRequests {
            case .unknown, nil: continue
            case .nowhere: message = "a background task is registered, and no file asks for one"
            case .inHandlers:
                message = "only handlers of background tasks ask for one, so that none is called"
            case .named(let names): requested = names
            }
            // Where one is not submitted, that is told of.
            for seen in app.observations {
                guard case .unsubmittedRequest(let name) = seen.subject else { continue }
                isTold = isTold || name == nil || message != nil
                if let name { requested.insert(name) }
            }
            guard !isTold else { continue }
            for seen in app.observations where app.builds(seen) && !seen.isShared {
                // A wildcard may stand for the requests of earlier versions.
                guard case .taskHandler(let name?) = seen.subject, !seen.isUncalled,
                    !name.contains("*"), requested.insert(name).inserted
                else { continue }
                findings.report(
                    app, at: seen.place,
                    message ?? "`\(name)` is registered, and each request is for another task")
                // All of them have the same cause.
                if message != nil { break }
            }
        }
    }
}

extension SourceObservation.Subject {
    /// Whether it shows that there are background tasks.
    var isOfBackgroundTasks: Bool {
        switch self {
        case .registeredTask, .requestedTask, .unsubmittedRequest, .taskHandler, .castTask,
            .backgroundWork, .sceneTask:
            true
        default: false
        }
    }
}
