// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import WakeModel

/// `POST /v1/receipts`: reports that wakes launched apps.
struct ReceiptRoutes {
    let services: Services

    var routes: [Route] {
        let limit = services.configuration.receiptsByteCount
        return [
            Route(
                .post, "/v1/receipts", .scope(.device),
                Operation(
                    id: "confirmLaunches", summary: "Wakes have launched their app",
                    description: "A device that confirms its launches may be woken more often. "
                        + "An id that the gateway does not know fails nothing. A wake can also "
                        + "be named by its ref and the device token: then it is the newest with "
                        + "this ref among the device's last "
                        + "\(ResolveReceipts.refChainCount). A request counts as many requests of "
                        + "the key's rate as it has receipts.",
                    body: .json(.named(.receipts), limit: limit),
                    answers: [
                        Operation.Answer(200, "What became of each.", .named(.receiptAnswers))
                    ], problems: ProblemCode.ofStore)
            ) { request, context in
                let (text, _) = try await request.readBody(
                    limit: limit, within: services.bodies, context)
                let receipts = try ReceiptsBody(text, among: context.apps).receipts
                // The request itself was counted at the authentication.
                try AccessControl(authentication: services.configuration.authentication)
                    .debit(context.caller, for: max(0, receipts.count - 1))
                let answers = try await asking { () async throws(StoreFailure) in
                    try await services.gateway.confirm(receipts)
                }
                let items = zip(receipts, answers).map { receipt, answer in
                    let name: (String, JSONValue?) =
                        switch receipt.subject {
                        case .wake(let id): ("id", .string(id.description))
                        case .ref(let ref, _): ("ref", .string(ref.value))
                        }
                    return JSONValue.object([name, ("result", .string(answer.rawValue))])
                }
                return JSONValue.object([("receipts", .array(items))]).response(status: .ok)
            }
        ]
    }

    /// The schema of an answer in the OpenAPI document.
    static var answerSchema: Schema {
        .object([
            .required(
                "receipts",
                .array(
                    of: .object([
                        .optional("id", .string(format: "uuid")),
                        .optional("ref", WakeBody.refSchema),
                        .required("result", .words(of: ReceiptAnswer.self)),
                    ])))
        ])
    }
}
