// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Requests to Firebase, and what the services refuse or ignore")
struct FirebaseTests {
    /// The errors and warnings of a file, as `error G001 /aps`: severity, rule and pointer.
    static func findings(_ text: String, name: String = "a.json") async throws -> [String] {
        let folder = try TestFolder()
        let run = try await FinishedRun([try folder.write(text, to: name)]) { $0.format = .json }
        let found = try run.files().flatMap {
            try #require($0["diagnostics"] as? [[String: Any]])
        }
        return found.filter { $0["severity"] as? String != "note" }.map { finding in
            "\(finding["severity"] ?? "") \(finding["rule"] ?? "") \(finding["pointer"] ?? "")"
        }.sorted()
    }

    @Test("what lacks in `aps` has a place that messages have")
    func pointerOfMissing() async throws {
        let message =
            #"{"message":{"token":"t","data":{"v":"1"},"apns":{"headers":{"apns-priority":"5","#
            + #""apns-push-type":"background"}}}}"#
        #expect(try await Self.findings(message) == ["error BG001 /message/apns/payload/aps"])
    }

    @Test(
        "the former API ignores `aps`",
        arguments: [
            (
                #"{"to":"t","priority":"high","content_available":true,"#
                    + #""aps":{"content_available":1},"data":{"k":"v"}}"#,
                ["error BG006 /priority", "warning G012 /aps"]
            ),
            (
                #"{"registration_ids":["t"],"notification":{"title":"x"},"#
                    + #""aps":{"badge":"1"}}"#, ["warning G012 /aps"]
            ),
            (
                #"{"registration_ids":["t"],"content_available":true,"priority":"normal","#
                    + #""aps":{"badge":"1"}}"#, ["warning G012 /aps"]
            ),
            (#"{"aps":{"badge":"1"},"to":"Ann","data":{"k":1}}"#, ["error G014 /aps/badge"]),
            (#"{"aps":{"badge":"1"},"message":{"to":"Ann","k":1}}"#, ["error G014 /aps/badge"]),
            (
                #"{"aps":{"badge":"1"},"message":{"token":"a","notification":{"title":"x"}}}"#,
                ["error G014 /aps/badge"]
            ),
            (
                #"{"aps":{"badge":"1"},"to":"Ann","notification":"n"}"#, ["error G014 /aps/badge"]
            ),
        ])
    func besideAPS(text: String, expected: [String]) async throws {
        #expect(try await Self.findings(text) == expected)
    }

    @Test(
        "a flag inside `notification` is told for any recipient, and shown is what is shown",
        arguments: [
            (
                #"{"to":"t","notification":{"content_available":true},"data":{"k":"v"}}"#,
                ["warning G012 /notification/content_available"]
            ),
            (
                #"{"condition":"'g' in topics","priority":"high","#
                    + #""notification":{"content_available":true},"data":{"k":"v"}}"#,
                ["warning G012 /notification/content_available"]
            ),
            (
                #"{"to":"t","token":"t","notification":{"content_available":true,"sound":"x"}}"#,
                ["warning G012 /notification/content_available"]
            ),
            (
                #"{"to":"t","priority":"high","content_available":true,"#
                    + #""notification":{"sound":"default","badge":"2"}}"#, []
            ),
            (
                #"{"to":"t","priority":"high","content_available":true,"#
                    + #""notification":{"body_loc_key":"k"}}"#, []
            ),
            (#"{"condition":"'g' in topics","notification":{"title":"x"}}"#, []),
        ])
    func misplacedFlags(text: String, expected: [String]) async throws {
        #expect(try await Self.findings(text) == expected)
    }

    @Test(
        "the former API sends as text what is none in `data`, and shows nothing of it",
        arguments: [
            (
                #"{"to":"DEVICE_TOKEN","notification":{"sound":"x"},"#
                    + #""data":{"a":"b","n":{"k":1},"m":2}}"#,
                ["warning G014 /data/n"]
            ),
            // Other services have these members too.
            (#"{"to":"t","notification":{"sound":"x"},"data":{"n":{"k":1}}}"#, []),
            (
                #"{"to":"t","time_to_live":9,"notification":{"title":"x","category":"c"}}"#, []
            ),
            (
                #"{"to":"t","data":{"alert":"n","sound":"x"},"priority":"high"}"#,
                ["warning AL001 /data"]
            ),
            (#"{"to":"t","data":{"alert":"n","k":1},"priority":"high"}"#, []),
            (#"{"to":"bob","from":"ann","data":{"callId":1}}"#, []),
            (#"{"condition":"load > 9","priority":"high","data":{"alert":"x","sound":"s"}}"#, []),
            (#"{"to":"t","notification":{"title":"x"},"data":{"a":"b","n":null}}"#, []),
        ])
    func data(text: String, expected: [String]) async throws {
        #expect(try await Self.findings(text) == expected)
    }

    @Test(
        "Firebase refuses a message with members or data that it does not know",
        arguments: [
            (
                #"{"message":{"token":"t","notification":{"title":"x","sound":"s","badge":1}}}"#,
                [
                    "error G012 /message/notification/badge",
                    "error G012 /message/notification/sound",
                ]
            ),
            (
                #"{"message":{"topic":"t","android":{},"data":{"a":{"n":1}}}}"#,
                ["error G014 /message/data/a"]
            ),
            (
                #"{"validate_only":true,"message":{"topic":"t","data":{"a":1},"#
                    + #""notification":{"title":"x","body":"y","image":"https://example.com/i"}}}"#,
                ["error G014 /message/data/a"]
            ),
            (#"{"message":{"topic":"t","data":{"a":"1"}}}"#, []),
            (#"{"message":{"topic":"t","data":{"a":1}},"user":7}"#, []),
            (#"{"message":{"data":{"a":1},"notification":{"title":"x","sound":"s"}}}"#, []),
            (#"{"token":"t","data":{"a":1},"notification":{"title":"x","sound":"s"}}"#, []),
        ])
    func refusals(text: String, expected: [String]) async throws {
        #expect(try await Self.findings(text) == expected)
    }

    @Test("a collection says by its URL that a message is for Firebase")
    func collections() async throws {
        let text =
            #"{"request":{"method":"POST","url":"https://fcm.googleapis.com/fcm/send","header":[],"#
            + #""body":{"mode":"raw","raw":"{\"notification\":{\"content_available\":true}}"}}}"#
        #expect(
            try await Self.findings(text)
                == ["warning G012 /request/body/raw/notification/content_available"])
    }

    @Test("what a server of one's own makes of a message is not known")
    func relays() async throws {
        let body = #"{"message":{"token":"t","notification":{"title":"x","sound":"s"}}}"#
        let command = "curl -d '\(body)' "
        #expect(
            try await Self.findings("\(command)https://push.example.com/send\n", name: "a.sh") == []
        )
        #expect(
            try await Self.findings(
                "\(command)https://fcm.googleapis.com/v1/projects/p/messages:send\n", name: "a.sh"
            ) == ["error G012 /message/notification/sound"])
    }

    @Test(
        "Amazon SNS takes a payload only in a string",
        arguments: [
            (#"{"APNS":{"aps":{"alert":"x"}}}"#, ["warning G014 /APNS"]),
            (#"{"default":"x","APNS":{"aps":{"alert":"x"}}}"#, ["warning G014 /APNS"]),
            (
                #"{"Message":"{\"APNS\":{\"aps\":{\"alert\":\"x\"}}}"}"#,
                ["error G014 /Message/APNS"]
            ),
            (#"{"default":"x","APNS":"{\"aps\":{\"alert\":\"x\"}}"}"#, []),
            (#"{"interests":["a"],"apns":{"aps":{"alert":"x"}}}"#, []),
        ])
    func amazon(text: String, expected: [String]) async throws {
        #expect(try await Self.findings(text) == expected)
    }

    @Test("OneSignal adds an id to each push, by which the app tells calls apart")
    func serviceIDs() async throws {
        let call =
            #"{"app_id":"a","include_player_ids":["p"],"contents":{"en":"x"},"#
            + #""apns_push_type_override":"voip"}"#
        #expect(try await Self.findings(call) == [])
    }

    @Test(
        "OneSignal asks for a text in English",
        arguments: [
            (#"{"cs":"N"}"#, ["error G012 /contents"]), (#"{"cs":"N","en":"x"}"#, []),
            (#"{"{{language}}":"N"}"#, []), (#"{"zh-Hans":"N"}"#, ["error G012 /contents"]),
            (#""text""#, []),
        ])
    func languages(contents: String, expected: [String]) async throws {
        let text = #"{"app_id":"a","included_segments":["All"],"contents":\#(contents)}"#
        #expect(try await Self.findings(text) == expected)
        let command = "curl -d '\(text)' "
        let url = "https://onesignal.com/api/v1/notifications\n"
        #expect(try await Self.findings(command + url, name: "a.sh") == expected)
        #expect(
            try await Self.findings(command + "https://push.example.com/x\n", name: "a.sh") == [])
    }
}
