// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeModel

extension RuleCase {
    private static func nested(_ depth: Int) -> String {
        // The root object is one level itself.
        "\"v\":" + String(repeating: "[", count: depth - 1)
            + String(repeating: "]", count: depth - 1)
    }

    static let genericText: [RuleCase] = [
        RuleCase("G001", .background, "[1]", .found(at: "", .error)),
        RuleCase("G001", .background, "7", .found(at: "", .error)),
        RuleCase("G001", .background, "   ", .found(at: "", .error)),
        RuleCase("G001", .background, "{\"aps\":{\"a\":tru}}", .found(at: "/aps/a", .error)),
        RuleCase("G001", .voip, "{\"callUUID\":\"x\",}", .found(at: "", .error)),
        RuleCase("G001", .background, cleanBackground, .clean),
        RuleCase("G001", .background, "", .clean),
        RuleCase("G002", .background, "", .found(at: "", .error)),
        RuleCase("G002", .voip, "", .found(at: "", .error)),
        RuleCase("G002", .background, " ", .clean),
        RuleCase("G002", .background, "{}", .clean),
        RuleCase(
            "G003", .background, body(4097, #""aps":{"content-available":1}"#),
            .found(at: "", .error)),
        RuleCase("G003", .background, body(100_000, #""aps":{}"#), .found(at: "", .error)),
        RuleCase("G003", .background, body(4096, #""aps":{"content-available":1}"#), .clean),
        RuleCase("G003", .voip, body(5121, #""callUUID":"x""#), .clean),
        RuleCase("G004", .background, body(3687, #""aps":{}"#), .found(at: "", .warning)),
        RuleCase("G004", .background, body(4096, #""aps":{}"#), .found(at: "", .warning)),
        RuleCase("G004", .voip, body(4609, #""callUUID":"x""#), .found(at: "", .warning)),
        RuleCase("G004", .background, body(3686, #""aps":{}"#), .clean),
        RuleCase("G004", .background, body(4097, #""aps":{}"#), .clean),
        RuleCase("G004", .voip, body(4608, #""callUUID":"x""#), .clean),
        RuleCase(
            "G005", .background, [0xef, 0xbb, 0xbf] + Array(cleanBackground.utf8),
            .found(at: "", .error)),
        RuleCase(
            "G005", .background, Array("{\"name\":\"".utf8) + [0xe9] + Array("\"}".utf8),
            .found(at: "/name", .error)),
        RuleCase("G005", .background, #"{"name":"é"}"#, .clean),
        .data("G006", #""a":1,"a":2"#, .found(at: "/a", .warning)),
        .data("G006", #""a":{"b":1,"\u0062":2}"#, .found(at: "/a/b", .warning)),
        RuleCase("G006", .background, #"{"aps":{},"aps":{}}"#, .found(at: "/aps", .warning)),
        .data("G006", #""a":1,"A":{"a":2}"#, .clean),
        .data("G007", #""n":9007199254740992"#, .found(at: "/n", .warning)),
        .data("G007", #""n":[1,-123456789012345678901]"#, .found(at: "/n/1", .warning)),
        .data("G007", #""n":1e400"#, .found(at: "/n", .warning)),
        .data("G007", #""n":NaN"#, .found(at: "/n", .error)),
        .data("G007", #""n":-Infinity"#, .found(at: "/n", .error)),
        .data("G007", #""n":9007199254740991,"m":1e308,"k":"9007199254740992""#, .clean),
        .data("G008", nested(17), .found(at: "/v" + String(repeating: "/0", count: 15), .note)),
        .data(
            "G008", nested(129), .found(at: "/v" + String(repeating: "/0", count: 127), .warning)),
        .data("G008", nested(513), .found(at: "/v" + String(repeating: "/0", count: 510), .error)),
        .data("G008", nested(16), .clean),
        RuleCase("G009", .background, [0x1f, 0x8b, 0x08, 0x00, 0x00], .found(at: "", .error)),
        RuleCase("G009", .voip, [0x78, 0x9c, 0xab, 0x56, 0x4a], .found(at: "", .error)),
        RuleCase("G009", .voip, [0x28, 0xb5, 0x2f, 0xfd, 0x04], .found(at: "", .error)),
        RuleCase("G009", .background, cleanBackground, .clean),
        RuleCase("G009", .background, "x", .clean),
    ]

    static let genericKeys: [RuleCase] = [
        RuleCase("G010", .background, #"{"v":1}"#, .found(at: "", .error)),
        RuleCase("G010", .background, #"{"aps":[]}"#, .found(at: "/aps", .error)),
        RuleCase("G010", .background, #"{"aps":null}"#, .found(at: "/aps", .error)),
        RuleCase("G010", .background, #"{"a\u0070s":{}}"#, .clean),
        RuleCase("G010", .voip, cleanCall, .clean),
        .aps("G011", #"{"content-available":1,"version":7}"#, .found(at: "/aps/version", .warning)),
        RuleCase(
            "G011", .voip, #"{"aps":{"callUUID":"x"}}"#, .clean),
        .aps("G011", #"{"content-available":1,"content_available":1}"#, .clean),
        .data("G011", #""version":7"#, .clean),
        .aps("G012", #"{"content_available":1}"#, .found(at: "/aps/content_available", .warning)),
        .aps("G012", #"{"contentAvailable":1}"#, .found(at: "/aps/contentAvailable", .warning)),
        .aps("G012", #"{"Content-Available":1}"#, .found(at: "/aps/Content-Available", .warning)),
        .aps("G012", #"{"content-avaliable":1}"#, .found(at: "/aps/content-avaliable", .warning)),
        .aps("G012", #"{"content-availabe":1}"#, .found(at: "/aps/content-availabe", .warning)),
        .aps("G012", #"{"mutable_content":1}"#, .found(at: "/aps/mutable_content", .warning)),
        .aps("G012", #"{"thread_id":"x"}"#, .found(at: "/aps/thread_id", .warning)),
        .aps("G012", #"{"alerts":"x"}"#, .found(at: "/aps/alerts", .warning)),
        .aps("G012", #"{"content-available":1,"conversation":1,"":2,"bag":3}"#, .clean),
        RuleCase(
            "G013", .background, #"{"content-available":1}"#,
            .found(at: "/content-available", .warning)),
        RuleCase(
            "G013", .background, #"{"content_available":true}"#,
            .found(at: "/content_available", .warning)),
        // A silent push may carry them as data.
        .data("G013", #""badge":1"#, .found(at: "/badge", .note)),
        .data("G013", #""mutableContent":1"#, .found(at: "/mutableContent", .warning)),
        .data("G013", #""category":"x","Alert":1,"a":{"sound":1}"#, .clean),
        .data("G013", #""alert":{"action":"remind"}"#, .clean),
        .data("G013", #""alert":{"body":"x"}"#, .found(at: "/alert", .note)),
        .data("G013", #""alert":{"Title":"x"}"#, .found(at: "/alert", .note)),
        RuleCase(
            "G013", .background, #"{"aps":{"alert":{"body":"x"}},"text":"y","sound":"z"}"#,
            .found(at: "/sound", .warning)),
        RuleCase(
            "G013", .background, #"{"aps":{"alert":{"body":"x"}},"message":"x","sound":"z"}"#,
            .found(at: "/sound", .note)),
        RuleCase(
            "G013", .background, #"{"aps":{"alert":"x"},"body":"x","content-available":1}"#,
            .found(at: "/content-available", .warning)),
        RuleCase("G013", .voip, #"{"callUUID":"x","sound":"ring.caf"}"#, .clean),
        .aps("G014", #"{"badge":"1"}"#, .found(at: "/aps/badge", .error)),
        .aps("G014", #"{"badge":-1}"#, .found(at: "/aps/badge", .error)),
        .aps("G014", #"{"badge":1.5}"#, .found(at: "/aps/badge", .error)),
        .aps("G014", #"{"alert":7}"#, .found(at: "/aps/alert", .error)),
        .aps("G014", #"{"sound":true}"#, .found(at: "/aps/sound", .error)),
        .aps("G014", #"{"sound":{"volume":1.5}}"#, .found(at: "/aps/sound/volume", .error)),
        .aps("G014", #"{"sound":{"critical":"1"}}"#, .found(at: "/aps/sound/critical", .error)),
        .aps("G014", #"{"thread-id":5}"#, .found(at: "/aps/thread-id", .error)),
        .aps("G014", #"{"mutable-content":true}"#, .found(at: "/aps/mutable-content", .warning)),
        .aps("G014", #"{"mutable-content":1.0,"badge":1.0}"#, .clean),
        .aps("G014", #"{"mutable-content":2}"#, .found(at: "/aps/mutable-content", .error)),
        .aps("G014", #"{"mutable-content":false}"#, .found(at: "/aps/mutable-content", .warning)),
        .aps(
            "G014", #"{"interruption-level":"urgent"}"#,
            .found(at: "/aps/interruption-level", .error)),
        .aps("G014", #"{"relevance-score":1.01}"#, .found(at: "/aps/relevance-score", .error)),
        .aps("G014", #"{"content-state":"x","event":1,"timestamp":"x"}"#, .clean),
        .aps("G014", #"{"content-changed":1}"#, .found(at: "/aps/content-changed", .error)),
        .aps("G014", #"{"input-push-token":2}"#, .found(at: "/aps/input-push-token", .error)),
        RuleCase(
            "G014", .voip, #"{"aps":{"content-available":"1"},"callUUID":"x"}"#, .clean),
        .aps(
            "G014",
            #"""
            {"badge":0,"alert":{},"sound":{"critical":1,"name":"x","volume":0.5,"else":null},
            "thread-id":"x","mutable-content":1,"interruption-level":"time-sensitive",
            "relevance-score":1,"content-state":{},"content-changed":true,"event":"end",
            "stale-date":1795255200,"content-available":"1","category":null}
            """#, .clean),
        .data("G016", #""google.c.a":1"#, .found(at: "/google.c.a", .warning)),
        .data("G016", #""gcm.message_id":1"#, .found(at: "/gcm.message_id", .warning)),
        .data("G016", #""from":"x""#, .found(at: "/from", .warning)),
        .data("G016", #""message_type":"x""#, .found(at: "/message_type", .warning)),
        .data("G016", #""from":"x","Simulator Target Bundle":"com.example.app""#, .clean),
        .call("G016", #""from":"x""#, .clean),
        .data("G016", #""fromage":1,"google":1,"a":{"from":1}"#, .clean),
    ]

    static let genericValues: [RuleCase] = [
        .aps("G015", #"{"category":null}"#, .found(at: "/aps/category", .warning)),
        .aps("G015", #"{"alert":{"title":null}}"#, .found(at: "/aps/alert/title", .warning)),
        .aps("G015", #"{"alert":{"x":null}}"#, .found(at: "/aps/alert/x", .note)),
        .aps("G015", #"{"mine":null}"#, .found(at: "/aps/mine", .note)),
        .data("G015", #""a":[null]"#, .found(at: "/a/0", .note)),
        .data("G015", #""a":"null""#, .clean),
        .data("G017", #""card":"4111 1111 1111 1111""#, .found(at: "/card", .warning)),
        .data("G017", #""card":4111111111111111"#, .found(at: "/card", .warning)),
        // No card begins so.
        .data("G017", #""r":"20000500300000012""#, .clean),
        .data("G017", #""card":"2221000000000009""#, .found(at: "/card", .warning)),
        .data("G017", #""orderID":4111111111111111,"id":"4111111111111111""#, .clean),
        .data("G017", #""paid":4111111111111111"#, .found(at: "/paid", .warning)),
        .data("G017", #""card_id":4111111111111111"#, .found(at: "/card_id", .warning)),
        .data("G017", #""user":"ann@example.com""#, .found(at: "/user", .note)),
        .data("G017", #""e-mail":"ann@example.com""#, .found(at: "/e-mail", .warning)),
        .data("G017", #""user":"ann\u0040example.com""#, .found(at: "/user", .note)),
        .data(
            "G017", #""a":["Bearer abcdefghijklmnop0123"]"#, .found(at: "/a/0", .warning)),
        .data(
            "G017", #""t":"eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJYIn0.c2ln""#,
            .found(at: "/t", .warning)),
        .data(
            "G017", #""k":"-----BEGIN PRIVATE KEY-----\nMIGH""#, .found(at: "/k", .warning)),
        .data(
            "G017",
            #"""
            "time":1795255200000,"card":"4111 1111 1111 1112","at":"a @ b.example",
            "handle":"sip:ann@example.com","name":"eyJ.a","t":"bearer of good news, again"
            """#, .clean),
        .data("G017", #""client_email":"a@b.iam.gserviceaccount.com""#, .clean),
        .data("G017", #""email":"a@gserviceaccount.example""#, .found(at: "/email", .warning)),
        // Addresses of a conference and a chat, and one of mail at a name like theirs.
        .data(
            "G017",
            #""room":"conference-0@sip.example.org","from":"room42@conference.example.org""#,
            .clean),
        .data("G017", #""from_uri":"ann@example.com","jid":"ann@example.com""#, .clean),
        .call("G017", #""from":"ann@example.com""#, .found(at: "/from", .note)),
        .call("G017", #""mail":"ann@example.com""#, .found(at: "/mail", .warning)),
        .data("G017", #""user":"ann@sipgate.example""#, .found(at: "/user", .note)),
        .data(
            "G018", #""name":"\u00e9\u00e8\u00ea\u00eb""#, .found(at: "/name", .note)),
        .data(
            "G018", #""a":"\u00e9","\u00e9":["\u6f22","\ud83d\ude00"]"#, .found(at: "/a", .note)),
        .data("G018", #""name":"\u00e9\u00e8\u00ea","c":"\u0000\u0001\"\u0022\u005c""#, .clean),
        .data("G019", #""a":"\ud83d""#, .found(at: "/a", .warning)),
        .data("G019", #""a":{"\ude00":1}"#, .found(at: "/a/\u{fffd}\u{fffd}\u{fffd}", .warning)),
        .data("G019", #""a":"\ud83d\ude00""#, .clean),
    ]

    static let headers: [RuleCase] = [
        RuleCase(
            "H011", .background, cleanBackground, expiration: absolute(300),
            .found(at: "apns-expiration", .error)),
        RuleCase(
            "H011", .voip, cleanCall, expiration: absolute(999_999_999),
            .found(at: "apns-expiration", .error)),
        RuleCase(
            "H011", .background, cleanBackground, expiration: absolute(-5),
            .found(at: "apns-expiration", .error)),
        RuleCase("H011", .background, cleanBackground, expiration: absolute(1_000_000_000), .clean),
        RuleCase("H011", .background, cleanBackground, expiration: .immediately, .clean),
        RuleCase(
            "H012", .background, cleanBackground, expiration: absolute(1_795_255_200_000),
            .found(at: "apns-expiration", .warning)),
        RuleCase(
            "H012", .background, cleanBackground, expiration: absolute(100_000_000_000), .clean),
        RuleCase(
            "H013", .background, cleanBackground, expiration: ahead(-1),
            .found(at: "apns-expiration", .warning)),
        RuleCase("H013", .background, cleanBackground, expiration: ahead(0), .clean),
        RuleCase("H013", .background, cleanBackground, expiration: absolute(300), .clean),
        RuleCase(
            "H014", .background, cleanBackground, expiration: ahead(30 * 86_400 + 1),
            .found(at: "apns-expiration", .note)),
        RuleCase("H014", .background, cleanBackground, expiration: ahead(30 * 86_400), .clean),
    ]
}
