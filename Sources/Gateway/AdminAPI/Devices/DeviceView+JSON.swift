// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeBudget
import WakeModel

extension DeviceView {
    /// One queue of a device: its budget as data and as messages, the waiting wake and the reasons
    /// why it waits, and the latest wakes.
    func json(_ context: WaitContext) -> JSONValue {
        let waiting = context.explain(self)
        return .object([
            ("app", .string(queue.app.bundleID.value)),
            ("environment", .string(queue.app.environment.rawValue)),
            ("kind", .string(queue.kind.rawValue)),
            ("device", .string(deviceToken.description)),
            ("registered_at", registeredAt.map { .string($0.description) }),
            ("user", user.map { .string($0.value) }),
            ("dead_since", deadSince.map { .string($0.description) }),
            ("last_receipt_at", lastReceiptAt.map { .string($0.description) }),
            ("app_confirms_launches", .boolean(topicConfirmsLaunches)),
            ("next_send", waiting.due.map { .string(max($0, waiting.at).description) }),
            ("budget", explanation.json),
            (
                "explanation",
                .array((waiting.sentences + explanation.sentences).map { .string($0) })
            ),
            ("waiting", waiting.json),
            ("pending", pending.map { $0.json(context.explain($0)) }),
            ("recent", .array(recent.map { $0.json(context.explain($0)) })),
        ])
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object([
            .required("app", .string("The bundle id.")),
            .required("environment", .words(of: APNsEnvironment.self)),
            .required("kind", .words(of: WakeKind.self)),
            .required("device", .string("A digest of the device token.")),
            .optional("registered_at", .instant("When the app last said that the token is good.")),
            .optional("user", .string("The user under whom the token is registered.")),
            .optional("dead_since", .instant("Since when APNs holds the token for dead.")),
            .optional("last_receipt_at", .instant()),
            .required("app_confirms_launches", .boolean("Whether the app ever sent a receipt.")),
            .optional(
                "next_send",
                .instant(
                    "When the next wake may go; not there while nobody knows, while the one that "
                        + "waits will expire before, nor for a dead token, as `waiting` says.")),
            .required("budget", .named(.budget)),
            .required(
                "explanation",
                .array(of: .string(), "When the next wake may go and why, and the budget.")),
            .required("waiting", .named(.waiting)),
            .optional("pending", .named(.wake)),
            .required("recent", .array(of: .named(.wake), "The newest first.")),
        ])
    }
}

extension Explanation {
    fileprivate var json: JSONValue {
        .object([
            ("hourly", hourly?.json), ("daily", daily?.json), ("burst", burst?.json),
            ("spacing_seconds", spacingSeconds.map { .integer(Int64($0)) }),
            ("unconfirmed_sends", .integer(Int64(unconfirmedSends))),
            ("in_flight", .integer(Int64(inFlight))),
            (
                "rules",
                .array(
                    rules.map { rule in
                        .object([
                            ("reason", .string(DelayReasonWord.word(for: rule.hold))),
                            ("until", .string(rule.until.description)),
                            ("message", .string(rule.sentence)),
                        ])
                    })
            ),
        ])
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        let window = Schema.object([
            .required("used", .count()), .required("limit", .count()),
            .required("left", .count()),
            .optional("opens", .instant("When there is room again.")),
        ])
        return .object([
            .optional("hourly", window), .optional("daily", window),
            .optional("burst", window),
            .optional("spacing_seconds", .count()),
            .required("unconfirmed_sends", .count()), .required("in_flight", .count()),
            .required(
                "rules",
                .array(
                    of: .object([
                        .required("reason", .words(DelayReasonWord.all)),
                        .required("until", .instant()), .required("message", .string()),
                    ]), "What keeps the next wake back.")),
        ])
    }
}

extension Explanation.Window {
    fileprivate var json: JSONValue {
        .object([
            ("used", .integer(Int64(used))), ("limit", .integer(Int64(limit))),
            ("left", .integer(Int64(left))), ("opens", opens.map { .string($0.description) }),
        ])
    }
}
