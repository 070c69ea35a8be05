// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Looks for what the rules want to know in the source text of one file.
struct SourceReader {
    let text: SourceText
    let constants: SourceConstants
    private(set) var observations: [SourceObservation] = []

    private init(_ text: SourceText, _ constants: SourceConstants) {
        self.text = text
        self.constants = constants
    }

    /// What is seen in a file, in the order of places.
    static func observations(
        in text: SourceText, _ constants: SourceConstants
    ) -> [SourceObservation] {
        var reader = SourceReader(text, constants)
        reader.readScopes()
        for index in text.tokens.indices {
            switch text.tokens[index].kind {
            case .name: reader.readName(index)
            case .string: reader.readLiteral(index)
            case .number, .directive, .mark: continue
            }
        }
        return reader.observations.sorted { $0.place.offset < $1.place.offset }
    }

    /// Notes that something was seen at a word.
    mutating func see(_ subject: SourceObservation.Subject, at index: Int) {
        guard observations.count < AuditLimits.observationsPerFile else { return }
        observations.append(
            SourceObservation(
                subject, at: text.place(of: index), isConditional: text.tokens[index].isConditional)
        )
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
    }

    private mutating func readFunction(_ head: SourceScope.FunctionHead, _ scope: SourceScope) {
        readNotificationHandler(head, scope)
        readVoIPHandler(head, scope)
        if head.has("performFetchWithCompletionHandler") { see(.legacyFetch, at: scope.head) }
    }

    private mutating func readName(_ index: Int) {
        let name = text.tokens[index].text
        if let subject = Self.subjects[name] { see(subject, at: index) }
        switch name {
        case "registerForRemoteNotifications" where text.sees("(", at: index + 1):
            see(.remoteNotificationRegistration(occasion(of: index)), at: index)
        case "register", "backgroundTask", "BGAppRefreshTaskRequest", "BGProcessingTaskRequest",
            "BGContinuedProcessingTaskRequest", "BGHealthResearchTaskRequest":
            readScheduling(name, index)
        case "desiredPushTypes": readPushTypes(index)
        case "allowsBackgroundLocationUpdates" where text.sees("=", "true", at: index + 1):
            see(.backgroundLocation, at: index)
        case "pushType" where text.sees(":", ".", at: index + 1):
            if let type = text[index + 3], ["token", "channel"].contains(type.text) {
                see(.pushedLiveActivity, at: index)
            }
        case "updating" where text.sees("(", "from", at: index + 1):
            see(.communicationStyle, at: index)
        case "UNNotificationContent", "UNMutableNotificationContent":
            readEmptyContent(name, index)
        default: readDeviceToken(name, index)
        }
    }

    /// Names that say all by themselves.
    private static let subjects: [String: SourceObservation.Subject] = {
        var subjects: [String: SourceObservation.Subject] = [
            "CXProvider": .callInterface, "ConversationManager": .callInterface,
            "reportNewIncomingCall": .callInterface,
            "reportNewIncomingConversation": .callInterface,
            "Storefront": .regionSwitch, "SKStorefront": .regionSwitch,
            "regionCode": .regionSwitch,
            "BGAppRefreshTask": .backgroundWork(.appRefresh),
            "BGProcessingTask": .backgroundWork(.processing),
            "BGContinuedProcessingTask": .backgroundWork(.continued),
            "BGHealthResearchTask": .backgroundWork(.healthResearch),
            "startMonitoringLocationPushes": .locationPushes,
            "pushTokenUpdates": .pushedLiveActivity,
            "pushToStartTokenUpdates": .pushedLiveActivity,
            "pushToStartToken": .pushedLiveActivity,
        ]
        for mode in BackgroundMode.allCases {
            for name in mode.featureNames { subjects[name] = .feature(mode) }
        }
        return subjects
    }()

    private mutating func readLiteral(_ index: Int) {
        let value = text.tokens[index].text
        if value == "CHN" { see(.regionSwitch, at: index) }
        readTokenPattern(value, index)
    }

    /// Empty content, which a notification service extension hands on to show nothing.
    private mutating func readEmptyContent(_ name: String, _ index: Int) {
        guard text.sees("(", ")", at: index + 1),
            text.type(around: index)?.inherited.contains("UNNotificationServiceExtension") == true
        else { return }
        let isHandedOn = text[index - 1]?.isMark("(") == true
        if name == "UNNotificationContent" || isHandedOn { see(.hiddenNotification, at: index) }
    }
}
