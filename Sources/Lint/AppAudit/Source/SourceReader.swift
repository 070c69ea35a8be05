// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Collects the observations that the rules need from one source file.
struct SourceReader {
    let text: SourceText
    /// The functions of the file by name; the first one if several have the same name.
    let functions: [String: SourceScope]
    /// The names of several functions in the file.
    let overloaded: Set<String>
    /// The modules that the file imports.
    let imports: Set<String>
    /// What was found out about functions.
    let notes = FunctionNotes()
    var digest = SourceDigest()
    /// The functions that were followed, with what they got.
    var visited: Set<String> = []
    /// The handovers that were followed or noted, each once.
    var known: Set<Handover> = []

    init(_ text: SourceText) {
        self.text = text
        functions = text.functions.compactMapValues(\.first)
        overloaded = Set(text.functions.filter { $0.value.count > 1 }.keys)
        imports = Set(text.places(of: "import").compactMap { text[$0 + 1]?.text })
    }

    /// The digest of a file.
    static func digest(of text: SourceText) -> SourceDigest {
        var reader = SourceReader(text)
        reader.readScopes()
        reader.readLazySessions()
        var last = -1
        for index in reader.telling where index != last {
            last = index
            if text.tokens[index].isName {
                reader.readName(index)
            } else {
                reader.readLiteral(index)
            }
        }
        // Not in place: an array that grew keeps free room, and a project has hundreds of
        // thousands of entries.
        reader.digest.entries = reader.digest.entries.sorted {
            $0.observation.place.offset < $1.observation.place.offset
        }
        return reader.digest
    }

    /// The observations in a file, with identifiers from these constants.
    static func observations(
        in text: SourceText, _ constants: SourceConstants
    ) -> [SourceObservation] {
        digest(of: text).observations(constants)
    }

    /// Records an observation at a token.
    mutating func see(_ subject: SourceObservation.Subject, at index: Int) {
        guard digest.entries.count < AuditLimits.observationsPerFile else { return }
        var observation = SourceObservation(
            subject, at: text.place(of: index), isConditional: text.tokens[index].isConditional)
        observation.isBuiltForIOS = text.isBuiltForIOS(index)
        var entry = SourceDigest.Entry(observation: observation)
        if subject.needsCaller { entry.callers = callChain(of: index) }
        if let type = text.type(around: index)?.name, type.hasSuffix("AppDelegate") {
            entry.delegate = type
        }
        digest.entries.append(entry)
    }

    /// Records a fault of a function at the first of the places that have it, with the others.
    mutating func see(_ fault: SourceObservation.Subject, atFirstOf places: [Int]) {
        let places = Set(places).sorted()
        guard let first = places.first else { return }
        let known = digest.entries.count
        see(fault, at: first)
        guard digest.entries.count > known else { return }
        digest.entries[known].observation.further =
            places.dropFirst().prefix(AuditLimits.placesPerFault).map(text.place)
    }

    /// Records an observation with an identifier, and the expression for it.
    mutating func see(
        _ subject: SourceObservation.Subject, at index: Int, named expression: Int
    ) {
        guard digest.entries.count < AuditLimits.observationsPerFile else { return }
        see(subject, at: index)
        // Another app of the same code may be the one.
        guard !asksForApp(around: expression) else { return }
        switch ConstantExpression(at: expression, in: text) {
        case .literal(let value): digest.entries[digest.entries.count - 1].name(value)
        case .reference(let reference):
            digest.entries[digest.entries.count - 1].reference = reference
        case .unknown: return
        }
    }

    /// Records a function of another file that gets what completes, unless it is one of the system
    /// that runs closures later, or a type.
    mutating func noteHandover(_ handover: Handover) {
        guard digest.handovers.count < AuditLimits.observationsPerFile,
            !Self.laterCallees.contains(handover.function), !Self.isIdle(handover.function)
        else { return }
        digest.handovers.append(handover)
    }

