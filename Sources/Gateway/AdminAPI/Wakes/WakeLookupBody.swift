// SPDX-License-Identifier: Apache-2.0

import Gateway
import StrictJSON
import WakeModel

/// The body of `POST /v1/wakes/lookup`. It takes the place of the query of `GET /v1/wakes`, because
/// proxies log URLs, and a device token must not get into their logs.
struct WakeLookupBody {
    let deviceToken: DeviceToken?
    /// Finds the wakes of devices with this digest.
    let digest: String?
    /// Finds the wakes of the device of this wake.
    let wake: WakeID?
    let app: String?
    let environment: APNsEnvironment?
    let states: Set<WakeState>?
    let ref: WakeRef?
    let after: WakeID?
    let limit: Int?

    /// Parses a body. Throws ``Problem`` with the codes `malformed-body` and `invalid-field`.
    init(_ text: [UInt8], limit most: Int) throws(Problem) {
        let members = try Members(parsing: text)
        do throws(InvalidField) {
            try members.check(names: [
                "device_token", "device", "wake", "app", "environment", "states", "ref", "cursor",
                "limit",
            ])
            let names = Self.deviceNames.filter { members.has($0) }
            guard names.count <= 1 else {
                throw InvalidField(
                    field: names[1], problem: "names a device beside \(names[0])",
                    remedy: "Give one of \(Self.deviceNames.joined(separator: ", ")).")
            }
            deviceToken = try members.deviceToken()
            digest = try members.string("device").map { (text) throws(InvalidField) in
                try DeviceToken.digest(in: text)
            }
            wake = try members.wakeID()
            app = try members.string("app")
            environment = try members.choice("environment")
            states = try members.raw("states").map { (list) throws(InvalidField) in
                try Self.states(list)
            }
            ref = try members.string("ref").map { (text) throws(InvalidField) in
                try WakeRef(text)
            }
            after = try members.string("cursor").map { (text) throws(InvalidField) in
                try naming("cursor", remedy: "Use the next of the page before.") {
                    () throws(InvalidField) in try WakeID(text)
                }
            }
            limit = try members.integer("limit", in: 1...Int64(most)).map(Int.init)
        } catch {
            throw Problem(error)
        }
    }

    /// The members that name a device. A body may have one of them.
    private static let deviceNames = ["device_token", "device", "wake"]

    private static func states(_ list: ArraySlice<UInt8>) throws(InvalidField) -> Set<WakeState> {
        let words = WakeState.allCases.map(\.rawValue).joined(separator: ", ")
        let items = try? JSONItems(array: Array(list), limit: WakeState.allCases.count)
        let states = items?.items.map { JSONText.decode($0).flatMap(WakeState.init(rawValue:)) }
        guard let states, !states.isEmpty, !states.contains(nil) else {
            throw InvalidField(
                field: "states", problem: "is not a list of states",
                remedy: "Give one or more of \(words), as a JSON array.")
        }
        return Set(states.compactMap(\.self))
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object(
            [
                .optional("device_token", WakeBody.deviceTokenSchema),
                .optional(
                    "device",
                    .string(
                        "The digest of a device token, as logs and answers have it. There is no "
                            + "index of digests: the latest wakes are looked through, page by "
                            + "page.",
                        pattern: "^(device#)?[0-9a-f]{8}$", example: "device#27f88cc3")),
                .optional(
                    "wake", .string("The id of a wake, for those of its device.", format: "uuid")),
                .optional("app", .bundleID("The bundle id of an app that is configured.")),
                .optional("environment", .words(of: APNsEnvironment.self)),
                .optional(
                    "states",
                    .array(
                        of: .words(of: WakeState.self), "Only those in these states.",
                        count: 1...WakeState.allCases.count)),
                .optional("ref", WakeBody.refSchema),
                .optional("cursor", .string("The `next` of the page before.", format: "uuid")),
                .optional(
                    "limit",
                    .integer(
                        "The most entries; 100 by default.",
                        in: 1...Int64(WakeQuery.maximumLimit))),
            ],
            rules: [
                .notBoth("device_token", "device"), .notBoth("device_token", "wake"),
                .notBoth("device", "wake"),
            ])
    }
}
