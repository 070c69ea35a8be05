// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import WakeModel

/// `POST /v1/wakes`, and the routes of existing wakes.
struct WakeRoutes {
    let services: Services
    private let texts = AcceptedWakeTexts()

    init(services: Services) { self.services = services }

    private var gateway: Gateway { services.gateway }
    private var configuration: AdminConfiguration { services.configuration }

    var routes: [Route] { [create, list, lookup, get, cancel] }

    // MARK: Submission

    /// The problems of every route that submits wakes.
    static let intakeProblems =
        [
            ProblemCode.invalidWake, .unknownApp, .appNotAllowed, .ambiguousEnvironment,
            .wrongCredential,
            .idempotencyConflict,
        ] + ProblemCode.ofStore

    /// The parameter for the header `Idempotency-Key`. `conflict` describes the answer to a
    /// different request with the same key.
    static func idempotencyKey(
        _ configuration: AdminConfiguration, conflict: String
    ) -> Operation.Parameter {
        let hours = configuration.idempotencySeconds / 3_600
        return Operation.Parameter(
            name: "Idempotency-Key", place: .header,
            schema: .string(pattern: "^[!-~]+$", length: 1...IdempotencyKey.maximumKeyLength),
            description: "The same key and body get the same answer for \(hours) hours, and "
                + "nothing new is kept; \(conflict). Use a random UUID for each request.")
    }

    private var create: Route {
        let limit = configuration.bodyByteCount
        var route = Route(
            .post, "/v1/wakes", .scope(.wake),
            Operation(
                id: "createWake", summary: "Ask for a wake",
                description: "The answer means that the wake is on disk and will end in exactly "
                    + "one recorded outcome. Its decision says what becomes of it and why. With "
                    + "`user` instead of `device_token` it asks for a wake on each device that is "
                    + "registered under the user for this app, environment and kind of push, each "
                    + "with its own id, decision and outcome, and the answer has an item for each. "
                    + "A repetition with the same key is for the devices for which the request was "
                    + "first.",
                parameters: [
                    Self.idempotencyKey(
                        configuration, conflict: "the same key and another body get a 409"),
                    Operation.Parameter(
                        name: "wait", place: .query, schema: .words(of: Wait.self),
                        description: "Hold the answer until APNs has spoken: then it is 200 with "
                            + "the whole wake, and 202 when the time was up first, with its "
                            + "state and why it waits, or the outcome could not be read. A caller "
                            + "that closes its side of the connection ends the wait. For a `user` "
                            + "it has no effect: the answer comes at once and names the wake of "
                            + "each device."),
                    Operation.Parameter(
                        name: "timeout", place: .query,
                        schema: .integer(in: 1...Int64(configuration.waitSeconds)),
                        description: "How long to wait, in seconds; 10 by default. Without `wait` "
                            + "it has no effect."),
                ],
                body: .json(.named(.wakeRequest), limit: limit),
                answers: [
                    Operation.Answer(
                        200, "The wake has ended (only with wait).", .named(.wake)),
                    Operation.Answer(
                        202, "The wake is on disk.", .named(.acceptedWake),
                        links: Operation.Link.toWake(at: "/id")),
                    Operation.Answer(
                        207, "For a user: an answer for each device.", .named(.userAnswer)),
                ],
                problems: Self.intakeProblems + [.noDevices])
        ) { request, context in try await post(request, context, limit) }
        route.direct = post
        return route
    }

    private enum Wait: String, CaseIterable {
        case outcome
    }

    /// The default timeout of `wait=outcome`, in seconds.
    private static let usualWaitSeconds = 10

    private func post(
        _ request: Request, _ context: AdminRequestContext, _ limit: Int
    ) async throws -> Response {
        let query = Query(request)
        let wait = try query.choice("wait", Wait.self)
        let seconds =
            try query.integer("timeout", in: 1...configuration.waitSeconds)
            ?? min(Self.usualWaitSeconds, configuration.waitSeconds)
        let (text, _) = try await request.readBody(limit: limit, context)
        let (body, mark) = try submission(text, request.headers, context)
        let device: DeviceToken
        switch body.target {
        case .device(let token): device = token
        case .user(let user): return try await post(body.terms, user, mark, context).response
        }
        let inquiry = body.terms.inquiry(to: device, mark)
        let answer = await withCheckedContinuation { continuation in
            gateway.accept(
                inquiry, spreadSeconds: body.terms.spreadSeconds ?? 0, caller: context.callerName
            ) { continuation.resume(returning: $0) }
        }()
        let accepted = try AcceptedWake(answer, to: inquiry)
        if wait == .outcome,
            let record = await outcome(
                of: accepted.wake.id, within: Int64(seconds) * 1000, for: context)
        {
            let waiting = gateway.waitContext(isStopping: Task.isShuttingDownGracefully)
                .explain(record)
            if record.hasOutcome {
                return record.json(waiting).response(status: .ok, headers: accepted.headers)
            }
            if let waiting {
                return accepted.json(in: record.state, waiting)
                    .response(status: .accepted, headers: accepted.headers)
            }
        }
        return accepted.json.response(status: .accepted, headers: accepted.headers)
    }

