// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import NIOCore
import WakeModel

/// `POST /v1/wakes` and `GET /v1/wakes/{id}`.
struct WakeRoutes {
    /// How long a caller is asked to wait when the store cannot be written, in seconds.
    static let unavailablePauseSeconds = 5

    let gateway: Gateway
    let configuration: AdminConfiguration

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.post("wakes") { request, context in try await post(request, context) }
        group.get("wakes/{id}") { _, context in try await get(context) }
    }

    // MARK: Taking

    private func post(
        _ request: Request, _ context: AdminRequestContext
    ) async throws -> Response {
        try checkMediaType(request)
        let text = try await body(of: request, context)
        let now = gateway.now
        let body = try WakeBody(text, now: now)
        let mark = try IdempotencyMark.make(
            request.headers, caller: context.callerName, body: text,
            expiresAt: now.advanced(bySeconds: Int64(configuration.idempotencySeconds)))
        let acceptance = await gateway.accept(
            body.request, environment: body.environment, idempotency: mark)
        return try answer(acceptance)
    }

    private func checkMediaType(_ request: Request) throws(Problem) {
        guard let type = request.headers[.contentType] else { return }
        let essence = type.prefix { $0 != ";" }.lowercased()
        guard essence.trimmingSuffix(while: { $0 == " " }) == JSONValue.mediaType else {
            throw Problem(.unsupportedMediaType, "Send Content-Type: application/json.")
        }
    }

    /// Reads the body within its limits of size and time. A body that takes too long ends the
    /// connection: whoever sends it so does not wait for an answer.
    private func body(
        of request: Request, _ context: AdminRequestContext
    ) async throws -> [UInt8] {
        if let length = request.headers[.contentLength].flatMap({ Int($0) }),
            length > configuration.bodyByteCount
        {
            throw Problem(
                .bodyTooLarge, "The body has more than \(configuration.bodyByteCount) bytes.")
        }
        let channel = context.channel
        let timer = channel.eventLoop.scheduleTask(
            in: .seconds(Int64(configuration.bodySeconds))
        ) { channel.close(promise: nil) }
        defer { timer.cancel() }
        let buffer = try await request.body.collect(upTo: configuration.bodyByteCount)
        return Array(buffer.readableBytesView)
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

extension StringProtocol {
    /// The text without the characters at its end that fulfil the condition.
    fileprivate func trimmingSuffix(while condition: (Character) -> Bool) -> SubSequence {
        var end = endIndex
        while end > startIndex, condition(self[index(before: end)]) { end = index(before: end) }
        return self[..<end]
    }
}
