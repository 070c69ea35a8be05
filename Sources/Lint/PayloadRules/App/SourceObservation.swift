// SPDX-License-Identifier: Apache-2.0

/// An observation in an app's source text that a rule depends on.
///
/// Source text is not compiled: an observation depends on its tokens only.
public struct SourceObservation: Hashable, Sendable {
    /// The observation.
    public var subject: Subject
    /// Its place.
    public var place: AppPlace
    /// Whether it is in `#if`, so that it may not be compiled.
    public var isConditional: Bool
    /// Whether a release build for iOS devices compiles it, regardless of `#if`.
    public var isBuiltForIOS = false
    /// Whether it is in a package or a framework, which may be for other targets only.
    public var isShared = false
    /// Whether it is in a function that nothing calls.
    public var isUncalled = false
    /// Whether it is a request for a task in a function that may be called, whose identifier
    /// nothing can set to another one.
    public var isCertainRequest = false
    /// Whether it is no request for a task in a function that nothing calls.
    public var mayBeAsked = true
    /// The other places in the same function that have the same fault, in order.
    public var further: [AppPlace] = []

    /// Creates an observation.
    public init(_ subject: Subject, at place: AppPlace, isConditional: Bool = false) {
        self.subject = subject
        self.place = place
        self.isConditional = isConditional
    }

    /// The time at which code runs, as far as its context shows.
    public enum Occasion: Hashable, Sendable {
        /// While the app launches.
        case launch
        /// In a closure that the launch schedules for later.
        case afterLaunch
        /// In a scene's delegate.
        case scene
        /// When a view of SwiftUI appears.
        case view
        /// When a view controller loads or shows its view.
        case viewController
        /// When the user or the system starts something in an app that has launched.
        case event
        /// Only after the user has allowed alerts.
        case permission
        /// Only if a flag is not set.
        case flag
        /// In a function that is not called in its file.
        case elsewhere
        /// In a function without information about it.
        case unknown

        /// Whether the launch is over.
        public var isLate: Bool {
            [.view, .viewController, .scene, .event, .afterLaunch].contains(self)
        }
    }

    /// The kinds of background tasks.
    public enum BackgroundWork: String, Hashable, Sendable {
        case appRefresh = "BGAppRefreshTask"
        case processing = "BGProcessingTask"
        case continued = "BGContinuedProcessingTask"
        case healthResearch = "BGHealthResearchTask"
    }

    /// The subject of an observation.
    public enum Subject: Hashable, Sendable {
        /// A handler for pushes that wake the app.
        case remoteNotificationHandler(inSceneDelegate: Bool)
        /// A handler for pushes to a running app only, as before iOS 7.
        case oldNotificationHandler
        /// The key of `aps` that tells of a push that wakes the app, a subscription of CloudKit
        /// that asks for such pushes, or a handler that shows what they bring.
        case silentPushCheck
        /// A library that registers for pushes at launch, and handles them.
        case pushPlugin
        /// Firebase's sign-in by phone, which takes a silent push of its own (Firebase,
        /// Authenticate with Firebase on Apple platforms using a phone number).
        case phoneSignIn
        /// An app delegate whose base class is neither the system's nor that of a known framework,
        /// so that the base class may do anything.
        case derivedDelegate
        /// The app of SwiftUI, whose delegate is the one that an adaptor names.
        case appOfScenes
        /// An import of a module that is none of the system's, in a file with such a handler.
        case foreignModule
        /// A path through such a handler without a call of its completion handler.
        case pathWithoutCompletion
        /// A store that synchronizes with iCloud and handles the pushes for it.
        case cloudSync
        /// `registerForRemoteNotifications()`.
        case remoteNotificationRegistration(Occasion)
        /// `registerForRemoteNotificationTypes`, which iOS has not followed since version 8 (Apple,
        /// UIApplication).
        case obsoleteRegistration
        /// A device token that the app delegate hands to Firebase, which sends pushes by it.
        case tokenForFirebase
        /// A device token that is stored in the user defaults.
        case storedDeviceToken
        /// A device token that is converted to text by its description.
        case describedDeviceToken
        /// A device token whose bytes are decoded as text.
        case decodedDeviceToken
        /// A device token whose bytes are written without their leading zeros.
        case shortenedDeviceToken
        /// A device token whose length is compared with a number or a pattern.
        case fixedTokenLength

        /// A `PKPushRegistry` that is made.
        case pushRegistry
        /// Its push types, which are not those of VoIP pushes or not known.
        case otherPushTypes
        /// A `PKPushRegistry` that asks for VoIP pushes.
        case voipRegistration(Occasion)
        /// A handler for VoIP pushes, and whether it has a `PKVoIPPushMetadata` parameter.
        case voipHandler(takesMetadata: Bool)
        /// A handler for VoIP pushes that reports no call, and calls nothing that could.
        case voipHandlerWithoutReport
        /// An empty handler for VoIP pushes in the form of iOS 8.
        case emptyVoIPHandler
        /// A call that a handler for VoIP pushes reports only after an operation that takes time.
        case lateReport
        /// CallKit or LiveCommunicationKit.
        case callInterface
        /// A query of the storefront or the region.
        case regionSwitch

