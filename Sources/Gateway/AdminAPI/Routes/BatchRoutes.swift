// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import StrictJSON
import WakeModel

/// `POST /v1/wakes/batch`: many wakes in one request.
struct BatchRoutes {
    /// The media type of a batch with one item per line.
    static let linesMediaType = "application/x-ndjson"

    let services: Services

    private var configuration: AdminConfiguration { services.configuration }

    var routes: [Route] { [create] }

    private var create: Route {
        let items = Schema.array(
            of: .meant(
                .named(.wakeRequest), "A wake; what is none gets its problem in its place."),
            "Up to \(configuration.batchItemCount) wakes.",
            count: 1...configuration.batchItemCount)
        return Route(
            .post, "/v1/wakes/batch", .scope(.wake),
            Operation(
                id: "createWakes", summary: "Ask for many wakes",
                description: "Each item is taken or refused by itself; the answers are in the "
                    + "order of the items. When nothing was kept because the gateway has too much "
                    + "to do, or its store fails, the whole batch gets that problem. A batch "
                    + "counts as many requests as it has items: one that has more than the rate "
                    + "of its key has left is taken whole, and the key's next requests wait. With "
                    + "an "
                    + "Idempotency-Key, each item is recognised by its place and its bytes. An "
                    + "item for a user counts as many as the user has devices, and a batch has up "
                    + "to \(Batch.maximumWakeCount) wakes.",
                parameters: [
                    WakeRoutes.idempotencyKey(
                        configuration,
                        conflict: "an item that differs from the one that was in its place gets "
                            + "a 409 there, and the batch a 200"),
                    .spread, .diagnostics,
                ],
                body: Operation.Body(
                    contents: [
                        (JSONValue.mediaType, items),
                        (
                            Self.linesMediaType,
                            .string("The same wakes, a line each, without line breaks in them.")
                        ),
                    ], isRequired: true, limit: configuration.batchByteCount),
                answers: [Operation.Answer(200, "An answer for each item.", .named(.batchAnswer))],
                problems: ProblemCode.ofStore)
        ) { request, context in try await post(request, context) }
    }

    private func post(
        _ request: Request, _ context: AdminRequestContext
    ) async throws -> Response {
        let query = Query(request)
        let spread = try query.spread()
        let withDiagnostics = try query.boolean("diagnostics") ?? false
        let (text, mediaType) = try await request.readBody(
            [JSONValue.mediaType, Self.linesMediaType], limit: configuration.batchByteCount,
            within: services.bodies, context)
        var batch = try await batch(text, mediaType, request.headers, context)
        if batch.hasUsers {
            let before = batch.inquiries.count
            try await batch.resolveUsers(by: services.gateway)
            try services.takeWakes(batch.inquiries.count - before, context)
        }
        let answers = try await batch.submit(
            to: services.gateway, spreadSeconds: spread, caller: context.callerName,
            withDiagnostics: withDiagnostics)
        let turn = await services.gateway.workTurns.begin()
        defer { turn.end() }
        return try await batch.answer(answers, withDiagnostics: withDiagnostics, turn)
            .response(status: .ok)
    }

    private func batch(
        _ text: [UInt8], _ mediaType: String, _ headers: HTTPFields,
        _ context: AdminRequestContext
    ) async throws(Problem) -> Batch {
        let turn = await services.gateway.workTurns.begin()
        defer { turn.end() }
        let items = try items(text, mediaType)
        // The request itself was counted at the authentication.
        try AccessControl(authentication: configuration.authentication)
            .debit(context.caller, for: items.count - 1)
        let now = services.gateway.now
        let marksExpireAt = now.advanced(bySeconds: Int64(configuration.idempotencySeconds))
        let key = try IdempotencyKey.text(of: headers)
        var batch = Batch(capacity: items.count)
        for (index, item) in items.enumerated() {
            await turn.pause()
            let text = Array(item)
            let mark = key.map {
                IdempotencyKey(
                    $0, caller: context.callerName, item: index, body: text,
                    expiresAt: marksExpireAt)
            }
            do throws(Problem) {
                let body = try WakeBody(text, now: now)
                let terms = body.terms
                try context.checkAccess(to: terms.bundleID, field: terms.appField)
                guard terms.spreadSeconds == nil else {
                    throw Problem.spreadAmongMany("an item of a batch")
                }
                switch body.target {
                case .device(let token): batch.ask(terms.inquiry(to: token, mark))
                case .user(let user): batch.ask(user: user, terms, mark)
                }
            } catch {
                batch.refuse(error)
            }
        }
        return batch
    }

    private func items(
        _ text: [UInt8], _ mediaType: String
    ) throws(Problem) -> [ArraySlice<UInt8>] {
        let limit = configuration.batchItemCount
        let items: [ArraySlice<UInt8>]
        do throws(JSONFault) {
            items =
                mediaType == Self.linesMediaType
                ? try JSONItems(lines: text, limit: limit).items
                : try JSONItems(array: text, limit: limit).items
        } catch {
            throw Problem(error)
        }
        guard !items.isEmpty else { throw Problem(.malformedBody, "The batch is empty.") }
        return items
    }
}
