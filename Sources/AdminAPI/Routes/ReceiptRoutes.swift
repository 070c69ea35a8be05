// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import WakeModel

/// `POST /v1/receipts`: apps were launched by wakes.
struct ReceiptRoutes {
    let services: Services

    var routes: [Route] {
        let limit = services.configuration.batchByteCount
        return [
            Route(
                .post, "/v1/receipts", .scope(.device),
                Operation(
                    id: "confirmLaunches", summary: "Wakes have launched their app",
                    description: "A device that confirms its launches may be woken more often. "
                        + "An id that the gateway does not know fails nothing.",
                    body: .json(.named(.receipts), limit: limit),
                    answers: [
                        Operation.Answer(200, "What became of each.", .named(.receiptAnswers))
                    ], problems: [.unavailable])
            ) { request, context in
                let (text, _) = try await request.readBody(limit: limit, context)
                let receipts = try ReceiptsBody(text).receipts
                let answers = try await asking { () async throws(StoreFailure) in
                    try await services.gateway.confirm(receipts)
                }
                let items = zip(receipts, answers).map { receipt, answer in
                    JSONValue.object([
                        ("id", .string(receipt.id.description)),
                        ("result", .string(answer.rawValue)),
                    ])
                }
                return JSONValue.object([("receipts", .array(items))]).response(status: .ok)
            }
        ]
    }

    /// What the OpenAPI document says of an answer.
    static var answerSchema: Schema {
        .object([
            .required(
                "receipts",
                .array(
                    of: .object([
                        .required("id", .string(format: "uuid")),
                        .required("result", .words(of: ReceiptAnswer.self)),
                    ])))
        ])
    }
}
