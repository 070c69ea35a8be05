// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import WakeModel

/// The routes of the devices that are registered for a user.
struct UserRoutes {
    let services: Services

    private var gateway: Gateway { services.gateway }

    var routes: [Route] { [get, removeAll, remove] }

    private static let problems: [ProblemCode] =
        [.noDevices, .unknownApp, .appNotAllowed, .ambiguousEnvironment] + ProblemCode.ofStore

    private static let user = Operation.Parameter(
        name: "user", place: .path, schema: WakeBody.userSchema,
        description: "Your own id of the user, percent-encoded. It does not appear in logs.")

    private var get: Route {
        Route(
            .get, "/v1/users/{user}/devices", .scope(.read),
            Operation(
                id: "listUserDevices", summary: "The devices that are registered under a user",
                description: "An entry for each device token, app and kind of push; those of apps "
                    + "that the key may not use are left out. A user without any has an empty "
                    + "list.",
                parameters: [Self.user, .appOfQuery, .environmentOfQuery],
                answers: [Operation.Answer(200, "The devices.", .named(.userDevices))],
                problems: Self.problems.filter { $0 != .noDevices })
        ) { request, context in
            let user = try context.userID()
            let filter = try services.filter(Query(request), for: context)
            let devices = try await asking { () async throws(StoreFailure) in
                try await gateway.devices(
                    ofUser: user, app: filter.app, environment: filter.environment,
                    among: context.apps)
            }
            return JSONValue.object([("devices", .array(devices.map(\.json)))])
                .response(status: .ok)
        }
    }

    private var removeAll: Route {
        Route(
            .delete, "/v1/users/{user}/devices", .scope(.device),
            Operation(
                id: "unregisterUser", summary: "Register no device under a user any longer",
                description: "For a user who is gone, or leaves one app. The devices stay, with "
                    + "their budgets, and so does what waits for them.",
                parameters: [Self.user, .appOfQuery, .environmentOfQuery],
                answers: [Operation.Answer(200, "They are not.", .named(.userRemoval))],
                problems: Self.problems)
        ) { request, context in try await remove(nil, request, context) }
    }

    private var remove: Route {
        Route(
            .delete, "/v1/users/{user}/devices/{token}", .scope(.device),
            Operation(
                id: "unregisterUserDevice",
                summary: "Register a device under its user no longer",
                description: "For a user who signs out on one device. The device stays, with its "
                    + "budget, and so does what waits for it.",
                parameters: [Self.user, .deviceToken, .appOfQuery, .environmentOfQuery],
                answers: [Operation.Answer(200, "It is not.", .named(.userRemoval))],
                problems: Self.problems)
        ) { request, context in
            try await remove(try context.deviceToken(), request, context)
        }
    }

    private func remove(
        _ token: DeviceToken?, _ request: Request, _ context: AdminRequestContext
    ) async throws -> Response {
        let user = try context.userID()
        let filter = try services.filter(Query(request), for: context)
        let count = try await asking { () async throws(StoreFailure) in
            try await gateway.unregister(
                user, token: token, app: filter.app, environment: filter.environment,
                among: context.apps)
        }
        guard count > 0 else { throw Problem.noDevices }
        services.audit.note(
            "user unregistered", in: context, to: token?.description ?? user.description,
            [
                "app": filter.app?.description ?? filter.environment?.rawValue,
                "user": token.map { _ in user.description },
                "count": "\(count)",
            ])
        return JSONValue.object([("removed", .integer(Int64(count)))]).response(status: .ok)
    }
}

extension UserDevice {
    fileprivate var json: JSONValue {
        .object([
            ("app", .string(queue.app.bundleID.value)),
            ("environment", .string(queue.app.environment.rawValue)),
            ("kind", .string(queue.kind.rawValue)),
            ("device_token", .string(deviceToken.hex)),
            ("device", .string(deviceToken.description)),
            ("registered_at", registeredAt.map { .string($0.description) }),
        ])
    }

    /// The schema of the list in the OpenAPI document.
    static var listSchema: Schema {
        .object([
            .required(
                "devices",
                .array(
                    of: .object([
                        .required("app", .string("The bundle id.")),
                        .required("environment", .words(of: APNsEnvironment.self)),
                        .required("kind", .words(of: WakeKind.self)),
                        .required("device_token", .string("In hexadecimal.")),
                        .required("device", .string("A digest of the device token.")),
                        .optional(
                            "registered_at",
                            .instant("When the app last said that the token is good.")),
                    ])))
        ])
    }
}

extension Problem {
    static var noDevices: Problem {
        var problem = Problem(
            .noDevices,
            "No device is registered under this user for this app, environment and kind.")
        problem.field = "user"
        return problem
    }
}

extension AdminRequestContext {
    /// The user in the path.
    fileprivate func userID() throws(Problem) -> UserID {
        let text = parameters.get("user") ?? ""
        return try parsing(Self.percentDecoded(text) ?? "", as: "user") {
            (text) throws(InvalidField) in try UserID(text)
        }
    }
}
