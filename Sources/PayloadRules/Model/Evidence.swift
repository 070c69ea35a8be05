// SPDX-License-Identifier: Apache-2.0

/// What a rule rests on: a source, and how far it can be trusted.
public struct Evidence: Hashable, Sendable, CustomStringConvertible {
    /// How a fact is known (reference §0).
    public enum Confidence: String, Hashable, Sendable, CaseIterable {
        /// Apple or a standard documents it.
        case documented
        /// An Apple engineer said so.
        case engineer
        /// Third parties observed it.
        case observed
        /// Somebody read it out of the system's code; it may change with any release.
        case reverseEngineered = "reverse-engineered"
        /// Proposed by this project.
        case assumed
    }

    /// The source: the title of a page, a standard's section, a forum thread.
    public let reference: String
    /// How the fact is known.
    public let confidence: Confidence

    /// Names one source.
    public init(_ reference: String, _ confidence: Confidence) {
        self.reference = reference
        self.confidence = confidence
    }

    /// Both in one line: "Apple, … (documented)".
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
    static let practice = Evidence("payloads and issue reports seen in public", .observed)
    static let proposal = Evidence("proposed by this project", .assumed)

    static func rfc8259(_ section: String) -> Evidence {
        Evidence("RFC 8259 \(section)", .documented)
    }
}
