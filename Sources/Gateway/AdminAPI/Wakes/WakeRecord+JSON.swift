// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeBudget
import WakeModel

extension WakeRecord {
    /// The wake as `GET /v1/wakes/{id}` returns it: with a digest for the device token, and without
    /// the payload. `waiting` says why a wake that has not ended has not been sent.
    func json(_ waiting: WaitExplanation? = nil) -> JSONValue {
        .object([
            ("id", .string(id.description)),
            ("ref", ref.map { .string($0.value) }),
            ("state", .string(state.rawValue)),
            ("kind", .string(kind.rawValue)),
            ("app", .string(app.bundleID.value)),
            ("environment", .string(app.environment.rawValue)),
            ("device", .string(deviceToken.description)),
            ("apns_id", .string(id.apnsID.description)),
            ("accepted_at", .string(acceptedAt.description)),
            ("priority", .integer(Int64(priority.rawValue))),
            ("urgency", kind == .background ? .string(UrgencyWord(urgency).rawValue) : nil),
            ("decision", decision.json(decision.pastMessage, until: deadline)),
            ("waiting", waiting?.json),
            ("carried_by", carriedBy.map { .string($0.description) }),
            ("due_at", waiting?.due.map { .string($0.description) }),
            ("deadline", .string(deadline.description)),
            ("ended_at", endedAt.map { .string($0.description) }),
            ("outcome", end?.json(ofExpired: expiryExplanation, carriedBy: carriedBy)),
            ("carrier_outcome", carrierEnd?.json(keptBack: carrierHolds)),
            ("launched_at", launchedAt.map { .string($0.description) }),
            ("attempts", .array(attempts.map(\.json))),
        ])
    }
}

extension WakeEnd {
    /// The outcome: its state, APNs' answer and an explanation. `holds` are the reasons of the
    /// delay that explain an expired wake.
    func json(keptBack holds: DelayReasons) -> JSONValue {
        json(ofExpired: holds.expiryExplanation ?? WakeState.expired.meaning)
    }

    /// The same with a sentence for a wake that has expired; one that was merged is shown with the
    /// wake that carries it now.
    fileprivate func json(
        ofExpired expiry: @autoclosure () -> String, carriedBy: WakeID? = nil
    ) -> JSONValue {
        var members: [(String, JSONValue?)] = [("state", .string(state.rawValue))]
        switch self {
        case .sent(let apnsUniqueID):
            members.append(("status", .integer(200)))
            members.append(("apns_unique_id", apnsUniqueID.map { .string($0) }))
            members.append(("explanation", .string(PushOutcome.Acceptance.meaning)))
        case .coalesced(let carrier):
            members.append(("into", .string((carriedBy ?? carrier).description)))
            members.append(
                ("explanation", .string("It was merged into another wake, which carries it.")))
        case .superseded:
            members.append(
                (
                    "explanation",
                    .string("The app came to the foreground before it was sent, and syncs itself.")
                ))
        case .suppressed(let suppression):
            members.append(("suppression", .string(suppression.word)))
            members.append(("explanation", .string(suppression.sentence)))
        case .cancelled:
            members.append(("explanation", .string("It was cancelled before it was sent.")))
        case .damaged:
            members.append(
                (
                    "explanation",
                    .string("What the store held of it, or of its device, cannot be read any more.")
                ))
        case .expired:
            members.append(("explanation", .string(expiry())))
        case .rejected(let refusal), .undeliverable(let refusal):
            members += refusal.members
            members.append(("explanation", .string(refusal.explanation)))
        case .failed(let cause):
            members.append(("cause", .string(cause.rawValue)))
            members.append(("explanation", .string(cause.sentence)))
        }
        return .object(members)
    }
}

extension Refusal {
    fileprivate var members: [(String, JSONValue?)] {
        [
            ("status", .integer(Int64(status))),
            ("reason", reason.map { .string($0.rawValue) }),
            ("token_dead_since", tokenDeadSince.map { .string($0.description) }),
        ]
    }

