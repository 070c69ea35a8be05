// SPDX-License-Identifier: Apache-2.0

import Gateway
import PayloadRules
import WakeModel

/// The body of `POST /v1/channels`.
struct ChannelCreationBody {
    let app: String
    let environment: APNsEnvironment?
    let storage: ChannelStorage

    /// Reads the body. Throws ``Problem``.
    init(_ text: [UInt8]) throws(Problem) {
        let members = try Members(parsing: text)
        do throws(InvalidField) {
            try members.check(names: ["app", "environment", "storage"])
            app = try members.requiredString("app")
            environment = try members.choice("environment")
            storage = try members.choice("storage") ?? .none
        } catch {
            throw Problem(error)
        }
    }

    static var schema: Schema {
        .object([
            .required("app", .bundleID("The bundle id, without any suffix.")),
            .optional(
                "environment",
                .words(of: APNsEnvironment.self, "Needed where the app is configured for both.")),
            .optional(
                "storage",
                .words(
                    of: ChannelStorage.self,
                    "What APNs keeps for devices that are offline; none by default. It cannot be "
                        + "changed.")),
        ])
    }
}

/// The body of `POST /v1/channels/{channel}/broadcasts`.
struct BroadcastBody {
    let app: String
    let environment: APNsEnvironment?
    /// The payload, byte for byte.
    let payload: [UInt8]
    let priority: Priority
    let expiration: Expiration

    /// Reads the body. Throws ``Problem``.
    init(_ text: [UInt8], now: WallInstant) throws(Problem) {
        let members = try Members(parsing: text)
        do throws(InvalidField) {
            try members.check(names: ["app", "environment", "payload", "priority", "ttl_seconds"])
            app = try members.requiredString("app")
            environment = try members.choice("environment")
            let payload = try members.required("payload")
            guard payload.first == UInt8(ascii: "{") else {
                throw InvalidField(
                    field: "payload", problem: "is not a JSON object",
                    remedy: "Give the object itself, not a string that holds it.")
            }
            self.payload = Array(payload)
            priority = try Self.priority(members)
            let seconds =
                try members.integer("ttl_seconds", in: 0...Broadcast.maximumLifeSeconds) ?? 0
            expiration = seconds == 0 ? .immediately : .at(now.advanced(bySeconds: seconds))
        } catch {
            throw Problem(error)
        }
    }

    private static func priority(_ members: Members) throws(InvalidField) -> Priority {
        guard let number = try members.integer("priority") else { return .immediate }
        guard let priority = UInt8(exactly: number).flatMap(Priority.init(rawValue:)),
            Broadcast.priorities.contains(priority)
        else {
            throw InvalidField(
                field: "priority", problem: "is \(number), not 10 or 5",
                remedy: "Use one of these, or leave it out.")
        }
        return priority
    }

    /// Returns the broadcast. Throws ``Problem`` with the findings if the rules find an error in
    /// it.
    func broadcast(
        to channel: ChannelID, of bundleID: BundleID, now: WallInstant
    ) throws(Problem) -> Broadcast {
        let findings = PushValidator().report(
            on: PushDraft(
                broadcast: payload, to: channel, of: bundleID, priority: priority,
                expiration: expiration, now: now)
        ).diagnostics
        guard !findings.contains(where: { $0.severity == .error }) else {
            throw Problem.invalidWake(findings)
        }
        do throws(InvalidField) {
            var generator = SystemRandomNumberGenerator()
            return try Broadcast(
                to: channel, of: bundleID, payload: payload, priority: priority,
                expiration: expiration,
                requestID: APNsID(entropy: generator.next(), generator.next()))
        } catch {
            throw Problem(error)
        }
    }

    static var schema: Schema {
        let app = Schema.Member.required("app", .bundleID("The bundle id, without any suffix."))
        return .object(
            [
                app,
                .optional(
                    "environment",
                    .words(
                        of: APNsEnvironment.self, "Needed where the app is configured for both.")),
                .required(
                    "payload",
                    .anyObject(
                        "Sent on byte for byte: up to \(Broadcast.maximumPayloadBytes) bytes, an "
                            + "update or the end of a Live Activity.")),
                .optional(
                    "priority",
                    .choice(
                        Broadcast.priorities.map { Int64($0.rawValue) },
                        "The value of apns-priority; 10 by default. 5 does not count against the "
                            + "hourly budget of the activity.")),
                .optional(
                    "ttl_seconds",
                    .integer(
                        "Seconds from now; 0 by default, one attempt, and the only one for a "
                            + "channel that stores nothing.",
                        in: 0...Broadcast.maximumLifeSeconds)),
            ],
            // A condition that every broadcast meets, instead of the member's own schema: generated
            // clients then have the payload as any object.
            variants: [
                [
                    app,
                    .required(
                        "payload",
                        Schema(json: .raw(Array(PayloadSchema.acceptedBroadcast.utf8)))),
                ]
            ])
    }
}
