// SPDX-License-Identifier: Apache-2.0

import WakeModel

extension WebhookHealth {
    /// The delivery state, as an entry of `GET /v1/webhooks`.
    func json(at now: WallInstant) -> JSONValue {
        .object([
            ("endpoint", .string(endpoint)), ("backlog", backlogCount.map { .integer(Int64($0)) }),
            ("dropped", .integer(Int64(droppedCount))),
            ("oldest_at", oldestAt.map { .string($0.description) }),
            ("failing_since", failingSince.map { .string($0.description) }),
            ("last_failure_at", lastFailure.map { .string($0.at.description) }),
            ("last_failure", lastFailure.map { .string($0.why) }),
            ("last_delivered_at", lastDeliveredAt.map { .string($0.description) }),
            ("warning", warning(at: now).map { .string($0) }),
        ])
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object([
            .required("endpoint", .string("The receiver's host, with a number if it has several.")),
            .optional(
                "backlog", .count("Events that wait; missing until the gateway has looked.")),
            .required(
                "dropped",
                .count("Events that were dropped since the start, because too many waited.")),
            .optional(
                "oldest_at",
                .instant("When the oldest event came about that was tried and not taken.")),
            .optional("failing_since", .instant("Since when the receiver takes nothing.")),
            .optional("last_failure_at", .instant()),
            .optional("last_failure", .string("Why events were not taken, the last time.")),
            .optional("last_delivered_at", .instant("When events were taken last.")),
            .optional("warning", .string("What an operator should know, in sentences.")),
        ])
    }
}