    /// Records what a function that gets a task lacks, unless its caller has it.
    mutating func see(_ subject: SourceObservation.Subject, inFunction scope: SourceScope) {
        see(subject, at: scope.head)
        guard !digest.entries.isEmpty, case .function(let head) = scope.kind else { return }
        digest.entries[digest.entries.count - 1].function = head.name
    }

    private mutating func readScopes() {
        for scope in text.scopes {
            switch scope.kind {
            case .type(let head): readType(head, scope)
            case .function(let head): readFunction(head, scope)
            case .control, .closure: continue
            }
        }
    }

    private mutating func readType(_ head: SourceScope.TypeHead, _ scope: SourceScope) {
        if head.inherited.contains("UNNotificationServiceExtension") {
            see(.serviceExtension, at: scope.head)
        }
        if head.inherited.contains("WidgetPushHandler") {
            see(.widgetPushHandler, at: scope.head)
        }
        let hasMain = (max(0, scope.head - 6)..<scope.head).contains {
            text.sees("@", "main", at: $0)
        }
        if hasMain, head.inherited.contains("App") { see(.appOfScenes, at: scope.head) }
        // SwiftUI has a delegate of its own for an app without one.
        let isPlain =
            head.inherited.contains("UIApplicationDelegate")
            ? ["UIResponder", "NSObject"].contains(head.inherited.first)
            : head.inherited.contains("App")
                && text.places(of: "UIApplicationDelegateAdaptor").isEmpty
        if isPlain { see(.plainDelegate, at: scope.head) }
    }

    private mutating func readFunction(_ head: SourceScope.FunctionHead, _ scope: SourceScope) {
        if head.has("didFinishLaunchingWithOptions"), !text.isObjectiveC,
            modifiers(before: scope.head).contains("override"),
            let base = text.type(around: scope.head)?.inherited.first,
            !PluginManifests.hosts.contains(base)
        {
            see(.derivedDelegate, at: scope.head)
        }
        readNotificationHandler(head, scope)
        readVoIPHandler(head, scope)
        readCallAction(scope)
        readTaskFunction(head, scope)
        readFetchHandler(head, scope)
        readNotificationAnswer(head, scope)
        readDelegateClass(head, scope)
        readTransferEvents(head, scope)
        readEndOfEvents(head, scope)
        readRemovedCompletion(head, scope)
        noteLaunchCalls(head, scope)
        readEndOfDownload(head, scope)
        readBackgroundCallback(head, scope)
        noteLeavingCalls(head, scope)
    }

    /// Reads the class that an app delegate of Objective-C is implemented in.
    private mutating func readDelegateClass(
        _ head: SourceScope.FunctionHead, _ scope: SourceScope
    ) {
        guard text.isObjectiveC, head.has("didFinishLaunchingWithOptions"),
            // An app has one, and a look at all classes for each would be quadratic.
            digest.delegateClass == nil, let type = owner(around: scope.head)
        else { return }
        digest.delegateClass = SourceDigest.DelegateClass(
            type.name, isPlain: Self.declaresPlainDelegate(type.name, in: text),
            SourceObservation(.plainDelegate, at: text.place(of: scope.head)))
    }

    /// Whether a text in Objective-C declares a class as a delegate of the app whose base class is
    /// the system's: `@interface AppDelegate : UIResponder <UIApplicationDelegate>`.
    static func declaresPlainDelegate(_ name: String, in text: SourceText) -> Bool {
        text.places(of: "interface").contains { word in
            guard text.sees("@", "interface", name, ":", at: word - 1),
                let base = text[word + 3], base.isName("UIResponder") || base.isName("NSObject"),
                text.sees("<", at: word + 4)
            else { return false }
            return text.tokens[(word + 5)...].prefix(AuditLimits.headWords)
                .prefix { !$0.isMark(">") && !$0.isMark("@") }
                .contains { $0.isName("UIApplicationDelegate") }
        }
    }

