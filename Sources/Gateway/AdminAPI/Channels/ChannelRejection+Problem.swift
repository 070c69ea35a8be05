// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import WakeModel

extension Problem {
    /// What APNs answered to a request that the gateway passed on.
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

    /// Why APNs did not do what was asked about a channel. Where the request named none, no answer
    /// can be about it.
    init(_ rejection: ChannelRejection, namesChannel: Bool) {
        let words = "\(rejection.meaning) \(rejection.advice.remedy)"
        switch rejection.reason {
        case .channelNotRegistered, .badPath:
            self.init(.unknownChannel, words)
            field = "channel"
        case .badChannelID:
            self.init(.invalidField, "channel: \(words)")
            field = "channel"
        case .badExpirationDate:
            self.init(.invalidField, "ttl_seconds: \(words)")
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

    /// That APNs gave no answer.
    init(unanswered failure: SendFailure) {
        self.init(
            .apnsUnanswered,
            failure.certainty == .notSent
                ? "\(failure.description). Nothing was done."
                : "\(failure.description). It may have been done all the same.")
        certainty = failure.certainty
    }
}
