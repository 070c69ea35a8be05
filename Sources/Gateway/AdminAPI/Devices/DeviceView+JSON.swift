// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeBudget
import WakeModel

extension DeviceView {
    /// One queue of a device: its ledger as data and in words, what waits, and what came last; and
    /// what keeps its whole app from sending, if that is so.
    func json(of app: AppStatus?) -> JSONValue {
        .object([
            ("app", .string(queue.app.bundleID.value)),
            ("environment", .string(queue.app.environment.rawValue)),
            ("kind", .string(queue.kind.rawValue)),
            ("device", .string(deviceToken.description)),
            ("registered_at", registeredAt.map { .string($0.description) }),
            ("dead_since", deadSince.map { .string($0.description) }),
            ("last_receipt_at", lastReceiptAt.map { .string($0.description) }),
            ("app_confirms_launches", .boolean(topicConfirmsLaunches)),
            ("next_send", .string(explanation.nextSend.description)),
            ("budget", explanation.json),
            (
                "explanation",
                .array(
                    (explanation.sentences + obstacles(of: app)).map { .string($0) })
            ),
            ("pending", pending?.json),
            ("recent", .array(recent.map(\.json))),
        ])
    }

    private func obstacles(of app: AppStatus?) -> [String] {
        guard let app else { return [] }
        var obstacles: [String] = []
        if let pause = app.pause {
            obstacles.append(
                "Nothing of the app is sent: it is paused since \(pause.at)"
                    + (pause.reason.map { ", because of \"\($0)\"." } ?? "."))
        }
        let queue = app.queues.first { $0.kind == self.queue.kind }
        switch queue?.circuit {
        case nil, .closed: break
        case .open(let reason, let since, _), .probing(let reason, let since):
            obstacles.append("Nothing of this kind is sent: it is held since \(since). \(reason)")
        }
        if let silence = queue?.silence {
            obstacles.append(
                "APNs has answered nothing since \(silence.since): \(silence.failure)")
        }
        if let unresponsive = queue?.unresponsive { obstacles.append(unresponsive.explanation) }
        return obstacles
    }

    /// What the OpenAPI document says of it.
    static var schema: Schema {
        .object([
            .required("app", .string("The bundle id.")),
            .required("environment", .words(of: APNsEnvironment.self)),
            .required("kind", .words(of: WakeKind.self)),
            .required("device", .string("A digest of the device token.")),
            .optional("registered_at", .instant("When the app last said that the token is good.")),
            .optional("dead_since", .instant("Since when APNs holds the token for dead.")),
            .optional("last_receipt_at", .instant()),
            .required("app_confirms_launches", .boolean("Whether the app ever sent a receipt.")),
            .required("next_send", .instant("From when on the next wake may go.")),
            .required("budget", .named(.budget)),
            .required(
                "explanation",
                .array(of: .string(), "The budget in words, and what keeps the app from sending.")),
            .optional("pending", .named(.wake)),
            .required("recent", .array(of: .named(.wake), "The newest first.")),
        ])
    }
}

extension Explanation {
    fileprivate var json: JSONValue {
        .object([
            ("hourly", hourly.json), ("daily", daily?.json),
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

    /// What the OpenAPI document says of it.
    static var schema: Schema {
        let window = Schema.object([
            .required("used", .count()), .required("limit", .count()),
            .required("left", .count()),
            .optional("opens", .instant("When there is room again.")),
        ])
        return .object([
            .required("hourly", window), .optional("daily", window),
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
