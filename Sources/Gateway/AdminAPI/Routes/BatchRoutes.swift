// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import WakeModel

/// `POST /v1/wakes/batch`: many wakes in one request.
struct BatchRoutes {
    /// The media type of a batch with a line for each item.
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
                    + "Idempotency-Key, each item is recognised by its place and its bytes.",
                parameters: [
                    WakeRoutes.idempotencyKey(
                        configuration,
                        conflict: "an item that differs from the one that was in its place gets "
                            + "a 409 there, and the batch a 200"),
                    Operation.Parameter(
                        name: "spread", place: .query,
                        schema: .integer(in: 0...WakeBody.maximumSpreadSeconds),
                        description: "Spread the due times evenly over so many seconds."),
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
        let spread =
            try Query(request).integer("spread", in: 0...Int(WakeBody.maximumSpreadSeconds)) ?? 0
        let (text, mediaType) = try await request.readBody(
            [JSONValue.mediaType, Self.linesMediaType], limit: configuration.batchByteCount,
            within: services.bodies, context)
        let batch = try await batch(text, mediaType, request.headers, context)
        let answers = await services.gateway.accept(
            batch.inquiries, spreadSeconds: spread, caller: context.callerName)
        let turn = await services.gateway.workTurns.begin()
        defer { turn.end() }
        return try await batch.answer(answers, turn).response(status: .ok)
    }

    private func batch(
        _ text: [UInt8], _ mediaType: String, _ headers: HTTPFields,
        _ context: AdminRequestContext
    ) async throws(Problem) -> Batch {
        let turn = await services.gateway.workTurns.begin()
        defer { turn.end() }
        let items = try items(text, mediaType)
        // The request itself has been counted.
        try AccessControl(authentication: configuration.authentication)
            .debit(context.caller, for: items.count - 1)
        let now = services.gateway.now
        return try await Batch(
            items, headers, context, now: now,
            marksExpireAt: now.advanced(bySeconds: Int64(configuration.idempotencySeconds)), turn)
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

/// The items of a batch: those that could be parsed, and what is wrong with the others.
struct Batch {
    /// What the gateway is asked, in order.
    private(set) var inquiries: [Inquiry] = []
    /// For each item the problem, or `nil` for one that is asked for.
    private var problems: [Problem?] = []

    /// Reads items, with pauses for others.
    init(
        _ items: [ArraySlice<UInt8>], _ headers: HTTPFields, _ context: AdminRequestContext,
        now: WallInstant, marksExpireAt: WallInstant, _ turn: WorkTurn
    ) async throws(Problem) {
        inquiries.reserveCapacity(items.count)
        problems.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            await turn.pause()
            let text = Array(item)
            let mark = try IdempotencyKey.make(
                headers, caller: context.callerName, item: index, body: text,
                expiresAt: marksExpireAt)
            do throws(Problem) {
                let body = try WakeBody(text, now: now)
                try context.checkAccess(to: body.request.bundleID, field: body.appField)
                guard body.spreadSeconds == nil else { throw Problem.spreadInBatch }
                inquiries.append(body.inquiry(mark))
                problems.append(nil)
            } catch {
                problems.append(error)
            }
        }
    }

    /// What the answer for an item that is taken comes to, in bytes; memory is set aside for it.
    private static let answerByteCount = 320

    /// The answer for each item, in order, with pauses for others. Throws what kept the gateway
    /// from taking any.
    func answer(_ answers: [Acceptance], _ turn: WorkTurn) async throws(Problem) -> JSONValue {
        var upcoming = zip(answers, inquiries).makeIterator()
        // Written one by one: values for all of them would be a tree of thousands of pieces.
        var items = [UInt8(ascii: "[")]
        items.reserveCapacity(problems.count * Self.answerByteCount)
        var text = AcceptedWakeText()
        var acceptedCount = 0
        var obstacle: Problem?
        for (index, problem) in problems.enumerated() {
            await turn.pause()
            if index > 0 { items.append(UInt8(ascii: ",")) }
            do throws(Problem) {
                if let problem { throw problem }
                guard let (answer, inquiry) = upcoming.next() else {
                    preconditionFailure("The gateway answers each inquiry.")
                }
                let accepted = try AcceptedWake(answer, to: inquiry)
                acceptedCount += 1
                items.append(contentsOf: #"{"status":202,"wake":"#.utf8)
                text.append(accepted, to: &items)
                items.append(UInt8(ascii: "}"))
            } catch {
                if error.code == .overloaded || error.code == .unavailable { obstacle = error }
                JSONValue.object([
                    ("status", .integer(Int64(error.code.status))), ("problem", error.document),
                ])
                .append(to: &items)
            }
        }
        items.append(UInt8(ascii: "]"))
        if acceptedCount == 0, let obstacle { throw obstacle }
        return .object([
            ("accepted", .integer(Int64(acceptedCount))),
            ("refused", .integer(Int64(problems.count - acceptedCount))),
            ("items", .raw(items)),
        ])
    }

    /// What the OpenAPI document says of an answer.
    static var schema: Schema {
        .object([
            .required("accepted", .count()), .required("refused", .count()),
            .required(
                "items",
                .array(
                    of: .object([
                        .required("status", .integer("202, or the problem's.", in: 202...599)),
                        .optional("wake", .named(.acceptedWake)),
                        .optional("problem", .named(.problem)),
                    ]), "In the order of the request.")),
        ])
    }
}

extension Problem {
    fileprivate static var spreadInBatch: Problem {
        Problem(
            InvalidField(
                field: "spread_seconds", problem: "stands in an item of a batch",
                remedy: "Add ?spread= to the path: a batch is spread as a whole."))
    }
}
