// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The broadcast API (facts §2.5, §3.4). The order of the checks is that of pushes: the HTTP
/// request, the sender, the app, the headers, the body.
extension RequestJudge {
    /// The most bytes of a broadcast.
    static let maximumBroadcastBytes = 5120

    /// Judges a request whose path is one of the broadcast API's, and records the sender's identity
    /// in `connection`.
    func judgeChannel(
        _ head: RequestHead, body: [UInt8], bodyByteCount: Int,
        connection: inout ConnectionIdentity, now: WallInstant
    ) -> Verdict {
        guard let path = head.path.flatMap(ChannelPath.init) else { return .rejected(.badPath) }
        guard let method = head.method, path.methods.contains(method) else {
            return .rejected(.methodNotAllowed)
        }
        if head.hasDuplicates { return .rejected(.duplicateHeaders) }
        let sender: Sender
        switch authenticate(head, connection: &connection, now: now) {
        case .success(let authenticated): sender = authenticated
        case .failure(let rejection): return .rejected(rejection.reason)
        }
        if let id = head.requestID, !Self.isUUID(id) { return .rejected(.badMessageID) }
        if let reason = appError(path.bundleID, sender: sender) { return .rejected(reason) }
        guard bodyByteCount <= Self.maximumBroadcastBytes else {
            return .rejected(.payloadTooLarge)
        }
        let action: Result<ChannelCall.Action, ChannelSetup.Refusal> =
            switch (path, method) {
            case (.allChannels, _): .success(.list)
            case (.channels, "POST"): creation(body)
            case (.channels, "GET"): channel(head).map { .read($0) }
            case (.channels, _): channel(head).map { .delete($0) }
            case (.broadcast, _): broadcast(head, body)
            }
        switch action {
        case .success(let action):
            return .call(ChannelCall(bundleID: path.bundleID, action: action))
        case .failure(let refusal): return .rejected(refusal.reason)
        }
    }

    /// The app: a bundle id without a suffix, allowed to the sender, with broadcasts enabled.
    private func appError(_ bundleID: String, sender: Sender) -> RejectionReason? {
        guard (try? BundleID(bundleID)) != nil else { return .topicDisallowed }
        switch sender {
        case .token(let token):
            if let topics = token.topics, !topics.contains(bundleID) { return .topicDisallowed }
        case .certificate(let rights):
            if let topics = rights.topics, !topics.contains(bundleID) { return .topicMismatch }
        }
        if let apps = broadcastApps, !apps.contains(bundleID) { return .featureNotEnabled }
        return nil
    }

    private func creation(_ body: [UInt8]) -> Result<ChannelCall.Action, ChannelSetup.Refusal> {
        guard !body.isEmpty else { return .failure(.init(reason: .payloadEmpty)) }
        return ChannelSetup.read(body).map { .create($0.storage) }
    }

    private func channel(_ head: RequestHead) -> Result<String, ChannelSetup.Refusal> {
        guard let text = head.channelID, !text.isEmpty else {
            return .failure(.init(reason: .missingChannelID))
        }
        guard (try? ChannelID(text)) != nil else {
            return .failure(.init(reason: .badChannelID))
        }
        return .success(text)
    }

    private func broadcast(
        _ head: RequestHead, _ body: [UInt8]
    ) -> Result<ChannelCall.Action, ChannelSetup.Refusal> {
        channel(head).flatMap { channel in
            if let reason = broadcastHeaderError(head) { return .failure(.init(reason: reason)) }
            guard !body.isEmpty else { return .failure(.init(reason: .payloadEmpty)) }
            guard AnyJSONObject.matches(body) else {
                return .failure(.init(reason: .badRequestPayload))
            }
            return .success(.send(to: channel, body, isStored: head.expiration != "0"))
        }
    }

    private func broadcastHeaderError(_ head: RequestHead) -> RejectionReason? {
        guard let type = head.pushType else { return .missingPushType }
        // Apple's pages write it in three ways (facts §10).
        guard type.lowercased() == PushType.liveactivity.rawValue else { return .invalidPushType }
        guard let expiration = head.expiration, Self.isEpochSeconds(expiration) else {
            return .badExpirationDate
        }
        if let priority = head.priority, !Self.priorities.contains(priority) { return .badPriority }
        return nil
    }
}
