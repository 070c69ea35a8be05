// SPDX-License-Identifier: Apache-2.0

/// Rules about handlers and background work that one source file is sufficient to check.
extension AppRules {
    static let background: [AppRule] = handlers + tasks + transfers

    private static let handlers: [AppRule] = [
        AppRule(
            "CF033", .warning, "a path through the handler of VoIP pushes reports no call",
            why: """
                iOS terminates an app that returns from the handler without a report, and stops \
                the delivery of VoIP pushes when that happens again.
                """,
            from: [.pushKit, .voipSession],
            fix: """
                Report a call on every path, also for a payload that cannot be read; end it at \
                once if there is none.
                """
        ) { facts, findings in
            // If nothing in the app can report a call, rule CF009 covers it, or no push comes.
            func other(_ bundle: AppFacts.Bundle) -> RuleID? {
                bundle.lacks(.calls) { $0 == .callInterface } && !mayBeRegisteredElsewhere(bundle)
                    ? "CF009" : nil
            }
            faults(facts, &findings, .voipPathWithoutReport, isSaidBy: other)
            faults(
                facts, &findings, .voipPathWithoutEither,
                "a path through the handler of VoIP pushes neither reports a call nor calls the "
                    + "completion handler", isSaidBy: other)
        },
        AppRule(
            "CF034", .warning,
            "a path through the handler of VoIP pushes does not call its completion handler",
            why: "Without the call the system takes the app to be busy with the push.",
            from: [.pushKitHandler],
            fix: "Call the completion handler on every path, once the call is reported."
        ) { faults($0, &$1, .voipPathWithoutCompletion) },
        AppRule(
            "CF050", .warning, "a path through a handler of pushes or tasks completes it twice",
            why: """
                A completion handler is called once for each push, and setTaskCompleted(success:) \
                once for each task; what a second call does is not documented.
                """,
            from: [.remoteNotificationHandler, .pushKitHandler, .setTaskCompleted],
            fix: "Return behind the first call, or leave one of them out."
        ) { faults($0, &$1, .completedTwice) },
        AppRule(
            "CF048", .warning, "a handler of silent pushes or fetch is slow, or answers wrongly",
            why: """
                The app has 30 seconds, and iOS plans further wakes by the time, the power and the \
                answers of earlier ones.
                """,
            from: [.remoteNotificationHandler, .backgroundUpdates],
            fix: """
                Hand long work to a BGProcessingTask or a background URLSession, and answer what \
                is true: newData, noData or failed.
                """
        ) { facts, findings in
            faults(
                facts, &findings, .longHandler,
                "the handler of silent pushes waits longer than its 30 seconds")
            faults(
                facts, &findings, .earlyAnswer,
                "the handler of silent pushes answers before its own work has ended")
            eachObservation(in: facts) { bundle, seen in
                guard bundle.platform != .macOS else { return }
                let message: String
                switch seen.subject {
                case .fault(.answerForNothing):
                    message =
                        "the handler of silent pushes does nothing with them, and answers `newData`"
                case .fault(.answerInForeground):
                    message =
                        "the handler of silent pushes does nothing with them in the background, "
                        + "and answers `newData`"
                case .fault(.alwaysNewData): message = newDataAlways
                default: return
                }
                if isEarly(seen, bundle, .earlyAnswer) { return }
                // Without silent pushes iOS asks for no data.
                findings.report(
                    bundle, at: seen.place, message,
                    severity: facts.wantsSilentPushes(bundle) ? .warning : .note)
            }
            eachObservation(in: facts) { bundle, seen in
                guard seen.subject == .fault(.alwaysNewPush),
                    !isEarly(seen, bundle, .earlyAnswer)
                else { return }
                findings.report(bundle, at: seen.place, newDataAlways, severity: .note)
            }
            fetchAnswers(facts, &findings)
        },
    ]

    /// Whether only functions that nothing calls register for VoIP pushes, and what the system runs
    /// at launch, which may call them, was not read.
    private static func mayBeRegisteredElsewhere(_ bundle: AppFacts.Bundle) -> Bool {
        let registrations = bundle.observations.filter { $0.subject.isVoIPRegistration }
        return bundle.sources?.holdsLaunch == false && !registrations.isEmpty
            && registrations.allSatisfy(\.isUncalled)
    }

