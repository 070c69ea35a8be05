// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Decides what APNs answers to a request: the whole of its rules, without any I/O.
///
/// The order of the checks is not documented; this is the order from the outside in: the HTTP
/// request, the sender, the headers, the body, the device token.
struct RequestJudge: Sendable {
    /// The simulated environment.
    var environment: APNsEnvironment = .sandbox
    /// Whether a background push with priority 10, or without one, is answered with `BadPriority`:
    /// documented by Apple, never observed (facts §10).
    var refusesBackgroundPriority10 = false
    /// Whether an unregistered device token is answered with `BadDeviceToken`.
    var refusesUnknownDeviceTokens = false
    /// Whether an expired provider token spoils its connection for good (facts §1.6).
    var wedgesOnExpiredToken = false
    /// The deviations of a provider token that are answered with `InvalidProviderToken`; APNs is
    /// seen to take all of them (facts §4.1).
    var refusedDeviations: ProviderToken.Deviations = []
    /// The registered provider keys; when empty, signatures are not verified.
    var keys: [VerifyingKey.Identity: VerifyingKey] = [:]
    /// The apps that have the broadcast capability; `nil` for all.
    var broadcastApps: Set<String>?
    /// The registered device tokens.
    var devices: [DeviceToken: RegisteredDevice] = [:]

    /// What APNs says to one request.
    enum Verdict: Hashable, Sendable {
        case accepted
        /// With the status that the reason has in the table of `RejectionReason`; `timestamp` only
        /// with 410.
        case rejected(RejectionReason, timestamp: WallInstant? = nil)
        /// Of the broadcast API: in order, and still to be carried out.
        case call(ChannelCall)
        /// Of the broadcast API: carried out.
        case done(ChannelCall.Reply)
    }

    /// Judges a request whose body has `bodyByteCount` bytes, and records the sender's identity in
    /// `connection`.
    func judge(
        _ head: RequestHead, bodyByteCount: Int, connection: inout ConnectionIdentity,
        now: WallInstant
    ) -> Verdict {
        if let reason = requestError(head) { return .rejected(reason) }
        let sender: Sender
        switch authenticate(head, connection: &connection, now: now) {
        case .success(let authenticated): sender = authenticated
        case .failure(let rejection): return .rejected(rejection.reason)
        }
        let type = head.pushType.map(PushType.init(rawValue:))
        let error =
            headerError(head, type: type) ?? topicError(head, type: type, sender: sender)
            ?? bodyError(byteCount: bodyByteCount, head: head, type: type)
        if let error { return .rejected(error) }
        return deviceVerdict(head)
    }

    /// Method, path and repeated headers.
    private func requestError(_ head: RequestHead) -> RejectionReason? {
        guard head.method == "POST" else { return .methodNotAllowed }
        guard let token = head.deviceTokenText else { return .badPath }
        guard !token.isEmpty else { return .missingDeviceToken }
        return head.hasDuplicates ? .duplicateHeaders : nil
    }

    /// The body's size. A voip topic gets the larger limit even without a push type.
    private func bodyError(byteCount: Int, head: RequestHead, type: PushType?) -> RejectionReason? {
        guard byteCount > 0 else { return .payloadEmpty }
        return byteCount > Self.maximumPayloadBytes(head, type: type) ? .payloadTooLarge : nil
    }

    private static func maximumPayloadBytes(_ head: RequestHead, type: PushType?) -> Int {
        if let type { return type.maximumPayloadBytes }
        let isVoIP = head.topic?.hasSuffix(PushType.voip.topicSuffix) == true
        return (isVoIP ? PushType.voip : .alert).maximumPayloadBytes
    }

    /// The device token: its form, then what is registered for it.
    private func deviceVerdict(_ head: RequestHead) -> Verdict {
        guard let text = head.deviceTokenText, Self.isHexadecimal(text) else {
            return .rejected(.badDeviceToken)
        }
        guard !devices.isEmpty || refusesUnknownDeviceTokens else { return .accepted }
        guard let token = try? DeviceToken(hex: text) else { return .rejected(.badDeviceToken) }
        guard let device = devices[token] else {
            return refusesUnknownDeviceTokens ? .rejected(.badDeviceToken) : .accepted
        }
        if let own = device.environment, own != environment { return .rejected(.badDeviceToken) }
        if let topic = device.topic, let asked = head.topic, topic != asked {
            return .rejected(.deviceTokenNotForTopic)
        }
        switch device.state {
        case .active: return .accepted
        case .unregistered(let since): return .rejected(.unregistered, timestamp: since)
        case .expired(let since): return .rejected(.expiredToken, timestamp: since)
        }
    }

    /// Whether `text` is a device token's form, without allocating (``DeviceToken`` allocates).
    private static func isHexadecimal(_ text: Substring) -> Bool {
        let digits = text.utf8
        var count = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                count += 1
            default: return false
            }
        }
        return count.isMultiple(of: 2) && count <= 2 * DeviceToken.maximumByteCount
    }
}