    /// Submits what a plain request asks for: see ``Route/DirectHandler``.
    private func post(
        _ text: [UInt8], _ headers: HTTPFields, _ context: AdminRequestContext,
        _ receive: @escaping @Sendable (@escaping Route.DirectAnswer) -> Void
    ) throws(Problem) {
        let (body, mark) = try submission(text, headers, context)
        switch body.target {
        case .device(let device):
            let inquiry = body.terms.inquiry(to: device, mark)
            gateway.accept(
                inquiry, spreadSeconds: body.terms.spreadSeconds ?? 0, caller: context.callerName
            ) { answer in
                receive {
                    let accepted = try AcceptedWake(answer(), to: inquiry)
                    return JSONValue.raw(texts.bytes(of: accepted))
                        .buffered(status: .accepted, headers: accepted.headers)
                }
            }
        case .user(let user):
            Task {
                do {
                    let response = try await post(body.terms, user, mark, context)
                    receive { response }
                } catch {
                    receive { throw error }
                }
            }
        }
    }

    /// Reads a request, and checks that its key may submit it.
    private func submission(
        _ text: [UInt8], _ headers: HTTPFields, _ context: AdminRequestContext
    ) throws(Problem) -> (WakeBody, IdempotencyKey?) {
        let now = gateway.now
        let body = try WakeBody(text, now: now)
        try context.checkAccess(to: body.terms.bundleID, field: body.terms.appField)
        guard let key = try IdempotencyKey.text(of: headers) else { return (body, nil) }
        let mark = IdempotencyKey(
            key, caller: context.callerName, body: text,
            expiresAt: now.advanced(bySeconds: Int64(configuration.idempotencySeconds)))
        return (body, mark)
    }

    /// Submits a wake for each device of a user.
    private func post(
        _ terms: WakeTerms, _ user: UserID, _ mark: IdempotencyKey?, _ context: AdminRequestContext
    ) async throws -> BufferedResponse {
        var batch = Batch(capacity: 1)
        batch.ask(user: user, terms, mark)
        try await batch.resolveUsers(by: gateway)
        try services.takeWakes(batch.inquiries.count, context)
        let answers = try await batch.submit(
            to: gateway, spreadSeconds: terms.spreadSeconds ?? 0, caller: context.callerName)
        return try batch.userAnswer(answers)
            .buffered(status: HTTPResponse.Status(code: 207, reasonPhrase: "Multi-Status"))
    }

    /// Waits up to `milliseconds` for the end of a wake, and returns its record. A shutdown ends
    /// the wait early, because it waits for open responses. Returns `nil` if the caller
    /// disconnects, if the rights of its key end, or if the store fails: the wake is stored, so
    /// that an error would be wrong.
    private func outcome(
        of id: WakeID, within milliseconds: Int64, for context: AdminRequestContext
    ) async -> WakeRecord? {
        let gateway = gateway
        let grant = context.grant
        let record = await services.connections.presence(on: context.channel).cancellingOnHangUp {
            await cancelWhenGracefulShutdown {
                await withTaskGroup(of: WakeRecord?.self) { group in
                    group.addTask { try? await gateway.outcome(of: id, within: milliseconds) }
                    if let grant {
                        group.addTask {
                            await grant.end()
                            return nil
                        }
                    }
                    let record = await group.next() ?? nil
                    group.cancelAll()
                    return record
                }
            }
        }
        guard record == nil, Task.isShuttingDownGracefully else { return record }
        return try? await gateway.record(of: id)
    }

    // MARK: Reading and cancellation

    private var list: Route {
        Route(
            .get, "/v1/wakes", .scope(.read),
            Operation(
                id: "listWakes", summary: "Wakes, the newest first",
                description: Self.listDescription,
                parameters: [
                    Operation.Parameter(
                        name: "device", place: .query, schema: Operation.deviceTokenSchema,
                        description: "Only those of this device token."),
                    .appOfQuery, .environmentOfQuery,
                    Operation.Parameter(
                        name: "state", place: .query,
                        schema: .string(
                            pattern: "^(\(Self.states))(,(\(Self.states)))*$", example: "sent"),
                        description: "Only those in these states, with commas between."),
                    Operation.Parameter(
                        name: "ref", place: .query, schema: WakeBody.refSchema,
                        description: "Only those with this name of yours."),
                    .cursor(.string(format: "uuid"), "The `next` of the page before."),
                    .limit(configuration.pageCount),
                ],
                answers: [Operation.Answer(200, "A page.", .named(.wakePage))],
                problems: [.unknownApp, .appNotAllowed, .ambiguousEnvironment] + ProblemCode.ofStore
            )
        ) { request, context in try await list(Query(request), context) }
    }