    private static let tasks: [AppRule] = [
        AppRule(
            "CF035", .warning, "a path through a background task's handler does not end the task",
            why: """
                Without setTaskCompleted(success:) the task runs until its time is up, and iOS \
                terminates the app and runs it less often.
                """,
            from: [.setTaskCompleted],
            fix: "Call setTaskCompleted(success:) on every path, also when something fails."
        ) { faults($0, &$1, .taskPathWithoutEnd) },
        AppRule(
            "CF055", .warning, "a background task's handler ends the task before its work",
            why: """
                iOS suspends the app as soon as the task is ended, so that work which still runs \
                stops where it is.
                """,
            from: [.setTaskCompleted],
            fix: """
                Call setTaskCompleted(success:) where the work ends; in SwiftUI's backgroundTask, \
                await the work.
                """
        ) { faults($0, &$1, .earlyEnd) },
        AppRule(
            "CF036", .warning, "a background task's handler has no expiration handler",
            why:
                "When time is up iOS calls it; without one the task is ended and counts as failed.",
            from: [.expirationHandler],
            fix:
                "Set expirationHandler before the work starts, cancel the work there, end the task."
        ) { facts, findings in
            faults(facts, &findings, .taskWithoutExpiration)
            faults(
                facts, &findings, .lateExpiration,
                "the expiration handler is set only after something was waited for")
            faults(
                facts, &findings, .expirationAfterStart,
                "the expiration handler is set only after the work has started", severity: .note)
        },
        AppRule(
            "CF037", .warning, "the expiration handler of a background task stops nothing",
            why: """
                Work that goes on after it is cut off, or ends the task once more; iOS terminates \
                an app whose task is not ended.
                """,
            from: [.expirationHandler],
            fix: "Cancel the work in the expiration handler, and end the task."
        ) { facts, findings in
            faults(facts, &findings, .idleExpiration)
            let message = "the expiration handler ends the task, and leaves its work running"
            faults(facts, &findings, .taskLeftRunning, message)
        },
        AppRule(
            "CF038", .note, "the handler of a refresh task asks for no further one",
            why: "A request is for one run: without another the app is not refreshed again.",
            from: [.refreshTasks], fix: "Submit the next request at the beginning of the handler."
        ) { faults($0, &$1, .refreshWithoutNext) },
        AppRule(
            "CF039", .warning, "the errors of submitting a background task are thrown away",
            why: """
                submit fails with notPermitted, tooManyPendingTaskRequests or unavailable: the \
                task never runs, and `try!` ends the app.
                """,
            from: [.submitErrors], fix: "Catch the error, and log which of them it is."
        ) { facts, findings in
            faults(
                facts, &findings, .forcedSubmission,
                "`try!` ends the app where the request is refused: without Background App Refresh")
            faults(facts, &findings, .droppedSubmitError)
            faults(facts, &findings, .ignoredSubmitError, severity: .note)
        },
        AppRule(
            "CF040", .warning, "a background task may begin only in more than a week",
            why: """
                The system may never launch the app for a date so far ahead, one in the past \
                delays nothing, and what is set behind `submit` has no effect.
                """,
            from: [.backgroundTasks, .beginDate],
            fix: "Choose an earliestBeginDate within a week, and submit again."
        ) { facts, findings in
            faults(facts, &findings, .distantBeginDate)
            faults(
                facts, &findings, .pastBeginDate,
                "earliestBeginDate is counted from a day long ago, and delays nothing",
                fix: "Use Date(timeIntervalSinceNow:).")
            faults(
                facts, &findings, .lateRequestValue,
                "a value of the request is set after it was submitted, and has no effect",
                fix: "Set it before the request is submitted.")
        },
        AppRule(
            "CF041", .note, "a background task is submitted each time the app becomes active",
            why: "A further request replaces the pending one, so that its time begins anew.",
            from: [.submitErrors],
            fix: "Look at pendingTaskRequests() first, and submit only what is missing."
        ) { faults($0, &$1, .repeatedSubmission) },
        AppRule(
            "CF042", .note, "the handler of a background task keeps the object that registers it",
            why:
                "The scheduler keeps the closure, and what it captures, as long as the app runs.",
            from: [.backgroundTasks],
            fix: "Capture self weakly, unless the object is to live as long as the app."
        ) { faults($0, &$1, .taskHandlerKeepsSelf) },
        AppRule(
            "CF043", .note, "a background task is cast by force",
            why: "An identifier that gets a request of another kind ends the app.",
            from: [.backgroundTasks],
            fix: "Use `as?`, and end a task of another kind with success: false.",
            check: forcedCasts),
        AppRule(
            "CF044", .warning, "a background task is registered by hand and by SwiftUI",
            why: "The scheduler ends the app for a second registration of one identifier.",
            from: [.sceneTasks, .backgroundTasks],
            fix: "Keep `.backgroundTask`, or the registration, and not both.", check: doubleTasks),
    ]

