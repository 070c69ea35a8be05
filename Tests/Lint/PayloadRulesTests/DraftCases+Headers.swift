// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeModel

extension DraftCase {
    private static let misspeltActivity =
        #"{"aps":{"timestamp":1790000000,"event":"update","contentState":{"a":1}}}"#
    private static let activity =
        #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{"a":1}}}"#

    private static func path(_ path: String) -> [PushDraft.Header] { [.init(":path", path)] }
    private static func bare(_ headers: PushDraft.Header...) -> PushDraft {
        PushDraft(payload: Array(cleanBackground.utf8), headers: headers)
    }

    static let headers: [DraftCase] = deviceHeaders + valueHeaders + nameHeaders

    private static let deviceHeaders: [DraftCase] = [
        .request("H001", .background, path("/2/device/a5"), .found(at: ":path", .error)),
        .request("H001", .background, path("/3/device/"), .found(at: ":path", .error)),
        .request("H001", .background, path("/3/device"), .found(at: ":path", .error)),
        .request("H001", .background, .clean),
        .request(
            "H001", .background, [.init(":method", "GET")], .found(at: ":method", .error)),
        .request("H001", .background, [.init(":method", "POST")], .clean),
        .request(
            "H021", .background, [.init(":version", "HTTP/1.1")], .found(at: ":version", .error)),
        .request("H021", .background, [.init(":version", "HTTP/2")], .clean),
        .request("H021", .background, .clean),
        .request("H001", .background, [.init(":path", "")], .clean),
        .request("H001", .liveactivity, path("/4/broadcasts/apps/com.example.app"), .clean),
        .request("H007", .liveactivity, path("/4/broadcasts/apps/com.example.app"), .clean),
        .request(
            "H007", .liveactivity,
            path("/4/broadcasts/apps/com.example.app.push-type.liveactivity"),
            .found(at: ":path", .error)),
        .request(
            "H002", .background, path("/3/device/<740f4707 bebcf74f>"),
            .found(at: ":path", .error)),
        .request("H002", .background, path("/3/device/abc"), .found(at: ":path", .error)),
        .request("H002", .background, path("/3/device/ab/"), .found(at: ":path", .error)),
        .request("H002", .background, path("/3/device/ABCD"), .clean),
        .request("H003", .background, path("/3/device/abcd"), .found(at: ":path", .note)),
        .request("H003", .background, .clean),
        .request("H003", .background, path("/3/device/xyz"), .clean),
        .request(
            "H004", .background, [.init("apns-push-type", "")],
            .found(at: "apns-push-type", .warning)),
        DraftCase(
            "H004", PushDraft(payload: [], target: .watchOS, headersAreComplete: true), "watch",
            .found(at: "apns-push-type", .error)),
        DraftCase(
            "H004", bare(.init("apns-push-type", " ")), "blank",
            .found(at: "apns-push-type", .warning)),
        DraftCase("H004", bare(), "bare payload", .clean),
        // Rule H017 says it.
        .request(
            "H004", .background, [.init("apns-push-type", ""), .init("apns_push_type", "alert")],
            .clean),
        .request("H004", .background, .clean),
        .request(
            "H005", .background, [.init("apns-push-type", "Background")],
            .found(at: "apns-push-type", .error)),
        .request(
            "H005", .background, [.init("apns-push-type", "silent")],
            .found(at: "apns-push-type", .error)),
        .request("H005", .controls, .clean),
        DraftCase(
            "H005", bare(.init("apns-push-type", "hologram")), "configured", .clean,
            configuration: hologram),
        .request("H006", .background, [.init("apns-topic", "")], .found(at: "apns-topic", .error)),
        DraftCase("H006", bare(.init("apns-topic", "")), "empty", .found(at: "apns-topic", .error)),
        DraftCase("H006", bare(), "bare payload", .clean),
        .request(
            "H022", .alert, [.init("apns-topic", "com,example")],
            .found(at: "apns-topic", .error)),
        .request("H022", .alert, [.init("apns-topic", "the bundle id")], .clean),
        .request(
            "H022", .alert, [.init("apns-topic", "com.exämple")], .found(at: "apns-topic", .error)),
        .request("H022", .alert, [.init("apns-topic", "pass.com.example_2-b")], .clean),
        .request(
            "H022", .alert, [.init("apns-topic", "ABCDE12345.com.example.app")],
            .found(at: "apns-topic", .error)),
        .request("H022", .alert, [.init("apns-topic", "ABCDEFGHIJ.com.example.app")], .clean),
        .request("H022", .alert, [.init("apns-topic", "com.ABCDE12345.example.app")], .clean),
        DraftCase(
            "H022", bare(.init("apns-topic", "a*b")), "of the command line",
            .found(at: "apns-topic", .error)),
        DraftCase("H022", bare(.init("apns-topic", "")), "empty", .clean),
        .request(
            "H007", .background, [.init("apns-topic", "com.example.app.voip")],
            .found(at: "apns-topic", .error)),
        .request(
            "H007", .alert, [.init("apns-topic", "a.pushkit.fileprovider")],
            .found(at: "apns-topic", .error)),
        .request(
            "H007", .widgets, [.init("apns-topic", "com.example.app")],
            .found(at: "apns-topic", .error)),
        .request(
            "H007", .complication, [.init("apns-topic", ".complication")],
            .found(at: "apns-topic", .error)),
        .request(
            "H007", .pushtotalk, [.init("apns-topic", "com.example.app.voip")],
            .found(at: "apns-topic", .error)),
        // A wrong push type is one finding, not one for each key of a Live Activity.
        .request(
            "H007", .background, [.init("apns-topic", "a.push-type.liveactivity")], activity,
            .found(at: "apns-push-type", .error)),
        .request("H007", .alert, [], activity, .found(at: "apns-push-type", .error)),
        .request(
            "H007", .background, [], #"{"aps":{"alert":"x","sound":"y"}}"#,
            .found(at: "apns-push-type", .error)),
        .request("BG003", .background, [], #"{"aps":{"alert":"x","sound":"y"}}"#, .clean),
        .request(
            "H007", .background, [], #"{"aps":{"badge":0,"sound":"y","mutable-content":1}}"#,
            .found(at: "apns-push-type", .error)),
        .request("BG001", .background, [], #"{"aps":{"badge":0,"sound":"y"}}"#, .clean),
        .request(
            "H007", .background, [], #"{"aps":{"alert":"x","content_available":1}}"#, .clean),
        .request("BG001", .background, [], activity, .clean),
        // So is a misspelt key that the push needs.
        .request(
            "G012", .background, [], #"{"aps":{"content_available":1}}"#,
            .found(at: "/aps/content_available", .error)),
        .request("BG001", .background, [], #"{"aps":{"content_available":1}}"#, .clean),
        .request("BG001", .background, [], #"{"aps":{},"content-available":1}"#, .clean),
        .request(
            "G013", .background, [], #"{"aps":{},"content-available":1}"#,
            .found(at: "/content-available", .error)),
        .request("LA004", .liveactivity, [], misspeltActivity, .clean),
        .request(
            "G012", .liveactivity, [], misspeltActivity, .found(at: "/aps/contentState", .error)),
        .request("AL001", .alert, [], #"{"aps":{"Alert":"x"}}"#, .clean),
        .request(
            "G012", .alert, [], #"{"aps":{"Alert":"x"}}"#, .found(at: "/aps/Alert", .error)),
        .request("BG005", .background, [], activity, .clean),
        .request(
            "BG009", .background, [.init("apns-topic", "a.voip")], #"{"callUUID":"u"}"#, .clean),
        .request(
            "VO001", .background, [.init("apns-topic", "a.voip")], #"{"callUUID":"u"}"#,
            .found(at: "apns-push-type", .error)),
        .request(
            "H007", .mdm, [.init("apns-topic", "com.example.mdm")],
            .found(at: "apns-topic", .warning)),
        .request("H007", .mdm, .clean),
        .request("H007", .pushtotalk, .clean),
        .request("H007", .voip, [.init("apns-topic", "com.example.app")], .clean),
        .request(
            "H019", .widgets, [.init("authorization", "")], .found(at: "authorization", .error)),
        .request(
            "H019", .location, [.init("authorization", "")], .found(at: "authorization", .error)),
        .request("H019", .widgets, [.init("authorization", ""), .init(":path", "")], .clean),
        .request("H019", .background, [.init("authorization", "")], .clean),
        .request("H019", .pushtotalk, [.init("authorization", "")], .clean),
        DraftCase(
            "H019", PushDraft(payload: [], headers: [.init("apns-push-type", "widgets")]),
            "by configuration", .found(at: "authorization", .error), configuration: certificate),
        .request(
            "H020", .background, [.init("apns-channel-id", "x")],
            .found(at: "apns-channel-id", .warning)),
        .request(
            "H020", .liveactivity, path("/4/broadcasts/apps/com.example.app"),
            .found(at: "apns-topic", .warning)),
        .request("H020", .liveactivity, .clean),
        .request(
            "H017", .background, [.init("apns-priority", ""), .init("priority", "5")],
            .found(at: "priority", .warning)),
        .request("H017", .alert, [.init("priority", "u=1")], .clean),
        .request("H006", .liveactivity, broadcast, .found(at: "apns-channel-id", .error)),
        .request(
            "H006", .liveactivity, broadcast + [.init("apns-channel-id", "x")], .clean),
        .request(
            "H004", .alert,
            [.init("apns-push-type", ""), .init("apns-topic", "pass.com.example")], "{}", .clean),
    ]

    private static let broadcast: [PushDraft.Header] =
        path("/4/broadcasts/apps/com.example.app") + [.init("apns-topic", "")]

    private static var hologram: WakeValidator.Configuration {
        var configuration = WakeValidator.Configuration()
        configuration.extraPushTypes = ["hologram"]
        return configuration
    }

    static var certificate: WakeValidator.Configuration {
        var configuration = WakeValidator.Configuration()
        configuration.authentication = .certificate
        return configuration
    }

    private static let valueHeaders: [DraftCase] = [
        .request(
            "H008", .background, [.init("apns-priority", "7")],
            .found(at: "apns-priority", .error)),
        .request(
            "H008", .background, [.init("apns-priority", "high")],
            .found(at: "apns-priority", .error)),
        .request(
            "H008", .background, [.init("apns-priority", "05")], .found(at: "apns-priority", .error)
        ),
        .request("H008", .background, [.init("apns-priority", "1")], .clean),
        .request("H008", .background, [.init("apns-priority", "")], .clean),
        .request("H009", .background, [.init("apns-id", "42")], .found(at: "apns-id", .error)),
        .request(
            "H009", .background, [.init("apns-id", "123E4567-E89B-42D3-A456-426614174000")],
            .found(at: "apns-id", .warning)),
        .request("H009", .background, .clean),
        .request(
            "H010", .background, [.init("apns-expiration", "-1")],
            .found(at: "apns-expiration", .error)),
        .request(
            "H010", .background, [.init("apns-expiration", "1h")],
            .found(at: "apns-expiration", .error)),
        .request(
            "H010", .background, [.init("apns-expiration", "1.5")],
            .found(at: "apns-expiration", .error)),
        .request(
            "H010", .background, [.init("apns-expiration", "99999999999999999999")],
            .found(at: "apns-expiration", .error)),
        .request("H010", .background, [.init("apns-expiration", "1795255260")], .clean),
        .request(
            "H011", .background, [.init("apns-expiration", "300")],
            .found(at: "apns-expiration", .error)),
        .request("H011", .background, [.init("apns-expiration", "0")], .clean),
        .request(
            "H012", .background, [.init("apns-expiration", "1795255260000")],
            .found(at: "apns-expiration", .warning)),
        .request(
            "H013", .background, [.init("apns-expiration", "1795255199")],
            .found(at: "apns-expiration", .warning)),
        .request("H013", .background, [.init("apns-expiration", "1795255201")], .clean),
        DraftCase("H013", bare(.init("apns-expiration", "1795255199")), "without a clock", .clean),
        .request(
            "H014", .background, [.init("apns-expiration", "1800000000")],
            .found(at: "apns-expiration", .note)),
        .request(
            "H016", .background, [.init("apns-collapse-id", String(repeating: "é", count: 33))],
            .found(at: "apns-collapse-id", .error)),
        .request(
            "H016", .background, [.init("apns-collapse-id", String(repeating: "é", count: 32))],
            .clean),
        .request(
            "G009", .background, [.init("content-encoding", "identity")], .clean),
        .request(
            "G009", .background, [.init("content-encoding", "gzip")],
            .found(at: "content-encoding", .error)),
        DraftCase("BG018", bare(), "bare payload", .clean),
        .request(
            "BG018", .background, [.init("apns-expiration", "")],
            .found(at: "apns-expiration", .note)),
    ]

    private static let nameHeaders: [DraftCase] = [
        DraftCase(
            "H015", bare(.init("apns-priority", "5"), .init("Apns-Priority", "5")), "twice",
            .found(at: "apns-priority", .error)),
        .request("H015", .background, .clean),
        .request(
            "H017", .background, [.init("apns-alert-type", "background")],
            .found(at: "apns-alert-type", .warning)),
        .request(
            "H017", .background, [.init("apns-pushtype", "x")],
            .found(at: "apns-pushtype", .warning)),
        .request("H017", .background, [.init("apns-ttl", "60")], .found(at: "apns-ttl", .warning)),
        .request(
            "H017", .alert, [.init("mutable-content", "1")],
            .found(at: "mutable-content", .warning)),
        .request("H017", .alert, [.init("sound", "x")], .found(at: "sound", .warning)),
        .request("H017", .alert, [.init("content-type", "application/json")], .clean),
        .payload(
            "H017", .alert, #"{"aps":{"alert":"x"},"apns-priority":5}"#,
            .found(at: "/apns-priority", .warning)),
        .payload(
            "H017", .alert, #"{"aps":{"alert":"x"},"headers":{"apns-priority":5}}"#,
            .found(at: "/headers/apns-priority", .warning)),
        .payload(
            "H017", .alert, #"{"aps":{"alert":"x"},"headers":{"a":1},"v":{"apns-id":1}}"#, .clean),
        .request(
            "H017", .background, [.init("apns-collapse-id", "x"), .init("x-mine", "1")], .clean),
        DraftCase(
            "H018", bare(.init("APNs-Priority", "5")), "capitals",
            .found(at: "apns-priority", .note)),
        .request("H018", .background, .clean),
    ]

    static let typeHeaders: [DraftCase] = [
        .request(
            "BG006", .background, [.init("apns-priority", "10")],
            .found(at: "apns-priority", .error)),
        .request("BG006", .background, .clean),
        .request("BG006", .alert, [.init("apns-priority", "10")], .clean),
        .request(
            "BG006", .background,
            [.init("apns-priority", "10"), .init("apns-topic", "pass.com.example.card")], .clean),
        .request(
            "BG007", .background, [.init("apns-priority", "")],
            .found(at: "apns-priority", .error)),
        .request("BG007", .background, .clean),
        .request(
            "BG007", .background,
            [.init("apns-priority", ""), .init("apns-topic", "pass.com.example.card")], .clean),
        DraftCase("BG007", bare(), "bare payload", .clean),
        .request(
            "BG008", .background, [.init("apns-priority", "1")],
            .found(at: "apns-priority", .warning)),
        .request("BG008", .background, .clean),
        .request(
            "BG009", .background, [.init("apns-topic", "com.example.app.voip")],
            .found(at: "apns-topic", .error)),
        .request("BG009", .background, .clean),
        .payload(
            "BG013", .alert, #"{"aps":{"content-available":1}}"#,
            .found(at: "/aps/content-available", .error)),
        .payload("BG013", .alert, #"{"aps":{"content-available":1,"badge":0}}"#, .clean),
        .payload("BG013", .background, #"{"aps":{"content-available":1}}"#, .clean),
        .request(
            "BG014", .background, [.init("apns-push-type", "")],
            .found(at: "apns-push-type", .warning)),
        .request("BG014", .background, .clean),
        DraftCase("BG014", bare(), "bare payload", .clean),
        .payload(
            "BG015", .alert, #"{"aps":{"content-available":1,"alert":"x"}}"#,
            .found(at: "/aps/content-available", .note)),
        .payload("BG015", .alert, #"{"aps":{"alert":"x"}}"#, .clean),
        .payload("BG015", .alert, #"{"aps":{"content-available":0,"alert":"x"}}"#, .clean),
        .payload(
            "BG016", .alert, #"{"aps":{"content-available":1,"alert":""}}"#,
            .found(at: "/aps/alert", .warning)),
        .payload(
            "BG016", .alert, #"{"aps":{"content-available":1,"alert":{}}}"#,
            .found(at: "/aps/alert", .warning)),
        .payload(
            "BG016", .alert, #"{"aps":{"content-available":1,"sound":""}}"#,
            .found(at: "/aps/sound", .warning)),
        .payload(
            "BG016", .alert, #"{"aps":{"content-available":1,"alert":"x","sound":"default"}}"#,
            .clean),
        .payload(
            "BG016", .alert, #"{"aps":{"content-available":1,"alert":"x","sound":""}}"#, .clean),
        .payload("BG016", .alert, #"{"aps":{"alert":""}}"#, .clean),
        .payload(
            "BG016", .alert, #"{"aps":{"content-available":1,"sound":"","alert":""}}"#,
            .found(at: "/aps/alert", .warning)),
        .request(
            "VO001", .voip, [.init("apns-topic", "com.example.app")],
            .found(at: "apns-topic", .error)),
        .request(
            "VO001", .alert, [.init("apns-topic", "com.example.app.voip")],
            .found(at: "apns-push-type", .error)),
        .request("VO001", .background, [.init("apns-topic", "com.example.app.voip")], .clean),
        .request(
            "VO001", .voip, [.init("apns-topic", ".voip")], .found(at: "apns-topic", .error)),
        .request("VO001", .pushtotalk, .clean),
        .request("VO001", .voip, .clean),
        .request(
            "VO006", .voip, [.init("apns-priority", "5")], .found(at: "apns-priority", .warning)),
        .request("VO006", .voip, [.init("apns-priority", "")], .clean),
        DraftCase(
            "VO016", throughFirebase(.voip), "voip", .found(at: "apns-push-type", .error)),
        DraftCase(
            "VO016", throughFirebase(.voip, [.init("apns-push-type", "")]), "topic",
            .found(at: "apns-topic", .error)),
        DraftCase("VO016", throughFirebase(.alert), "alert", .clean),
        DraftCase(
            "VO016",
            throughFirebase(
                .voip,
                [
                    .init("apns-push-type", ""), .init("apns-topic", "com.example.app"),
                ]), "data", .clean),
        .request("VO016", .voip, .clean),
        .request(
            "VO005", .voip, [.init("apns-expiration", "")],
            .found(at: "apns-expiration", .warning)),
    ]

    private static func throughFirebase(
        _ type: PushType, _ changes: [PushDraft.Header] = []
    ) -> PushDraft {
        var draft = good(type, changes)
        draft.isForFirebase = true
        return draft
    }
}