    private static let states = WakeState.allCases.map(\.rawValue).joined(separator: "|")

    private func list(
        _ query: Query, _ context: AdminRequestContext
    ) async throws -> Response {
        let states: Set<WakeState> = try query.choices("state")
        let filter = try services.filter(query, for: context)
        let wakes = WakeQuery(
            deviceToken: try query.value("device") { (text) throws(InvalidField) in
                try DeviceToken(pasted: text)
            },
            app: filter.app, environment: filter.environment, apps: context.apps,
            states: states.isEmpty ? nil : states,
            ref: try query.value("ref") { (text) throws(InvalidField) in try WakeRef(text) },
            after: try query.value("cursor", remedy: "Use the next of the page before.") {
                (text) throws(InvalidField) in
                try WakeID(text)
            },
            limit: try query.limit(configuration))
        return try await page(wakes)
    }

    private var lookup: Route {
        let limit = configuration.bodyByteCount
        return Route(
            .post, "/v1/wakes/lookup", .scope(.read),
            Operation(
                id: "lookUpWakes", summary: "Wakes, the newest first",
                description: Self.listDescription
                    + " The device token is in the body, which proxies do not log as they do URLs.",
                body: .json(.named(.wakeLookup), limit: limit),
                answers: [Operation.Answer(200, "A page.", .named(.wakePage))],
                problems: [.notFound, .unknownApp, .appNotAllowed, .ambiguousEnvironment]
                    + ProblemCode.ofStore
            )
        ) { request, context in
            let body = try WakeLookupBody(
                try await request.readBody(limit: limit, context).bytes,
                limit: configuration.pageCount)
            let filter = try services.filter(body.app, body.environment, for: context)
            var token = body.deviceToken
            if let wake = body.wake { token = try await services.device(of: wake, for: context) }
            return try await page(
                WakeQuery(
                    deviceToken: token, app: filter.app,
                    environment: filter.environment, apps: context.apps, states: body.states,
                    ref: body.ref, digest: body.digest, after: body.after,
                    limit: body.limit ?? min(Query.usualLimit, configuration.pageCount)))
        }
    }

    private static let listDescription =
        "Pages by cursor. A page may be short, or empty, and still have a next one."

    private func page(_ wakes: WakeQuery) async throws -> Response {
        let page = try await asking { () async throws(StoreFailure) in
            try await gateway.wakes(wakes)
        }
        let waits = gateway.waitContext
        return JSONValue.object([
            ("wakes", .array(page.wakes.map { $0.json(waits.explain($0)) })),
            ("next", page.next.map { .string($0.description) }),
        ]).response(status: .ok)
    }

    private var get: Route {
        Route(
            .get, "/v1/wakes/{id}", .scope(.read),
            Operation(
                id: "getWake", summary: "What became of a wake",
                parameters: [.wakeID],
                answers: [Operation.Answer(200, "Its whole history.", .named(.wake))],
                problems: [.notFound] + ProblemCode.ofStore)
        ) { _, context in
            let id = try context.wakeID()
            let record = try await asking { () async throws(StoreFailure) in
                try await gateway.record(of: id, among: context.apps)
            }
            guard let record else { throw Problem.noSuchWake }
            return record.json(gateway.waitContext.explain(record)).response(status: .ok)
        }
    }

    private var cancel: Route {
        Route(
            .delete, "/v1/wakes/{id}", .scope(.wake),
            Operation(
                id: "cancelWake", summary: "Cancel a wake that still waits",
                description: "Only this request is taken out. One that has merged into a wake that "
                    + "waits is cancelled as well: that one goes on with what is left. When a wake "
                    + "carries others, the newest of them takes its place.",
                parameters: [.wakeID],
                answers: [Operation.Answer(200, "It is cancelled.", .named(.wake))],
                problems: [.notFound, .notCancellable] + ProblemCode.ofStore)
        ) { _, context in
            let id = try context.wakeID()
            let answer = try await asking { () async throws(StoreFailure) in
                try await gateway.cancel(id, among: context.apps)
            }
            switch answer {
            case .cancelled(let record):
                services.audit.note(
                    "wake cancelled", in: context, to: "\(id)",
                    ["app": record.app.description])
                return record.json(gateway.waitContext.explain(record)).response(status: .ok)
            case .tooLate(let record):
                throw Problem(
                    .notCancellable,
                    record.state == .claimed
                        ? "It is on its way to APNs." : "It has ended as \(record.state).")
            case .unknown:
                throw Problem.noSuchWake
            }
        }
    }
}

extension WakeRecord {
    /// Whether the outcome is known: the wake's own end, or that of the wake into which it was
    /// merged.
    var hasOutcome: Bool {
        if case .coalesced = end { return carrierEnd != nil }
        return end != nil
    }
}

extension Problem {
    static var noSuchWake: Problem { Problem(.notFound, "No wake has this id.") }
}
