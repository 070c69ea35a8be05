// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

@Suite("Values that a service refuses")
struct ServiceValueTests {
    @Test(
        "the headers of a message of Firebase are text",
        arguments: [
            (
                #"{"message":{"token":"t","notification":{"title":"x"},"apns":{"headers":"#
                    + #"{"apns-priority":10},"payload":{"aps":{"sound":"default"}}}}}"#,
                ["error G014 /message/apns/headers/apns-priority"]
            ),
            (
                #"{"token":"t","notification":{"title":"x"},"android":{"priority":"high"},"#
                    + #""apns":{"headers":{"apns-priority":10},"payload":{"aps":{}}}}"#,
                ["warning G014 /apns/headers/apns-priority"]
            ),
            (
                #"{"message":{"token":"t","notification":{"title":"x"},"apns":{"headers":"#
                    + #"{"apns-priority":"10"},"payload":{"aps":{"sound":"default"}}}}}"#, []
            ),
            (
                #"{"message":{"token":"t","notification":{"title":"x"},"apns":{"headers":"#
                    + #"{"priority":"10"},"payload":{"aps":{"sound":"default"}}}}}"#,
                ["warning H017 /message/apns/headers/priority"]
            ),
            (
                #"{"message":{"token":"t","notification":{"title":"x"},"#
                    + #""apns":{"notification":{"sound":"default"}}}}"#,
                ["error G012 /message/apns/notification"]
            ),
            (
                #"{"apns":{"headers":{"apns-priority":10},"payload":{"aps":{"badge":1}}}}"#,
                ["warning G014 /apns/headers/apns-priority"]
            ),
        ])
    func headers(text: String, expected: [String]) async throws {
        #expect(try await FirebaseTests.findings(text) == expected)
    }