    /// The literals and the names of which something is read, in order. They are few, and to look
    /// at each name once is much less than to look at each place.
    private var telling: [Int] {
        var found = text.tokens.indices.filter { text.tokens[$0].isString }
        let tokens = tokenParameters
        for (name, places) in text.names {
            if Self.readNames.contains(name) || tokens.data.contains(name)
                || Self.namesDeviceToken(name)
            {
                found += places
            }
            if tokens.credentials.contains(name) {
                found += places.map { $0 + 2 }.filter { text[$0]?.isName == true }
            }
        }
        return found.sorted()
    }

    /// The names that ``readName(_:)`` asks for, besides those that may be of device tokens.
    static let readNames: Set<String> = transferStarts.union(subjects.keys).union(lastingLocations)
        .union([
            "registerForRemoteNotifications", "registerForRemoteNotificationTypes", "register",
            "registerForTaskWithIdentifier", "backgroundTask", "BGAppRefreshTaskRequest",
            "registerPeriodicTask", "registerBGProcessingTask", "registerTask", "taskIdentifier",
            "BGProcessingTaskRequest", "BGContinuedProcessingTaskRequest",
            "BGHealthResearchTaskRequest", "submit", "submitTaskRequest", "earliestBeginDate",
            "setEarliestBeginDate", "as", "scenePhase", "applicationDidEnterBackground",
            "didEnterBackgroundNotification", "UIApplicationDidEnterBackgroundNotification",
            "willResignActiveNotification", "UIApplicationWillResignActiveNotification",
            "UIApplicationDidEnterBackground", "UISceneDidEnterBackgroundNotification",
            "willDeactivateNotification", "UISceneWillDeactivateNotification", "didEnterBackground",
            "configurationForConnecting", "configurationForConnectingSceneSession", "progress",
            "requiredResources", "endBackgroundTask", "scheduledTimer",
            "scheduledTimerWithTimeInterval", "publish", "makeTimerSource",
            "dispatch_source_create",
            "sleep", "sleepForTimeInterval", "asyncAfter", "beginBackgroundTask",
            "beginBackgroundTaskWithName", "beginBackgroundTaskWithExpirationHandler", "background",
            "backgroundSessionConfigurationWithIdentifier", "URLSession",
            "sessionWithConfiguration",
            "setMinimumBackgroundFetchInterval", "desiredPushTypes", "setDesiredPushTypes",
            "PKPushRegistry", "CXProvider", "performFetchWithCompletionHandler",
            "shouldSendContentAvailable", "setShouldSendContentAvailable",
            "allowsBackgroundLocationUpdates", "pushType", "updating", "UNNotificationContent",
            "UNMutableNotificationContent", "body", "UserDefaults", "AppStorage", "NSUserDefaults",
            "describing", "description", "token", "apnsToken", "APNSToken", "setAPNSToken",
        ])