    /// The meaning and the remedy of APNs' reason.
    fileprivate var explanation: String {
        let advice = reason?.advice(status: status) ?? .forUnknownReason(status: status)
        return [reason?.entry?.meaning, advice.remedy].compactMap { $0 }.joined(separator: " ")
    }
}

extension AttemptRecord {
    fileprivate var json: JSONValue {
        var members: [(String, JSONValue?)] = [
            ("started_at", .string(startedAt.description)),
            ("ended_at", .string(endedAt.description)),
        ]
        switch result {
        case .accepted(let apnsUniqueID):
            members.append(("result", .string("accepted")))
            members.append(("status", .integer(200)))
            members.append(("apns_unique_id", apnsUniqueID.map { .string($0) }))
        case .refused(let refusal):
            members.append(("result", .string("refused")))
            members += refusal.members
        case .unanswered(let failure):
            members.append(("result", .string("unanswered")))
            members.append(("certainty", .string(failure.certainty.rawValue)))
            members.append(("explanation", .string(failure.description)))
        case .abandoned:
            members.append(("result", .string("abandoned")))
            members.append(("explanation", .string("The gateway stopped before it knew.")))
        }
        return .object(members)
    }
}

extension WakeRecord {
    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object([
            .required("id", .string(format: "uuid")),
            .optional("ref", WakeBody.refSchema),
            .required(
                "state",
                .words(
                    of: WakeState.self,
                    WakeState.allCases.map { "`\($0)`: \($0.meaning)" }.joined(separator: "\n\n"))
            ),
            .required("kind", .words(of: WakeKind.self)),
            .required("app", .string("The bundle id.")),
            .required("environment", .words(of: APNsEnvironment.self)),
            .required("device", .string("A digest of the device token.")),
            .required("apns_id", .string("The same UUID in every attempt.", format: "uuid")),
            .required("accepted_at", .instant()),
            .required(
                "priority",
                .choice(Priority.allCases.map { Int64($0.rawValue) }, "The value of apns-priority.")
            ),
            .optional("urgency", .words(of: UrgencyWord.self, "Of a background wake.")),
            .required("decision", .named(.decision)),
            .optional("waiting", .named(.waiting)),
            .optional("carried_by", .string("The wake it was merged into.", format: "uuid")),
            .optional(
                "due_at",
                .instant(
                    "When it may leave; not there once it has ended, nor while nobody knows or its "
                        + "deadline comes first, as `waiting` says.")),
            .required("deadline", .instant("From when on it is never sent any more.")),
            .optional("ended_at", .instant()),
            .optional("outcome", .named(.outcome)),
            .optional("carrier_outcome", .named(.outcome)),
            .optional("launched_at", .instant("When the app was launched, by its receipt.")),
            .required("attempts", .array(of: .named(.attempt), "The latest, the oldest first.")),
        ])
    }
}

extension WakeEnd {
    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object(
            [
                .required("state", .words(of: WakeState.self)),
                .required("explanation", .string("In words, with what to do.")),
                .optional("apns_unique_id", .string("Apple's key for its delivery log.")),
                .optional("into", .string("The wake that carries it.", format: "uuid")),
                .optional("suppression", .string()),
                .optional("cause", .words(of: FailureCause.self)),
            ] + Refusal.schemaMembers)
    }
}

extension Refusal {
    fileprivate static var schemaMembers: [Schema.Member] {
        [
            .optional("status", .integer("The HTTP status of APNs' answer.", in: 100...599)),
            .optional("reason", .string("Apple's reason, verbatim.", example: "BadDeviceToken")),
            .optional("token_dead_since", .instant()),
        ]
    }
}

extension AttemptRecord {
    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object(
            [
                .required("started_at", .instant()), .required("ended_at", .instant()),
                .required(
                    "result", .words(["accepted", "refused", "unanswered", "abandoned"])),
                .optional("apns_unique_id", .string()),
                .optional("certainty", .words(of: Certainty.self, "Whether it was sent.")),
                .optional("explanation", .string()),
            ] + Refusal.schemaMembers)
    }
}
