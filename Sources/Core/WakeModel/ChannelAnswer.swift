// SPDX-License-Identifier: Apache-2.0

/// The answer of APNs to a request about a channel. Both cases are answers; the absence of one is
/// an error instead.
public enum ChannelAnswer<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The request was done, with its result.
    case done(Value, ChannelReceipt)
    /// The request was not done.
    case rejected(ChannelRejection)
}

/// The result of a request without one.
public struct Acknowledgement: Hashable, Sendable {
    /// The one value.
    public init() {}
}

/// The parts that every successful answer has.
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

/// The reason why APNs did not do a request about a channel.
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

    /// The remedy, and when the same request may be sent again.
    public var advice: RejectionReason.Advice {
        reason?.channelAdvice(status: status)
            ?? .forMissingReason(status: status, ofChannel: true)
    }

    /// The meaning, for a person.
    public var meaning: String {
        if let meaning = reason?.channelEntry?.meaning { return meaning }
        return reason == nil
            ? "APNs gave no reason, or this is not APNs." : "This reason is new to Rouse."
    }
}
