// SPDX-License-Identifier: Apache-2.0

/// What APNs said to a request about a channel. Both cases are answers; not getting one is an error
/// instead.
public enum ChannelAnswer<Value: Hashable & Sendable>: Hashable, Sendable {
    /// It was done. The value is what was asked for.
    case done(Value, ChannelReceipt)
    /// It was not.
    case rejected(ChannelRejection)
}

/// That something was done which has no value.
public struct Acknowledgement: Hashable, Sendable {
    /// The one value.
    public init() {}
}

/// What comes with every request that was done.
public struct ChannelReceipt: Hashable, Sendable {
    /// The HTTP status: 200, 201 or 204.
    public var status: Int
    /// The `apns-request-id` of the answer, to quote to Apple.
    public var requestID: String?
    /// The key for the Delivery Log of Apple's Push Notifications Console. Broadcasts in the
    /// sandbox only.
    public var apnsUniqueID: String?

    /// Creates a receipt.
    public init(status: Int, requestID: String? = nil, apnsUniqueID: String? = nil) {
        self.status = status
        self.requestID = requestID
        self.apnsUniqueID = apnsUniqueID
    }
}

/// Why APNs did not do what was asked about a channel.
public struct ChannelRejection: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The reason, verbatim; `nil` when the answer held none, or is not one of APNs'.
    public var reason: RejectionReason?
    /// The `apns-request-id` of the answer, to quote to Apple.
    public var requestID: String?

    /// Creates a rejection.
    public init(status: Int, reason: RejectionReason?, requestID: String? = nil) {
        self.status = status
        self.reason = reason
        self.requestID = requestID
    }

    /// What to do about it, and when the same request may go again.
    public var advice: RejectionReason.Advice {
        reason?.channelAdvice(status: status)
            ?? .forMissingReason(status: status, ofChannel: true)
    }

    /// What it means, for a person.
    public var meaning: String {
        if let meaning = reason?.channelEntry?.meaning { return meaning }
        return reason == nil
            ? "APNs gave no reason, or this is not APNs." : "This reason is new to Rouse."
    }
}