        /// A task registered with the scheduler; the identifier is `nil` if it could not be
        /// resolved.
        case registeredTask(String?, Occasion)
        /// A request for a task with this identifier.
        case requestedTask(String?, BackgroundWork)
        /// A request for a task with this identifier that is set up, and that nothing can submit.
        case unsubmittedRequest(String?)
        /// A handler for the requests of this identifier, in code that runs unless it is uncalled.
        case taskHandler(String?)
        /// A cast of its task to this kind, by force or in a `guard`, which runs for each task.
        case castTask(String?, BackgroundWork, isForced: Bool)
        /// A kind of background work that the source text names.
        case backgroundWork(BackgroundWork)
        /// The progress of a task, or of anything else.
        case taskProgress
        /// A request that asks for the GPU.
        case gpuRequest
        /// Background fetch before `BGTaskScheduler`.
        case legacyFetch
        /// `setMinimumBackgroundFetchInterval`, without which iOS fetches never.
        case fetchInterval
        /// A handler of background fetch that always reports new data.
        case alwaysNewFetch
        /// A call of that handler, as of a function.
        case legacyFetchCall
        /// An app delegate whose base classes are the system's.
        case plainDelegate
        /// The function of the app delegate for leaving the foreground, which asks for background
        /// work.
        case applicationCallback
        /// Something else that runs when the app, or a scene, leaves the foreground.
        case sceneCallback
        /// The function of the app delegate that configures scenes.
        case sceneConfiguration
        /// A framework that hands what the app delegate gets on to plugins.
        case pluginHost

        /// `allowsBackgroundLocationUpdates` is set to true.
        case backgroundLocation
        /// An identifier of time in the background that code elsewhere gets, and may end.
        case handedTime
        /// What gives an app locations in the background: updates that go on, visits, regions.
        case lastingLocation
        /// A request for location pushes.
        case locationPushes
        /// A Live Activity that pushes start or update.
        case pushedLiveActivity
        /// A widget's push handler.
        case widgetPushHandler
        /// The class of a notification service extension.
        case serviceExtension
        /// A notification service extension that passes on empty content to show nothing.
        case hiddenNotification
        /// A notification that is shown as a message or a call from a person.
        case communicationStyle
        /// A name of a framework that requires this mode.
        case feature(BackgroundMode)

        /// A task that SwiftUI registers with `.backgroundTask`.
        case sceneTask(String?)
        /// Background time requested after the app has left the foreground.
        case backgroundAssertion
        /// The end of such background time.
        case backgroundAssertionEnd
        /// A background session.
        case backgroundSession
        /// The app delegate's function for events of background sessions.
        case backgroundSessionEvents
        /// A completion handler of such events that is kept for later, and called in the same file.
        case keptTransferCompletion
        /// A background session with a delegate of this file.
        case delegatedSession
        /// The function of a session's delegate that gets the end of its events.
        case endOfSessionEvents
        /// A fault that the source text itself shows.
        case fault(Fault)

        /// Whether this registers for VoIP pushes, at any time.
        public var isVoIPRegistration: Bool {
            if case .voipRegistration = self { true } else { false }
        }
    }

    /// Whether the text of one file proves it, regardless of the app.
    public var isProvenByFile: Bool {
        switch subject {
        case .fault, .pathWithoutCompletion, .lateReport, .storedDeviceToken,
            .describedDeviceToken, .decodedDeviceToken, .shortenedDeviceToken, .fixedTokenLength,
            .voipHandlerWithoutReport:
            true
        default: false
        }
    }

    /// Whether it is told of too where nothing calls its function: what starts a task that a
    /// session refuses has no caller yet, and is meant to run.
    public var isToldUncalled: Bool {
        switch subject {
        case .fault(.forcedTaskCast), .fault(.closureInBackgroundSession),
            .fault(.dataInBackgroundSession):
            true
        default: !isProvenByFile
        }
    }

