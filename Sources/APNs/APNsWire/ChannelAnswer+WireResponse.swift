// SPDX-License-Identifier: Apache-2.0

public import PushTransport
public import WakeModel

extension ChannelAnswer<WireResponse> {
    /// Reads the parts of an answer of APNs that are the same for every request.
    public init(_ response: WireResponse) {
        let requestID = response.broadcastFields.first { $0.name == "apns-request-id" }?.value
        if (200..<300).contains(response.status) {
            self = .done(
                response,
                ChannelReceipt(
                    status: response.status, requestID: requestID,
                    apnsUniqueID: response.apnsUniqueID))
        } else {
            self = .rejected(
                ChannelRejection(
                    status: response.status,
                    reason: RejectionBody(response.body).reason
                        .map(RejectionReason.init(rawValue:)),
                    requestID: requestID))
        }
    }

    /// The id of the channel that was made.
    public var createdChannel: ChannelAnswer<ChannelID> {
        map { response in
            let text = response.broadcastFields.first { $0.name == "apns-channel-id" }?.value
            return text.flatMap { try? ChannelID($0) }
        }
    }

    /// What the channel that was read stores.
    public var storage: ChannelAnswer<ChannelStorage> {
        map { ChannelBody($0.body).storage }
    }

    /// The ids of all channels, in the order in which they came.
    public var channels: ChannelAnswer<[ChannelID]> {
        map { ChannelBody($0.body).channels }
    }

    /// The answer without a value: done or rejected.
    public var acknowledgement: ChannelAnswer<Acknowledgement> { map { _ in Acknowledgement() } }
}

extension ChannelAnswer {
    /// The same with another value; an answer whose value cannot be read is a rejection without a
    /// reason, because it may come from something other than APNs.
    func map<Other>(_ transform: (Value) -> Other?) -> ChannelAnswer<Other> {
        switch self {
        case .done(let value, let receipt):
            guard let other = transform(value) else {
                return .rejected(
                    ChannelRejection(
                        status: receipt.status, reason: nil, requestID: receipt.requestID))
            }
            return .done(other, receipt)
        case .rejected(let rejection): return .rejected(rejection)
        }
    }
}
