// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeBudget
import WakeModel

extension WakeDecision {
    /// The decision with its message, for a wake with this deadline.
    func json(_ message: String, until deadline: WallInstant) -> JSONValue {
        var members: [(String, JSONValue?)] = [
            ("type", .string(word)), ("message", .string(message)),
        ]
        switch self {
        case .send: break
        case .deferred(let until, let holds):
            members.append(("due_at", holds.due(until, before: deadline)))
            members.append(("reasons", holds.json))
        case .coalesced(let carrier, let coalescing, let until, let holds):
            members.append(("into", .string(carrier.description)))
            members.append(("coalescing", .string(CoalescingWord(coalescing).rawValue)))
            members.append(("due_at", holds.due(until, before: deadline)))
            members.append(("reasons", holds.json))
        case .sameCall(let wake):
            members.append(("into", .string(wake.description)))
        case .expired(let earliest, let holds):
            members.append(("earliest", .string(earliest.description)))
            members.append(("reasons", holds.json))
        case .suppressed(let suppression):
            members.append(("suppression", .string(suppression.word)))
        }
        return .object(members)
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object([
            .required("type", .words(WakeDecision.words)),
            .required("message", .string("The decision in words.")),
            .optional(
                "due_at",
                .instant(
                    "When it may leave, as far as is known now; not there when nobody knows, or "
                        + "its deadline comes first.")),
            .optional("earliest", .instant("When the rules would have let it leave.")),
            .optional(
                "reasons", .array(of: .words(DelayReasonWord.all), "All that makes it wait.")),
            .optional("into", .string("The wake that carries it.", format: "uuid")),
            .optional("coalescing", .words(of: CoalescingWord.self)),
            .optional("suppression", .string("Why it is not sent, in one word.")),
        ])
    }
}

extension DelayReasons {
    /// The reasons, one word each.
    var json: JSONValue { .array(all.map { .string(DelayReasonWord.word(for: $0)) }) }

    /// The due time; `nil` if it is unknown, as it is until an app is resumed or APNs answers
    /// again, and if it is not before the deadline, because the wake then expires unsent.
    fileprivate func due(_ instant: WallInstant, before deadline: WallInstant) -> JSONValue? {
        areOpenEnded || deadline <= instant ? nil : .string(instant.description)
    }
}

/// The words for ``WakeBudget/DelayReason``.
enum DelayReasonWord {
    static let all = DelayReason.allCases.map(word)

    static func word(for hold: DelayReason) -> String {
        switch hold {
        case .spacing: "spacing"
        case .unconfirmed: "unconfirmed"
        case .foreground: "foreground"
        case .hourly: "hourly"
        case .daily: "daily"
        case .unused: "unused"
        case .lowPowerMode: "low-power-mode"
        case .lowBattery: "low-battery"
        case .forceQuit: "force-quit"
        case .paused: "paused"
        case .held: "held"
        case .unresponsive: "unresponsive"
        case .spread: "spread"
        case .backOff: "back-off"
        case .stopping: "stopping"
        case .leasedElsewhere: "leased-elsewhere"
        case .rate: "rate"
        }
    }
}
