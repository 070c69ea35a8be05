// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

extension WrapperTests {
    @Test("VO009 stays where VO016 is ignored")
    func ignoredFirebaseCall() async throws {
        let text =
            #"{"message":{"token":"t","apns":{"headers":{"apns-push-type":"voip"},"#
            + #""payload":{"aps":{"sound":"x"},"callUUID":"u"}}}}"#
        #expect(try await Self.findings(text, "VO009").count == 1)
    }

    @Test("Firebase sends no `aps` that is beside `payload`, which is judged all the same")
    func misplacedAPS() async throws {
        let found = try await Self.findings(
            #"{"message":{"token":"t","apns":{"headers":{"apns-priority":"10"},"#
                + #""aps":{"content-available":1}}}}"#, "G010,BG006")
        #expect(
            found == [
                "BG006 1:60 /message/apns/headers/apns-priority",
                "G010 1:66 /message/apns/aps",
            ])
        let beside = #"{"message":{"topic":"t","apns":{"payload":{"k":1},"aps":{"badge":1}}}}"#
        #expect(try await Self.findings(beside, "G010").count == 1)
        // Another service, whose `apns` is the payload.
        let other = #"{"recipient":{},"notification":{"title":"T"},"apns":{"aps":{"badge":1}}}"#
        #expect(try await Self.findings(other, "G010").isEmpty)
    }

    @Test("gorush: names and priorities of its own, and `alert` without a push type")
    func gorush() async throws {
        let start = #"{"notifications":[{"tokens":["t"],"platform":1,"topic":"a.b","#
        #expect(
            Self.payloads(
                start + #""message":"M","title":"T","badge":2,"data":{"k":"v"}},"#
                    + #"{"tokens":["t"],"platform":2,"message":"x"}]}"#)
                == [#"{"aps":{"alert":{"title":"T","body":"M"},"badge":2},"k":"v"}"#])
        let silent = #""push_type":"background","content_available":true,"data":{"k":"v"}"#
        #expect(
            try await Self.findings(start + silent + #","priority":"high"}]}"#, "BG006")
                == ["BG006 1:140 /notifications/0/priority"])
        #expect(
            try await Self.findings(start + silent + #","priority":"normal"}]}"#, "BG006").isEmpty)
        #expect(
            try await Self.findings(start + #""content_available":true}]}"#, "BG013").count == 1)
        let said = #""voip":true,"content_available":true,"data":{"callId":"u"}}]}"#
        #expect(try await Self.findings(start + said, "BG013").isEmpty)
        #expect(try await Self.findings(start + said, "VO009").count == 1)
        // gorush leaves out an empty message.
        #expect(
            try await Self.findings(start + #""message":"","# + silent + "}]}", "BG002").isEmpty)
        let call = #""push_type":"voip","data":{"callUUID":"u"}}]}"#
        #expect(try await Self.findings(start + call, "VO001").count == 1)
    }

    @Test("HTTP archives and Postman: a request to APNs itself has all its headers there")
    func savedRequests() async throws {
        let url = "https://api.push.apple.com/3/device/" + String(repeating: "a5", count: 32)
        let body = #""{\"aps\":{\"content-available\":1}}""#
        let archive =
            #"{"log":{"entries":[{"request":{"method":"POST","url":""# + url
            + #"","headers":[{"name":":method","value":"POST"},"#
            + #"{"name":"Apns-Push-Type","value":"background"}],"#
            + #""postData":{"mimeType":"application/json","text":"# + body + #"}}}]}}"#
        let found = try await Self.findings(archive, "H006,BG007,H018,H009")
        #expect(
            found.map { $0.split(separator: " ").map(String.init) }.map { $0[0] + " " + $0[2] }
                == [
                    "BG007 /log/entries/0/request/headers", "H006 /log/entries/0/request/headers",
                ])
        let collection =
            #"{"item":[{"request":{"method":"GET","header":[{"key":"apns-push-type","#
            + #""value":"{{type}}"}],"url":{"raw":""# + url + #""},"body":{"raw":"# + body
            + #"}}}]}"#
        #expect(
            try await Self.findings(collection, "H001,H004").map { $0.prefix(4) } == ["H001"])
    }

    @Test(
        "a request to another service is none to APNs, whatever its path",
        arguments: [
            ("POST", "https://api.example.com/3/devices"),
            ("POST", "https://mdm.example.com/3/device/list"),
            ("PUT", "{{base}}/3/device/{{id}}"),
        ])
    func otherServices(method: String, url: String) async throws {
        let push =
            #"{"request":{"method":"POST","header":[],"url":"https://api.push.apple.com/3"#
            + #"/device/{{token}}","body":{"raw":"{\"aps\":{}}"}}}"#
        let other =
            #"{"request":{"method":"\#(method)","header":[],"url":"\#(url)","#
            + #""body":{"raw":"{\"name\":\"all\"}"}}}"#
        let found = try await Self.findings(#"{"item":[\#(push),\#(other)]}"#, "G,H")
        #expect(!found.isEmpty && found.allSatisfy { $0.contains("/item/0/") })
    }

    @Test("a `notification` that holds `aps` is no notification of Firebase's")
    func relayedPayload() {
        #expect(
            Self.payloads(#"{"token":"t","topic":"a.b","notification":{"aps":{"alert":"x"}}}"#)
                == [#"{"aps":{"alert":"x"}}"#])
    }

    @Test("Firebase's former API: its priorities are those of APNs")
    func formerPriority() async throws {
        let text = #"{"to":"t","content_available":true,"data":{"a":"b"},"priority":"#
        #expect(
            try await Self.findings(text + #""high"}"#, "BG006") == ["BG006 1:64 /priority"])
        #expect(try await Self.findings(text + #""normal"}"#, "BG006").isEmpty)
    }
}