    @Test(
        "a badge is a number, and a priority one of the service's",
        arguments: [
            (
                #"{"to":"ExponentPushToken[x]","body":"x","badge":"1"}"#, ["error G014 /badge"]
            ),
            (
                #"{"to":"ExponentPushToken[x]","body":"x","priority":"urgent"}"#,
                ["warning G014 /priority"]
            ),
            (#"{"to":"ExponentPushToken[x]","body":"x","priority":"default"}"#, []),
            (
                #"{"notifications":[{"tokens":["t"],"platform":1,"message":"x","badge":"1"}]}"#,
                ["error G014 /notifications/0/badge"]
            ),
            (
                #"{"messages":{"apple_push":{"alert":"x","badge":"1"}},"external_user_ids":["u"]}"#,
                ["error G014 /messages/apple_push/badge"]
            ),
            (
                #"{"messages":{"apple_push":{"alert":"x","badge":"{{n}}"}},"#
                    + #""external_user_ids":["u"]}"#, []
            ),
        ])
    func badges(text: String, expected: [String]) async throws {
        #expect(try await FirebaseTests.findings(text) == expected)
    }

    @Test(
        "Pusher Beams sends what is in `apns`",
        arguments: [
            (
                #"{"interests":["a"],"apns":{"payload":{"aps":{"alert":"x"}}}}"#,
                ["error G010 /apns/payload"]
            ),
            (#"{"interests":["a"],"apns":{"aps":{"alert":"x"},"kind":"a"}}"#, []),
        ])
    func beams(text: String, expected: [String]) async throws {
        #expect(try await FirebaseTests.findings(text) == expected)
    }

    @Test(
        "Firebase refuses its own names in data",
        arguments: [
            (
                #"{"message":{"token":"t","notification":{"title":"x"},"data":{"from":"a"}}}"#,
                ["error G016 /message/data/from"]
            ),
            (
                #"{"message":{"token":"t","apns":{"payload":{"aps":{"alert":"x"},"from":"a"}}}}"#,
                []
            ),
        ])
    func reserved(text: String, expected: [String]) async throws {
        #expect(try await FirebaseTests.findings(text) == expected)
    }

    @Test(
        "a payload of a call says that it is for PushKit",
        arguments: [
            (
                #"{"aps":{"sound":"x"},"voip":true,"call_id":"c"}"#, ["warning VO009 /aps/sound"]
            ),
            (
                #"{"aps":{"alert":"x"},"push_type":"voip","call_id":"c"}"#,
                ["warning VO009 /aps/alert"]
            ),
            (#"{"aps":{"alert":"x"},"voip":true,"call_id":"c"}"#, []),
            (
                #"{"aps":{"alert":"Rate your call","category":"R"},"voip":true,"call_id":"c"}"#, []
            ),
            (
                #"{"aps":{"content-available":1},"call":{"call_id":"c"},"#
                    + #""voip":{"push_type":"voip"}}"#, ["warning VO009 /aps/content-available"]
            ),
            (#"{"aps":{"alert":"x"},"voip":false,"call_id":"c"}"#, []),
            (#"{"aps":{"alert":"x"},"voip":true,"title":"c"}"#, []),
            (#"{"aps":{"alert":"x"},"features":{"voip":true},"sessionId":"c"}"#, []),
            (#"{"aps":{"alert":"x"},"voip":true,"call_id":"c","event":"missed"}"#, []),
            (
                #"{"aps":{"content-available":1},"callUUID":"0","handle":"a"}"#,
                ["warning VO009 /aps/content-available"]
            ),
            (#"{"aps":{"content-available":1},"callUUID":"0","handle":"a","type":"log"}"#, []),
            (#"{"aps":{"content-available":1},"callUUID":"0","handle":"a","event":"end"}"#, []),
            (#"{"aps":{"content-available":1},"callUUID":"0"}"#, []),
            (#"{"aps":{"content-available":1},"handle":"a"}"#, []),
            (#"{"aps":{"content-available":1},"callId":"0","handle":"a"}"#, []),
            (#"{"aps":{"content-available":1},"call":{"callUUID":"0","handle":"a"}}"#, []),
            (#"{"aps":{"alert":"x"},"callUUID":"0","handle":"a"}"#, []),
            (#"{"aps":{"badge":1},"callUUID":"0","handle":"a"}"#, []),
            (#"{"aps":{},"callUUID":"0","handle":"a"}"#, []),
            (#"{"aps":{"content-available":1},"callUUID":"0","handles":["a"]}"#, []),
        ])
    func calls(text: String, expected: [String]) async throws {
        #expect(try await FirebaseTests.findings(text) == expected)
    }

    @Test(
        "a comma before a closing bracket is an error beside comments too",
        arguments: [
            ("{\"aps\":{\"alert\":\"x\"}, // a\n\"b\":{\"c\":1,}}", ["error G001 "]),
            ("{\"aps\":{\"alert\":\"x\"}, // a\n\"b\":{\"c\":1, // more\n}}", []),
            ("{\"aps\":{\"alert\":\"x\"}, // a\n\"b\":{\"c\":1}}", []),
        ])
    func commas(block: String, expected: [String]) async throws {
        let page = "# Push\n\n```json\n\(block)\n```\n"
        #expect(try await FirebaseTests.findings(page, name: "a.md") == expected)
    }

    @Test(
        "the push type and the priority beside a payload are those of its push",
        arguments: [
            (
                #"{"deviceToken":"t","pushType":"background","priority":10,"#
                    + #""payload":{"aps":{"content-available":1},"v":1}}"#,
                ["error BG006 /priority"]
            ),
            (
                #"{"DeviceToken":"t","PushType":"voip","#
                    + #""Payload":{"aps":{"alert":"x"},"callId":"c"}}"#,
                ["warning VO009 /Payload/aps/alert"]
            ),
            (
                #"{"deviceToken":"t","priority":10,"payload":{"aps":{"content-available":1}}}"#, []
            ),
            (
                #"{"deviceToken":"t","pushType":"data","priority":10,"#
                    + #""payload":{"aps":{"content-available":1}}}"#, []
            ),
        ])
    func typesBeside(text: String, expected: [String]) async throws {
        #expect(try await FirebaseTests.findings(text) == expected)
    }

    @Test("a payload that YAML has as a literal text is judged")
    func literals() async throws {
        let text = """
            kind: ConfigMap
            data:
              note: |
                {"a": 1}
              one.json: |-
                {
                  "aps": {"alert": "x", "badge": "1"}
                }
              two.json: |
                {"headers": {"apns-push-type": "background", "apns-topic": "com.example.a",
                  "apns-priority": "10"}, "payload": {"aps": {"content-available": 1}}}
            """
        #expect(
            try await FirebaseTests.findings(text, name: "a.yaml")
                == ["error BG006 /headers/apns-priority", "error G014 /aps/badge"])
    }

    @Test(
        "a request has the form of the API that it is sent to",
        arguments: [
            (
                "fcm.googleapis.com/fcm/send",
                #"{"message":{"token":"t","notification":{"title":"x"}}}"#,
                ["error G012 /message"]
            ),
            ("fcm.googleapis.com/fcm/send", #"{"to":"t","notification":{"title":"x"}}"#, []),
            (
                "fcm.googleapis.com/v1/projects/p/messages:send",
                #"{"to":"t","notification":{"title":"x"}}"#, ["error G012 "]
            ),
            (
                "fcm.googleapis.com/v1/projects/p/messages:send",
                #"{"message":{"token":"t","notification":{"title":"x"}}}"#, []
            ),
            ("example.com/send", #"{"to":"t","notification":{"title":"x"}}"#, []),
        ])
    func destinations(url: String, body: String, expected: [String]) async throws {
        let text = "curl -H 'Content-Type: application/json' -d '\(body)' https://\(url)\n"
        #expect(try await FirebaseTests.findings(text, name: "a.sh") == expected)
    }

    @Test("a broadcast names its channel")
    func channels() async throws {
        let request = """
            POST /4/broadcasts/apps/com.example.a HTTP/2
            Host: api.push.apple.com
            apns-push-type: liveactivity
            apns-priority: 10
            apns-expiration: 0

            {"aps":{"timestamp":4000000000,"event":"update","content-state":{"a":1}}}
            """
        for (text, expected) in [
            (request, ["error H006 "]),
            (request.replacing("apns-pr", with: "apns-channel-id: x\napns-pr"), []),
        ] {
            let page = "# Push\n\n```http\n\(text)\n```\n"
            #expect(try await FirebaseTests.findings(page, name: "a.md") == expected)
        }
    }

    @Test("a header without a colon is not sent")
    func colons() async throws {
        let text = """
            curl --http2 -H "authorization: bearer $T" -H 'apns-topic=com.example.a' \\
              -H 'apns-push-type alert' -H "$MORE" -d '{"aps":{"alert":"x"}}' \\
              https://api.push.apple.com/3/device/$D
            """
        #expect(
            try await FirebaseTests.findings(text, name: "a.sh")
                == ["error H017 ", "warning H017 "])
    }

    @Test("a template of YAML is none, and is not judged")
    func templates() async throws {
        let text = "{{- if .Values.push }}\naps:\n  alert: {{ .Values.text }}\n{{- end }}\n"
        #expect(try await FirebaseTests.findings(text, name: "a.yaml") == [])
    }

    @Test("the commands of a pipeline in YAML are judged")
    func pipelines() async throws {
        let text = """
            on: push
            jobs:
              a:
                steps:
                  - name: "It's sent"
                    run: |
                      curl --http2 -H "authorization: bearer ${{ secrets.T }}" \\
                        -H "apns-topic: com.example.a" -H "apns-push-type: background" \\
                        -d '{"aps":{"content-available":1},"v":1}' \\
                        https://api.push.apple.com/3/device/${{ secrets.D }}
            """
        #expect(try await FirebaseTests.findings(text, name: "a.yml") == ["error BG007 "])
        let other = text.replacing("api.push.apple.com/3/device", with: "example.com/a")
            .replacing("apns-", with: "x-")
        #expect(try await FirebaseTests.findings(other, name: "a.yml") == [])
    }
}
