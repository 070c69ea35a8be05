// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

extension AppStatus {
    /// The app with its queues and the reasons why they do not send.
    var json: JSONValue { document(nil) { _ in [] } }

    /// The app with the backlog of each queue, and whether its metrics have its name as a label.
    func json(
        _ backlogs: [WakeQueueKey: QueueBacklog], isCountedByName: Bool, at now: WallInstant
    ) -> JSONValue {
        document(isCountedByName) { queue in
            let backlog = backlogs[key(of: queue)]
            let due = backlog?.nextDue.map { max(0, now.milliseconds(since: $0)) }
            return [
                ("waiting", .integer(Int64(backlog?.waiting ?? 0))),
                ("oldest_due_milliseconds", .integer(due ?? 0)),
            ]
        }
    }

    /// The key of one of its queues.
    func key(of queue: QueueStatus) -> WakeQueueKey { WakeQueueKey(app: app, kind: queue.kind) }

    private func document(
        _ isCountedByName: Bool?, _ more: (QueueStatus) -> [(String, JSONValue?)]
    ) -> JSONValue {
        .object([
            ("app", .string(app.bundleID.value)),
            ("environment", .string(app.environment.rawValue)),
            (
                "paused",
                pause.map { pause in
                    .object([
                        ("at", .string(pause.at.description)),
                        ("reason", pause.reason.map { .string($0) }),
                    ])
                }
            ),
            ("counted_by_name", isCountedByName.map { .boolean($0) }),
            ("queues", .array(queues.map { .object($0.members + more($0)) })),
        ])
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object([
            .required("app", .string("The bundle id.")),
            .required("environment", .words(of: APNsEnvironment.self)),
            .optional(
                "paused",
                .object(
                    [.required("at", .instant()), .optional("reason", .string())],
                    "Since when somebody paused it.")),
            .optional(
                "counted_by_name",
                .boolean(
                    "Where one app was asked for: whether `/metrics` and `/v1/history` have it by "
                        + "its name. Of the apps beyond \(MetricsRegistry.appCount) they have only "
                        + "what these count together.")),
            .required("queues", .array(of: .named(.queue))),
        ])
    }
}

extension QueueStatus {
    fileprivate var members: [(String, JSONValue?)] {
        var members: [(String, JSONValue?)] = [("kind", .string(kind.rawValue))]
        members.append(("state", .string(state.rawValue)))
        members.append(("message", .string(message)))
        switch circuit {
        case .closed: break
        case .open(let reason, let since, let probeAt):
            members.append(("reason", .string(reason)))
            members.append(("since", .string(since.description)))
            members.append(("probe_at", .string(probeAt.description)))
        case .probing(let reason, let since):
            members.append(("reason", .string(reason)))
            members.append(("since", .string(since.description)))
        }
        if let silence {
            members.append(("unanswered_since", .string(silence.since.description)))
            members.append(("failure", .string(silence.failure)))
        }
        members.append(("in_flight", .integer(Int64(inFlight))))
        if let unresponsive {
            members.append(
                (
                    "unresponsive",
                    .object([
                        ("since", .string(unresponsive.since.description)),
                        ("probes", .integer(Int64(unresponsive.probeCount))),
                        ("explanation", .string(unresponsive.explanation)),
                    ])
                ))
        }
        members.append(("confirms_launches", .boolean(confirmsLaunches)))
        return members
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object([
            .required("kind", .words(of: WakeKind.self)),
            .required(
                "state",
                .words(
                    of: QueueState.self,
                    "paused: somebody paused the app; held: APNs refuses the key, topic or "
                        + "certificate; unresponsive: APNs does not answer.")),
            .required("message", .string("Its state and what becomes of its wakes.")),
            .optional("reason", .string("What APNs refuses.")),
            .optional("since", .instant()), .optional("probe_at", .instant()),
            .optional(
                "unanswered_since",
                .instant("Since when APNs answers nothing, if that is so for a minute or more.")),
            .optional("failure", .string("How the latest push failed without an answer.")),
            .required("in_flight", .count("Wakes of it that are with the transport.")),
            .optional(
                "unresponsive",
                .object(
                    [
                        .required("since", .instant()),
                        .required("probes", .count("How many are sent at a time.")),
                        .required("explanation", .string()),
                    ],
                    "APNs answers nothing, so only a few are sent as probes and the other apps "
                        + "have the room.")),
            .required("confirms_launches", .boolean()),
            .optional(
                "waiting",
                .count(
                    "Where one app was asked for: wakes of it that wait in the store, up to "
                        + "\(QueueBacklog.maximumCount); more are not counted.")),
            .optional(
                "oldest_due_milliseconds",
                .count("Where one app was asked for: how long the longest due one is due already.")
            ),
        ])
    }
}

extension GatewayStats {
    /// The statistics, with those of the API.
    func json(_ services: Services) -> JSONValue {
        .object([
            ("accepted", .integer(Int64(accepted))), ("unended", .integer(Int64(unended))),
            ("in_flight", .integer(Int64(inFlight))),
            ("intake_queue", .integer(Int64(intakeQueue))),
            (
                "by_state",
                .object(
                    WakeState.allCases.map { state in
                        (state.rawValue, .integer(Int64(byState[state] ?? 0)))
                    })
            ),
            (
                "oldest_due_milliseconds",
                .object(
                    WakeKind.allCases.map { kind in
                        (kind.rawValue, .integer(oldestDueMilliseconds[kind] ?? 0))
                    })
            ),
            ("connections", .integer(Int64(services.connections.value))),
            ("event_streams", .integer(Int64(services.streams.value))),
            ("store", store?.json),
        ])
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object([
            .required("accepted", .count("Wakes accepted since the store began.")),
            .required("unended", .count("Wakes that wait or are in hand.")),
            .required("in_flight", .count("Wakes that are with the transport.")),
            .required("intake_queue", .count("Requests that wait to be written.")),
            .required(
                "by_state",
                .object(WakeState.allCases.map { .required($0.rawValue, .count()) })),
            .required(
                "oldest_due_milliseconds",
                .object(
                    WakeKind.allCases.map { .required($0.rawValue, .count()) },
                    "How long the longest due wake is due already.")),
            .required("connections", .count("Connections to this API.")),
            .required("event_streams", .count()),
            .optional("store", SharedStoreStatus.schema),
        ])
    }
}
