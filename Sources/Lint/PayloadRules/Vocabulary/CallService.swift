// SPDX-License-Identifier: Apache-2.0

/// A calling service, and the names by which its VoIP payloads identify a call, from its
/// documentation and source code; for rule VO003.
struct CallService: Sendable {
    /// The service; `nil` for common names.
    let name: String?
    /// The ends of key names, at any depth. Case and separators are ignored, so that `call_id` is
    /// also the end of `twiCallId`.
    let identities: [String]

    /// All services.
    static let all: [CallService] = [
        CallService(
            name: nil,
            identities: [
                "call_id", "call_uuid", "call_identifier", "call_key", "call_ref", "call_token",
                "session_id", "session_uuid", "session_token", "uuid", "guid", "connection_id",
                "conversation_id", "chat_id", "invite_id", "invitation_id", "request_id",
                "transaction_id", "stream_id", "appointment_id", "booking_id", "consultation_id",
            ]),
        CallService(name: "Twilio Voice", identities: ["twi_call_sid", "call_sid"]),
        CallService(name: "Stream", identities: ["call_cid"]),
        CallService(name: "Telnyx", identities: ["metadata.call_id"]),
        CallService(name: "Sinch", identities: ["sin"]),
        CallService(name: "Vonage", identities: ["nexmo"]),
        CallService(name: "Agora", identities: ["channel_name", "channel_id", "channel"]),
        CallService(name: "CometChat", identities: ["sessionid"]),
        CallService(name: "ConnectyCube", identities: ["session_id"]),
        CallService(name: "LiveKit", identities: ["room_name", "room_sid"]),
        CallService(name: "Matrix", identities: ["room_id"]),
        CallService(name: "PortSIP", identities: ["x-push-id"]),
        CallService(name: "Siprix", identities: ["push_hint"]),
        CallService(name: "VoIPGRID", identities: ["unique_key"]),
        CallService(
            name: "conferences",
            identities: [
                "room_uuid", "conference_id", "conference_name", "meeting_id", "meeting_number",
                "channel_uuid", "room", "meeting", "conference",
            ]),
    ]

    /// The letters of key names that identify a call only as a whole: other keys end with them too.
    static let wholeNames = ["session", "sid"].map { Array($0.utf8) }

    /// The letters in which the names of objects end that are no calls: their ids are others.
    static let others = [
        "user", "caller", "callee", "sender", "from", "receiver", "recipient", "contact", "person",
        "member", "profile", "account", "customer", "client", "owner", "host", "agent", "doctor",
        "patient", "driver", "friend", "participant", "organization", "organisation", "company",
        "team", "group", "tenant", "workspace", "media", "image", "photo", "avatar", "picture",
        "attachment", "file", "device", "app", "product", "location", "address", "building",
        "camera", "category", "order", "ringtone",
    ].map { Array($0.utf8) }

    /// The letters of all ends, without duplicates.
    static let endings: [[UInt8]] = {
        var endings: Set<[UInt8]> = []
        for service in all {
            for identity in service.identities {
                // The part before a point is the key of the enclosing object.
                let key = identity.split(separator: ".").last ?? ""
                endings.insert(NearMiss.letters(Array(key.utf8)[...]))
            }
        }
        return Array(endings)
    }()
}
