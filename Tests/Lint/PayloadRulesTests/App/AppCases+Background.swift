// SPDX-License-Identifier: Apache-2.0

import PayloadRules

extension AppCase {
    /// A rule that asks for one fault, and the fault beside another one.
    private static func fault(
        _ rule: RuleID, _ fault: SourceObservation.Fault, _ severity: Severity
    ) -> [AppCase] {
        let other: SourceObservation.Fault =
            fault == .forcedTaskCast ? .ignoredSubmitError : .forcedTaskCast
        return [
            source(rule, fault.rawValue, [.fault(fault)], severity),
            source(rule, "not " + fault.rawValue, [.fault(other)], nil),
        ]
    }

    /// An app whose handler for `a` casts its task to a refresh task.
    private static func cast(
        _ words: String, _ seen: [SourceObservation.Subject], isForced: Bool = true,
        _ severity: Severity?
    ) -> AppCase {
        source("CF056", words, [.castTask("a", .appRefresh, isForced: isForced)] + seen, severity)
    }

    static let background: [AppCase] =
        [
            source(
                "CF033", "a path", [.fault(.voipPathWithoutReport), .callInterface], .warning),
            source(
                "CF033", "and no completion", [.fault(.voipPathWithoutEither), .callInterface],
                .warning),
            source("CF033", "CF009 says it", [.fault(.voipPathWithoutReport)], nil),
        ]
        + fault("CF034", .voipPathWithoutCompletion, .warning)
        + fault("CF050", .completedTwice, .warning)
        + fault("CF059", .notificationPathWithoutCompletion, .warning)
        + fault("CF059", .contentPathWithoutHandler, .warning)
        + fault("CF035", .taskPathWithoutEnd, .warning) + fault("CF055", .earlyEnd, .warning)
        + fault("CF036", .taskWithoutExpiration, .warning)
        + fault("CF036", .lateExpiration, .warning)
        + fault("CF036", .expirationAfterStart, .note)
        + fault("CF037", .idleExpiration, .warning)
        + fault("CF038", .refreshWithoutNext, .note)
        + fault("CF039", .ignoredSubmitError, .note)
        + fault("CF039", .droppedSubmitError, .warning)
        + fault("CF021", .registeredAgain, .warning)
        + fault("CF040", .distantBeginDate, .warning)
        + fault("CF040", .lateRequestValue, .warning)
        + fault("CF041", .repeatedSubmission, .note)
        + fault("CF042", .taskHandlerKeepsSelf, .note)
        + fault("CF043", .forcedTaskCast, .note)
        + [
            cast("to another kind", [.requestedTask("a", .processing)], .error),
            cast("in a guard", [.requestedTask("a", .continued)], isForced: false, .warning),
            cast("to its kind", [.requestedTask("a", .appRefresh)], nil),
            cast("of another task", [.requestedTask("b", .processing)], nil),
            cast(
                "of what may be asked for too",
                [.requestedTask("a", .processing), .requestedTask(nil, .appRefresh)], nil),
            source(
                "CF056", "a processing task for health research",
                [
                    .castTask("a", .processing, isForced: true),
                    .requestedTask("a", .healthResearch),
                ], nil),
        ]
        + fault("CF045", .assertionWithoutExpiration, .warning)
        + fault("CF045", .assertionPathWithoutEnd, .warning)
        + fault("CF045", .assertionThrownAway, .warning)
        + fault("CF045", .assertionExpirationWithoutEnd, .warning)
        + fault("CF045", .assertionEndedInvalid, .warning)
        + fault("CF045", .assertionNeverEnded, .warning)
        + fault("CF045", .assertionOverwritten, .warning)
        + fault("CF045", .assertionRenewed, .warning)
        + fault("CF045", .assertionEndedEarly, .warning)
        + fault("CF039", .forcedSubmission, .warning) + fault("CF040", .pastBeginDate, .warning)
        + fault("CF057", .continuedInBackground, .warning)
        + [
            source("CF057", "no progress", [.backgroundWork(.continued)], .warning),
            source("CF058", "SwiftUI", [.applicationCallback, .appOfScenes], .warning),
            source(
                "CF058", "a manifest", [.applicationCallback],
                info: Plist.sceneManifest("UIWindowSceneSessionRoleApplication"), .warning),
            source(
                "CF058", "a manifest of CarPlay", [.applicationCallback],
                info: Plist.sceneManifest("CPTemplateApplicationSceneSessionRoleApplication"),
                nil),
            source(
                "CF058", "a scene's delegate too",
                [.applicationCallback, .appOfScenes, .sceneCallback], nil),
            source("CF058", "no scenes", [.applicationCallback], nil),
            source("CF057", "progress", [.backgroundWork(.continued), .taskProgress], nil),
            AppCase(
                "CF057", "the GPU without its entitlement",
                .app(entitlements: [:], seen: [.gpuRequest]), .warning),
            AppCase(
                "CF057", "the GPU",
                .app(
                    entitlements: [
                        "com.apple.developer.background-tasks.continued-processing.gpu": .boolean(
                            true)
                    ], seen: [.gpuRequest]), nil),
            source(
                "CF046", "a session of a new name",
                [.backgroundSession, .fault(.sessionOfNewName)],
                .warning),
            source(
                "CF046", "one of two sessions",
                [
                    .backgroundSession, .backgroundSession, .backgroundSessionEvents,
                    .fault(.sessionOfNewName),
                ], nil),
        ]
        + fault("CF045", .assertionEndedByExpiration, .warning)
        + fault("CF046", .sessionWithoutDelegate, .warning)
        + fault("CF046", .closureInBackgroundSession, .warning)
        + fault("CF046", .dataInBackgroundSession, .warning)
        + fault("CF046", .transferEventsWithoutCompletion, .warning)
        + [
            source(
                "CF046", "a download used late",
                [.fault(.downloadUsedLate), .backgroundSession, .backgroundSessionEvents],
                .warning),
            source("CF046", "a download in the foreground", [.fault(.downloadUsedLate)], nil),
        ]
        + fault("CF047", .timerInBackground, .warning)
        + fault("CF047", .timerInLastingTime, .warning)
        + [
            source(
                "CF047", "an app that goes on", [.fault(.timerInBackground)],
                info: Plist.modes("location"), nil),
            source(
                "CF047", "an app that plays", [.fault(.timerInLastingTime)],
                info: Plist.modes("audio"), nil),
        ]
        + fault("CF048", .longHandler, .warning)
        + fault("CF048", .answerForNothing, .note)
        + [
            source(
                "CF048", "an app that is woken", [.fault(.answerForNothing)],
                info: Plist.modes("remote-notification"), .warning),
            source(
                "CF048", "an app that is woken for the background",
                [.fault(.answerInForeground)], info: Plist.modes("remote-notification"), .warning),
            source(
                "CF048", "an app that is woken and always has new data", [.fault(.alwaysNewData)],
                info: Plist.modes("remote-notification"), .warning),
            source(
                "CF048", "an app that keeps what it is woken with", [.fault(.alwaysNewPush)],
                info: Plist.modes("remote-notification"), .note),
        ]
        + fault("CF048", .answerInForeground, .note)
        + fault("CF048", .alwaysNewData, .note) + fault("CF048", .earlyAnswer, .warning)
        + [
            source(
                "CF044", "both ways",
                [.sceneTask("a"), .registeredTask("a", .launch)], .warning),
            source(
                "CF044", "two identifiers",
                [.sceneTask("a"), .registeredTask("b", .launch)], nil),
            source("CF045", "never ended", [.backgroundAssertion], .warning),
            source("CF045", "ended", [.backgroundAssertion, .backgroundAssertionEnd], nil),
            source("CF046", "no events", [.backgroundSession], .warning),
            source("CF046", "events", [.backgroundSession, .backgroundSessionEvents], nil),
            source(
                "CF046", "events that are completed before they come",
                [
                    .delegatedSession, .backgroundSessionEvents,
                    .fault(.transferEventsCompletedAtOnce),
                ], .warning),
            source(
                "CF046", "the events of a library",
                [.backgroundSessionEvents, .fault(.transferEventsCompletedAtOnce)], nil),
            source(
                "CF046", "the end of events",
                [
                    .delegatedSession, .backgroundSessionEvents,
                    .keptTransferCompletion, .endOfSessionEvents,
                ], nil),
            AppCase(
                "CF046", "nothing waits for the end of events",
                .ownText(
                    .app(seen: [
                        .delegatedSession, .backgroundSessionEvents,
                        .keptTransferCompletion,
                    ])), .warning),
        ]
}
