// SPDX-License-Identifier: Apache-2.0

import Gateway
import OpenSSLCrypto
import WakeModel

extension WebhookItem {
    /// The event as it is posted. A retry has the same id.
    var json: JSONValue {
        var members: [(String, JSONValue?)] = [
            ("id", .string(eventID)), ("type", .string(event.kind.rawValue)),
            ("at", .string(createdAt.description)),
        ]
        switch event {
        case .outcome(let record): members.append(("wake", record.json()))
        case .tokenDead(let entry): members.append(("feedback", entry.json))
        case .appHeld(let hold): members.append(("hold", hold.json))
        }
        return .object(members)
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object(
            [
                .required("id", .string("No other event has it.", pattern: "^evt_[0-9]+$")),
                .required("type", .words(of: WebhookKind.self)),
                .required("at", .instant("When it came about.")),
                .optional("wake", .named(.wake)),
                .optional("feedback", .named(.feedbackEntry)),
                .optional("hold", .named(.appHold)),
            ], "One of `wake`, `feedback` and `hold` is there, as `type` says.")
    }

    /// The id of the event: its number in the outbox, which is never reused, not even after the
    /// store was restored from a backup.
    var eventID: String { "evt_\(ticket.number)" }
}

extension [WebhookItem] {
    /// The id of a message with these events. It is derived from their ids, so that a receiver that
    /// accepts each message id once does not miss events of another message.
    var messageID: String {
        let names = map(\.eventID).sorted().joined(separator: " ")
        return "msg_" + KeySecret.hex(SHA256.digest(of: names.utf8))
    }
}

extension AppHold {
    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object([
            .required("app", .string("The bundle id.")),
            .required("environment", .words(of: APNsEnvironment.self)),
            .required("kind", .words(of: WakeKind.self)),
            .required("held", .boolean("Whether it sends nothing: held or paused.")),
            .required("reason", .string("Why, as a sentence.")),
            .required("at", .instant()),
        ])
    }

    fileprivate var json: JSONValue {
        .object([
            ("app", .string(queue.app.bundleID.value)),
            ("environment", .string(queue.app.environment.rawValue)),
            ("kind", .string(queue.kind.rawValue)), ("held", .boolean(isHeld)),
            ("reason", .string(reason)), ("at", .string(at.description)),
        ])
    }
}
