// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import WakeModel

extension Problem {
    /// APNs' answer to a request that the gateway passed on.
    struct APNsAnswer {
        let status: Int
        let reason: String?
        let requestID: String?

        var json: JSONValue {
            .object([
                ("status", .integer(Int64(status))), ("reason", reason.map { .string($0) }),
                ("request_id", requestID.map { .string($0) }),
            ])
        }

        static var schema: Schema {
            .object([
                .required("status", .integer("The HTTP status of APNs.", in: 100...599)),
                .optional("reason", .string("Its reason, word for word.")),
                .optional("request_id", .string("Its apns-request-id, to quote to Apple.")),
            ])
        }
    }

    /// APNs refused a request about channels. `unknown-channel` is used only if the request names a
    /// channel (`namesChannel`).
    init(_ rejection: ChannelRejection, namesChannel: Bool) {
        let words = "\(rejection.meaning) \(rejection.advice.remedy)"
        switch rejection.reason {
        // No channel has an id that APNs cannot read.
        case .channelNotRegistered, .badPath, .badChannelID:
            self.init(.unknownChannel, words)
            field = "channel"
        // The gateway only sends valid times, so the channel must be one that allows none.
        case .badExpirationDate:
            self.init(
                .channelStoresNothing,
                "The channel stores nothing, and the broadcast has a ttl_seconds. Leave it out, or "
                    + "send to a channel with storage latest. Nothing was sent.")
            field = "ttl_seconds"
        case .cannotCreateChannelConfig: self.init(.channelLimit, words)
        default: self.init(.apnsRefused, words)
        }
        if code == .unknownChannel, !namesChannel { self = Problem(.apnsRefused, words) }
        apns = APNsAnswer(
            status: rejection.status, reason: rejection.reason?.rawValue,
            requestID: rejection.requestID)
        if case .later(let backoff) = rejection.advice.retry {
            headers[.retryAfter] = String(backoff.initialSeconds)
        }
    }

    /// APNs gave no answer.
    init(unanswered failure: SendFailure) {
        self.init(
            .apnsUnanswered,
            failure.certainty == .notSent
                ? "\(failure.description). Nothing was done."
                : "\(failure.description). It may have been done all the same.")
        certainty = failure.certainty
    }
}
