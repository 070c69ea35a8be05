// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

extension WakeRecord {
    /// The wake as `GET /v1/wakes/{id}` shows it. The device is a digest; the payload is not there.
    var json: JSONValue {
        .object([
            ("id", .string(id.description)),
            ("state", .string(state.rawValue)),
            ("kind", .string(kind.rawValue)),
            ("app", .string(app.bundleID.value)),
            ("environment", .string(app.environment.rawValue)),
            ("device", .string(deviceToken.description)),
            ("apns_id", .string(id.apnsID.description)),
            ("accepted_at", .string(acceptedAt.description)),
            ("due_at", end == nil ? .string(dueAt.description) : nil),
            ("deadline", .string(deadline.description)),
            ("ended_at", endedAt.map { .string($0.description) }),
            ("outcome", end?.json),
            ("attempts", .array(attempts.map(\.json))),
        ])
    }
}

extension WakeEnd {
    /// The outcome: its state, what APNs said, and a sentence.
    fileprivate var json: JSONValue {
        var members: [(String, JSONValue?)] = [("state", .string(state.rawValue))]
        switch self {
        case .sent(let apnsUniqueID):
            members.append(("status", .integer(200)))
            members.append(("apns_unique_id", apnsUniqueID.map { .string($0) }))
            members.append(("explanation", .string("APNs took it. That is not yet delivery.")))
        case .expired:
            members.append(
                ("explanation", .string("Its deadline came before it could be sent.")))
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

    /// The reason's meaning and remedy from the table.
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
        case .accepted:
            members.append(("result", .string("accepted")))
            members.append(("status", .integer(200)))
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
