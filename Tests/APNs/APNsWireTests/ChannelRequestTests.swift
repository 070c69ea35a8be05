// SPDX-License-Identifier: Apache-2.0

import APNsWire
import PushTransport
import SeedKit
import Testing
import WakeModel

@Suite("Requests about channels, and their answers")
struct ChannelRequestTests {
    private static let id = "123e4567-e89b-42d3-a456-426614174000"

    private static func requests() throws -> [(ChannelRequest, String, [String], String)] {
        let (app, channel) = (try BundleID("com.example.app"), try ChannelID("dHN0LXNyY2g="))
        let requestID = try APNsID(id)
        let management = "/1/apps/com.example.app/channels"
        let json = "content-type: application/json"
        let named = "apns-channel-id: dHN0LXNyY2g="
        return [
            (
                .create(of: app, storing: .none, requestID: requestID), "POST \(management)",
                [json], #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
            ),
            (
                .create(of: app, storing: .latest, requestID: requestID), "POST \(management)",
                [json], #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
            ),
            (.read(channel, of: app, requestID: requestID), "GET \(management)", [named], ""),
            (
                .list(of: app, requestID: requestID), "GET /1/apps/com.example.app/all-channels",
                [], ""
            ),
            (.delete(channel, of: app, requestID: requestID), "DELETE \(management)", [named], ""),
            (
                .send(
                    try Broadcast(
                        to: channel, of: app, payload: Array("{}".utf8),
                        priority: .powerConsiderate,
                        expiration: .at(WallInstant(secondsSinceEpoch: 1_795_253_640)),
                        requestID: requestID)),
                "POST /4/broadcasts/apps/com.example.app",
                [
                    named, "apns-push-type: liveactivity", "apns-priority: 5",
                    "apns-expiration: 1795253640",
                ], "{}"
            ),
        ]
    }

    @Test("each has its method, path, fields and body")
    func encoding() throws {
        for (request, line, fields, body) in try Self.requests() {
            let wire = request.wireRequest(providerToken: "jwt")
            let target = try #require(wire.sharedHeaders.target)
            #expect("\(target.method.rawValue) \(target.path)" == line)
            #expect(
                wire.sharedHeaders.fields.map { "\($0.name): \($0.value)" }
                    == ["authorization: bearer jwt", "apns-request-id: \(Self.id)"] + fields)
            #expect(wire.headers.isEmpty && wire.deviceToken == nil && wire.isComplete)
            #expect(wire.body == Array(body.utf8))
            #expect(wire.path == target.path)
            #expect(
                request.wireRequest(providerToken: nil).sharedHeaders.fields.first?.name
                    == "apns-request-id")
            #expect(request.server == (line.contains("/4/") ? .push : .management))
        }
    }

    private static func response(
        _ status: Int, _ body: String = "", _ fields: [(String, String)] = []
    ) -> WireResponse {
        WireResponse(
            status: status,
            broadcastFields: fields.map { HeaderField(name: $0, value: $1) },
            body: Array(body.utf8))
    }

    @Test("answers that are in order have their value and the request's id")
    func answers() throws {
        let fields = [("apns-request-id", Self.id), ("apns-channel-id", "dHN0")]
        let made = ChannelAnswer(Self.response(201, "", fields)).createdChannel
        #expect(
            made == .done(try ChannelID("dHN0"), ChannelReceipt(status: 201, requestID: Self.id)))
        let read = ChannelAnswer(
            Self.response(200, #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#))
        #expect(read.storage == .done(.latest, ChannelReceipt(status: 200)))
        let deleted = ChannelAnswer(Self.response(204))
        #expect(deleted.acknowledgement == .done(Acknowledgement(), ChannelReceipt(status: 204)))
    }

    @Test(
        "a list has its ids in their order, whatever stands beside it",
        arguments: [
            (#"{"channels":["YQ==","Yg=="]}"#, ["YQ==", "Yg=="]), (#"{"channels":[]}"#, []),
            (#" { "next" : {"a":[1,"]"]} , "channels" : [ "YQ==" , "a\/b" ] } "#, ["YQ==", "a/b"]),
        ])
    func lists(body: String, ids: [String]) throws {
        let answer = ChannelAnswer(Self.response(200, body)).channels
        #expect(answer == .done(try ids.map { try ChannelID($0) }, ChannelReceipt(status: 200)))
    }

    @Test(
        "what is no answer of APNs is no value, and no crash",
        arguments: [
            "", "{", "[]", "null", #"{"channels":"YQ=="}"#, #"{"channels":["YQ==""#,
            #"{"channels":["YQ==",1]}"#, #"{"channels":["a b"]}"#,
            #"{"message-storage-policy":7}"#, #"{"message-storage-policy":"1"}"#, "<html>",
        ])
    func noAnswers(body: String) {
        let answer = ChannelAnswer(Self.response(200, body))
        let rejection = ChannelRejection(status: 200, reason: nil)
        #expect(answer.channels == .rejected(rejection))
        #expect(answer.storage == .rejected(rejection))
        #expect(answer.createdChannel == .rejected(rejection))
        #expect(rejection.meaning.contains("not APNs"))
    }

    @Test("mutated bodies of lists trap nowhere, and add nothing")
    func mutations() throws {
        var seed = SeededGenerator(seed: 0x6368_616e)
        let text = Array(#"{"channels":["YQ==","Yg\u003d="],"message-storage-policy":1}"#.utf8)
        for _ in 0..<20_000 {
            var body = text
            for _ in 0..<seed.below(4) where !body.isEmpty {
                let place = seed.below(body.count)
                switch seed.below(3) {
                case 0: body[place] = UInt8(seed.below(256))
                case 1: body.remove(at: place)
                default: body.removeSubrange(place...)
                }
            }
            let answer = ChannelAnswer(
                Self.response(200, String(decoding: body, as: UTF8.self)))
            // What is left of two ids is never more of them, nor a reason that nobody gave.
            switch answer.channels {
            case .done(let ids, _): #expect(ids.count <= 2)
            case .rejected(let rejection):
                #expect(rejection == ChannelRejection(status: 200, reason: nil))
            }
            _ = answer.storage
        }
    }

    @Test("a refusal has its reason and the request's id")
    func refusals() {
        let answer = ChannelAnswer(
            Self.response(
                400, #"{"reason":"ChannelNotRegistered"}"#, [("apns-request-id", Self.id)]))
        #expect(
            answer.storage
                == .rejected(
                    ChannelRejection(
                        status: 400, reason: .channelNotRegistered, requestID: Self.id)))
    }
}
