// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import WakeModel

/// The routes of devices: their state, the reports of their apps, and their deletion.
struct DeviceRoutes {
    let services: Services

    private var gateway: Gateway { services.gateway }
    private var limit: Int { services.configuration.bodyByteCount }

    var routes: [Route] {
        [
            get, lookup, signals(.path), signals(.body), registered(.post, .path),
            registered(.put, .path), registered(.put, .body), forget, forgetByBody,
        ]
    }

    /// The place of the device token in a request. Proxies log paths, and a device token is a
    /// secret.
    private enum Place {
        case path
        case body

        var parameters: [Operation.Parameter] { self == .path ? [.deviceToken] : [] }
    }

    private static let problems =
        [ProblemCode.notFound, .unknownApp, .appNotAllowed, .ambiguousEnvironment]
        + ProblemCode.ofStore

    private static let inBody =
        "The device token is in the body, which proxies do not log as they do paths."

    // MARK: Lookup

    private static let viewDescription = "An entry for each app and kind of push."

    private var get: Route {
        Route(
            .get, "/v1/devices/{token}", .scope(.read),
            Operation(
                id: "getDevice", summary: "A device's budget, what waits for it, and why",
                description: Self.viewDescription,
                parameters: [.deviceToken, .appOfQuery, .environmentOfQuery],
                answers: [Operation.Answer(200, "The device.", .named(.device))],
                problems: Self.problems)
        ) { request, context in
            let filter = try services.filter(Query(request), for: context)
            return try await view(try context.deviceToken(), filter, context)
        }
    }

    private var lookup: Route {
        Route(
            .post, "/v1/devices/lookup", .scope(.read),
            Operation(
                id: "lookUpDevice", summary: "A device's budget, what waits for it, and why",
                description: Self.viewDescription + " " + Self.inBody
                    + " A wake names its device as well, for who knows only that.",
                body: .json(.named(.deviceLookup), limit: limit),
                answers: [Operation.Answer(200, "The device.", .named(.device))],
                problems: Self.problems)
        ) { request, context in
            let body = try DeviceLookupBody(
                try await request.readBody(limit: limit, context).bytes)
            let filter = try services.filter(body.app, body.environment, for: context)
            switch body.device {
            case .token(let token): return try await view(token, filter, context)
            case .wake(let id):
                return try await view(
                    try await services.device(of: id, for: context), filter, context)
            }
        }
    }

    private func view(
        _ token: DeviceToken, _ filter: AppFilter, _ context: AdminRequestContext
    ) async throws -> Response {
        let views = try await asking { () async throws(StoreFailure) in
            try await gateway.device(
                token, app: filter.app, environment: filter.environment, among: context.apps)
        }
        guard !views.isEmpty else { throw Problem.noSuchDevice }
        let waits = gateway.waitContext
        let queues = views.map { $0.json(waits) }
        return JSONValue.object([("queues", .array(queues))]).response(status: .ok)
    }

    // MARK: Reports

    private func signals(_ place: Place) -> Route {
        Route(
            .put, place == .path ? "/v1/devices/{token}/signals" : "/v1/devices/signals",
            .scope(.device),
            Operation(
                id: place == .path ? "reportSignals" : "reportDeviceSignals",
                summary: "Report what the app knows of its device",
                description: "Each signal is kept with its time, and decays."
                    + (place == .path ? "" : " " + Self.inBody),
                parameters: place.parameters,
                body: .json(.named(place == .path ? .signals : .deviceSignals), limit: limit),
                answers: [Operation.Answer(200, "They count from now on.", .named(.deviceAnswer))],
                problems: Self.problems)
        ) { request, context in
            let token = place == .path ? try context.deviceToken() : nil
            let (text, _) = try await request.readBody(limit: limit, context)
            let body = try SignalsBody(text, of: token)
            let app = try body.app.map { (name) throws(Problem) in
                try services.app(named: name, body.environment, for: context)
            }
            return try Self.answer(
                try await asking { () async throws(StoreFailure) in
                    try await gateway.report(
                        body.signals, of: body.deviceToken, app: app, among: context.apps)
                })
        }
    }