    /// Reads a name; one of a new case, also of ``readDeviceToken(_:_:)``, belongs to ``readNames``
    /// too.
    private mutating func readName(_ index: Int) {
        let name = text.tokens[index].text
        if let subject = Self.subjects[name] { see(subject, at: index) }
        switch name {
        case "registerForRemoteNotifications"
        where !isCall(index) && text[index - 1]?.isName("func") != true:
            // One that is passed on with the permission is not called without.
            let isPermitted =
                !text.tokens[..<index].suffix(6).contains { $0.text.hasPrefix("selector") }
                && occasion(of: index) == .permission
            see(.remoteNotificationRegistration(isPermitted ? .permission : .unknown), at: index)
        case "registerForRemoteNotifications"
        where isCall(index) && text[index - 1]?.isName("func") != true && !isForOldSystems(index)
            && !isOwnFunction(index):
            let occasion = occasion(of: index)
            see(
                .remoteNotificationRegistration(occasion == .afterLaunch ? .launch : occasion),
                at: index)
            if occasion == .unknown { noteCallers(of: index) }
        // With the settings of iOS 8 it may be for the badge of earlier systems alone.
        case "registerForRemoteNotificationTypes"
        where isCall(index) && text[index - 1]?.isName("self") != true
            && !text.sees("]", at: index + 1) && !text.sees("(", ")", at: index + 1)
            && text.places(of: "registerUserNotificationSettings").isEmpty:
            see(.obsoleteRegistration, at: index)
        case "register", "registerForTaskWithIdentifier", "registerPeriodicTask",
            "registerBGProcessingTask", "registerTask", "taskIdentifier", "backgroundTask",
            "BGAppRefreshTaskRequest", "BGProcessingTaskRequest",
            "BGContinuedProcessingTaskRequest", "BGHealthResearchTaskRequest":
            readScheduling(name, index)
        case "submit", "submitTaskRequest": readSubmission(index)
        case "earliestBeginDate", "setEarliestBeginDate": readBeginDate(index)
        case "as": readCast(index)
        case "scenePhase", "applicationDidEnterBackground", "didEnterBackgroundNotification",
            "UIApplicationDidEnterBackgroundNotification", "willResignActiveNotification",
            "UIApplicationWillResignActiveNotification", "UIApplicationDidEnterBackground",
            "UISceneDidEnterBackgroundNotification", "willDeactivateNotification",
            "UISceneWillDeactivateNotification", "didEnterBackground":
            readSceneName(name, index)
        // The app makes scenes itself.
        case "configurationForConnecting", "configurationForConnectingSceneSession":
            see(.sceneConfiguration, at: index)
        case "progress", "requiredResources": readContinuedProcessing(name, index)
        case "endBackgroundTask": readAssertionEnd(index)
        case "scheduledTimer", "scheduledTimerWithTimeInterval", "publish", "makeTimerSource",
            "dispatch_source_create", "sleep", "sleepForTimeInterval", "asyncAfter":
            readTimer(index)
        case "beginBackgroundTask", "beginBackgroundTaskWithName",
            "beginBackgroundTaskWithExpirationHandler":
            readAssertion(index)
        case "background", "backgroundSessionConfigurationWithIdentifier":
            readBackgroundSession(index)
        case "URLSession":
            readRepeatedSession(index)
            readDoubleSession(index)
        case "sessionWithConfiguration":
            readMakingOfSession(index)
            readDoubleSession(index)
        case "setMinimumBackgroundFetchInterval": see(.fetchInterval, at: index)
        case "apnsToken", "APNSToken", "setAPNSToken": readTokenForFirebase(index)
        case "shouldSendContentAvailable", "setShouldSendContentAvailable":
            readSubscription(index)
        case "desiredPushTypes", "setDesiredPushTypes": readPushTypes(index)
        case "PKPushRegistry": readPushRegistry(index)
        case "CXProvider"
        where text.places(of: name).count <= AuditLimits.headWords
            && text.places(of: name).count { startOfMaking($0) != nil } == 1
            && text.scopes.contains(where: { callAction(of: $0) != nil }):
            // One that only reports calls that have ended needs no delegate.
            readMaking(of: name, index)
        case _ where Self.transferStarts.contains(name): readStartOfTransfer(index)
        case "performFetchWithCompletionHandler"
        where function(around: index) != nil
            || !text.isObjectiveC && text.sees(":", at: index + 1):
            see(.legacyFetchCall, at: index)
        case "allowsBackgroundLocationUpdates"
        where (text.sees("=", "true", at: index + 1) || text.sees("=", "YES", at: index + 1))
            && !asksForModes(before: index):
            see(.backgroundLocation, at: index)
            see(.lastingLocation, at: index)
        case _ where Self.lastingLocations.contains(name):
            // `Reachability.shared.startMonitoring()`
            if name != "startMonitoring" || text.sees("(", "for", ":", at: index + 1),
                !text.sees("=", "false", at: index + 1), !text.sees("=", "NO", at: index + 1),
                !text.sees(":", "NO", at: index + 1)
            {
                see(.lastingLocation, at: index)
            }
        case "pushType" where text.sees(":", ".", at: index + 1):
            if let type = text[index + 3], ["token", "channel"].contains(type.text) {
                see(.pushedLiveActivity, at: index)
            }
        case "updating" where text.sees("(", "from", at: index + 1):
            see(.communicationStyle, at: index)
        case "UNNotificationContent", "UNMutableNotificationContent":
            readEmptyContent(name, index)
        case "body": readBlankContent(index)
        default: readDeviceToken(name, index)
        }
    }

