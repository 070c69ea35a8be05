// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import SeedKit
import WakeModel

/// Writes payloads and drafts that look like pushes, from a seed: the names and values that the
/// rules know, rightly and wrongly put together.
struct RandomPushes {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private static let customKeys = [
        "v", "version", "cursor", "type", "event", "folder", "id", "from", "fromage", "badge",
        "alert", "sound", "data", "message", "deltas", "otp", "content_available",
        "contentful-mail",
        "google.x", "timestamp", "callUUID", "handle", "eventId", "a b", "é", "", "conversationId",
        "_mutable_content", "aps", "mdm", "container-identifier", "domain", "\\u0061ps",
    ]
    private static let customValues = [
        "1", "0", "-3", "12", "1795255200", "1795255200000", "4111111111111111", "0.5", "1e3",
        "true",
        "false", "null", "[]", "{}", "[1,\"a\"]", "{\"id\":\"x\",\"type\":\"call\"}", "\"\"",
        "\"x\"",
        "\"sync\"", "\"new_message\"", "\"callUpdate\"", "\"a@b.de\"", "\"4111 1111 1111 1111\"",
        "\"0123456789012\"", "\"bearer abcdefghijklmnopqrs\"", "\"eyJhbGciOiJFUzI1NiJ9.eyJ.x\"",
        "\"é\"", "\"\\u00e9\"", "\"\\ud83d\"", "\"two words\"", "\"-----BEGIN X\"",
        "{\"a\":1,\"a\":2}",
        "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]", "9007199254740993", "01", "\"tail\\n\"",
    ]
    private static let appleKeys = [
        "alert", "badge", "sound", "content-available", "content_available", "mutable-content",
        "thread-id", "category", "interruption-level", "relevance-score", "timestamp", "event",
        "content-state", "stale-date", "attributes", "attributes-type", "content-changed",
        "input-push-token", "input-push-channel", "ptt-push-type", "titel", "",
    ]
    private static let appleValues = [
        "1", "0", "true", "\"1\"", "\"x\"", "{}", "\"critical\"", "\"start\"", "\"update\"", "1.5",
        "-1", "null", "1795255200000", "{\"title\":\"x\",\"loc-args\":[1]}",
        "{\"critical\":1,\"volume\":2}", "{\"a_b\":\"2026-11-21T09:34:00Z\"}", "\"service-update\"",
    ]

    /// A background payload that is clean, nearly clean, or far from it.
    mutating func background() -> [UInt8] {
        var members = [#""aps":{"content-available":1}"#]
        if !generator.chance(oneIn: 8) { members.append(#""v":7"#) }
        for _ in 0..<Int.random(in: 0...3, using: &generator) { members.append(customMember()) }
        members.shuffle(using: &generator)
        return mutated(object(members))
    }

    private static let callKeys = [
        "call_id", "Call-UUID", "sessionId", "uuid", "_callUUID", "callUUIDs", "caller_name",
        "starttime", "type", "message_type", "isCancelled", "bye", "title", "body", "msg_content",
        "room_id", "aps", "alert", "text", "status",
    ]
    private static let callValues = [
        "\"call\"", "\"incoming_call\"", "\"cancel\"", "\"call ended\"", "\"Call.Updated\"", "true",
        "\"chat\"", "7", "-7", "\"\"", "\"Ann\"", "{}", "{\"callId\":\"n\",\"end\":true}", "[true]",
    ]

    /// A VoIP payload that is clean, nearly clean, or far from it.
    mutating func call() -> [UInt8] {
        var members: [String] = []
        if generator.chance(oneIn: 8) {
            members.append(#""callUUID":"6F1D1F0A-4C8E-4F3E-9B5B-30A4F9C3E7D1""#)
        } else if !generator.chance(oneIn: 8) {
            members.append(#""callUUID":"6f1c9d5e""#)
        }
        if !generator.chance(oneIn: 8) { members.append(#""handle":"Ann""#) }
        if !generator.chance(oneIn: 8) { members.append(#""timestamp":1795255200"#) }
        if generator.chance(oneIn: 4) { members.append(#""aps":{}"#) }
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            if generator.chance(oneIn: 3) {
                members.append(customMember())
            } else {
                let key = generator.pick(Self.callKeys)
                members.append("\"\(key)\":\(generator.pick(Self.callValues))")
            }
        }
        members.shuffle(using: &generator)
        return mutated(object(members))
    }

    /// A payload of any type.
    mutating func payload() -> [UInt8] {
        var members: [String] = []
        if !generator.chance(oneIn: 5) {
            let keys = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                "\"\(generator.pick(Self.appleKeys))\":\(generator.pick(Self.appleValues))"
            }
            members.append("\"aps\":{" + keys.joined(separator: ",") + "}")
        }
        for _ in 0..<Int.random(in: 0...3, using: &generator) { members.append(customMember()) }
        members.shuffle(using: &generator)
        return mutated(object(members))
    }

    private static let headerNames = [
        "apns-push-type", "apns-topic", "apns-priority", "apns-expiration", "apns-id",
        "apns-collapse-id", "apns-channel-id", "authorization", ":path", ":authority", "apns-ttl",
        "Apns-Priority", "content-encoding", "", "\u{0}", "x",
    ]
    private static let headerValues =
        PushType.all.map(\.rawValue) + PushType.all.map { "com.example.app" + $0.topicSuffix } + [
            "10", "5", "1", "0", "-1", "300", "1795255260", "1795255260000", "99999999999999999999",
            "123E4567-E89B-42D3-A456-426614174000", "bearer x.y.z", "bearer a.b.", "Bearer ", "",
            " ", "/3/device/", "/3/device/a5a5", "/4/broadcasts/apps/x", "api.push.apple.com", "é",
            "-----BEGIN PRIVATE", "bearer " + ProviderTokens.good,
            "bearer " + ProviderTokens.make(claims: #"{"iss":7,"iat":"x"}"#),
        ]

    /// A draft with headers that may be anything.
    mutating func draft() -> PushDraft {
        var headers: [PushDraft.Header] = []
        for _ in 0..<Int.random(in: 0...6, using: &generator) {
            headers.append(
                .init(generator.pick(Self.headerNames), generator.pick(Self.headerValues)))
        }
        if generator.chance(oneIn: 2) {
            headers.append(.init("apns-push-type", generator.pick(PushType.all).rawValue))
        }
        return PushDraft(
            payload: payload(), headers: headers,
            target: generator.chance(oneIn: 4) ? .watchOS : .phone,
            now: generator.chance(oneIn: 3) ? nil : testNow,
            headersAreComplete: generator.chance(oneIn: 2))
    }

    private mutating func customMember() -> String {
        "\"\(generator.pick(Self.customKeys))\":\(generator.pick(Self.customValues))"
    }

    private mutating func object(_ members: [String]) -> [UInt8] {
        let separator = generator.pick([",", ", ", ",\n  ", " ,"])
        let gap = generator.pick(["", "", " ", "\n  "])
        return Array("{\(gap)\(members.joined(separator: separator))\(gap)}".utf8)
    }

    /// The same, or with a byte or two changed.
    private mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        guard generator.chance(oneIn: 3) else { return bytes }
        var mutated = bytes
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
            let place = Int.random(in: 0...mutated.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: mutated.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            case 1 where place < mutated.count: mutated.remove(at: place)
            case 2 where place < mutated.count:
                mutated[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            default:
                mutated.insert(
                    contentsOf: Array(",\"{}:1".utf8).shuffled(using: &generator), at: place)
            }
        }
        return mutated
    }
}
