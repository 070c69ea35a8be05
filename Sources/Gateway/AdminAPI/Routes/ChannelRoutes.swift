// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import WakeModel

/// The routes of broadcast channels for Live Activities. Each request makes one request to APNs and
/// returns its answer; nothing is stored or queued.
struct ChannelRoutes {
    let services: Services

    var routes: [Route] { [create, list, read, delete, send] }

    private static let problems: [ProblemCode] = [
        .unknownApp, .appNotAllowed, .ambiguousEnvironment, .apnsRefused, .apnsUnanswered,
    ]

    private static let withoutKey =
        " An Idempotency-Key is refused: nothing is kept of these requests, so a repetition is a "
        + "second one."

    private static let app: Operation.Parameter = {
        var app = Operation.Parameter.appOfQuery
        app.isRequired = true
        return app
    }()

    private static let channel = Operation.Parameter(
        name: "channel", place: .path,
        schema: .string(
            pattern: "^[A-Za-z0-9+/=_-]+$", length: 1...ChannelID.maximumByteCount),
        description: "The channel's id, percent-encoded: %2F for a slash.")

    private var create: Route {
        let limit = services.configuration.bodyByteCount
        return Route(
            .post, "/v1/channels", .scope(.wake),
            Operation(
                id: "createChannel", summary: "Make a broadcast channel",
                description: "Asks APNs. After an answer with code apns-unanswered there may be a "
                    + "channel whose id nobody was told; the list has it." + Self.withoutKey,
                body: .json(.named(.channelCreation), limit: limit),
                answers: [Operation.Answer(201, "The channel.", .named(.channel))],
                problems: Self.problems + [.channelLimit])
        ) { request, context in
            try IdempotencyKey.refuse(in: request.headers)
            let (text, _) = try await request.readBody(limit: limit, context)
            let body = try ChannelCreationBody(text)
            let app = try services.app(named: body.app, body.environment, for: context)
            let result = try await service().createChannel(of: app, storing: body.storage)
            if Self.isUncertain(result) {
                services.audit.note(
                    "channel creation requested", in: context, to: app.description,
                    ["storage": body.storage.rawValue, "outcome": "unknown"])
            }
            let (channel, receipt) = try Self.value(result, namesChannel: false)
            services.audit.note(
                "channel created", in: context, to: channel.value,
                ["app": app.description, "storage": body.storage.rawValue])
            return Self.json(app, channel, storage: body.storage, receipt)
                .response(status: .created)
        }
    }

    private var list: Route {
        Route(
            .get, "/v1/channels", .scope(.read),
            Operation(
                id: "listChannels", summary: "The ids of an app's channels",
                description: "All of them, as APNs has them: up to 10 000.",
                parameters: [Self.app, .environmentOfQuery],
                answers: [Operation.Answer(200, "The ids.", .named(.channelList))],
                problems: Self.problems)
        ) { request, context in
            let app = try app(request, context)
            let (channels, _) = try Self.value(
                await service().channels(of: app), namesChannel: false)
            return JSONValue.object([
                ("app", .string(app.bundleID.value)),
                ("environment", .string(app.environment.rawValue)),
                ("channels", .array(channels.map { .string($0.value) })),
            ]).response(status: .ok)
        }
    }

    private var read: Route {
        Route(
            .get, "/v1/channels/{channel}", .scope(.read),
            Operation(
                id: "getChannel", summary: "Whether a channel exists, and what it stores",
                parameters: [Self.channel, Self.app, .environmentOfQuery],
                answers: [Operation.Answer(200, "The channel.", .named(.channel))],
                problems: Self.problems + [.unknownChannel])
        ) { request, context in
            let channel = try context.channelID()
            let app = try app(request, context)
            let (storage, receipt) = try Self.value(
                await service().storage(of: channel, of: app))
            return Self.json(app, channel, storage: storage, receipt).response(status: .ok)
        }
    }

    private var delete: Route {
        Route(
            .delete, "/v1/channels/{channel}", .scope(.wake),
            Operation(
                id: "deleteChannel", summary: "Delete a channel, for good",
                description: "Devices that subscribed get nothing more.",
                parameters: [Self.channel, Self.app, .environmentOfQuery],
                answers: [Operation.Answer(200, "It is gone.", .named(.channel))],
                problems: Self.problems + [.unknownChannel])
        ) { request, context in
            let channel = try context.channelID()
            let app = try app(request, context)
            let result = try await service().deleteChannel(channel, of: app)
            if Self.isUncertain(result) {
                services.audit.note(
                    "channel deletion requested", in: context, to: channel.value,
                    ["app": app.description, "outcome": "unknown"])
            }
            let (_, receipt) = try Self.value(result)
            services.audit.note(
                "channel deleted", in: context, to: channel.value, ["app": app.description])
            return Self.json(app, channel, storage: nil, receipt).response(status: .ok)
        }
    }

