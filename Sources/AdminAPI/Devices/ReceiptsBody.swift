// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// The body of `POST /v1/receipts`: one receipt, or `{"receipts": […]}`.
struct ReceiptsBody {
    /// The most receipts of a request.
    static let maximumCount = 1_000

    let receipts: [Receipt]

    /// Parses a body. Throws ``Problem`` with the codes `malformed-body` and `invalid-field`.
    init(_ text: [UInt8]) throws(Problem) {
        let members = try Members(parsing: text)
        guard let list = members.raw("receipts") else {
            receipts = [try Self.receipt(members)]
            return
        }
        do throws(InvalidField) {
            try members.check(names: ["receipts"])
        } catch {
            throw Problem(error)
        }
        let items: [ArraySlice<UInt8>]
        do throws(JSONFault) {
            items = try JSONItems(array: Array(list), limit: Self.maximumCount).items
        } catch {
            var problem = Problem(error)
            problem.detail = "receipts: \(error.problem)."
            throw problem
        }
        var receipts: [Receipt] = []
        for item in items { receipts.append(try Self.receipt(Members(parsing: Array(item)))) }
        self.receipts = receipts
    }

    private static func receipt(_ members: Members) throws(Problem) -> Receipt {
        do throws(InvalidField) {
            try members.check(
                names: ["id", "apns_id", "ref", "device_token", "launched_at", "synced"])
            return Receipt(
                try Self.subject(members),
                launchedAt: try members.instant("launched_at"),
                hasSynced: try members.boolean("synced") ?? false)
        } catch {
            throw Problem(error)
        }
    }

    private static func subject(_ members: Members) throws(InvalidField) -> Receipt.Subject {
        guard let ref = try members.string("ref") else {
            if members.has("device_token") {
                throw InvalidField(
                    field: "device_token", problem: "stands there without ref",
                    remedy: "Give the wake's ref with it, or the wake's id alone.")
            }
            // A wake's id is its apns-id, so that the app can say what it has got.
            let name = members.has("id") ? "id" : "apns_id"
            return .wake(try WakeID(members.requiredString(name)))
        }
        if members.has("id") || members.has("apns_id") {
            throw InvalidField(
                field: "ref", problem: "stands beside the wake's id",
                remedy: "Give the id alone, or ref with device_token.")
        }
        return .ref(
            try WakeRef(ref), try DeviceToken(hex: members.requiredString("device_token")))
    }

    /// What the OpenAPI document says of it.
    static var schema: Schema {
        let id = Schema.string(format: "uuid")
        let members: [Schema.Member] = [
            .optional("id", id), .optional("apns_id", id),
            .optional("ref", WakeBody.refSchema),
            .optional("device_token", WakeBody.deviceTokenSchema),
            .optional("launched_at", .instant("When the app was launched; now by default.")),
            .optional("synced", .boolean("Whether the app finished what the wake was for.")),
        ]
        return .object(
            members + [
                .optional(
                    "receipts", .array(of: .object(members), count: 0...maximumCount))
            ], "One receipt with id, or apns_id, or ref and device_token; or receipts alone.")
    }
}
