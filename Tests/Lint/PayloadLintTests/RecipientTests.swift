// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Requests with a recipient, of Firebase and of others")
struct RecipientTests {
    @Test(
        "a recipient and a notification alone are those of any service",
        arguments: [
            (#"{"to":"user-1","notification":{"title":"x","text":"y"},"data":{"a":1}}"#, []),
            (#"{"to":"Ann","notification":{"id":3,"title":"x"},"data":{"a":{"b":1}}}"#, []),
            (#"{"to":"bob","data":{"alert":"n","sound":"x"}}"#, []),
            (
                #"{"to":"a@example.com","priority":"high","notification":{"text":"y"},"#
                    + #""data":{"a":1}}"#, []
            ),
            (#"{"to":["bob"],"notification":{"sound":"s","text":"y"}}"#, []),
            (
                #"{"to":"cX1:APA91bHun4M","notification":{"title":"x"},"data":{"a":1}}"#,
                ["warning G014 /data/a"]
            ),
            (
                #"{"to":"/topics/news","notification":{"title":"x","text":"y","vibrate":1}}"#,
                ["warning G012 /notification/text"]
            ),
            (
                #"{"to":"t","priority":"high","notification":{"title":"x","icon":"i"},"#
                    + #""data":{"a":1}}"#, ["warning G014 /data/a"]
            ),
            (
                #"{"to":"<device token>","notification":{"body":"x","click_action":"a"},"#
                    + #""data":{"a":"1"}}"#, []
            ),
        ])
    func anyService(text: String, expected: [String]) async throws {
        #expect(try await FirebaseTests.findings(text) == expected)
    }

    @Test("a URL of the former API shows that a request is for Firebase")
    func urls() async throws {
        let body = #"{"to":"t","notification":{"title":"x"},"data":{"a":1}}"#
        for (url, expected) in [
            ("https://fcm.googleapis.com/fcm/send", ["warning G014 /data/a"]),
            ("https://push.example.com/send", []),
        ] {
            let command = "curl -d '\(body)' \(url)\n"
            #expect(try await FirebaseTests.findings(command, name: "a.sh") == expected)
        }
    }

    @Test(
        "the former API has no parts for platforms",
        arguments: [
            (
                #"{"to":"DEVICE_TOKEN","notification":{"title":"x"},"#
                    + #""apns":{"payload":{"aps":{"badge":"1","x":2}}},"android":{}}"#,
                ["warning G012 /apns"]
            ),
            // Nothing shows that Firebase is asked, so `apns` may be what counts.
            (
                #"{"to":"ann","notification":{"title":"x"},"#
                    + #""apns":{"payload":{"aps":{"badge":"1"}}}}"#,
                ["error G014 /apns/payload/aps/badge"]
            ),
            (
                #"{"registration_ids":["t"],"notification":{"title":"x"},"webpush":{}}"#,
                ["warning G012 /webpush"]
            ),
            (#"{"to":"ann","android":{"title":"x"},"data":{"a":1}}"#, []),
            (
                #"{"to":["ann"],"apns":{"payload":{"aps":{"badge":"1"}}}}"#,
                ["error G014 /apns/payload/aps/badge"]
            ),
            (
                #"{"token":"t","apns":{"payload":{"aps":{"badge":"1"}}}}"#,
                ["error G014 /apns/payload/aps/badge"]
            ),
        ])
    func partsForPlatforms(text: String, expected: [String]) async throws {
        #expect(try await FirebaseTests.findings(text) == expected)
    }

    @Test(
        "other servers and the addresses of people are none of Firebase's",
        arguments: [
            (
                #"{"to":"DEVICE_TOKEN","content_available":true,"data":{"n":1},"#
                    + #""notification":{"title":"x","category":"c"}}"#,
                "https://api.pushy.me/push?api_key=$KEY"
            ),
            (
                #"{"to":"user-42","notification":{"title":"a"},"#
                    + #""apns":{"payload":{"aps":{"badge":1}}}}"#, "https://push.example.com/send"
            ),
            (
                #"{"to":"a@example.com","notification":{"title":"a"},"#
                    + #""apns":{"payload":{"aps":{"badge":1}}}}"#, ""
            ),
            (#"{"to":"14155550101","notification":{"sound":"a","kind":"b"}}"#, ""),
        ])
    func otherServers(text: String, url: String) async throws {
        let command = url.isEmpty ? text : "curl \(url) -d '\(text)'\n"
        let found = try await FirebaseTests.findings(command, name: url.isEmpty ? "a.json" : "a.sh")
        #expect(found == [])
    }

    @Test(
        "the former API knows two priorities",
        arguments: [
            ("10", ["warning G014 /priority"]), (#""10""#, ["warning G014 /priority"]),
            (#""max""#, ["warning G014 /priority"]), (#""high""#, []), (#""<priority>""#, []),
            (#""HIGH""#, []),
        ])
    func priorities(value: String, expected: [String]) async throws {
        let text = #"{"to":"cX1:APA91bHun4M","notification":{"body":"x"},"priority":\#(value)}"#
        #expect(try await FirebaseTests.findings(text) == expected)
        let other = #"{"to":"Ann","notification":{"title":"x"},"priority":\#(value)}"#
        #expect(try await FirebaseTests.findings(other) == [])
    }

    @Test("Firebase sends no calls, and data like that of one makes none")
    func dataOfCalls() async throws {
        let data = #""data":{"uuid":"7","caller_name":"Ann"}"#
        for headers in [
            #""apns-priority":"5""#, #""apns-priority":"5","apns-topic":"com.a.b""#,
        ] {
            let text = #"{"message":{"token":"t",\#(data),"apns":{"headers":{\#(headers)}}}}"#
            #expect(try await FirebaseTests.findings(text) == [])
        }
        let part = #"{"token":"t","apns":{"headers":{"apns-topic":"a.b"},"#
        #expect(
            try await FirebaseTests.findings(part + #""payload":{"aps":{},"uuid":"1"}}}"#) == [])
    }

    @Test(
        "a message with data alone is one of Firebase where its recipient is a token",
        arguments: [
            (
                #"{"message":{"token":"DEVICE_TOKEN","data":{"a":{"n":1}}}}"#,
                ["error G014 /message/data/a"]
            ),
            (#"{"message":{"token":"DEVICE_TOKEN","data":{"a":"1"}}}"#, []),
            (#"{"message":{"token":"DEVICE_TOKEN","data":{"a":1},"text":"x"}}"#, []),
            (#"{"message":{"token":"t","data":{"a":1}}}"#, []),
            (#"{"message":{"token":"session-token-7","data":{"a":1}}}"#, []),
            (#"{"message":{"topic":"orders","data":{"id":1}}}"#, []),
        ])
    func dataAlone(text: String, expected: [String]) async throws {
        #expect(try await FirebaseTests.findings(text) == expected)
    }

    @Test(
        "the part for Firebase of a message of Amazon SNS is judged",
        arguments: [
            (
                #"{\"notification\":{\"title\":\"a\",\"content_available\":true}}"#,
                ["warning G012 /GCM/notification/content_available"]
            ),
            (#"{\"notification\":{\"title\":\"a\"}}"#, []), (#"{\"data\":{\"a\":1}}"#, []),
            // For Android.
            (#"{\"data\":{\"message\":\"a\",\"alert\":\"b\",\"badge\":\"2\"}}"#, []),
            (#"{\"notification\":{\"title\":\"a\",\"visibility\":\"1\"}}"#, []),
            ("text", []),
        ])
    func partOfAmazon(part: String, expected: [String]) async throws {
        for others in ["", #""default":"x","#] {
            let text = #"{\#(others)"GCM":"\#(part)"}"#
            #expect(try await FirebaseTests.findings(text) == expected)
        }
        // It is then for other systems than Apple's.
        let both = #"{"APNS":"{\"aps\":{\"badge\":1}}","GCM":"\#(part)"}"#
        #expect(try await FirebaseTests.findings(both) == [])
    }
}