    private var send: Route {
        let limit = services.configuration.bodyByteCount
        return Route(
            .post, "/v1/channels/{channel}/broadcasts", .scope(.wake),
            Operation(
                id: "sendBroadcast", summary: "Update or end a Live Activity for all subscribers",
                description: "Checked by the same rules as wakes, and sent at once: the answer is "
                    + "that of APNs. It is not queued, and not sent again later; Retry-After says "
                    + "when the caller may. APNs' acceptance does not confirm delivery."
                    + Self.withoutKey,
                parameters: [Self.channel],
                body: .json(.named(.broadcastRequest), limit: limit),
                answers: [
                    Operation.Answer(200, PushOutcome.Acceptance.meaning, .named(.broadcast))
                ],
                problems: Self.problems + [
                    .invalidWake, .unknownChannel, .appPaused, .channelStoresNothing,
                ])
        ) { request, context in
            try IdempotencyKey.refuse(in: request.headers)
            let channel = try context.channelID()
            let (text, _) = try await request.readBody(limit: limit, context)
            let now = services.gateway.now
            let body = try BroadcastBody(text, now: now)
            let app = try services.app(named: body.app, body.environment, for: context)
            try checkPause(of: app)
            let broadcast = try body.broadcast(to: channel, of: app.bundleID, now: now)
            let service = try service()
            let start = ContinuousClock.now
            let result = await service.send(broadcast, for: app)
            let (counted, reason) = BroadcastResult.read(result)
            services.metrics.broadcast(
                of: app, counted, reason: reason, start.duration(to: .now))
            let (_, receipt) = try Self.value(result)
            return JSONValue.object(
                Self.members(app, channel, receipt) + [
                    ("apns_unique_id", receipt.apnsUniqueID.map { .string($0) })
                ]
            ).response(status: .ok)
        }
    }

    /// Throws if the app is paused: a broadcast cannot be deferred.
    private func checkPause(of app: AppIdentity) throws(Problem) {
        guard let pause = services.gateway.apps.first(where: { $0.app == app })?.pause else {
            return
        }
        let reason = pause.reason.map { ": \($0)" } ?? ""
        var problem = Problem(.appPaused, "\(app) is paused\(reason). Nothing was sent.")
        problem.field = "app"
        throw problem
    }

    private func app(
        _ request: Request, _ context: AdminRequestContext
    ) throws(Problem) -> AppIdentity {
        let query = Query(request)
        guard let name = query.string("app") else {
            throw Problem(
                InvalidField(
                    field: "app", problem: "is missing",
                    remedy: "Add it to the query: ?app= and the bundle id."))
        }
        return try services.app(named: name, try query.choice("environment"), for: context)
    }

    private func service() throws(Problem) -> any ChannelService {
        guard let service = services.channels() else {
            throw Problem(.unavailable, "This gateway was started without a client for channels.")
        }
        return service
    }

    /// Whether APNs may have executed the request although it did not answer.
    private static func isUncertain<Value>(_ result: ChannelResult<Value>) -> Bool {
        guard case .failure(let failure) = result else { return false }
        return failure.certainty == .unknown
    }

    /// Returns the value and the receipt of an answer, or throws a ``Problem``. `namesChannel` is
    /// whether the request named a channel.
    private static func value<Value>(
        _ result: ChannelResult<Value>, namesChannel: Bool = true
    ) throws(Problem) -> (Value, ChannelReceipt) {
        switch result {
        case .success(.done(let value, let receipt)): return (value, receipt)
        case .success(.rejected(let rejection)):
            throw Problem(rejection, namesChannel: namesChannel)
        case .failure(let failure): throw Problem(unanswered: failure)
        }
    }

    private static func members(
        _ app: AppIdentity, _ channel: ChannelID, _ receipt: ChannelReceipt
    ) -> [(String, JSONValue?)] {
        [
            ("app", .string(app.bundleID.value)),
            ("environment", .string(app.environment.rawValue)),
            ("channel", .string(channel.value)),
            ("request_id", receipt.requestID.map { .string($0) }),
        ]
    }

    private static func json(
        _ app: AppIdentity, _ channel: ChannelID, storage: ChannelStorage?,
        _ receipt: ChannelReceipt
    ) -> JSONValue {
        .object(
            members(app, channel, receipt) + [("storage", storage.map { .string($0.rawValue) })])
    }
}

extension ChannelRoutes {
    private static let members: [Schema.Member] = [
        .required("app", .string("The bundle id.")),
        .required("environment", .words(of: APNsEnvironment.self)),
        .required("channel", .string("The id, which apps need to subscribe.")),
        .optional("request_id", .string("The apns-request-id, to quote to Apple.")),
    ]

    /// The schema of a channel in the OpenAPI document.
    static var channelSchema: Schema {
        .object(
            members + [
                .optional(
                    "storage",
                    .words(
                        of: ChannelStorage.self,
                        "none: nothing; latest: the most recent broadcast, for up to 8 hours."))
            ])
    }

    /// The schema of a list of channels in the OpenAPI document.
    static var listSchema: Schema {
        .object([
            .required("app", .string("The bundle id.")),
            .required("environment", .words(of: APNsEnvironment.self)),
            .required("channels", .array(of: .string("An id."))),
        ])
    }

    /// The schema of an accepted broadcast in the OpenAPI document.
    static var broadcastSchema: Schema {
        .object(
            members + [
                .optional(
                    "apns_unique_id",
                    .string("For the Delivery Log of Apple's console, in the sandbox."))
            ])
    }
}

extension AdminRequestContext {
    /// The channel in the path.
    fileprivate func channelID() throws(Problem) -> ChannelID {
        let text = parameters.get("channel") ?? ""
        return try parsing(Self.percentDecoded(text) ?? "", as: "channel") {
            (text) throws(InvalidField) in try ChannelID(text)
        }
    }
}
