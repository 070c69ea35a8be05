// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Requests to services, as people write them")
struct ServiceRequestTests {
    private static let silent = #"{"aps":{"content-available":1},"v":1}"#

    @Test(
        "headers of Azure Notification Hubs are Apple's in documents too",
        arguments: ["5", "10"])
    func azure(priority: String) async throws {
        let expected = priority == "10" ? ["error BG006"] : []
        let headers =
            #"{"ServiceBusNotification-Format":"apple","Content-Type":"application/json","#
            + #""X-Apns-Push-Type":"background","X-Apns-Priority":"\#(priority)"}"#
        let yaml =
            "headers:\n  X-Apns-Push-Type: background\n  X-Apns-Priority: \"\(priority)\"\n"
            + "payload:\n  aps:\n    content-available: 1\n  v: 1\n"
        let body = Self.silent.replacing("\"", with: "\\\"")
        let template =
            #"{"installationId":"i","platform":"apns","pushChannel":"p","templates":{"t":{"#
            + #""body":"\#(body)","headers":\#(headers)}}}"#
        let collection =
            #"{"item":[{"request":{"method":"POST","url":"https://a.example.com/messages","#
            + #""header":[{"key":"ServiceBusNotification-Format","value":"apple"},"#
            + #"{"key":"X-Apns-Push-Type","value":"background"},"#
            + #"{"key":"X-Apns-Priority","value":"\#(priority)"}],"#
            + #""body":{"raw":"\#(body)"}}}]}"#
        for (text, name) in [
            (#"{"headers":\#(headers),"payload":\#(Self.silent)}"#, "a.json"), (yaml, "a.yaml"),
            (template, "a.json"), (collection, "a.json"),
        ] {
            let found = try await FirebaseTests.findings(text, name: name)
            #expect(found.map { String($0.prefix(11)) } == expected, "\(text)")
        }
    }

    @Test(
        "a flag of a service in quotes is judged as it was meant, and told",
        arguments: [
            (
                #"{"app_id":"a","contents":{"en":"x"},"content_available":"true"}"#,
                ["warning G014 /content_available"]
            ),
            (
                #"{"to":"cX1:APA91bHu","priority":"high","content_available":"true","#
                    + #""data":{"a":"b"}}"#,
                ["error BG006 /priority", "warning G014 /content_available"]
            ),
            (
                #"{"notifications":[{"tokens":["a"],"platform":1,"message":"x","#
                    + #""mutable_content":"1"}]}"#,
                ["warning G014 /notifications/0/mutable_content"]
            ),
            (#"{"app_id":"a","contents":{"en":"x"},"content_available":"{{flag}}"}"#, []),
        ])
    func textFlags(text: String, expected: [String]) async throws {
        #expect(try await FirebaseTests.findings(text) == expected)
    }

    @Test(
        "a typing error in a member of a service is told",
        arguments: [
            (#""contents":{"en":"x"},"content_avaliable":true"#, ["content_avaliable"]),
            (#""content_avalible":true,"data":{"k":"v"}"#, ["content_avalible"]),
            (#""contents":{"en":"x"},"mutable_contant":true"#, ["mutable_contant"]),
            (#""contents":{"en":"x"},"include_segments":["All"]"#, ["include_segments"]),
            (
                #""contents":{"en":"x"},"apns_push_type_overide":"alert""#,
                ["apns_push_type_overide"]
            ),
            (
                #""contents":{"en":"x"},"include_external_user_ids":["a"],"include_player_ids":["#
                    + #""b"],"ios_badgeType":"Increase","ios_badgeCount":1,"content_extra":1"#, []
            ),
            (#""contents":{"en":"x"},"content_available_at":"2026-11-27""#, []),
            (
                #""contents":{"en":"x"},"ios_categori":"a","ios_categary":"b""#,
                ["ios_categori"]
            ),
        ])
    func misspelt(members: String, expected: [String]) async throws {
        let receiver = members.contains("_segments") ? "" : #","included_segments":["All"]"#
        let request = #"{"app_id":"a",\#(members)\#(receiver)}"#
        let found = expected.map { "warning G012 /" + $0 }
        #expect(try await FirebaseTests.findings(request) == found)
        let page = "Send\n\n```json\n\(request)\n```\n"
        #expect(try await FirebaseTests.findings(page, name: "a.md") == found)
    }

    @Test("one notification of gorush needs no list around it")
    func gorush() async throws {
        let one = #"{"tokens":["t"],"platform":1,"content_available":true,"topic":"a.b"}"#
        #expect(
            try await FirebaseTests.findings(one).map { String($0.prefix(11)) } == ["error BG013"])
        for other in [
            one.replacing("1", with: "2"), #"{"tokens":["t"],"platform":1,"enabled":true}"#,
            #"{"tokens":["t"],"platform":1,"topic":"a.b","data":{}}"#,
            one.replacing("true", with: #"true,"push_type":"background","priority":"normal""#),
        ] {
            #expect(try await FirebaseTests.findings(other) == [], "\(other)")
        }
    }

    @Test(
        "a message of Firebase's present API in one of Amazon SNS is judged as by itself",
        arguments: [
            (#""apns":{"payload":{"aps":{"badge":"1"}}}"#, ["error G014"]),
            (#""apns":{"payload":{"aps":{"badge":1}}},"data":{"n":1}"#, ["error G014"]),
            (#""apns":{"payload":{"aps":{"badge":1}}},"data":{"n":"1"}"#, []),
            (#""notification":{"title":"x","sound":"y"}"#, []),
        ])
    func presentAPI(members: String, expected: [String]) async throws {
        let inner = #"{"fcmV1Message":{"message":{\#(members)}}}"#.replacing("\"", with: "\\\"")
        let found = try await FirebaseTests.findings(#"{"default":"d","GCM":"\#(inner)"}"#)
        #expect(found.map { String($0.prefix(10)) } == expected)
    }

    @Test("members of Firebase's former API are refused in a message of the present one")
    func formerNames() async throws {
        let text = #"{"message":{"token":"t","content_available":true,"android":{}}}"#
        #expect(
            try await FirebaseTests.findings(text)
                == ["error G012 /message/content_available"])
        let other = text.replacing("{\"message", with: "{\"id\":1,\"message")
        #expect(try await FirebaseTests.findings(other) == [])
    }

    @Test(
        "a message of Firebase without its object is warned of what Firebase refuses",
        arguments: [
            (
                #"{"token":"t","notification":{"title":"a","sound":"b"},"webpush":{},"apns":{"#
                    + #""payload":{"aps":{"badge":1}}}}"#, ["warning G012 /notification/sound"]
            ),
            (
                #"{"data":{"a":1},"android":{},"apns":{"payload":{"aps":{"badge":1}}}}"#,
                ["warning G014 /data/a"]
            ),
            (
                #"{"priority":"high","data":{"a":"1"},"android":{},"apns":{"#
                    + #""payload":{"aps":{"badge":1}}}}"#, ["warning G012 /priority"]
            ),
            (
                #"{"notification":{"title":"a"},"android":{},"apns":{"aps":{"badge":1}}}"#,
                ["error G010 /apns/aps"]
            ),
            (
                #"{"message":{"token":"t","notification":{"title":"a"},"data":{"a":null}}}"#,
                ["error G014 /message/data/a"]
            ),
            (
                #"{"priority":"high","apns":{"headers":{"apns-priority":"10"},"#
                    + #""payload":{"aps":{"badge":1}}}}"#, ["warning G012 /priority"]
            ),
            // Other services have such members too.
            (
                #"{"notification":{"title":"a","imageUrl":"b"},"android":{},"apns":{"#
                    + #""payload":{"aps":{"badge":1}}}}"#, []
            ),
            (#"{"token":"t","notification":{"title":"a"},"priority":"high"}"#, []),
            (#"{"token":"t","notification":{"title":"a"},"data":{"a":1}}"#, []),
            (#"{"token":"t","notification":{"id":1,"sound":"b"},"data":{"a":1}}"#, []),
            (#"{"topic":"orders","notification":{"title":"a","sound":"b"}}"#, []),
            (#"{"notification":{"title":"a"},"data":{},"apns":{"aps":{"badge":1}}}"#, []),
            (
                #"{"token":"t","user":1,"notification":{"title":"a","sound":"b"}}"#, []
            ),
        ])
    func bareMessages(text: String, expected: [String]) async throws {
        #expect(try await FirebaseTests.findings(text) == expected)
    }

    @Test("a lifetime in text shows Firebase's HTTP API, whose payload has Apple's names")
    func lifetimes() async throws {
        let text =
            #"{"token":"t","android":{"ttl":60000},"data":{"a":"1"},"apns":{"headers":{"#
            + #""apns-priority":"5"},"payload":{"aps":{"contentAvailable":true}}}}"#
        #expect(try await FirebaseTests.findings(text) == [])
        let other = text.replacing("60000", with: #""60s""#)
        #expect(
            try await FirebaseTests.findings(other).contains {
                $0.hasSuffix("G012 /apns/payload/aps/contentAvailable")
            })
    }

    @Test("a device of a push gateway of Matrix says by its app id that it is for PushKit")
    func matrix() async throws {
        let request =
            #"{"notification":{"room_id":"!r:a.org","devices":[{"app_id":"org.a.voip","#
            + #""pushkey":"k","data":{"default_payload":{"aps":{"alert":{"loc-key":"C"}}}}}]}}"#
        let pointer = "/notification/devices/0/data/default_payload/aps/alert"
        #expect(try await FirebaseTests.findings(request) == ["warning VO009 " + pointer])
        let other = request.replacing(".voip", with: ".ios")
        #expect(try await FirebaseTests.findings(other) == [])
        for command in ["cat > n.json << JSON", "curl https://a.org/notify -d @- << JSON"] {
            let script = "#!/bin/sh\n\(command)\n\(request)\nJSON\n"
            let page = "# Test\n\n```sh\n\(script)```\n"
            for (text, name) in [(script, "a.sh"), (page, "a.md")] {
                #expect(
                    try await FirebaseTests.findings(text, name: name)
                        == ["warning VO009 " + pointer])
            }
        }
    }

    @Test("requests of services are recognised in the body of a saved request")
    func collections() async throws {
        let url = "https://fcm.googleapis.com/v1/projects/p/messages:send"
        let collection = { (body: String) in
            let raw = body.replacing("\"", with: "\\\"")
            return #"{"item":[{"request":{"method":"POST","header":[],"url":"\#(url)","#
                + #""body":{"raw":"\#(raw)"}}}]}"#
        }
        let firebase =
            #"{"message":{"token":"t","notification":{"title":"a","sound":"b"}}}"#
        #expect(
            try await FirebaseTests.findings(collection(firebase)) == [
                "error G012 /item/0/request/body/raw/message/notification/sound"
            ])
        let oneSignal = #"{"app_id":"a","contents":{"en":"x"},"content-available":1}"#
        #expect(
            try await FirebaseTests.findings(collection(oneSignal)) == [
                "warning G012 /item/0/request/body/raw/content-available"
            ])
        let own = #"{"message":{"to":"ann","notification":{"title":"a","sound":1}}}"#
        #expect(try await FirebaseTests.findings(collection(own)) == [])
    }
}
