// SPDX-License-Identifier: Apache-2.0

import Gateway
import StrictJSON
import WakeModel

/// The body of `POST /v1/receipts`: one receipt, or `{"receipts": […]}`.
struct ReceiptsBody {
    /// The maximum number of receipts of a request.
    static let maximumCount = 1_000

    let receipts: [Receipt]

    /// Parses a body. Throws ``Problem`` with the codes `malformed-body`, `body-too-large` and
    /// `invalid-field`. `apps` are the apps whose wakes the caller may name; `nil` for all.
    init(_ text: [UInt8], among apps: Set<BundleID>? = nil) throws(Problem) {
        let members = try Members(parsing: text)
        let list: ArraySlice<UInt8>
        do throws(InvalidField) {
            guard let value = members.raw("receipts") else {
                receipts = [try Self.receipt(members, apps)]
                return
            }
            try members.check(names: ["receipts"])
            list = value
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
        for (index, item) in items.enumerated() {
            receipts.append(try Self.receipt(Array(item), at: "receipts[\(index)]", apps))
        }
        self.receipts = receipts
    }

    /// Parses a receipt of a list. A problem names the receipt's place.
    private static func receipt(
        _ text: [UInt8], at place: String, _ apps: Set<BundleID>?
    ) throws(Problem) -> Receipt {
        let members: Members
        do throws(JSONFault) {
            members = Members(try JSONMembers(text))
        } catch {
            throw Problem(
                .malformedBody, "\(place): \(error.problem), at its byte \(error.offset).")
        }
        do throws(InvalidField) {
            return try receipt(members, apps)
        } catch {
            throw Problem(
                InvalidField(
                    field: "\(place).\(error.field)", problem: error.problem, remedy: error.remedy)
            )
        }
    }

    private static func receipt(
        _ members: Members, _ apps: Set<BundleID>?
    ) throws(InvalidField) -> Receipt {
        try members.check(
            names: ["id", "apns_id", "ref", "device_token", "launched_at", "synced"])
        return Receipt(
            try subject(members), launchedAt: try members.instant("launched_at"),
            hasSynced: try members.boolean("synced") ?? false, among: apps)
    }

    private static func subject(_ members: Members) throws(InvalidField) -> Receipt.Subject {
        guard let ref = try members.string("ref") else {
            if members.has("device_token") {
                throw InvalidField(
                    field: "device_token", problem: "is given without ref",
                    remedy: "Give the wake's ref with it, or the wake's id alone.")
            }
            // `apns_id` is the same id: an app that received the push knows only its apns-id.
            var id: WakeID?
            for name in ["id", "apns_id"] {
                guard let text = try members.string(name) else { continue }
                let named = try naming(name) { () throws(InvalidField) in try WakeID(text) }
                id = id ?? named
            }
            if let id { return .wake(id) }
            throw InvalidField(
                field: "id", problem: "is missing",
                remedy: "Give the wake's id or apns_id, or its ref with device_token; for several "
                    + "receipts a list of them as receipts.")
        }
        if members.has("id") || members.has("apns_id") {
            throw InvalidField(
                field: "ref", problem: "is given together with the wake's id",
                remedy: "Give the id alone, or ref with device_token.")
        }
        let token = try members.requiredString("device_token")
        return .ref(
            try WakeRef(ref),
            try naming("device_token") { () throws(InvalidField) in try DeviceToken(pasted: token) }
        )
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .oneOf(
            [
                .named(.receipt),
                .object([
                    .required(
                        "receipts", .array(of: .named(.receipt), count: 0...maximumCount))
                ]),
            ], "One receipt, or a list of them.")
    }

    /// The schema of one receipt in the OpenAPI document.
    static var receiptSchema: Schema {
        let id = Schema.string(
            "The same as apns_id; where both are there, this one.", format: "uuid")
        return .object(
            [
                .optional("id", id),
                .optional("apns_id", .string("What the app got with the push.", format: "uuid")),
                .optional("ref", WakeBody.refSchema),
                .optional("device_token", WakeBody.deviceTokenSchema),
                .optional(
                    "launched_at",
                    .instant(
                        "When the app was launched; now by default, and where it is in the future."
                    )),
                .optional("synced", .boolean("Whether the app finished what the wake was for.")),
            ], "The wake is named by id or apns_id, or by ref and device_token.",
            rules: [
                .atLeastOne([
                    .required("id", id), .required("apns_id", id),
                    .required("ref", WakeBody.refSchema),
                ]),
                .notBoth("ref", "id"), .notBoth("ref", "apns_id"), .needs("ref", "device_token"),
                .needs("device_token", "ref"),
            ])
    }
}
