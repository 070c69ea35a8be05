// SPDX-License-Identifier: Apache-2.0

/// A source of a rule, with its confidence.
public struct Evidence: Hashable, Sendable, CustomStringConvertible {
    /// The confidence of a fact (facts §0).
    public enum Confidence: String, Hashable, Sendable, CaseIterable {
        /// Documented by Apple or a standard.
        case documented
        /// Stated by an Apple engineer.
        case engineer
        /// Observed by third parties.
        case observed
        /// Reverse-engineered from the system's code; it may change with any release.
        case reverseEngineered = "reverse-engineered"
        /// Assumed by this project.
        case assumed
    }

    /// The source: the title of a page, a section of a standard, a forum thread.
    public let reference: String
    /// The confidence.
    public let confidence: Confidence

    /// Creates a source.
    public init(_ reference: String, _ confidence: Confidence) {
        self.reference = reference
        self.confidence = confidence
    }

    /// The source and the confidence: "Apple, … (documented)".
    public var description: String { "\(reference) (\(confidence.rawValue))" }
}

extension Evidence {
    static let generating = Evidence("Apple, Generating a remote notification", .documented)
    static let sending = Evidence(
        "Apple, Sending notification requests to APNs", .documented)
    static let responses = Evidence(
        "Apple, Handling notification responses from APNs", .documented)
    static let backgroundUpdates = Evidence(
        "Apple, Pushing background updates to your App", .documented)
    static let metrics = Evidence(
        "Apple, Viewing the status of push notifications using metrics and APNs", .documented)
    static let serviceExtension = Evidence(
        "Apple, Modifying content in newly delivered notifications", .documented)
    static let remoteNotificationHandler = Evidence(
        "Apple, application(_:didReceiveRemoteNotification:fetchCompletionHandler:)", .documented)
    static let pushKit = Evidence(
        "Apple, Responding to VoIP Notifications from PushKit", .documented)
    static let pushTypeMatrix = Evidence("Apple Developer Forums, thread 745345", .observed)
    static let relativeExpiration = Evidence("Apple Developer Forums, thread 708937", .engineer)
    static let lateVoIP = Evidence("Apple Developer Forums, thread 795610", .observed)
    static let voipCancellation = Evidence("Apple Developer Forums, thread 818104", .observed)
    static let voipSession = Evidence(
        "WWDC19 session 707, Advances in App Background Execution", .engineer)
    static let fcmReservedKeys = Evidence(
        "Firebase Cloud Messaging, reserved words of a data payload", .observed)
    static let providerTokens = Evidence(
        "Apple, Establishing a token-based connection to APNs", .documented)
    static let troubleshooting = Evidence(
        "Apple, Troubleshooting push notifications", .documented)
    static let channels = Evidence(
        "Apple, Sending channel management requests to APNs", .documented)
    static let liveActivities = Evidence(
        "Apple, Starting and updating Live Activities with ActivityKit push notifications",
        .documented)
    static let widgetPushes = Evidence(
        "Apple, Updating widgets with WidgetKit push notifications", .documented)
    static let controlPushes = Evidence(
        "Apple, Updating controls locally and remotely", .documented)
    static let locationPushes = Evidence(
        "Apple, Creating a location push service extension", .documented)
    static let pushToTalk = Evidence("Apple, Push to Talk framework", .documented)
    static let fileProvider = Evidence(
        "Apple, Using push notifications to signal changes (File Provider)", .documented)
    static let fileProviderDomains = Evidence("Apple Developer Forums, thread 706004", .engineer)
    static let deviceManagement = Evidence("MDM server sources seen in public", .observed)
    static let complications = Evidence("Apple, archived ClockKit documentation", .observed)
    static let pushToTalkBudget = Evidence("the Push to Talk daemon's code", .reverseEngineered)
    static let backgroundSession = Evidence(
        "WWDC20 session 10063, Background execution demystified", .engineer)
    static let pushRegistry = Evidence(
        "Apple, PushKit, Supporting PushKit Notifications", .documented)
    static let systemInternals = Evidence(
        "the notification daemon of iOS, read by third parties", .reverseEngineered)
    static let practice = Evidence("payloads and issue reports seen in public", .observed)
    static let proposal = Evidence("proposed by this project", .assumed)

    static let rfc7518 = Evidence("RFC 7518 §3.4", .documented)
    static let rfc9113 = Evidence("RFC 9113 §8.2.1", .documented)

    static func rfc8259(_ section: String) -> Evidence {
        Evidence("RFC 8259 \(section)", .documented)
    }
}