    private func registered(_ method: HTTPRequest.Method, _ place: Place) -> Route {
        Route(
            method, place == .path ? "/v1/devices/{token}/registered" : "/v1/devices/registered",
            .scope(.device),
            Operation(
                id: method == .post
                    ? "registerDevice"
                    : place == .path ? "putRegistration" : "putDeviceRegistration",
                summary: "The app got this token from iOS just now",
                description: "Revives a token that was dead, and dates the rule about 410: APNs' "
                    + "word about a time before does not count. It may be repeated. With `user` "
                    + "the device is registered under your own id of a user: a wake for the user "
                    + "reaches it. A token is one user's at a time; a 410 of APNs, and forgetting "
                    + "the device, end it. A user has up to \(UserID.maximumDeviceCount) of them "
                    + "for an app, environment and kind; with one more the oldest registration "
                    + "goes." + (place == .path ? "" : " " + Self.inBody),
                parameters: place.parameters,
                body: .json(
                    .named(place == .path ? .registration : .deviceRegistration), limit: limit),
                answers: [Operation.Answer(200, "It is known.", .named(.deviceAnswer))],
                problems: Self.problems)
        ) { request, context in
            let token = place == .path ? try context.deviceToken() : nil
            let (text, _) = try await request.readBody(limit: limit, context)
            let body = try RegistrationBody(text, of: token)
            let app = try services.app(named: body.app, body.environment, for: context)
            return try Self.answer(
                try await asking { () async throws(StoreFailure) in
                    try await gateway.registered(
                        body.deviceToken, app: app, kind: body.kind, at: body.at, user: body.user)
                })
        }
    }

    // MARK: Deletion

    private static let forgetDescription =
        "What waits for it ends as cancelled, and its ledger, its signals and its registration are "
        + "forgotten at once. Wakes that ended keep their device token for as long as they are "
        + "kept, and the feed of dead tokens its lines. After an error, repeat the request: where "
        + "thousands of pushes waited, some may have ended already, and the others end then. The "
        + "answer names only these; the outcomes of the first are in `GET /v1/events` and in the "
        + "wakes themselves."

    private var forget: Route {
        Route(
            .delete, "/v1/devices/{token}", .scope(.device),
            Operation(
                id: "forgetDevice", summary: "Forget a device",
                description: Self.forgetDescription,
                parameters: [.deviceToken, .appOfQuery, .environmentOfQuery],
                answers: [Operation.Answer(200, "It is forgotten.", .named(.deviceAnswer))],
                problems: Self.problems)
        ) { request, context in
            let filter = try services.filter(Query(request), for: context)
            return try await forget(try context.deviceToken(), filter, context)
        }
    }

    private var forgetByBody: Route {
        Route(
            .post, "/v1/devices/forget", .scope(.device),
            Operation(
                id: "forgetDeviceByBody", summary: "Forget a device",
                description: Self.forgetDescription + " " + Self.inBody,
                body: .json(.named(.deviceForget), limit: limit),
                answers: [Operation.Answer(200, "It is forgotten.", .named(.deviceAnswer))],
                problems: Self.problems)
        ) { request, context in
            let body = try DeviceBody(try await request.readBody(limit: limit, context).bytes)
            let filter = try services.filter(body.app, body.environment, for: context)
            return try await forget(body.deviceToken, filter, context)
        }
    }

    private func forget(
        _ token: DeviceToken, _ filter: AppFilter, _ context: AdminRequestContext
    ) async throws -> Response {
        let answer = try await asking { () async throws(StoreFailure) in
            try await gateway.forget(
                token, app: filter.app, environment: filter.environment, among: context.apps)
        }
        let response = try Self.answer(answer)
        services.audit.note(
            "device forgotten", in: context, to: token.description,
            ["app": filter.app?.description ?? filter.environment?.rawValue])
        return response
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
