// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import NIOCore
import WakeModel

/// `GET /v1/feedback` and `GET /v1/events`: the feeds for a backend.
struct FeedRoutes {
    let services: Services

    private var configuration: AdminConfiguration { services.configuration }

    var routes: [Route] { [feedback, events] }

    // MARK: Feedback

    private var feedback: Route {
        Route(
            .get, "/v1/feedback", .scope(.read),
            Operation(
                id: "getFeedback", summary: "Dead device tokens and wrong environments",
                description: "A durable feed, the oldest first: remember the last `cursor` and ask "
                    + "from there. It spells device tokens out, because they are what it is about.",
                parameters: [
                    Operation.Parameter(
                        name: "after", place: .query, schema: .integer(in: 0...Int64.max),
                        description: "The cursor of the page before; 0, the default, for all."),
                    .limit(configuration.pageCount),
                ],
                answers: [Operation.Answer(200, "A page.", .named(.feedbackPage))],
                problems: ProblemCode.ofStore)
        ) { request, context in
            let query = Query(request)
            let after = Int64(try query.integer("after", in: 0...Int.max) ?? 0)
            let limit = try query.limit(configuration)
            let entries = try await asking { () async throws(StoreFailure) in
                try await services.gateway.feedback(
                    after: after, limit: limit, among: context.apps)
            }
            return JSONValue.object([
                ("entries", .array(entries.map(\.json))),
                ("cursor", .integer(entries.last?.number ?? after)),
            ]).response(status: .ok)
        }
    }

    // MARK: Events

    private var events: Route {
        Route(
            .get, "/v1/events", .scope(.read),
            Operation(
                id: "streamEvents", summary: "Outcomes as they happen, as server-sent events",
                description: "Each event is named outcome; its data is an object like an entry of "
                    + "a wake's history, and its id a cursor of a durable feed, which is the same "
                    + "at all gateways of a store: each outcome comes once, in one order, "
                    + "whichever gateway sent the wake. A reader that comes back with the last id "
                    + "in Last-Event-ID, or in after, to any gateway, misses nothing that is kept "
                    + "(retention-days); an event named dropped says when older outcomes may be "
                    + "missing. Without a cursor the stream begins now. The stream ends when the "
                    + "API key is revoked or expires. A reader that closes its side of "
                    + "the connection ends the stream. A key has a quarter of all streams at "
                    + "most.",
                parameters: [
                    Operation.Parameter(
                        name: Self.lastEventID, place: .header,
                        schema: .integer(in: 0...Int64.max),
                        description: "The id of the last event that is known, as a browser's "
                            + "EventSource sends it; it goes before after."),
                    Operation.Parameter(
                        name: "after", place: .query, schema: .integer(in: 0...Int64.max),
                        description: "The id of the last event that is known; 0 for all that are "
                            + "kept."),
                    Operation.Parameter(
                        name: "seconds", place: .query,
                        schema: .integer(in: 1...Int64(EventStream.maximumLifeSeconds)),
                        description: "End the stream after so long; without it, it does not end."),
                ],
                answers: [
                    Operation.Answer(
                        200, "The stream; each event is an object of its fields.",
                        EventStream.eventSchema, mediaType: EventStream.mediaType)
                ], problems: [.overloaded])
        ) { request, context in
            let query = Query(request)
            let lifeSeconds = try query.integer("seconds", in: 1...EventStream.maximumLifeSeconds)
            let after = try query.integer("after", in: 0...Int.max)
            let cursor = try Self.lastEvent(of: request) ?? after.map(Int64.init)
            let apps = context.apps
            let caller = context.caller?.name
            let opened = try await asking { () async throws(StoreFailure) in
                try await services.gateway.events(after: cursor, among: apps, caller: caller)
            }
            guard let events = opened else {
                throw Problem(
                    .overloaded, "Too many event streams are open, or too many of this key."
                )
                .retrying(afterSeconds: EventStream.retrySeconds)
            }
            return EventStream(
                events: events, pulseSeconds: configuration.eventPulseSeconds,
                lifeSeconds: lifeSeconds, grant: context.grant, streams: services.streams,
                presence: services.connections.presence(on: context.channel)
            )
            .response
        }
    }

    private static let lastEventID = "Last-Event-ID"

    /// The cursor in the header of a reader that reconnects. Browsers omit an empty one.
    private static func lastEvent(of request: Request) throws(Problem) -> Int64? {
        guard let name = HTTPField.Name(lastEventID), let text = request.headers[name]
        else { return nil }
        guard let cursor = Int64(text), cursor >= 0, text.first != "+" else {
            throw Problem(
                InvalidField(
                    field: lastEventID, problem: "is not the id of an event",
                    remedy: "Send the last id as it came, or leave the header out."))
        }
        return cursor
    }
}

extension FeedbackEntry {
    /// The entry, with the complete device token, so that a backend can delete it.
    var json: JSONValue {
        .object([
            ("cursor", .integer(number)), ("kind", .string(kind.rawValue)),
            ("app", .string(app.bundleID.value)),
            ("environment", .string(app.environment.rawValue)),
            ("wake_kind", .string(wakeKind.rawValue)),
            ("device_token", .string(deviceToken.hex)), ("at", .string(at.description)),
            ("token_dead_since", refusal.tokenDeadSince.map { .string($0.description) }),
            ("status", .integer(Int64(refusal.status))),
            ("reason", refusal.reason.map { .string($0.rawValue) }),
            ("wake", .string(wake.description)),
        ])
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object([
            .required("cursor", .sequenceNumber("Ascends.")),
            .required("kind", .words(of: FeedbackKind.self)),
            .required("app", .string("The bundle id.")),
            .required("environment", .words(of: APNsEnvironment.self)),
            .required("wake_kind", .words(of: WakeKind.self)),
            .required("device_token", .string("In hexadecimal.")),
            .required("at", .instant()),
            .optional("token_dead_since", .instant("By APNs' account.")),
            .required("status", .integer("The HTTP status of APNs' answer.", in: 100...599)),
            .optional("reason", .string("Apple's reason, verbatim.")),
            .required("wake", .string("The wake that found out.", format: "uuid")),
        ])
    }
}

extension OutcomeEvent {
    /// The data of the event.
    var json: JSONValue {
        .object([
            ("cursor", .integer(cursor)),
            ("id", .string(id.description)), ("ref", ref.map { .string($0.value) }),
            ("app", .string(app.bundleID.value)),
            ("environment", .string(app.environment.rawValue)),
            ("kind", .string(kind.rawValue)),
            ("device", deviceToken.map { .string($0.description) }),
            ("at", .string(at.description)), ("outcome", end.json(keptBack: holds)),
        ])
    }
}
