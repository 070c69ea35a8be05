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
                #"{"to":"t","notification":{"title":"x"},"#
                    + #""apns":{"payload":{"aps":{"badge":"1","x":2}}},"android":{}}"#,
                ["warning G012 /apns"]
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
            ("text", []),
        ])
    func partOfAmazon(part: String, expected: [String]) async throws {
        for others in ["", #""default":"x","#] {
            let text = #"{\#(others)"GCM":"\#(part)"}"#
            #expect(try await FirebaseTests.findings(text) == expected)
        }
    }
}
