// SPDX-License-Identifier: Apache-2.0

/// An observation in an app's source text that a rule depends on.
///
/// Source text is read, not compiled: an observation is what the words say.
public struct SourceObservation: Hashable, Sendable {
    /// What was seen.
    public var subject: Subject
    /// Where.
    public var place: AppPlace
    /// Whether it is between `#if` and `#endif`, so that it may not be compiled at all.
    public var isConditional: Bool
    /// Whether a release build for iOS devices compiles it, whatever `#if` is around it.
    public var isBuiltForIOS = false
    /// Whether it is in a package or a framework, which may serve other targets alone.
    public var isShared = false

    /// Notes one observation.
    public init(_ subject: Subject, at place: AppPlace, isConditional: Bool = false) {
        self.subject = subject
        self.place = place
        self.isConditional = isConditional
    }

    /// When a piece of code runs, as far as its surroundings show.
    public enum Occasion: Hashable, Sendable {
        /// While the app launches.
        case launch
        /// In a closure that the launch leaves for later.
        case afterLaunch
        /// In a scene's delegate.
        case scene
        /// When a view appears.
        case view
        /// Only once the user has allowed alerts.
        case permission
        /// Only if a flag says that it was not done before.
        case flag
        /// In a function that nothing in its file calls.
        case elsewhere
        /// In a function that says nothing about it.
        case unknown
    }

    /// The kinds of background tasks.
    public enum BackgroundWork: String, Hashable, Sendable {
        case appRefresh = "BGAppRefreshTask"
        case processing = "BGProcessingTask"
        case continued = "BGContinuedProcessingTask"
        case healthResearch = "BGHealthResearchTask"
    }

    /// What can be seen.
    public enum Subject: Hashable, Sendable {
        /// A handler for pushes that wake the app.
        case remoteNotificationHandler(inSceneDelegate: Bool)
        /// A path through such a handler on which its completion handler is not called.
        case pathWithoutCompletion
        /// A store that keeps itself in step with iCloud, and takes the pushes for that by itself.
        case cloudSync
        /// `registerForRemoteNotifications()`.
        case remoteNotificationRegistration(Occasion)
        /// A device token that is kept in the user defaults.
        case storedDeviceToken
        /// A device token that becomes text through its description.
        case describedDeviceToken
        /// A device token's length compared with a number, or in a pattern.
        case fixedTokenLength

        /// `PKPushRegistry` asked for VoIP pushes.
        case voipRegistration
        /// A handler for VoIP pushes, and whether it takes `PKVoIPPushMetadata`.
        case voipHandler(takesMetadata: Bool)
        /// A handler for VoIP pushes that reports no call, and passes nothing on that could.
        case voipHandlerWithoutReport
        /// A handler for VoIP pushes in the form of iOS 8 that does nothing.
        case emptyVoIPHandler
        /// A report of a call that follows something that takes time, in a handler for VoIP pushes.
        case lateReport
        /// CallKit or LiveCommunicationKit.
        case callInterface
        /// A look at the storefront or the region.
        case regionSwitch

        /// A task that is registered with the scheduler under this identifier; `nil` where the
        /// identifier could not be resolved.
        case registeredTask(String?, Occasion)
        /// A task's request with this identifier.
        case requestedTask(String?, BackgroundWork)
        /// A kind of background work that the source text names.
        case backgroundWork(BackgroundWork)
        /// The way of fetching before `BGTaskScheduler`.
        case legacyFetch

        /// `allowsBackgroundLocationUpdates` is set to true.
        case backgroundLocation
        /// Location pushes are asked for.
        case locationPushes
        /// A Live Activity is started or updated by pushes.
        case pushedLiveActivity
        /// A widget's handler of pushes.
        case widgetPushHandler
        /// A notification service extension's class.
        case serviceExtension
        /// A notification service extension that hands empty content on, to show nothing.
        case hiddenNotification
        /// A notification is shown as a message or a call of a person.
        case communicationStyle
        /// A name from a framework that gives this mode a purpose.
        case feature(BackgroundMode)

        /// A task that SwiftUI registers with `.backgroundTask`.
        case sceneTask(String?)
        /// Time asked for after the app has left the foreground.
        case backgroundAssertion
        /// The end of such time.
        case backgroundAssertionEnd
        /// A session whose transfers go on without the app.
        case backgroundSession
        /// The app delegate's function for the events of such sessions.
        case backgroundSessionEvents
        /// A fault that the source text shows by itself.
        case fault(Fault)
    }

    /// Whether one file's text proves it, whatever app the file is built into.
    public var isProvenByFile: Bool {
        switch subject {
        case .fault, .pathWithoutCompletion, .lateReport, .storedDeviceToken,
            .describedDeviceToken, .fixedTokenLength:
            true
        default: false
        }
    }

    /// The faults in background work that one file's text shows.
    public enum Fault: String, Hashable, Sendable, CaseIterable {
        /// A path through a handler of VoIP pushes that returns and reports no call.
        case voipPathWithoutReport
        /// A path through such a handler that does not call its completion handler.
        case voipPathWithoutCompletion
        /// A path through the older fetch in the background that does not complete it.
        case fetchPathWithoutCompletion
        /// A path on which a handler completes a second time.
        case completedTwice
        /// A path through a task's handler that does not end the task.
        case taskPathWithoutEnd
        /// A task's handler that works and sets no expiration handler.
        case taskWithoutExpiration
        /// An expiration handler that is set only after something was waited for.
        case lateExpiration
        /// An expiration handler that stops nothing.
        case idleExpiration
        /// An expiration handler that ends its task, and leaves the work running.
        case bareExpiration
        /// A handler of a refresh task that asks for no further one.
        case refreshWithoutNext
        /// The errors of `submit` are thrown away.
        case ignoredSubmitError
        /// An earliest begin date that is more than a week ahead.
        case distantBeginDate
        /// A request that is submitted each time the app comes to the foreground.
        case repeatedSubmission
        /// The closure of a registration keeps `self`.
        case taskHandlerKeepsSelf
        /// A task that is cast by force.
        case forcedTaskCast
        /// `beginBackgroundTask` without an expiration handler.
        case assertionWithoutExpiration
        /// An expiration handler of `beginBackgroundTask` that calls nothing.
        case assertionExpirationWithoutEnd
        /// A path on which `endBackgroundTask` is not called.
        case assertionPathWithoutEnd
        /// A session for the background without a delegate.
        case sessionWithoutDelegate
        /// A transfer with a closure in such a session.
        case closureInBackgroundSession
        /// A timer that begins when the app leaves the foreground.
        case timerInBackground
        /// A handler of silent pushes that starts more than it has time for.
        case longHandler
        /// A handler of silent pushes that always says that there is new data.
        case alwaysNewData
    }
}
