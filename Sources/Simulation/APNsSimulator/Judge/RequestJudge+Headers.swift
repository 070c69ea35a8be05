// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The `apns-…` headers (facts §2.1).
extension RequestJudge {
    /// The headers that do not depend on who asks, the topic aside.
    func headerError(_ head: RequestHead, type: PushType?) -> RejectionReason? {
        if let apnsID = head.apnsID, !Self.isUUID(apnsID) { return .badMessageID }
        if let type, !type.isKnown { return .invalidPushType }
        if let expiration = head.expiration, !Self.isEpochSeconds(expiration) {
            return .badExpirationDate
        }
        if let priority = head.priority, !Self.priorities.contains(priority) { return .badPriority }
        if refusesBackgroundPriority10, type == .background,
            (head.priority ?? "10") == Priority.immediate.description
        {
            return .badPriority
        }
        if let id = head.collapseID, id.utf8.count > CollapseID.maximumByteCount {
            return .badCollapseID
        }
        return nil
    }

    /// The topic: there, well-formed, fit for the push type, and allowed to the sender.
    func topicError(_ head: RequestHead, type: PushType?, sender: Sender) -> RejectionReason? {
        if case .certificate = sender, type?.requiresProviderToken == true {
            // Which reason Apple gives is not known (facts §11); the type is what is wrong.
            return .invalidPushType
        }
        if case .token = sender, type?.requiresCertificate == true {
            // No team owns the topic of an MDM certificate.
            return head.topic == nil ? .missingTopic : .topicDisallowed
        }
        guard let topic = head.topic else {
            // With a certificate for one topic only, APNs takes that topic.
            if case .certificate(let rights) = sender, rights.topics?.count == 1 { return nil }
            return .missingTopic
        }
        guard Self.isWellFormed(topic: topic) else { return .badTopic }
        var bundleID = topic[...]
        if let type {
            guard Self.suffix(of: topic, fits: type) else { return .topicDisallowed }
            bundleID = topic.dropLast(type.topicSuffix.utf8.count)
        }
        let allowed: Set<String>? =
            switch sender {
            case .token(let token): token.topics
            case .certificate(let rights): rights.topics
            }
        guard let allowed else { return nil }
        return allowed.contains(topic) || allowed.contains(String(bundleID))
            ? nil : .topicDisallowed
    }

    /// The form 8-4-4-4-12 in digits of either case. `APNsID` would say the same; this is called
    /// for every request, and a generic initialiser of another module costs a third of the time
    /// that a request takes.
    static func isUUID(_ text: String) -> Bool {
        var index = 0
        for character in text.utf8 {
            switch character {
            case UInt8(ascii: "-"):
                guard index == 8 || index == 13 || index == 18 || index == 23 else { return false }
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                guard index != 8, index != 13, index != 18, index != 23 else { return false }
            default: return false
            }
            index += 1
        }
        return index == 36
    }

    static let priorities = Priority.allCases.map(\.description)

    /// The suffixes that only one push type carries.
    private static let suffixes = PushType.all.map(\.topicSuffix).filter { !$0.isEmpty }

    /// A type with a suffix needs it behind a bundle id; one without must not borrow another's.
    private static func suffix(of topic: String, fits type: PushType) -> Bool {
        let suffix = type.topicSuffix
        guard suffix.isEmpty else {
            return topic.hasSuffix(suffix) && topic.utf8.count > suffix.utf8.count
        }
        return !suffixes.contains { topic.hasSuffix($0) }
    }

    private static func isWellFormed(topic: String) -> Bool {
        guard !topic.isEmpty, topic.utf8.count <= 2 * BundleID.maximumByteCount else {
            return false
        }
        return topic.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    /// Digits only: Apple asks for an integer number of seconds since 1970.
    static func isEpochSeconds(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            && Int64(text) != nil
    }
}