    private static let transfers: [AppRule] = [
        AppRule(
            "CF045", .warning, "time in the background is asked for and not given back",
            why:
                "iOS terminates an app that does not call endBackgroundTask before its time is up.",
            from: [.backgroundTime],
            fix: "Call endBackgroundTask on every path and in the expiration handler.",
            check: backgroundTime),
        AppRule(
            "CF046", .warning, "a background URLSession cannot deliver what it transfers",
            why: """
                Its transfers end while the app does not run: only a delegate gets them, a closure \
                raises an exception, and iOS hands its events to the app delegate.
                """,
            from: [.backgroundTransfers],
            fix: """
                Give the session a delegate, start tasks without closures, and implement \
                application(_:handleEventsForBackgroundURLSession:completionHandler:).
                """
        ) { facts, findings in
            sessionsWithoutDelegate(facts, &findings)
            faults(
                facts, &findings, .sessionMadeAnew,
                "each use makes another background URLSession with the same identifier",
                fix: "Make the session once, and keep it in a stored property.")
            faults(
                facts, &findings, .sessionMadeByTransfers,
                "only a further transfer makes this background URLSession, so that a launch for "
                    + "its events gets none",
                fix: "Make the session where its events are handled, and when the app launches.")
            refusedTasks(facts, &findings)
            for app in facts.apps where app.role == .app && app.platform != .macOS {
                let sessions = app.observations.filter { $0.subject == .backgroundSession }
                guard sessions.count == 1, app.sources?.isOwnComplete == true,
                    let seen = app.observations.first(where: {
                        $0.subject == .fault(.sessionOfNewName)
                    })
                else { continue }
                findings.report(
                    app, at: seen.place,
                    "the background URLSession has another identifier in each launch, so that "
                        + "what it transfers reaches no later one",
                    fix: "Give the session the same identifier in each launch.")
            }
            eachObservation(in: facts) { bundle, seen in
                guard seen.subject == .fault(.downloadUsedLate), bundle.platform != .macOS,
                    bundle.observations.contains(where: { $0.subject == .backgroundSession })
                else { return }
                findings.report(
                    bundle, at: seen.place,
                    "the file of a download is used only after the delegate method has returned, "
                        + "when iOS may have removed it",
                    fix: "Move or open the file before the delegate method returns.")
            }
            faults(
                facts, &findings, .transferEventsWithoutCompletion,
                "the handler of a background URLSession's events drops its completion handler")
            faults(
                facts, &findings, .transferCompletionOffMain,
                "the completion handler of a background URLSession's events is called on the queue "
                    + "of the session",
                fix: "Call it in DispatchQueue.main.async, as UIKit demands.")
            transferEvents(facts, &findings)
            for app in facts.apps where app.platform == .iOS || app.platform == nil {
                // A session without a delegate gets no events.
                let hopeless = Set(
                    app.observations.filter { $0.subject == .fault(.sessionWithoutDelegate) }
                        .map(\.place.file))
                // A library of which only the name is known is taken to handle what it tells of.
                guard app.lacks(.likelyTransfers, { $0 == .backgroundSessionEvents }),
                    let session = app.observations.first(where: {
                        $0.subject == .backgroundSession && !hopeless.contains($0.place.file)
                    })
                else { continue }
                findings.suspect(
                    app, at: session.place,
                    "nothing handles the events of this background URLSession")
            }
        },
        AppRule(
            "CF047", .warning, "a timer or a loop begins when the app leaves the foreground",
            why: "A suspended app runs no timers.", from: [.backgroundTime],
            fix: "Use a BGAppRefreshTask, a silent push, or beginBackgroundTask for a short rest."
        ) { facts, findings in
            eachObservation(in: facts) { bundle, seen in
                // An app that plays audio or tracks the location is not suspended.
                guard bundle.platform != .macOS,
                    !bundle.modes.contains(where: { BackgroundMode.running.contains($0.value) })
                else { return }
                switch seen.subject {
                case .fault(.timerInBackground): findings.report(bundle, at: seen.place)
                case .fault(.timerInLastingTime):
                    findings.report(
                        bundle, at: seen.place,
                        "a timer or a loop goes on in time that only its expiration ends"
                    )
                default: return
                }
            }
        },
    ]