    /// Names of what gives an app locations in the background.
    private static let lastingLocations: Set = [
        "CLBackgroundActivitySession", "CLLocationUpdate", "CLMonitor", "CLServiceSession",
        "allowsBackgroundLocationUpdates", "setAllowsBackgroundLocationUpdates",
        "startMonitoring", "startMonitoringForRegion", "startMonitoringSignificantLocationChanges",
        "startMonitoringVisits", "startRangingBeacons", "startRangingBeaconsInRegion",
        "startRangingBeaconsSatisfyingConstraint",
    ]

    /// Names that are sufficient for an observation.
    private static let subjects: [String: SourceObservation.Subject] = {
        var subjects: [String: SourceObservation.Subject] = [
            "CXProvider": .callInterface, "ConversationManager": .callInterface,
            "reportNewIncomingCall": .callInterface,
            "reportNewIncomingCallWithUUID": .callInterface,
            "reportNewIncomingConversation": .callInterface,
            "Storefront": .regionSwitch, "SKStorefront": .regionSwitch,
            "regionCode": .regionSwitch,
            "BGAppRefreshTask": .backgroundWork(.appRefresh),
            "BGProcessingTask": .backgroundWork(.processing),
            "BGContinuedProcessingTask": .backgroundWork(.continued),
            "BGHealthResearchTask": .backgroundWork(.healthResearch),
            "NSPersistentCloudKitContainer": .cloudSync, "CKSyncEngine": .cloudSync,
            "ModelContainer": .cloudSync, "modelContainer": .cloudSync,
            "startMonitoringLocationPushes": .locationPushes,
            "pushTokenUpdates": .pushedLiveActivity,
            "pushToStartTokenUpdates": .pushedLiveActivity,
            "pushToStartToken": .pushedLiveActivity,
            "urlSessionDidFinishEvents": .endOfSessionEvents,
            "URLSessionDidFinishEventsForBackgroundURLSession": .endOfSessionEvents,
            // AFNetworking and Alamofire 4 wait for the end, and call what these get.
            "setDidFinishEventsForBackgroundURLSessionBlock": .endOfSessionEvents,
            "sessionDidFinishEventsForBackgroundURLSession": .endOfSessionEvents,
        ]
        for name in PluginManifests.pushPlugins { subjects[name] = .pushPlugin }
        for name in ["PhoneAuthProvider", "FIRPhoneAuthProvider"] { subjects[name] = .phoneSignIn }
        for name in PluginManifests.hosts { subjects[name] = .pluginHost }
        for mode in BackgroundMode.allCases {
            for name in mode.featureNames { subjects[name] = .feature(mode) }
        }
        return subjects
    }()

