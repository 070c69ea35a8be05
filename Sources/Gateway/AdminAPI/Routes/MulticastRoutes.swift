// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import WakeModel

/// `POST /v1/wakes/multicast`: one payload for many devices in one request.
struct MulticastRoutes {
    let services: Services

    private var configuration: AdminConfiguration { services.configuration }

    var routes: [Route] { [create] }

    private var create: Route {
        let limit = configuration.multicastByteCount
        return Route(
            .post, "/v1/wakes/multicast", .scope(.wake),
            Operation(
                id: "createMulticast", summary: "Ask for the same wake on many devices",
                description: "The body of a single wake, with `device_tokens`, up to "
                    + "\(MulticastBody.maximumCount) of them, instead of `device_token`. Each "
                    + "device gets a wake of its own, which has its own id, decision and outcome. "
                    + "The answers are in the order of the tokens, in the form of a batch's. A "
                    + "token that is none costs its own place only; one that appears again "
                    + "gets no second wake, and its place says of which it is the duplicate. What "
                    + "is wrong with anything else is wrong for all, and refuses the request. A "
                    + "request counts as many requests as it has tokens, as a batch does with its "
                    + "items. With an Idempotency-Key, each place is recognised by its token and "
                    + "the rest of the body.",
                parameters: [
                    WakeRoutes.idempotencyKey(
                        configuration,
                        conflict: "a place whose token, or the rest of the body, is another gets "
                            + "a 409 there, and the request a 200"),
                    .spread, .diagnostics,
                ],
                body: .json(.named(.multicastRequest), limit: limit),
                answers: [Operation.Answer(200, "An answer for each token.", .named(.batchAnswer))],
                problems: [
                    .invalidWake, .unknownApp, .appNotAllowed, .ambiguousEnvironment,
                    .wrongCredential,
                ]
                    + ProblemCode.ofStore)
        ) { request, context in try await post(request, context, limit) }
    }

    private func post(
        _ request: Request, _ context: AdminRequestContext, _ limit: Int
    ) async throws -> Response {
        let query = Query(request)
        let spread = try query.spread()
        let withDiagnostics = try query.boolean("diagnostics") ?? false
        let (text, _) = try await request.readBody(
            limit: limit, within: services.bodies, context)
        let batch = try await batch(text, request.headers, context)
        let answers = await services.gateway.accept(
            batch.inquiries, spreadSeconds: spread, caller: context.callerName,
            withDiagnostics: withDiagnostics)
        if let first = answers.first, first.concernsAll {
            _ = try AcceptedWake(first, to: batch.inquiries.first)
        }
        let turn = await services.gateway.workTurns.begin()
        defer { turn.end() }
        return try await batch.answer(answers, withDiagnostics: withDiagnostics, turn)
            .response(status: .ok)
    }

    private func batch(
        _ text: [UInt8], _ headers: HTTPFields, _ context: AdminRequestContext
    ) async throws(Problem) -> Batch {
        let turn = await services.gateway.workTurns.begin()
        defer { turn.end() }
        let now = services.gateway.now
        let body = try MulticastBody(text, now: now)
        try context.checkAccess(to: body.terms.bundleID, field: body.terms.appField)
        try services.takeWakes(body.count, context)
        let marksExpireAt = now.advanced(bySeconds: Int64(configuration.idempotencySeconds))
        let key = try IdempotencyKey.text(of: headers)
        var batch = Batch(capacity: body.count)
        var firstPlaces: [DeviceToken: Int] = [:]
        firstPlaces.reserveCapacity(body.count)
        for place in 0..<body.count {
            await turn.pause()
            let device: DeviceToken
            do throws(Problem) {
                device = try body.deviceToken(at: place)
            } catch {
                batch.refuse(error)
                continue
            }
            if let first = firstPlaces[device] {
                batch.repeatAnswer(of: first)
                continue
            }
            firstPlaces[device] = place
            let mark = key.map {
                IdempotencyKey(
                    $0, caller: context.callerName, item: place,
                    body: body.requestBytes(for: device), expiresAt: marksExpireAt)
            }
            batch.ask(body.terms.inquiry(to: device, mark))
        }
        // Otherwise the validation of the wakes finds problems that concern all of them.
        if batch.inquiries.isEmpty, let refusal = try body.terms.refusal(by: services.gateway) {
            throw refusal
        }
        return batch
    }
}