    private static func faults(
        _ facts: AppFacts, _ findings: inout AppFindings, _ fault: SourceObservation.Fault,
        _ message: String? = nil, severity: Severity? = nil, fix: String? = nil,
        isSaidBy: (AppFacts.Bundle) -> RuleID? = { _ in nil }
    ) {
        eachObservation(in: facts) { bundle, seen in
            guard seen.subject == .fault(fault), bundle.platform != .macOS else { return }
            findings.report(
                bundle, at: seen.place, message, fix: fix, severity: severity,
                isSaidBy: isSaidBy(bundle), further: seen.further)
        }
    }

    /// The faults of time in the background, the widest first.
    private static let timeFaults: [(fault: SourceObservation.Fault, message: String)] = [
        (
            .assertionEndedEarly,
            "the time in the background is given back while the work that began in it still runs"
        ),
        (
            .assertionNeverEnded,
            "a property keeps the identifier of beginBackgroundTask, and nothing ends its time"
        ),
        (
            .assertionPathWithoutEnd,
            "a path behind beginBackgroundTask does not reach endBackgroundTask"
        ),
        (
            .assertionThrownAway,
            "nothing keeps the identifier of beginBackgroundTask, so that nothing can end it"
        ),
        (
            .assertionOverwritten,
            "the identifier of beginBackgroundTask replaces one whose time nothing has ended"
        ),
        (.assertionWithoutExpiration, "beginBackgroundTask has no expiration handler"),
        (
            .assertionRenewed,
            "the expiration handler of beginBackgroundTask begins time again, and gets no more"
        ),
        (
            .assertionExpirationWithoutEnd,
            "the expiration handler of beginBackgroundTask does not call endBackgroundTask"
        ),
        (.assertionEndedInvalid, "endBackgroundTask gets an invalid identifier"),
        (
            .assertionEndedByExpiration,
            "only its expiration handler ends this time, so that it always runs out"
        ),
    ]

    /// Reports one fault for each place. If nothing ends the time, no path does either.
    private static func backgroundTime(_ facts: AppFacts, _ findings: inout AppFindings) {
        for bundle in facts.bundles {
            var told: Set<AppPlace> = []
            let begins = bundle.observations.filter { $0.subject == .backgroundAssertion }
            let open: ModuleUses = bundle.shows { $0 == .handedTime } ? .time : .endsOfTime
            let isNeverEnded = bundle.lacks(open) { $0 == .backgroundAssertionEnd }
            if isNeverEnded, let begin = begins.first {
                findings.suspect(bundle, at: begin.place, "nothing calls endBackgroundTask")
                told.insert(begin.place)
            }
            guard bundle.platform != .macOS else { continue }
            for (fault, message) in timeFaults {
                if isNeverEnded, fault == .assertionPathWithoutEnd, !begins.isEmpty { continue }
                for seen in bundle.observations where seen.subject == .fault(fault) {
                    guard told.insert(seen.place).inserted else { continue }
                    findings.report(bundle, at: seen.place, message)
                }
            }
        }
    }

