// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import WakeModel

/// `POST /v1/wakes` and `GET /v1/wakes/{id}`.
struct WakeRoutes {
    /// How long a caller is asked to wait when the store cannot be written, in seconds.
    static let unavailablePauseSeconds = 5

    let services: Services

    private var gateway: Gateway { services.gateway }

    var routes: [Route] {
        [
            Route(
                .post, "/v1/wakes", .scope(.wake),
                Operation(
                    id: "createWake", summary: "Ask for a wake",
                    body: .json(.anyObject(), limit: services.configuration.bodyByteCount),
                    answers: [Operation.Answer(202, "The wake is on disk.", .anyObject())],
                    problems: [
                        .invalidWake, .unknownApp, .ambiguousEnvironment, .idempotencyConflict,
                        .overloaded, .unavailable,
                    ])
            ) { request, context in try await post(request, context) },
            Route(
                .get, "/v1/wakes/{id}", .scope(.read),
                Operation(
                    id: "getWake", summary: "What became of a wake",
                    answers: [Operation.Answer(200, "Its history.", .anyObject())],
                    problems: [.notFound, .unavailable])
            ) { _, context in try await get(context) },
        ]
    }

    // MARK: Taking

    private func post(
        _ request: Request, _ context: AdminRequestContext
    ) async throws -> Response {
        let (text, _) = try await request.readBody(
            limit: services.configuration.bodyByteCount, context)
        let now = gateway.now
        let body = try WakeBody(text, now: now)
        let mark = try IdempotencyMark.make(
            request.headers, caller: context.callerName, body: text,
            expiresAt: now.advanced(bySeconds: Int64(services.configuration.idempotencySeconds)))
        let acceptance = await gateway.accept(
            body.request, environment: body.environment, idempotency: mark)
        return try answer(acceptance)
    }

    private func answer(_ acceptance: Acceptance) throws(Problem) -> Response {
        switch acceptance {
        case .admitted(let wake, let remarks):
            var headers = HTTPFields()
            headers[.location] = "/v1/wakes/\(wake.id)"
            return JSONValue.object([
                ("id", .string(wake.id.description)),
                ("accepted_at", .string(wake.acceptedAt.description)),
                ("deadline", .string(wake.deadline.description)),
                ("remarks", remarks.isEmpty ? nil : .array(remarks.map(\.json))),
            ]).response(status: .accepted, headers: headers)
        case .invalid(let diagnostics):
            var problem = Problem(.invalidWake, "See the diagnostics.")
            problem.diagnostics = diagnostics
            throw problem
        case .unknownApp:
            throw Problem(
                .unknownApp, "Add the app, in this environment, to the gateway's configuration.")
        case .ambiguousEnvironment:
            throw Problem(.ambiguousEnvironment, "Add environment: production or sandbox.")
        case .idempotencyConflict:
            throw Problem(.idempotencyConflict, "Use a new key for a new request.")
        case .overloaded(let seconds):
            throw Problem(.overloaded, "Try again later.").retrying(afterSeconds: seconds)
        case .unavailable(let reason):
            throw Problem(.unavailable, reason)
                .retrying(afterSeconds: Self.unavailablePauseSeconds)
        }
    }

    // MARK: Telling

    private func get(_ context: AdminRequestContext) async throws -> Response {
        let id: WakeID
        do throws(InvalidField) {
            id = try WakeID(context.parameters.get("id") ?? "")
        } catch {
            throw Problem(error)
        }
        let record: WakeRecord?
        do throws(StoreFailure) {
            record = try await gateway.record(of: id)
        } catch {
            throw Problem(.unavailable, error.message)
                .retrying(afterSeconds: Self.unavailablePauseSeconds)
        }
        guard let record else { throw Problem(.notFound, "No wake has this id.") }
        return record.json.response(status: .ok)
    }
}
