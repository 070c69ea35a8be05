// SPDX-License-Identifier: Apache-2.0

public import WakeModel

extension PushDraft {
    /// Creates the draft of a broadcast, with all headers that the rules check, except for the
    /// authentication.
    public init(
        broadcast payload: [UInt8], to channel: ChannelID, of bundleID: BundleID,
        priority: Priority, expiration: Expiration, now: WallInstant
    ) {
        self.init(
            payload: payload,
            headers: [
                Header(":method", "POST"),
                Header(":path", "/4/broadcasts/apps/\(bundleID)"),
                Header("apns-channel-id", channel.value),
                Header("apns-push-type", PushType.liveactivity.rawValue),
                Header("apns-priority", priority.description),
                Header("apns-expiration", expiration.headerValue),
            ], now: now, headersAreComplete: true)
        opaqueHeaders = ["apns-request-id", "authorization"]
    }
}