    /// Reports background sessions without a delegate. Where a file has only one and gives its
    /// tasks closures, the fix for these says so already.
    private static func sessionsWithoutDelegate(
        _ facts: AppFacts, _ findings: inout AppFindings
    ) {
        for bundle in facts.bundles where bundle.platform != .macOS {
            let files = { (subject: SourceObservation.Subject) in
                bundle.observations.filter { $0.subject == subject && !$0.isUncalled }
                    .map(\.place.file)
            }
            let refused = Set(files(.fault(.closureInBackgroundSession)))
            let sessions = Dictionary(grouping: files(.backgroundSession)) { $0 }
            for seen in bundle.observations
            where seen.subject == .fault(.sessionWithoutDelegate) {
                let file = seen.place.file
                if refused.contains(file), (sessions[file]?.count ?? 0) < 2 { continue }
                findings.report(
                    bundle, at: seen.place, "a background URLSession has no delegate",
                    further: seen.further)
            }
        }
    }

    /// Reports tasks that a background session does not start.
    private static func refusedTasks(_ facts: AppFacts, _ findings: inout AppFindings) {
        eachObservation(in: facts) { bundle, seen in
            guard bundle.platform != .macOS else { return }
            let message: String
            var fix: String?
            switch seen.subject {
            case .fault(.closureInBackgroundSession):
                message = "a task of a background URLSession has a completion handler"
            case .fault(.dataInBackgroundSession):
                message = "a background URLSession uploads data, which raises an exception"
                fix = "Write the data to a file, and start uploadTask(with:fromFile:)."
            default: return
            }
            findings.report(
                bundle, at: seen.place,
                seen.isUncalled ? message + "; nothing calls its function yet" : message,
                fix: fix, severity: seen.isUncalled ? .note : nil)
        }
    }

    /// Reports completion handlers of a session's events that are not called at the end of them.
    private static func transferEvents(_ facts: AppFacts, _ findings: inout AppFindings) {
        for app in facts.apps where app.hasBackgroundTasks {
            guard app.shows({ $0 == .delegatedSession }) else { continue }
            for seen in app.observations
            where seen.subject == .fault(.transferEventsCompletedAtOnce) {
                findings.suspect(
                    app, at: seen.place,
                    "the handler of a background URLSession's events completes before they come",
                    fix: """
                        Keep the completion handler, and call it in \
                        urlSessionDidFinishEvents(forBackgroundURLSession:).
                        """)
            }
            for seen in app.observations
            where seen.subject == .fault(.transferCompletionKeptForNothing) {
                findings.suspect(
                    app, at: seen.place,
                    "the completion handler of a background URLSession's events is kept, and "
                        + "nothing calls it",
                    fix: """
                        Call it in urlSessionDidFinishEvents(forBackgroundURLSession:) of the \
                        session's delegate.
                        """)
            }
            guard let sources = app.sources, !app.shows({ $0 == .endOfSessionEvents }),
                sources.isOwnComplete,
                let kept = app.observations.first(where: { $0.subject == .keptTransferCompletion })
            else { continue }
            findings.suspect(
                app, at: kept.place,
                "nothing waits for the end of a background URLSession's events",
                fix: """
                    Call the completion handler in \
                    urlSessionDidFinishEvents(forBackgroundURLSession:) of the session's delegate.
                    """)
        }
    }
}

extension Evidence {
    static let pushKitHandler = Evidence(
        "Apple, pushRegistry(_:didReceiveIncomingPushWith:for:completion:)", .documented)
    static let setTaskCompleted = Evidence(
        "Apple, BGTask, setTaskCompleted(success:)", .documented)
    static let expirationHandler = Evidence("Apple, BGTask, expirationHandler", .documented)
    static let refreshTasks = Evidence(
        "Apple, Using background tasks to update your app", .documented)
    static let uploadCheck = Evidence("App Store Connect, ERROR ITMS-90771", .observed)
    static let invalidMode = Evidence("App Store Connect, ERROR ITMS-90112", .observed)
    static let submitErrors = Evidence(
        "Apple, BGTaskScheduler, submit(_:) and BGTaskScheduler.Error", .documented)
    static let beginDate = Evidence("Apple, BGTaskRequest, earliestBeginDate", .documented)
    static let sceneTasks = Evidence(
        "Apple, SwiftUI, backgroundTask(_:action:)", .documented)
    static let backgroundTime = Evidence(
        "Apple, Extending your app's background execution time", .documented)
    static let backgroundTransfers = Evidence(
        "Apple, Downloading files in the background", .documented)
}