    /// Faults in background work that the text of one file shows.
    public enum Fault: String, Hashable, Sendable, CaseIterable {
        /// A handler of silent pushes whose parameters have other types than the delegate's.
        case mistypedHandler
        /// A handler of silent pushes in a class that is no app delegate, and that nothing calls.
        case strayHandler
        /// A handler of silent pushes in an app delegate that nothing names, which an app of
        /// SwiftUI must.
        case delegateWithoutAdaptor
        /// A `PKPushRegistry` without a delegate.
        case pushRegistryWithoutDelegate
        /// A `PKPushRegistry` that has a delegate, and whose types of pushes stay empty.
        case pushRegistryWithoutTypes
        /// A `CXProvider` without a delegate.
        case callsWithoutDelegate
        /// A path through the handler of an action of CallKit that neither fulfils nor fails it.
        case actionLeftOpen
        /// A path through a handler of VoIP pushes without a reported call.
        case voipPathWithoutReport
        /// A path without a report in such a handler, which does not complete there either.
        case voipPathWithoutEither
        /// A path through such a handler without a call of its completion handler.
        case voipPathWithoutCompletion
        /// A path through a background fetch without completion.
        case fetchPathWithoutCompletion
        /// A path through a function of the notification center's delegate without completion.
        case notificationPathWithoutCompletion
        /// A path through a notification service extension without a call of its content handler.
        case contentPathWithoutHandler
        /// A path on which a handler completes twice.
        case completedTwice
        /// A path through a task's handler without ending the task.
        case taskPathWithoutEnd
        /// A task's handler that ends the task while its work still runs.
        case earlyEnd
        /// A task's handler without an expiration handler.
        case taskWithoutExpiration
        /// An expiration handler that is set only after a wait.
        case lateExpiration
        /// An expiration handler that is set after the statement that starts the work.
        case expirationAfterStart
        /// An expiration handler that stops nothing.
        case idleExpiration
        /// An expiration handler that ends its task, and not the work behind an `await` or in a
        /// closure.
        case taskLeftRunning
        /// A handler of a refresh task that requests no further one.
        case refreshWithoutNext
        /// The errors of `submit` may be ignored: something may look at the result, or the code may
        /// not be built for devices.
        case ignoredSubmitError
        /// The errors of `submit` are dropped: by `try?`, as `error:nil` or `null`, by an empty
        /// `catch`, or where a function that throws them is called, and nothing looks at the
        /// result.
        case droppedSubmitError
        /// `try!` before a submission, which ends the app where it is refused.
        case forcedSubmission
        /// An earliest begin date that is counted from a day long ago.
        case pastBeginDate
        /// A request for continued processing when the app leaves the foreground.
        case continuedInBackground
        /// An earliest begin date more than a week in the future.
        case distantBeginDate
        /// A value of a request that is set after it was submitted.
        case lateRequestValue
        /// A request that is submitted each time the app enters the foreground.
        case repeatedSubmission
        /// The closure of a registration captures `self` strongly.
        case taskHandlerKeepsSelf
        /// A forced cast of a task.
        case forcedTaskCast
        /// `beginBackgroundTask` without an expiration handler.
        case assertionWithoutExpiration
        /// `beginBackgroundTask` whose identifier nothing keeps.
        case assertionThrownAway
        /// An expiration handler of `beginBackgroundTask` that calls nothing.
        case assertionExpirationWithoutEnd
        /// An expiration handler of `beginBackgroundTask` that begins time again.
        case assertionRenewed
        /// `beginBackgroundTask` whose identifier replaces that of time which was not ended.
        case assertionOverwritten
        /// `beginBackgroundTask` with an identifier that a property keeps for nothing.
        case assertionNeverEnded
        /// `beginBackgroundTask` whose time nothing but its expiration handler ends.
        case assertionEndedByExpiration
        /// `endBackgroundTask` while the work that its function began still runs.
        case assertionEndedEarly
        /// `endBackgroundTask` with an identifier that is invalid, or was set to invalid before.
        case assertionEndedInvalid
        /// A call by which each launch registers a task again.
        case registeredAgain
        /// A path without a call of `endBackgroundTask`.
        case assertionPathWithoutEnd
        /// A background session without a delegate.
        case sessionWithoutDelegate
        /// A background session with another identifier in each launch.
        case sessionOfNewName
        /// A background session that each use of a property or a function makes anew.
        case sessionMadeAnew
        /// A background session that only a further transfer makes.
        case sessionMadeByTransfers
        /// A transfer with a completion closure in a background session.
        case closureInBackgroundSession
        /// An upload of data, and not of a file, in a background session.
        case dataInBackgroundSession
        /// A handler of a background session's events that drops its completion handler.
        case transferEventsWithoutCompletion
        /// A handler of a background session's events that completes before they are delivered.
        case transferEventsCompletedAtOnce
        /// A completion handler of such events in a property that nothing reads.
        case transferCompletionKeptForNothing
        /// A completion handler of such events that is called on the session's own queue.
        case transferCompletionOffMain
        /// The file of a download that is used only after the delegate method which gets it.
        case downloadUsedLate
        /// A timer that starts when the app leaves the foreground.
        case timerInBackground
        /// A repeating timer under time in the background that lasts until it expires.
        case timerInLastingTime
        /// A handler of silent pushes that starts more work than it has time for.
        case longHandler
        /// A handler of silent pushes that always reports new data.
        case alwaysNewData
        /// One that may keep what the push brings itself, and always reports new data.
        case alwaysNewPush
        /// A handler of silent pushes that only logs them and reports new data.
        case answerForNothing
        /// A handler of silent pushes that works only in the foreground and reports new data.
        case answerInForeground
        /// A handler of silent pushes that hands them to a scene's delegate, if there is a scene.
        case pushHandedToScene
        /// A handler of silent pushes that answers while work that it began still runs.
        case earlyAnswer
        /// A handler of background fetch that answers while work that it began still runs.
        case earlyFetchAnswer
    }
}
