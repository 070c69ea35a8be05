// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// An HTTP/2 answer, as far as a push client reads it.
public struct WireResponse: Hashable, Sendable {
    /// The value of `:status`.
    public let status: Int
    /// The value of `apns-id`; `nil` when there was none, or one that is no UUID.
    public let apnsID: APNsID?
    /// The value of `apns-unique-id`, which the sandbox sends (facts §2.2).
    public let apnsUniqueID: String?
    /// The value of `date`, verbatim.
    public let date: String?
    /// The fields `apns-request-id` and `apns-channel-id`, which only the broadcast API sends
    /// (facts §2.5).
    public let broadcastFields: [HeaderField]
    /// The body, at most ``maximumBodyBytes``, or what the request's target allows.
    public let body: [UInt8]

    /// The limit of a body, in bytes: 4096. APNs' answers to pushes have under 200.
    public static let maximumBodyBytes = 4096

    /// Creates an answer.
    public init(
        status: Int, apnsID: APNsID? = nil, apnsUniqueID: String? = nil, date: String? = nil,
        broadcastFields: [HeaderField] = [], body: [UInt8] = []
    ) {
        self.status = status
        self.apnsID = apnsID
        self.apnsUniqueID = apnsUniqueID
        self.date = date
        self.broadcastFields = broadcastFields
        self.body = body
    }
}
