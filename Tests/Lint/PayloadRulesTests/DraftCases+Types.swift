// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeModel

extension DraftCase {
    static let alert: [DraftCase] = [
        .payload("AL001", .alert, #"{"aps":{"category":"x"}}"#, .found(at: "/aps", .error)),
        .payload("AL001", .alert, #"{"v":1}"#, .found(at: "", .error)),
        .payload(
            "BG012", .alert, #"{"aps":{"alert":"x","content-available":0}}"#,
            .found(at: "/aps/content-available", .note)),
        .payload(
            "BG012", .alert, #"{"aps":{"alert":"x","content-available":2}}"#,
            .found(at: "/aps/content-available", .warning)),
        .payload("BG012", .alert, #"{"aps":{"alert":"x","content-available":1}}"#, .clean),
        .payload("BG012", .alert, #"{"aps":{"alert":"x","content-available":1.0}}"#, .clean),
        .payload("BG015", .alert, #"{"aps":{"alert":"x","content-available":2}}"#, .clean),
        .payload("G010", .alert, #"{"app":{"content-available":1}}"#, .found(at: "/app", .error)),
        .payload(
            "G010", .alert, #"{"asp":{"alert":"x","sound":"y"},"v":1}"#,
            .found(at: "/asp", .error)),
        .payload("G010", .alert, #"{"app":{"alert":"x"}}"#, .found(at: "", .error)),
        .payload(
            "G010", .alert, #"{"app":{"alert":"x","sound":"y"},"android":{}}"#,
            .found(at: "", .error)),
        .payload(
            "G010", .alert, #"{"app":{"alert":"x","sound":"y","name":"z"}}"#,
            .found(at: "", .error)),
        .payload("AL001", .alert, #"{"aps":{"badge":0}}"#, .clean),
        .payload("AL001", .alert, #"{"aps":{"sound":"default"}}"#, .clean),
        .payload("AL001", .alert, #"{"aps":{"alert":""}}"#, .found(at: "/aps/alert", .warning)),
        .payload("AL001", .alert, #"{"aps":{"alert":{}}}"#, .found(at: "/aps/alert", .warning)),
        .payload(
            "AL001", .alert, #"{"aps":{"alert":{"launch-image":"x","title":""}}}"#,
            .found(at: "/aps/alert", .warning)),
        .payload("AL001", .alert, #"{"aps":{"alert":{"loc-key":"x"}}}"#, .clean),
        .payload("AL001", .alert, #"{"aps":{"alert":5}}"#, .clean),
        .request("AL001", .alert, [.init("apns-topic", "pass.com.example")], "{}", .clean),
        DraftCase(
            "AL001", PushDraft(payload: Array(#"{"aps":{},"v":1}"#.utf8)), "data of any push",
            .clean),
        DraftCase(
            "AL001", PushDraft(payload: Array(#"{"aps":{}}"#.utf8)), "nothing at all",
            .found(at: "/aps", .warning)),
        DraftCase(
            "AL001", PushDraft(payload: Array(#"{"aps":{"callerName":"A"}}"#.utf8)), "own data",
            .clean),
        DraftCase(
            "AL001", PushDraft(payload: Array(#"{"aps":{"title":"A","b":1}}"#.utf8)), "a title",
            .found(at: "/aps", .warning)),
        .payload("AL001", .alert, #"{"aps":{"callerName":"A"}}"#, .found(at: "/aps", .error)),
        .payload("AL001", .alert, #"{"aps":{"alert":{"Body":"x"}}}"#, .clean),
        .payload(
            "AL001", .alert, #"{"aps":{"alert":{"vip":1},"content-available":1}}"#,
            .found(at: "/aps/alert", .warning)),
        .payload("AL001", .alert, #"{"aps":{"alert":{"vip":1},"sound":"x"}}"#, .clean),
        .payload("AL001", .alert, #"{"aps":{"alert":{"vip":1},"mutable-content":1}}"#, .clean),
        .payload("AL001", .alert, #"{"aps":{"alert":{"vip":1,"badge":1}}}"#, .clean),
        .payload("AL001", .alert, #"{"aps":{"alert":"","sound":"default"}}"#, .clean),
        // BG016 says it.
        .payload("AL001", .alert, #"{"aps":{"alert":"","content-available":1}}"#, .clean),
        .payload(
            "AL002", .alert, #"{"aps":{"mutable-content":1,"sound":"x"}}"#,
            .found(at: "/aps/mutable-content", .warning)),
        .payload(
            "AL002", .alert, #"{"aps":{"mutable-content":1,"alert":{"body":""}}}"#,
            .found(at: "/aps/mutable-content", .warning)),
        .payload(
            "AL002", .alert, #"{"aps":{"mutable-content":1,"alert":{"loc-key":"x"}}}"#, .clean),
        .payload("AL002", .alert, #"{"aps":{"mutable-content":0,"sound":"x"}}"#, .clean),
        // BG016 says it.
        .payload(
            "AL002", .alert, #"{"aps":{"mutable-content":1,"alert":"","content-available":1}}"#,
            .clean),
        .payload(
            "AL003", .alert, #"{"aps":{"alert":"x","interruption-level":"critical","sound":"x"}}"#,
            .found(at: "/aps/interruption-level", .warning)),
        .payload(
            "AL003", .alert,
            #"{"aps":{"interruption-level":"critical","sound":{"critical":1,"name":"x"}}}"#,
            .clean),
        .payload(
            "AL004", .alert, #"{"aps":{"alert":"x","interruption-level":"time-sensitive"}}"#,
            .found(at: "/aps/interruption-level", .note)),
        .payload("AL004", .alert, #"{"aps":{"alert":"x","interruption-level":"active"}}"#, .clean),
        .payload(
            "AL005", .alert, #"{"aps":{"alert":"x","relevance-score":1.5}}"#,
            .found(at: "/aps/relevance-score", .error)),
        .payload("AL005", .alert, #"{"aps":{"badge":-1}}"#, .found(at: "/aps/badge", .error)),
        .payload("AL005", .alert, #"{"aps":{"badge":1.5}}"#, .found(at: "/aps/badge", .error)),
        .payload(
            "AL005", .alert, #"{"aps":{"sound":{"critical":1,"volume":2}}}"#,
            .found(at: "/aps/sound/volume", .error)),
        .payload(
            "AL005", .alert, #"{"aps":{"badge":1,"relevance-score":1,"sound":{"volume":0.5}}}"#,
            .clean),
        .payload("AL005", .alert, #"{"aps":{"badge":"1"}}"#, .clean),
        .payload("AL005", .alert, #"{"aps":{"badge":3.0}}"#, .clean),
        .payload("AL005", .alert, #"{"aps":{"badge":-0}}"#, .clean),
        .payload("AL005", .alert, #"{"aps":{"badge":25e-1}}"#, .found(at: "/aps/badge", .error)),
        .payload("G014", .alert, #"{"aps":{"badge":"1"}}"#, .found(at: "/aps/badge", .error)),
        .payload(
            "G014", .alert, #"{"aps":{"badge":-1,"relevance-score":7,"sound":{"volume":3}}}"#,
            .clean),
        .payload(
            "AL006", .alert, #"{"aps":{"alert":{"loc-key":"K","loc-args":["a",1]}}}"#,
            .found(at: "/aps/alert/loc-args/1", .warning)),
        .payload(
            "AL006", .alert, #"{"aps":{"alert":{"loc-key":"%@ and %@","loc-args":["a"]}}}"#,
            .found(at: "/aps/alert/loc-args", .warning)),
        .payload(
            "AL006", .alert,
            #"{"aps":{"alert":{"title-loc-key":"%2$@, %1$@","title-loc-args":["a"]}}}"#,
            .found(at: "/aps/alert/title-loc-args", .warning)),
        .payload(
            "AL006", .alert, #"{"aps":{"alert":{"body":"x","loc-args":["a"]}}}"#,
            .found(at: "/aps/alert/loc-args", .warning)),
        .payload(
            "AL006", .liveactivity, #"{"aps":{"alert":{"title":{"loc-key":"%@","loc-args":[1]}}}}"#,
            .found(at: "/aps/alert/title/loc-args/0", .warning)),
        .payload(
            "AL006", .alert,
            #"{"aps":{"alert":{"loc-key":"%% %@","loc-args":["a"],"title-loc-key":"K"}}}"#,
            .clean),
        .request("AL007", .alert, [], #"{"aps":{"badge":3}}"#, .found(at: "apns-priority", .note)),
        .request(
            "AL007", .alert, [.init("apns-priority", "")],
            #"{"aps":{"alert":"x","interruption-level":"passive"}}"#,
            .found(at: "apns-priority", .note)),
        .request("AL007", .alert, [.init("apns-priority", "5")], #"{"aps":{"badge":3}}"#, .clean),
        .request("AL007", .alert, .clean),
    ]

    private static func activity(_ aps: String) -> String { "{\"aps\":{\(aps)}}" }

    /// An update of this time, as it is sent now.
    private static func old(
        _ rule: RuleID, _ seconds: Int64, _ expectation: RuleCase.Expectation
    ) -> DraftCase {
        let payload = activity(#""event":"update","content-state":{},"timestamp":\#(seconds)"#)
        let draft = PushDraft(
            payload: Array(payload.utf8), headers: [.init("apns-push-type", "liveactivity")],
            now: testNow)
        return DraftCase(rule, draft, payload, expectation)
    }

    static let liveActivity: [DraftCase] = [
        .payload(
            "LA001", .liveactivity, activity(#""event":"update""#), .found(at: "/aps", .error)),
        .payload(
            "LA001", .liveactivity, activity(#""timestamp":1795255200"#), .found(at: "/aps", .error)
        ),
        .payload(
            "LA001", .liveactivity, activity(#""timestamp":1,"event":"stop""#),
            .found(at: "/aps/event", .error)),
        .payload(
            "LA001", .liveactivity, activity(#""timestamp":1,"event":7"#),
            .found(at: "/aps/event", .error)),
        .request("LA001", .liveactivity, .clean),
        .payload(
            "LA002", .liveactivity, activity(#""timestamp":1795255200000"#),
            .found(at: "/aps/timestamp", .error)),
        .payload(
            "LA002", .liveactivity, activity(#""stale-date":"1795255200""#),
            .found(at: "/aps/stale-date", .error)),
        .payload(
            "LA002", .liveactivity, activity(#""dismissal-date":true"#),
            .found(at: "/aps/dismissal-date", .error)),
        .request("LA002", .liveactivity, .clean),
        .payload(
            "LA003", .liveactivity, activity(#""event":"start","attributes":{},"alert":"x""#),
            .found(at: "/aps", .error)),
        .payload(
            "LA003", .liveactivity,
            activity(
                #""event":"start","attributes":{},"attributes-type":"T","alert":{"title":"x"}"#),
            .clean),
        .payload(
            "LA004", .liveactivity, activity(#""event":"update""#), .found(at: "/aps", .error)),
        .payload("LA004", .liveactivity, activity(#""event":"end""#), .found(at: "/aps", .warning)),
        .request("LA004", .liveactivity, .clean),
        .request(
            "LA005", .liveactivity, [.init("apns-priority", "1")],
            .found(at: "apns-priority", .error)),
        .request("LA005", .liveactivity, [.init("apns-priority", "5")], .clean),
        .request(
            "LA007", .liveactivity, [.init(":path", "/4/broadcasts/apps/com.example.app")],
            activity(#""event":"start""#), .found(at: "/aps/event", .error)),
        .request(
            "LA007", .liveactivity,
            [.init(":path", ""), .init("apns-topic", ""), .init("apns-channel-id", "x")],
            activity(#""event":"start""#), .found(at: "/aps/event", .error)),
        .payload(
            "LA007", .liveactivity,
            activity(#""event":"start","input-push-channel":"c","input-push-token":1"#),
            .found(at: "/aps/input-push-token", .warning)),
        .payload(
            "LA007", .liveactivity, activity(#""event":"start","input-push-token":1"#), .clean),
        .payload(
            "LA009", .liveactivity, activity(#""event":"update","dismissal-date":1790000000"#),
            .found(at: "/aps/dismissal-date", .warning)),
        .payload(
            "LA009", .liveactivity, activity(#""event":"end","dismissal-date":1790000000"#),
            .clean),
        .payload(
            "LA008", .liveactivity, activity(#""content-state":{"home_score":1,"away_score":2}"#),
            .found(at: "/aps/content-state/home_score", .note)),
        .payload(
            "LA008", .liveactivity,
            activity(#""content-state":{"a":[{"end":"2026-11-21T09:34:00Z"}]}"#),
            .found(at: "/aps/content-state/a/0/end", .warning)),
        .payload(
            "LA008", .liveactivity,
            activity(
                #""content-state":{"n":{"home_score":1},"ends_at":"2026-11-21T09:34:00Z"}"#),
            .found(at: "/aps/content-state/ends_at", .warning)),
        .payload(
            "LA008", .liveactivity,
            activity(#""content-state":{"values":{"end":"2026-11-21T09:34:00Z"}}"#),
            .found(at: "/aps/content-state/values/end", .note)),
        .payload(
            "LA008", .liveactivity,
            activity(#""content-state":{"homeScore":1,"_x":2,"end":793000000,"day":"2026-11-21"}"#),
            .clean),
        .payload(
            "G014", .liveactivity,
            activity(#""relevance-score":100,"alert":{"title":{"loc-key":"x"},"sound":"x"}"#),
            .clean),
        .payload(
            "G014", .alert, activity(#""alert":{"title":{"loc-key":"x"}}"#),
            .found(at: "/aps/alert/title", .error)),
    ]

    static let otherTypes: [DraftCase] = [
        .payload("WG001", .widgets, #"{"aps":{}}"#, .found(at: "/aps", .error)),
        .payload(
            "WG001", .controls, #"{"aps":{"content-changed":1}}"#,
            .found(at: "/aps/content-changed", .error)),
        .payload("WG001", .widgets, #"{"aps":{"content-changed":true}}"#, .clean),
        .payload(
            "WG002", .widgets, #"{"aps":{"content-changed":true,"badge":1}}"#,
            .found(at: "/aps/badge", .warning)),
        .payload("WG002", .controls, #"{"aps":{"content-changed":true},"v":1}"#, .clean),
        .request(
            "LO001", .location, [.init("authorization", "")], .found(at: "authorization", .error)),
        .request(
            "LO001", .location, [.init("apns-priority", "1")], .found(at: "apns-priority", .warning)
        ),
        .request("LO001", .location, .clean),
        .payload(
            "LO003", .location, #"{"aps":{"sound":"x","alert":"y"}}"#,
            .found(at: "/aps/alert", .warning)),
        .payload("LO003", .location, #"{"aps":{"content-available":1},"alert":1}"#, .clean),
        .request(
            "PT001", .pushtotalk, [.init("apns-priority", "5")],
            .found(at: "apns-priority", .warning)),
        .request(
            "PT001", .pushtotalk, [.init("apns-expiration", "1795255300")],
            .found(at: "apns-expiration", .warning)),
        .request(
            "PT001", .pushtotalk, [.init("apns-expiration", "")],
            .found(at: "apns-expiration", .warning)),
        .request("PT001", .pushtotalk, [.init("apns-priority", "")], .clean),
        .payload("FP001", .fileprovider, #"{"domain":"d"}"#, .found(at: "", .warning)),
        .payload("FP001", .fileprovider, #"{"container-identifier":"c"}"#, .found(at: "", .note)),
        .payload("FP001", .fileprovider, #"{"container-identifier":"c","domain":"d"}"#, .clean),
        .request("CM001", .complication, .found(at: "", .note)),
        .request("CM001", .widgets, .clean),
        .payload("MD001", .mdm, #"{"aps":{},"mdm":"x"}"#, .found(at: "/aps", .note)),
        .payload("MD001", .mdm, #"{"aps":{"sound":"x"},"mdm":"x"}"#, .found(at: "/aps", .error)),
        bare("BG024", #","event":"incoming_call","callId":"c-1"}"#, .found(at: "/event", .note)),
        bare("BG024", #","event":"incoming_call","user":"Ann"}"#, .found(at: "/event", .warning)),
        .payload("MD001", .mdm, #"{"MDM":"x"}"#, .found(at: "", .error)),
        .payload("MD001", .mdm, #"{"mdm":7}"#, .found(at: "/mdm", .error)),
        .payload("MD001", .mdm, #"{"mdm":"x"}"#, .clean),
    ]

    /// A silent payload by itself, with the rest of its text.
    private static func bare(
        _ rule: RuleID, _ rest: String, _ expectation: RuleCase.Expectation
    ) -> DraftCase {
        let payload = #"{"aps":{"content-available":1}"# + rest
        return DraftCase(
            rule, PushDraft(payload: Array(payload.utf8)), "bare \(payload)", expectation)
    }

    static let generic: [DraftCase] = [
        .payload(
            "G003", .alert, String(decoding: body(4097, #""aps":{"alert":"x"}"#), as: UTF8.self),
            .found(at: "", .error)),
        .request(
            "G003", .liveactivity, [.init(":path", "/4/broadcasts/apps/a")],
            String(decoding: body(5120, #""aps":{}"#), as: UTF8.self), .clean),
        .payload("G010", .widgets, "{}", .found(at: "", .error)),
        .payload("G010", .mdm, #"{"mdm":"x"}"#, .clean),
        .payload("G010", .alert, #"{"mdm":"x"}"#, .found(at: "", .error)),
        .payload("G010", .location, "{}", .clean),
        .payload(
            "G011", .alert, #"{"aps":{"alert":{"body":"x","action-loc-key":"y"}}}"#,
            .found(at: "/aps/alert/action-loc-key", .note)),
        .payload(
            "G011", .alert, #"{"aps":{"alert":{"body":"x","mine":"y"}}}"#,
            .found(at: "/aps/alert/mine", .note)),
        .payload(
            "G011", .voip, #"{"aps":{"apns-priority":10,"mine":1},"callUUID":"x"}"#,
            .found(at: "/aps/apns-priority", .warning)),
        .payload("G011", .voip, #"{"aps":{"priority":10,"mine":1},"callUUID":"x"}"#, .clean),
        .payload(
            "G013", .alert, #"{"aps":{"alert":"x"},"badge":1}"#, .found(at: "/badge", .warning)),
        .payload(
            "G013", .background, #"{"aps":{"alert":"x"},"badge":1}"#,
            .found(at: "/badge", .warning)),
        .payload("G015", .voip, #"{"aps":{"alert":null},"callUUID":"x"}"#, .clean),
        .payload(
            "G015", .voip, #"{"aps":{"target-content-id":null},"callUUID":"x"}"#,
            .found(at: "/aps/target-content-id", .warning)),
        .payload(
            "VO004", .voip, #"{"aps":{"alert":{"caller_name":"Ann"}},"callUUID":"x"}"#, .clean),
        .payload(
            "G013", .alert, #"{"aps":{"alert":"x"},"data":{"content-available":1}}"#,
            .found(at: "/data/content-available", .warning)),
        .payload(
            "G013", .alert, #"{"aps":{"alert":"x"},"data":{"contentAvailable":1}}"#, .clean),
        .payload(
            "G013", .background, #"{"aps":{"content-available":1},"d":{"content-available":1}}"#,
            .clean),
        .payload(
            "G011", .alert, #"{"aps":{"alert":{"title":"x","message":"y"}}}"#,
            .found(at: "/aps/alert/message", .warning)),
        .payload(
            "G011", .alert, #"{"aps":{"alert":{"title":"x","body":"z","message":"y"}}}"#,
            .found(at: "/aps/alert/message", .note)),
        .payload(
            "G011", .alert, #"{"aps":{"alert":{"title":"x","text":"y"},"mutable-content":1}}"#,
            .found(at: "/aps/alert/text", .note)),
        .payload("G011", .alert, #"{"aps":{"alert":{"body":"x","titleLocKey":"y"}}}"#, .clean),
        .payload(
            "G011", .alert, #"{"aps":{"alert":{"body":"x","sound":"default"}}}"#,
            .found(at: "/aps/alert/sound", .warning)),
        .payload(
            "G011", .alert, #"{"aps":{"alert":"x","timestamp":1}}"#,
            .found(at: "/aps/timestamp", .warning)),
        .payload(
            "G011", .alert, #"{"aps":{"alert":{"body":"x","content-available":1}}}"#,
            .found(at: "/aps/alert/content-available", .warning)),
        .payload(
            "G011", .liveactivity, activity(#""event":"start","alert":{"title":"a","sound":"b"}"#),
            .clean),
        .payload(
            "G020", .background,
            #"{"Simulator Target bundle":"com.example.app","aps":{"content-available":1}}"#,
            .found(at: "/Simulator Target bundle", .warning)),
        .payload(
            "G020", .background,
            #"{"Simulator Target Bundle ID":"com.example.app","aps":{"content-available":1}}"#,
            .found(at: "/Simulator Target Bundle ID", .warning)),
        .payload(
            "G020", .background,
            #"{"SimulatorBundle":"com.example.app","aps":{"content-available":1}}"#, .clean),
        .payload(
            "LA009", .liveactivity, activity(#""event":"update","badge":1"#),
            .found(at: "/aps/badge", .warning)),
        .payload(
            "LA009", .liveactivity, activity(#""event":"update","sound":"default""#),
            .found(at: "/aps/sound", .warning)),
        .payload(
            "LA009", .liveactivity, activity(#""event":"update","alert":"Goal""#),
            .found(at: "/aps/alert", .warning)),
        .payload(
            "LA009", .liveactivity, activity(#""event":"update","alert":{"title":"Goal"}"#),
            .clean),
        old("LA010", 1_483_228_800, .found(at: "/aps/timestamp", .warning)),
        old("LA010", testNow.secondsSinceEpoch - 365 * 86_400, .clean),
        old("LA010", 1_483_228_800_000, .clean),
        .payload("LA010", .liveactivity, activity(#""event":"update","timestamp":1"#), .clean),
        .payload(
            "G012", .alert, #"{"aps":{"alert":{"body":"x","titleLocKey":"y"}}}"#,
            .found(at: "/aps/alert/titleLocKey", .warning)),
        .payload("G012", .alert, #"{"aps":{"alert":{"body":"x","title-loc-key":"y"}}}"#, .clean),
        .payload(
            "G013", .alert, #"{"aps":{"alert":"x"},"sound":"y"}"#, .found(at: "/sound", .warning)),
        .payload("G013", .mdm, #"{"mdm":"x","sound":"y"}"#, .clean),
        .payload(
            "G013", .alert, #"{"aps":{"alert":"x"},"interruption-level":"critical"}"#,
            .found(at: "/interruption-level", .warning)),
        .payload(
            "G013", .alert, #"{"aps":{"alert":"x"},"relevance-score":1}"#,
            .found(at: "/relevance-score", .warning)),
        .payload("G013", .alert, #"{"aps":{"alert":"x"},"interruptionLevel":"x"}"#, .clean),
        .payload(
            "G013", .liveactivity, #"{"aps":{"event":"end"},"dismissal-date":1790000000}"#,
            .found(at: "/dismissal-date", .warning)),
        .payload(
            "G013", .liveactivity, #"{"aps":{"event":"update"},"stale-date":1790000000}"#,
            .found(at: "/stale-date", .warning)),
        .payload("G013", .liveactivity, #"{"aps":{},"stale-date":"x","timestamp":1}"#, .clean),
        .payload("G013", .alert, #"{"aps":{"alert":"x"},"stale-date":1790000000}"#, .clean),
    ]
}
