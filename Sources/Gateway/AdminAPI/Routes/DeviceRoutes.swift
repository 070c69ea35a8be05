// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import WakeModel

/// What is known of a device, and what its app reports of it.
struct DeviceRoutes {
    let services: Services

    private var gateway: Gateway { services.gateway }
    private var limit: Int { services.configuration.bodyByteCount }

    var routes: [Route] { [get, signals, registered, forget] }

    private static let problems =
        [ProblemCode.notFound, .unknownApp, .appNotAllowed, .ambiguousEnvironment]
        + ProblemCode.ofStore

    private var get: Route {
        Route(
            .get, "/v1/devices/{token}", .scope(.read),
            Operation(
                id: "getDevice", summary: "A device's budget, what waits for it, and why",
                description: "An entry for each app and kind of push.",
                parameters: [.deviceToken, .appOfQuery, .environmentOfQuery],
                answers: [Operation.Answer(200, "The device.", .named(.device))],
                problems: Self.problems)
        ) { request, context in
            let token = try context.deviceToken()
            let app = try services.app(Query(request), for: context)
            let views = try await asking { () async throws(StoreFailure) in
                try await gateway.device(token, app: app, among: context.apps)
            }
            guard !views.isEmpty else { throw Problem.noSuchDevice }
            let waits = gateway.waitContext
            let queues = views.map { $0.json(waits) }
            return JSONValue.object([("queues", .array(queues))]).response(status: .ok)
        }
    }

    private var signals: Route {
        Route(
            .put, "/v1/devices/{token}/signals", .scope(.device),
            Operation(
                id: "reportSignals", summary: "Report what the app knows of its device",
                description: "Each signal is kept with its time, and decays.",
                parameters: [.deviceToken], body: .json(.named(.signals), limit: limit),
                answers: [Operation.Answer(200, "They count from now on.", .named(.deviceAnswer))],
                problems: Self.problems)
        ) { request, context in
            let token = try context.deviceToken()
            let (text, _) = try await request.readBody(limit: limit, context)
            let body = try SignalsBody(text)
            let app = try body.app.map { (name) throws(Problem) in
                try services.app(named: name, body.environment, for: context)
            }
            return try Self.answer(
                try await asking { () async throws(StoreFailure) in
                    try await gateway.report(
                        body.signals, of: token, app: app, among: context.apps)
                })
        }
    }

    private var registered: Route {
        Route(
            .post, "/v1/devices/{token}/registered", .scope(.device),
            Operation(
                id: "registerDevice", summary: "The app got this token from iOS just now",
                description: "Revives a token that was dead, and dates the rule about 410: APNs' "
                    + "word about a time before does not count. With `user` the device is "
                    + "registered under your own id of a user: a wake for the user reaches it. "
                    + "A token is one user's at a time; a 410 of APNs, and forgetting the device, "
                    + "end it. A user "
                    + "has up to \(UserID.maximumDeviceCount) of them for an app, environment and "
                    + "kind; with one more the oldest registration goes.",
                parameters: [.deviceToken], body: .json(.named(.registration), limit: limit),
                answers: [Operation.Answer(200, "It is known.", .named(.deviceAnswer))],
                problems: Self.problems)
        ) { request, context in
            let token = try context.deviceToken()
            let (text, _) = try await request.readBody(limit: limit, context)
            let body = try RegistrationBody(text)
            let app = try services.app(named: body.app, body.environment, for: context)
            return try Self.answer(
                try await asking { () async throws(StoreFailure) in
                    try await gateway.registered(
                        token, app: app, kind: body.kind, at: body.at, user: body.user)
                })
        }
    }

    private var forget: Route {
        Route(
            .delete, "/v1/devices/{token}", .scope(.device),
            Operation(
                id: "forgetDevice", summary: "Forget a device",
                description: "What waits for it ends as cancelled, and its ledger, its signals and "
                    + "its registration are forgotten at once. Wakes that ended keep their device "
                    + "token for as long as they are kept, and the feed of dead tokens its lines.",
                parameters: [.deviceToken, .appOfQuery, .environmentOfQuery],
                answers: [Operation.Answer(200, "It is forgotten.", .named(.deviceAnswer))],
                problems: Self.problems)
        ) { request, context in
            let token = try context.deviceToken()
            let app = try services.app(Query(request), for: context)
            let answer = try await asking { () async throws(StoreFailure) in
                try await gateway.forget(token, app: app, among: context.apps)
            }
            let response = try Self.answer(answer)
            services.audit.note(
                "device forgotten", in: context, to: token.description,
                ["app": app?.description])
            return response
        }
    }

    private static func answer(_ answer: DeviceAnswer) throws(Problem) -> Response {
        switch answer {
        case .done(let ended):
            JSONValue.object([("ended", .array(ended.map { .string($0.description) }))])
                .response(status: .ok)
        case .unknownApp: throw Problem.unknownApp(nil, nil)
        case .unknownDevice: throw Problem.noSuchDevice
        }
    }
}

extension Problem {
    static var noSuchDevice: Problem {
        Problem(.notFound, "Unknown device token.")
    }
}