    /// All words for which a file is parsed. Other files contain nothing for a rule.
    static let words: Set<String> = Set(subjects.keys).union(lastingLocations).union([
        "registerForRemoteNotifications", "registerForRemoteNotificationTypes",
        "forTaskWithIdentifier",
        "registerForTaskWithIdentifier", "backgroundTask", "BGAppRefreshTaskRequest",
        "WorkmanagerPlugin", "SwiftFlutterBackgroundServicePlugin", "userNotificationCenter",
        "withContentHandler",
        "BGProcessingTaskRequest", "BGContinuedProcessingTaskRequest",
        "BGHealthResearchTaskRequest", "BGTaskScheduler", "BGTask", "earliestBeginDate",
        "sceneDidEnterBackground", "sceneWillResignActive", "sceneDidBecomeActive",
        "sceneWillEnterForeground", "willDeactivateNotification",
        "UISceneWillDeactivateNotification", "UISceneDidEnterBackgroundNotification",
        "UIApplicationDidEnterBackground", "didEnterBackground", "configurationForConnecting",
        "configurationForConnectingSceneSession",
        "applicationDidEnterBackground", "beginBackgroundTask",
        "endBackgroundTask",
        "beginBackgroundTaskWithName", "beginBackgroundTaskWithExpirationHandler",
        "URLSessionConfiguration", "backgroundSessionConfigurationWithIdentifier",
        "setMinimumBackgroundFetchInterval", "desiredPushTypes", "setDesiredPushTypes",
        "PKPushRegistry", "shouldSendContentAvailable", "setShouldSendContentAvailable",
        "allowsBackgroundLocationUpdates", "pushType", "updating",
        "UNNotificationServiceExtension", "WidgetPushHandler", "didReceiveRemoteNotification",
        "performFetchWithCompletionHandler", "handleEventsForBackgroundURLSession",
        "pushRegistry", "didRegisterForRemoteNotificationsWithDeviceToken", "CHN",
        "didEnterBackgroundNotification", "UIApplicationDidEnterBackgroundNotification",
        "willResignActiveNotification", "UIApplicationWillResignActiveNotification", "scenePhase",
        "UIApplicationDelegate", "WindowGroup", "didFinishLaunchingWithOptions",
        "didFinishDownloadingTo", "didFinishDownloadingToURL", "charactersIn",
        "characterSetWithCharactersInString",
    ])

    private mutating func readLiteral(_ index: Int) {
        let value = text.tokens[index].text
        if value == "CHN" { see(.regionSwitch, at: index) }
        // A key that the app writes, or decodes among others, asks for nothing.
        if value == "content-available", !text.sees(":", at: index + 1),
            !text.sees("=", at: index - 1), !isPassedOver(index)
        {
            see(.silentPushCheck, at: index)
        }
        if value.hasPrefix("UI"), Self.leavingNotifications.contains(where: value.hasSuffix) {
            see(.sceneCallback, at: index)
        }
        // `manager.setValue(true, forKeyPath: "locations.allowsBackgroundLocationUpdates")`
        if value.contains("llowsBackgroundLocationUpdates") { see(.lastingLocation, at: index) }
        if value == "desiredPushTypes" { see(.otherPushTypes, at: index) }
        if value == "registerForRemoteNotifications" {
            see(.remoteNotificationRegistration(.unknown), at: index)
        }
        // `NSClassFromString("BGAppRefreshTaskRequest")`
        if value.hasPrefix("BG"), value.hasSuffix("TaskRequest") {
            digest.taskRequests.append(nil)
            digest.mayHideRequests = true
        }
        readTokenPattern(value, index)
    }

    /// Whether a push with a key is passed over, or of use in the active app alone: `if
    /// aps["content-available"] != nil { return done(.noData) }`.
    private func isPassedOver(_ index: Int) -> Bool {
        let open = (index..<text.tokens.count).prefix(AuditLimits.headWords)
            .first { text.tokens[$0].isMark("{") }
        guard let open, let block = text.scope(openedAt: open), case .control("if") = block.kind,
            block.head < index
        else { return false }
        let condition = block.head..<open
        let isInUse = condition.contains { word in
            text.tokens[word].isName("active")
                && (max(block.head, word - 5)..<word).contains { text.sees("==", at: $0) }
        }
        return isInUse
            || text.sees("return", at: open + 1) && text.sees("]", "!=", "nil", at: index + 1)
    }
}
