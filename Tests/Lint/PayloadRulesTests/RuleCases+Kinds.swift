// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeModel

extension RuleCase {
    static let background: [RuleCase] = [
        .aps("BG001", "{}", .found(at: "/aps", .error)),
        .aps("BG001", #"{"content-available":0}"#, .found(at: "/aps/content-available", .error)),
        .aps("BG001", #"{"content-available":"1"}"#, .found(at: "/aps/content-available", .error)),
        .aps(
            "BG001", #"{"content-available":1,"content-available":0}"#,
            .found(at: "/aps/content-available", .error)),
        RuleCase("BG001", .background, #"{"v":1}"#, .found(at: "", .error)),
        .aps("BG001", #"{"content-available":1}"#, .clean),
        .aps("BG001", #"{"content-available":true}"#, .clean),
        .aps("BG001", #"{"content\u002davailable":1}"#, .clean),
        .aps("BG002", #"{"content-available":1,"alert":"x"}"#, .found(at: "/aps/alert", .error)),
        .aps("BG002", #"{"content-available":1,"alert":""}"#, .found(at: "/aps/alert", .error)),
        .aps("BG002", #"{"content-available":1,"alert":{}}"#, .found(at: "/aps/alert", .error)),
        .data("BG002", #""alert":"x""#, .clean),
        .aps("BG003", #"{"content-available":1,"sound":""}"#, .found(at: "/aps/sound", .error)),
        .aps("BG003", #"{"content-available":1}"#, .clean),
        .aps("BG004", #"{"content-available":1,"badge":0}"#, .found(at: "/aps/badge", .error)),
        .aps("BG004", #"{"content-available":1}"#, .clean),
        .aps(
            "BG005", #"{"content-available":1,"category":"x"}"#,
            .found(at: "/aps/category", .warning)),
        .aps("BG005", #"{"thread-id":"x"}"#, .found(at: "/aps/thread-id", .warning)),
        .aps("BG005", #"{"mutable-content":1}"#, .clean),
        .aps("BG005", #"{"content-available":1,"alert":"","badge":0,"sound":"","v":1}"#, .clean),
        .aps("BG010", #"{"content-available":"1"}"#, .found(at: "/aps/content-available", .error)),
        .aps("BG010", #"{"content-available":[1]}"#, .found(at: "/aps/content-available", .error)),
        .aps("BG010", #"{"content-available":null}"#, .found(at: "/aps/content-available", .error)),
        .aps(
            "BG010", #"{"content-available":false}"#, .found(at: "/aps/content-available", .error)),
        .aps("BG010", #"{"content-available":true}"#, .clean),
        .aps("BG010", #"{"content-available":0}"#, .clean),
        .aps(
            "BG011", #"{"content-available":true}"#,
            .found(at: "/aps/content-available", .warning)),
        .aps("BG011", #"{"content-available":1}"#, .clean),
        .aps("BG011", #"{"content-available":false}"#, .clean),
        .aps("BG012", #"{"content-available":0}"#, .found(at: "/aps/content-available", .warning)),
        .aps("BG012", #"{"content-available":2}"#, .found(at: "/aps/content-available", .warning)),
        .aps(
            "BG012", #"{"content-available":1.0}"#,
            .found(at: "/aps/content-available", .note)),
        .aps("BG012", #"{"content-available":1}"#, .clean),
        .aps("BG012", #"{"content-available":"0"}"#, .clean),
        // BG002 says it.
        .aps("BG016", #"{"content-available":1,"alert":""}"#, .clean),
        .aps(
            "BG017", #"{"content-available":1,"mutable-content":1}"#,
            .found(at: "/aps/mutable-content", .warning)),
        .aps("BG017", #"{"content-available":1}"#, .clean),
        RuleCase("BG018", .background, cleanBackground, .found(at: "apns-expiration", .note)),
        RuleCase("BG018", .background, cleanBackground, expiration: ahead(60), .clean),
        RuleCase(
            "BG019", .background, cleanBackground, expiration: .immediately,
            .found(at: "apns-expiration", .note)),
        RuleCase("BG019", .background, cleanBackground, .clean),
        RuleCase("BG019", .voip, cleanCall, expiration: .immediately, .clean),
        RuleCase(
            "BG026", .background, cleanBackground, collapseID: "x",
            .found(at: "apns-collapse-id", .note)),
        RuleCase("BG026", .background, cleanBackground, .clean),
    ]

    static let backgroundContent: [RuleCase] = [
        .data("BG022", #""deltas":[{"op":"add"}]"#, .found(at: "/deltas", .warning)),
        .data("BG022", #""message":"See you at eight""#, .found(at: "/message", .note)),
        .data("BG022", #""data":{"body":{"x":"At eight"}}"#, .found(at: "/data/body", .note)),
        .data("BG022", #""body":{"type":"wake","family":"h7"}"#, .clean),
        .data("BG022", #""delta":{"messagesSince":10231}"#, .clean),
        .data("BG022", #""delta":{"since":7,"n":1}"#, .found(at: "/delta", .warning)),
        .data("BG022", #""otp":123456"#, .found(at: "/otp", .warning)),
        .data(
            "BG022", #""verification_code":"123456""#,
            .found(at: "/verification_code", .warning)),
        .data("BG022", #""deltas":3,"message":"m17","otp":true,"patch":"","body":{}"#, .clean),
        RuleCase(
            "BG023", .background, #"{"aps":{"content-available":1}}"#, .found(at: "", .note)),
        .data("BG023", #""folder":"inbox""#, .found(at: "", .note)),
        .data("BG023", #""syncVersion":7"#, .clean),
        .data("BG023", #""data":{"event_id":7}"#, .clean),
        .data("BG023", #""v":7"#, .clean),
        .data("BG024", #""type":"message""#, .found(at: "/type", .note)),
        .data("BG024", #""event":"incoming_call""#, .found(at: "/event", .warning)),
        .data("BG024", #""data":{"Action":"newMessage"}"#, .found(at: "/data/Action", .note)),
        .data("BG024", #""type":"otp""#, .found(at: "/type", .warning)),
        .data("BG024", #""type":"sync","name":"alert","event":"recall","kind":7"#, .clean),
        // What ends a call, takes a message back or counts is not urgent.
        .data("BG024", #""type":"call_handled_elsewhere""#, .clean),
        .data("BG024", #""type":"call_cancel","action":"message_read""#, .clean),
        .data("BG024", #""action":"deleteMessage","event":"chat.sync""#, .clean),
    ]

    static let voip: [RuleCase] = [
        RuleCase("VO002", .voip, body(5121, #""callUUID":"x""#), .found(at: "", .error)),
        RuleCase("VO002", .voip, body(100_000, #""callUUID":"x""#), .found(at: "", .error)),
        RuleCase("VO002", .voip, body(5120, #""callUUID":"x""#), .clean),
        RuleCase("VO003", .voip, #"{"handle":"Ann"}"#, .found(at: "", .warning)),
        RuleCase("VO003", .voip, #"{"callUUID":""}"#, .found(at: "/callUUID", .warning)),
        RuleCase("VO003", .voip, #"{"callUUID":null}"#, .found(at: "/callUUID", .warning)),
        RuleCase("VO003", .voip, #"{"id":"17","name":"Ann"}"#, .clean),
        RuleCase("VO003", .voip, #"{"channel":"c-17","agoraToken":"x"}"#, .clean),
        RuleCase("VO003", .voip, #"{"id":"17","nameCaller":"Ann"}"#, .clean),
        RuleCase("VO003", .voip, #"{"data":{"id":17,"nameCaller":"Ann"}}"#, .clean),
        RuleCase("VO003", .voip, #"{"user":{"id":17},"from":"Ann"}"#, .found(at: "", .warning)),
        RuleCase("VO003", .voip, #"{"members":[{"id":17}]}"#, .found(at: "", .warning)),
        RuleCase("VO003", .voip, #"{"user":{"id":17},"call":{"id":"c1"}}"#, .clean),
        RuleCase("VO003", .voip, #"{"id":"","nameCaller":"Ann"}"#, .found(at: "", .warning)),
        RuleCase("VO003", .voip, #"{"id":"17","x":{"nameCaller":"Ann"}}"#, .clean),
        RuleCase("VO003", .voip, #"{"aps":{"pushHint":"u-17"}}"#, .clean),
        RuleCase("VO003", .voip, #"{"aps":{"hint":"u-17"}}"#, .found(at: "", .warning)),
        RuleCase("VO003", .voip, #"{"encryptedPayload":"q83vEjRW"}"#, .clean),
        RuleCase("VO003", .voip, #"{"ciphertext":"q83vEjRW","nonce":"x"}"#, .clean),
        RuleCase("VO003", .voip, #"{"data":"gAAAAABhZ0Q3xZ1l8oQy9Y=="}"#, .clean),
        RuleCase("VO003", .voip, #"{"d":"U2FsdGVkX1+vupppZksvRf5p"}"#, .clean),
        RuleCase("VO003", .voip, #"{"d":"eyJhbGciOiJkaXIifQ..48V1_A.5eym8T.XFBoMYUZ"}"#, .clean),
        RuleCase(
            "VO003", .voip, #"{"d":"eyJhbGciOiJkaXIifQ.48V1_A.5eym8T"}"#,
            .found(at: "", .warning)),
        RuleCase("VO003", .voip, #"{"ct":"c29tZSBlbmNyeXB0ZWQ","nonce":"YWJj"}"#, .clean),
        RuleCase("VO003", .voip, #"{"p":{"b":"9fK2mQ7Zr1xT0pLw5uVb3w==","iv":"mQ7Z"}}"#, .clean),
        RuleCase("VO003", .voip, #"{"p":"9fK2mQ7Zr1xT0pLw","salt":""}"#, .found(at: "", .warning)),
        RuleCase("VO003", .voip, #"{"name":"Ann","nonce":"mQ7Z"}"#, .found(at: "", .warning)),
        RuleCase("VO003", .voip, #"{"from":"ann.smith.1","iv":"q"}"#, .found(at: "", .warning)),
        RuleCase("VO003", .voip, #"{"p":"9fK2mQ7Zr1xT0pLw"}"#, .found(at: "", .warning)),
        RuleCase("VO003", .voip, #"{"ciphertext":""}"#, .found(at: "", .warning)),
        RuleCase("VO003", .voip, #"{"aps":{},"room":"r-17","from":"ann"}"#, .clean),
        RuleCase("VO003", .voip, #"{"data":"{\"Caller\":{\"ConnectionId\":\"c1\"}}"}"#, .clean),
        RuleCase("VO003", .voip, #"{"data":"{\"a\":{\"b\":\"c1\"}"}"#, .found(at: "", .warning)),
        RuleCase("VO003", .voip, #"{"callUUID":"x"}"#, .clean),
        RuleCase("VO003", .voip, #"{"unique_key":"2f","phonenumber":"1"}"#, .clean),
        RuleCase("VO003", .voip, #"{"ConnectionId":"2f"}"#, .clean),
        RuleCase(
            "VO007", .voip, #"{"aps":{"alert":"Missed call!"},"call_id":1}"#,
            .found(at: "/aps/alert", .warning)),
        RuleCase(
            "VO007", .voip, #"{"title":"Call ended","call_id":1}"#, .found(at: "/title", .warning)),
        RuleCase(
            "VO007", .voip, #"{"title":"Call ended","call_id":1,"callStatus":"ended"}"#,
            .found(at: "/callStatus", .error)),
        RuleCase(
            "VO007", .voip, #"{"title":"Ann calls about the meeting that has ended","call_id":1}"#,
            .clean),
        RuleCase(
            "VO008", .voip, #"{"msg_type":"im","send_from":"1"}"#, .found(at: "/msg_type", .warning)
        ),
        RuleCase("VO003", .voip, #"{"call_id":17}"#, .clean),
        RuleCase("VO003", .voip, #"{"data":{"session-id":"x"}}"#, .clean),
    ]

    /// What services for calls send, whose names are their own: nothing to complain of.
    static let voipServices: [RuleCase] = [
        #"{"twi_call_sid":"CA1","twi_from":"client:ann","twi_message_type":"twilio.voice.call"}"#,
        #"{"stream":{"type":"call.ring","call_cid":"default:1","created_by_display_name":"Ann"}}"#,
        #"{"metadata":{"voice_sdk_id":"a","call_id":"b","caller_name":"Ann"}}"#,
        #"{"aps":{"alert":{"loc-key":"SIN"}},"sin":"AgEBCQ","display_name":"Ann"}"#,
        #"{"id":"44d915e1-5ff4-4bed-bf13-c423048ec97a","nameCaller":"Ann","isVideo":true}"#,
        #"{"type":"message","sub_type":"calls","channel_id":"c1","sender_name":"Ann"}"#,
        #"{"aps":{"call-id":"x","from-uri":"sip:ann@example.org","display-name":"Ann"}}"#,
        #"{"data":"eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..aGVsbG8td29ybGQtaGVsbG8td29ybGQ"}"#,
        #"{"a":{"b":{"callUUID":"x"}},"from":"Ann"}"#,
    ].flatMap { payload in
        ["VO003", "VO004", "VO007", "VO008", "G011"].map {
            RuleCase($0, .voip, payload, expiration: .immediately, .clean)
        }
    }

    static let voipHeaders: [RuleCase] = [
        RuleCase("VO004", .voip, #"{"callUUID":"x"}"#, .found(at: "", .note)),
        RuleCase("VO004", .voip, #"{"callUUID":"x","data":{"callerDisplayName":"Ann"}}"#, .clean),
        RuleCase("VO004", .voip, cleanCall, .clean),
        // A call that does not say is sent with 0.
        RuleCase("VO005", .voip, cleanCall, .clean),
        RuleCase(
            "VO005", .voip, cleanCall, expiration: ahead(31),
            .found(at: "apns-expiration", .warning)),
        RuleCase("VO005", .voip, cleanCall, expiration: ahead(30), .clean),
        RuleCase("VO005", .voip, cleanCall, expiration: .immediately, .clean),
        .call("VO009", #""aps":{"alert":"x"}"#, .found(at: "/aps/alert", .warning)),
        .call(
            "VO009", #""aps":{"content-available":1}"#,
            .found(at: "/aps/content-available", .warning)),
        .call("VO009", #""aps":{"thread-id":"x"}"#, .found(at: "/aps/thread-id", .warning)),
        .call("VO009", #""aps":{"category":"x"}"#, .found(at: "/aps/category", .warning)),
        .call("VO009", #""aps":{},"alert":"x""#, .clean),
        // One copied payload is one finding.
        .call("VO009", #""aps":{"alert":"x","badge":1}"#, .found(at: "/aps/alert", .warning)),
        RuleCase(
            "VO010", .voip, cleanCall, collapseID: "x", .found(at: "apns-collapse-id", .note)),
        RuleCase("VO010", .voip, cleanCall, .clean),
        .call("VO015", #""room":1"#, .found(at: "", .note)),
        .call("VO015", #""createdAt":1795255200"#, .clean),
        .call("VO015", #""data":{"call_start_time":"x"}"#, .clean),
    ]

    static let voipContent: [RuleCase] = [
        .call("VO007", #""event":"cancel""#, .found(at: "/event", .error)),
        RuleCase(
            "VO009", .voip, #"{"aps":{"interruption-level":"critical"},"callUUID":"u"}"#,
            .found(at: "/aps/interruption-level", .warning)),
        RuleCase(
            "VO007", .voip, #"{"aps":{"alert":{"uuid":"u","call_status":"canceled"}}}"#,
            .found(at: "/aps/alert/call_status", .error)),
        RuleCase(
            "VO007", .voip, #"{"aps":{"alert":{"uuid":"u","call_status":"ringing"}}}"#, .clean),
        .call("VO007", #""type":"call_ended""#, .found(at: "/type", .error)),
        .call("VO007", #""action":"hang-up""#, .found(at: "/action", .error)),
        .call(
            "VO007", #""data":{"callState":"answeredElsewhere"}"#,
            .found(at: "/data/callState", .error)),
        .call("VO007", #""type":"MISSED_CALL""#, .found(at: "/type", .error)),
        .call("VO007", #""cmd":"callUpdate""#, .found(at: "/cmd", .warning)),
        .call("VO007", #""isCancelled":true"#, .found(at: "/isCancelled", .warning)),
        .call("VO007", #""isCancelled":false"#, .clean),
        .call("VO007", #""ended":"true""#, .found(at: "/ended", .warning)),
        .call("VO007", #""ended":"false","muted":"true""#, .clean),
        RuleCase(
            "VO007", .voip, #"{"twi_call_sid":"CA1","twi_message_type":"twilio.voice.cancel"}"#,
            .found(at: "/twi_message_type", .warning)),
        RuleCase(
            "VO007", .voip, #"{"stream":{"type":"call.missed","call_cid":"a:b"}}"#,
            .found(at: "/stream/type", .error)),
        .call(
            "VO007", #""event":"incoming","state":"ringing","text":"cancel","type":"weekend""#,
            .clean),
        .call("VO008", #""type":"chat""#, .found(at: "/type", .warning)),
        .call(
            "VO008", #""data":{"event":"location.request"}"#, .found(at: "/data/event", .warning)),
        .call("VO008", #""message":"Ann calls""#, .clean),
        RuleCase("VO008", .voip, #"{"message":"Hello"}"#, .found(at: "/message", .warning)),
        RuleCase(
            "VO008", .voip, #"{"type":"chat","message":"Hi"}"#, .found(at: "/type", .warning)),
        RuleCase("VO008", .voip, #"{"unread_count":3}"#, .found(at: "/unread_count", .warning)),
        .call("VO008", #""type":"incoming_call","name":"Chat","kind":"text call""#, .clean),
    ]
}
