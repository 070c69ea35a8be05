// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

@testable import PayloadLint

@Suite("Requests of push services")
struct WrapperTests {
    private static func read(_ text: String, name: String = "a.json") -> PushDocument {
        DocumentReader(assumptions: PushAssumptions(), forcedKind: nil)
            .read(Array(text.utf8), name: name)
    }

    static func payloads(_ text: String) -> [String] {
        read(text).items.map { String(decoding: $0.draft.payload, as: UTF8.self) }
    }

    static func findings(
        _ text: String, _ rules: String, name: String = "a.json"
    ) async throws -> [String] {
        try await FinishedRun(of: text, named: name, rules: rules).findings()
    }

    @Test("Firebase: the notification and the data are merged into the payload")
    func firebase() {
        #expect(
            Self.payloads(
                #"{"message":{"token":"t","notification":{"title":"T","body":"B"},"#
                    + #""apns":{"payload":{"aps":{"badge":1}}},"data":{"k":"v"}}}"#)
                == [#"{"k":"v","aps":{"alert":{"title":"T","body":"B"},"badge":1}}"#])
        #expect(
            Self.payloads(
                #"{"apns":{"payload":{"aps":{"alert":"own"}}},"#
                    + #""notification":{"title":"T"}}"#)
                == [#"{"aps":{"alert":"own"}}"#])
        // Only for Android.
        #expect(Self.payloads(#"{"message":{"token":"t","android":{"priority":"high"}}}"#).isEmpty)
    }

    @Test("Pusher Beams: `apns` is the payload, and without `aps` that is a fault")
    func beams() async throws {
        #expect(
            Self.payloads(#"{"interests":["a"],"apns":{"aps":{"badge":1}},"fcm":{}}"#)
                == [#"{"aps":{"badge":1}}"#])
        #expect(
            try await Self.findings(#"{"interests":["a"],"apns":{"alert":"x"}}"#, "G010")
                == ["G010 1:27 /apns"])
    }

    @Test("collections: Insomnia's headers, and a request to Firebase in a body")
    func collections() async throws {
        #expect(
            try await Self.findings(
                #"{"resources":[{"headers":[{"name":"apns-push-type","value":"background"},"#
                    + #"{"name":"apns-priority","value":"10"}],"#
                    + #""body":{"text":"{\"aps\":{\"content-available\":1}}"}}]}"#, "BG006")
                == ["BG006 1:106 /resources/0/headers/1/value"])
        let body =
            #"{\"message\":{\"token\":\"t\",\"data\":{\"a\":\"b\"},\"apns\":{"#
            + #"\"headers\":{\"apns-push-type\":\"background\",\"apns-priority\":\"10\"},"#
            + #"\"payload\":{\"aps\":{\"content-available\":1}}}}}"#
        let found = try await Self.findings(
            #"{"item":[{"request":{"header":[],"body":{"raw":""# + body + #""}}}]}"#, "BG006")
        #expect(found.count == 1)
        #expect(
            found.first?.hasSuffix(
                " /item/0/request/body/raw/message/apns/headers/apns-priority") == true)
    }

    @Test("an alert push that only asks to wake the app is reported once")
    func wakingAlert() async throws {
        let text =
            #"{"headers":{"apns-push-type":"alert","apns-topic":"a.b"},"#
            + #""payload":{"aps":{"content-available":1}}}"#
        let found = try await Self.findings(text, "AL001,BG013")
        #expect(found.map { $0.prefix(5) } == ["BG013"])
    }

    @Test("Firebase sends no VoIP pushes, whatever else their payload holds")
    func firebaseCall() async throws {
        let text =
            #"{"message":{"token":"t","apns":{"headers":{"apns-push-type":"voip"},"#
            + #""payload":{"aps":{"content-available":1,"sound":"x"},"callUUID":"u"}}}}"#
        let found = try await Self.findings(text, "VO009,VO016")
        #expect(found.map { $0.prefix(5) } == ["VO016"])
    }

    @Test("a payload in a string that was left out for brevity is not judged")
    func abbreviated() async throws {
        let text = #"{"APNS":"{\"aps\":...}","default":"x"}"#
        #expect(try await Self.findings(text, "G001").isEmpty)
        #expect(
            try await Self.findings(#"{"APNS":"{\"aps\":}"}"#, "G001").count == 1)
    }

    @Test("a service may add the alert that `mutable-content` of a part is for")
    func mutableParts() async throws {
        let text =
            #"{"notifications":[{"content":"x","ios_root_params":{"aps":"#
            + #"{"content-available":1,"mutable-content":1}}}]}"#
        #expect(try await Self.findings(text, "BG017").isEmpty)
    }

    @Test(
        "a request that says to whom it goes, and nothing that Apple knows, is not judged",
        arguments: [
            #"{"external_user_ids":["u"],"messages":{"android_push":{"alert":"x"}}}"#,
            #"{"audience":"all","notification":{"ios":{"alert":"x","badge":"+1"}}}"#,
            #"{"Addresses":{},"MessageConfiguration":{"APNSMessage":{"RawContent":"{}"}}}"#,
            #"{"message":{"topic":"t","data":{"k":"v"}}}"#,
            #"{"to":"t","priority":"high","data":{"k":"v"}}"#,
            #"{"service":"apns","alert":{"body":"B","title":"T"}}"#,
            #"{"title":"T","message":"M","data":{"push":{"sound":{"name":"x","critical":1}}}}"#,
            #"{"channels":["a"],"data":{"alert":"hi","badge":"Increment"}}"#,
            #"{"where":{"os":"iOS"},"data":{"alert":"hi","badge":"1"}}"#,
            #"{"token":["t"],"message":"x","badge":1,"content_available":true}"#,
            #"{"platform":1,"message":"x","badge":1,"content_available":true}"#,
            #"{"message":{"alert":"x","badge":1,"apns":{"title":"T"}},"criteria":{}}"#,
            #"{"title":"T","badge":1,"content-available":0,"payload":{"k":"v"}}"#,
            #"[{"to":"t","title":"T","body":"B","contentAvailable":true,"badge":1}]"#,
            #"{"campaignId":"c","options":{"text":"T","ios":{"sound":"default"}}}"#,
            #"{"now":true,"systems":["ios","android"],"message":"M","sound":"default"}"#,
            #"{"message":{"alert":"T"},"settings":{"gcm":{"priority":"high"}}}"#,
            #"{"configs":[{"APNs":{"thread-id":"1"}},{"OPPO":{"channelId":"c"}}]}"#,
            #"{"data":{"type":"push","attributes":{"title":"T","body":"B"}}}"#,
            #"{"pushToken":"t","title":"T","body":"B","badge":2}"#,
            #"{"profile":{"alert":"T","badge":1},"users":["u"]}"#,
        ])
    func unknownService(text: String) async throws {
        let folder = try TestFolder()
        let path = try folder.write(text, to: "a.json")
        let run = try await FinishedRun([path]) { $0.format = .json }
        #expect(try run.findings() == [])
        #expect(run.result.summary.filesWithoutPush == 1)
        #expect(run.result.summary.pushes == 0)
    }

    @Test("what is addressed and looks like a push without `aps` is judged")
    func addressedCall() async throws {
        #expect(
            try await Self.findings(#"{"to":"Ann","title":"T"}"#, "G010").isEmpty)
        for text in [
            #"{"title":"T"}"#, "{}", #"{"alert":{"title":"T"},"k":{}}"#,
            #"{"asp":{"alert":"T"}}"#, #"{"contentAvailable":1,"data":{"k":1}}"#,
        ] {
            #expect(try await Self.findings(text, "G010") == ["G010 1:1 "], "\(text)")
        }
        let call = #"{"to":"Ann","callUUID":"c","type":"cancel"}"#
        #expect(try await Self.findings(call, "VO007").isEmpty == false)
    }

    @Test("what has nothing of Apple's is judged as no error and no warning")
    func doubtfulPayload() async throws {
        let folder = try TestFolder()
        for (name, errors) in [("a.json", 0), ("a.apns", 1)] {
            let path = try folder.write(#"{"type":"sync","since":7}"#, to: name)
            let run = try await FinishedRun([path]) { $0.selected = try? .only("G010") }
            #expect(run.result.summary.errors == errors, "\(name)")
            #expect(run.result.summary.warnings == 0, "\(name)")
        }
        let typed = try await FinishedRun([folder.path + "/a.json"]) {
            $0.selected = try? .only("G010")
            $0.assumptions.pushType = "alert"
        }
        #expect(typed.result.summary.errors == 1)
    }

    @Test("Firebase sends no VoIP push")
    func voipThroughFirebase() async throws {
        let data = #""data":{"callId":"c","callerName":"Ann"}"#
        let typed =
            #"{"message":{"token":"t",\#(data),"apns":{"headers":{"apns-push-type":"voip","#
            + #""apns-priority":"10"},"payload":{"aps":{}}}}}"#
        #expect(
            try await Self.findings(typed, "VO016")
                == ["VO016 1:102 /message/apns/headers/apns-push-type"])
        let topic =
            #"{"token":"t",\#(data),"apns":{"headers":{"apns-topic":"com.x.voip"},"#
            + #""payload":{"aps":{}}}}"#
        #expect(try await Self.findings(topic, "VO016").count == 1)
        // Data for an app that runs, which only looks like that of a call.
        let plain = #"{"token":"t",\#(data),"apns":{"headers":{"apns-priority":"5"}}}"#
        #expect(try await Self.findings(plain, "VO016") == [])
        let direct =
            #"{"headers":{"apns-push-type":"voip"},"payload":{"callId":"c","callerName":"A"}}"#
        #expect(try await Self.findings(direct, "VO016") == [])
    }

    @Test("the configuration of one of Firebase's libraries has the names of the library")
    func libraryConfiguration() async throws {
        let text =
            #"{"headers":{"apns-push-type":"background","apns-priority":"5"},"#
            + #""payload":{"aps":{"contentAvailable":true,"badge":4}}}"#
        #expect(
            try await Self.findings(text, "BG001,BG004,BG007,G012,H006")
                == ["BG004 1:106 /payload/aps/badge"])
        let critical =
            #"{"headers":{"apns-push-type":"alert"},"payload":{"aps":{"alert":"x","#
            + #""interruption-level":"critical","sound":{"name":"s","critical":true}}}}"#
        #expect(try await Self.findings(critical, "AL003,G014,H006") == [])
        // A request of its own, with the mistakes of one.
        let own =
            #"{"headers":{"apns-push-type":"background","apns-topic":"com.x","apns-priority":"5"},"#
            + #""payload":{"aps":{"contentAvailable":true}}}"#
        #expect(try await Self.findings(own, "BG001,G012").map { $0.prefix(4) } == ["G012"])
    }

    @Test("a part of a Firebase message that shows nothing is completed by the rest")
    func firebasePart() async throws {
        let part = #""apns":{"payload":{"aps":{"category":"C"}}}"#
        #expect(try await Self.findings("{\(part)}", "AL001") == [])
        #expect(try await Self.findings(#"{"token":"t",\#(part)}"#, "AL001").count == 1)
        #expect(try await Self.findings(#"{"message":{\#(part)}}"#, "AL001").count == 1)
    }

    @Test("the texts that OneSignal asks for in a VoIP push are no mistake", arguments: [0, 1])
    func oneSignalVoIP(warnings: Int) async throws {
        let voip = #""apns_push_type_override":"voip","data":{"uuid":"u"}"#
        let folder = try TestFolder()
        for asked in [#""contents":{"en":"T"}"#, #""content_available":true"#] {
            let sound = warnings == 1 ? #""ios_sound":"s","# : ""
            let text = #"{"app_id":"a",\#(asked),\#(sound)\#(voip)}"#
            let path = try folder.write(text, to: "a.json")
            let run = try await FinishedRun([path]) { $0.selected = try? .only("VO009") }
            let summary = run.result.summary
            #expect([summary.notes, summary.warnings] == [1 - warnings, warnings])
        }
    }

    @Test("payloads in lists of a request are judged")
    func nestedInLists() async throws {
        let text = #"{"all":[{"payload":{"aps":{"alert":"x"}}},{"payload":{"aps":{"badge":"1"}}}]}"#
        #expect(
            try await Self.findings(text, "G014") == ["G014 1:70 /all/1/payload/aps/badge"])
    }

    @Test("what a service may add to a part of a push is not missed, what is wrong in it is")
    func part() async throws {
        let text =
            #"{"data":{"k":1},"ios_root_params":{"aps":{"category":"C","mutable-content":1,"#
            + #""badge_count":1}}}"#
        #expect(
            try await Self.findings(text, "AL,G011")
                == ["G011 1:78 /ios_root_params/aps/badge_count"])
        #expect(try await Self.findings(#"{"aps":{"category":"C"}}"#, "AL001").count == 1)
    }

    @Test("a request to the gateway is judged as its kind, and misses no header")
    func gateway() async throws {
        let start = #"{"app":"com.example.app","device_token":"00fc","kind":"#
        let call = start + #""voip","payload":{"aps":{},"callUUID":"c","handle":"Ann"}}"#
        #expect(try await Self.findings(call, "AL,BG,G,H,VO003,VO005") == [])
        let silent =
            start + #""background","priority":10,"payload":{"aps":{"content-available":1}}}"#
        #expect(try await Self.findings(silent, "BG006,BG007,H") == ["BG006 1:79 /priority"])
        let batch = "[\(silent),\(call)]"
        #expect(try await Self.findings(batch, "BG006,AL") == ["BG006 1:80 /0/priority"])
        // A kind of somebody else's.
        let other = start + #""news","payload":{"aps":{"badge":"1"}}}"#
        #expect(try await Self.findings(other, "G014").count == 1)
    }

    @Test("a list of payloads is judged, each of them")
    func list() async throws {
        let text = #"[{"aps":{"badge":1}},{"aps":{"badge":"1"}},{"x":{"aps":{"badge":"2"}}}]"#
        #expect(
            try await Self.findings(text, "G014") == [
                "G014 1:38 /1/aps/badge", "G014 1:65 /2/x/aps/badge",
            ])
        // A list of something else.
        #expect(try await Self.findings("[1,2]", "G001").isEmpty)
    }

    @Test("a payload in a string of a request is judged")
    func text() async throws {
        let text = #"{"Addresses":{},"RawContent":"{\"aps\":{\"badge\":\"1\"}}"}"#
        #expect(try await Self.findings(text, "G014") == ["G014 1:51 /RawContent/aps/badge"])
    }

    @Test("Azure: a number of a template is none of the payload")
    func azureNumber() async throws {
        let text = ##"{"aps":{"alert":"$(message)","badge":"#(badge)"}}"##
        #expect(try await Self.findings(text, "G014") == [])
        #expect(
            try await Self.findings(#"{"aps":{"alert":"x","badge":"badge"}}"#, "G014").count == 1)
    }

    @Test("Firebase: data for other platforms is not held against a message")
    func firebaseData() async throws {
        let text =
            #"{"to":"t","notification":{"title":"T"},"#
            + #""data":{"sound":"x","content_available":true}}"#
        let folder = try TestFolder()
        let path = try folder.write(text, to: "a.json")
        let run = try await FinishedRun([path]) {
            $0.format = .json
            $0.selected = try? .only("G013")
        }
        #expect(run.result.summary.warnings == 1)
        #expect(run.result.summary.notes == 1)
    }

    @Test("Firebase: a silent push without a priority is sent at 10")
    func firebasePriority() async throws {
        let text = #"{"message":{"token":"t","apns":{"payload":{"aps":{"content-available":1}}}}}"#
        #expect(
            try await Self.findings(text, "BG006,BG007,H006,AL001") == ["BG006 1:43 /message/apns"])
        let right =
            #"{"message":{"apns":{"headers":{"apns-priority":"5","apns-push-type":"background"},"#
            + #""payload":{"aps":{"content-available":1}}}}}"#
        #expect(try await Self.findings(right, "BG,H,AL").allSatisfy { $0.hasPrefix("BG0") })
    }

    @Test("a message of Firebase's libraries has their names, one of its REST interface has not")
    func firebaseLibraries() async throws {
        let message =
            #"{"token":"t","apns":{"headers":{"apns-priority":"5"},"#
            + #""payload":{"aps":{"contentAvailable":true,"threadId":"a"}}}}"#
        #expect(
            Self.payloads(message) == [#"{"aps":{"content-available":1,"thread-id":"a"}}"#])
        #expect(try await Self.findings(message, "G012") == [])
        #expect(
            try await Self.findings(#"{"message":"# + message + "}", "G012").map { $0.prefix(4) }
                == ["G012", "G012"])
    }

    @Test("Firebase: a finding points at what the request says")
    func firebasePlaces() async throws {
        let text =
            "{\"message\":{\"apns\":{\"payload\":{\"aps\":{\"badge\":\"1\"}}},\n"
            + "\"data\":{\"from\":\"x\"}}}"
        #expect(
            try await Self.findings(text, "G014,G016") == [
                "G014 1:47 /message/apns/payload/aps/badge", "G016 2:16 /message/data/from",
            ])
    }

    @Test("Amazon SNS: payloads are the texts of strings, and places are those in the file")
    func sns() async throws {
        let text =
            #"{"default":"x","APNS":"{\"aps\":{\"alert\":\"a\",\"badge\":\"1\"}}","#
            + #""APNS_VOIP":"{\"callUUID\":\"u\",\"handle\":\"h\"}","GCM":"{}"}"#
        let document = Self.read(text)
        #expect(document.items.count == 2)
        #expect(
            document.items.last?.draft.headers == [PushDraft.Header("apns-push-type", "voip")])
        #expect(try await Self.findings(text, "G014,G010,AL001") == ["G014 1:60 /APNS/aps/badge"])
    }

    @Test("Amazon SNS: a whole publication, with the message in a string and its attributes")
    func snsPublication() async throws {
        let text =
            #"{"Message":"{\"APNS\":\"{\\\"aps\\\":{\\\"content-available\\\":1}}\"}","#
            + #""MessageAttributes":{"AWS.SNS.MOBILE.APNS.PUSH_TYPE":{"StringValue":"background"},"#
            + #""AWS.SNS.MOBILE.APNS.PRIORITY":{"StringValue":"10"}}}"#
        #expect(Self.payloads(text) == [#"{"aps":{"content-available":1}}"#])
        #expect(
            try await Self.findings(text, "BG006,BG001,H")
                .map { $0.split(separator: " ")[0] } == ["BG006"])
    }

    @Test("Azure: templates are judged with numbers in the places of theirs")
    func azure() async throws {
        let text =
            ##"{"installationId":"i","platform":"apns","templates":{"t":{"body":"##
            + ##""{\"aps\":{\"alert\":\"$(m)\",\"badge\":\"#(n)\",\"sound\":3}}"}}}"##
        #expect(Self.payloads(text) == [#"{"aps":{"alert":"$(m)","badge":1,"sound":3}}"#])
        #expect(
            try await Self.findings(text, "G014").map { $0.split(separator: " ")[2] }
                == ["/templates/t/body/aps/sound"])
    }

    @Test("OneSignal: its names become Apple's")
    func oneSignal() async throws {
        #expect(
            Self.payloads(
                #"{"app_id":"x","headings":{"en":"T"},"contents":{"en":"B"},"ios_sound":"s","#
                    + #""data":{"k":1}}"#)
                == [#"{"aps":{"alert":{"title":"T","body":"B"},"sound":"s"},"custom":{"k":1}}"#])
        let silent =
            #"{"app_id":"x","content_available":true,"data":{"k":1},"priority":10}"#
        #expect(
            try await Self.findings(silent, "BG006,BG001,G010,G013") == ["BG006 1:66 /priority"])
        let call =
            #"{"app_id":"x","apns_push_type_override":"voip","contents":{"en":"Call ended"},"#
            + #""data":{"uuid":"u","callStatus":"ended"}}"#
        #expect(
            try await Self.findings(call, "VO003,VO007").contains {
                $0.hasSuffix("/data/callStatus")
            })
    }

    @Test("a payload beside nothing, and the former Firebase API, are judged where they are named")
    func named() {
        #expect(Self.payloads(#"{"payload":{"aps":{"badge":1}}}"#) == [#"{"aps":{"badge":1}}"#])
        #expect(
            Self.payloads(#"{"to":"t","content_available":true,"data":{"k":1}}"#)
                == [#"{"aps":{"content-available":1},"k":1}"#])
        #expect(Self.read(#"{"to":"t","content_available":true}"#).isForeign)
        // The data of a call.
        let call = #"{"to":"bob","from":"ann","data":{"callId":"1"}}"#
        #expect(Self.payloads(call) == [call])
    }

    @Test("a payload in a request of a service that is not known is found where it lies")
    func nested() async throws {
        #expect(
            Self.payloads(#"{"data":{"a":1},"apns":{"aps":{"badge":1}}}"#)
                == [#"{"aps":{"badge":1}}"#])
        let text =
            #"{"fcm":{"notification":{"title":"T"},"apns":{"payload":{"aps":{"badge":1}}}}}"#
        #expect(Self.payloads(text) == [#"{"aps":{"alert":{"title":"T"},"badge":1}}"#])
        #expect(Self.read(text).isForeign)
        #expect(
            try await Self.findings(#"{"a":{"b":{"aps":{"badge":"1"}}}}"#, "G014,AL001,G010")
                == ["G014 1:27 /a/b/aps/badge"])
    }

    @Test("one cause is one finding")
    func oneCause() async throws {
        #expect(
            try await Self.findings(#"{"aps":{"content-available":"1"}}"#, "BG001,BG010")
                == ["BG010 1:29 /aps/content-available"])
        #expect(try await Self.findings(#"{"aps":null}"#, "AL001,G010") == ["G010 1:8 /aps"])
        let part = #"{"headers":{"apns-push-type":"alert"},"payload":{"aps":{"badge":1}}}"#
        let folder = try TestFolder()
        let run = try await FinishedRun([try folder.write(part, to: "a.json")]) {
            $0.format = .json
            $0.selected = try? .only("H006")
        }
        #expect(run.result.summary.notes == 1 && run.result.summary.warnings == 0)
    }

    @Test("PubNub: what says how the push is sent is no part of it")
    func pubNub() {
        let text =
            #"{"pn_apns":{"aps":{"alert":"a"},"pn_push":[{"push_type":"alert"}]},"pn_fcm":{}}"#
        #expect(Self.payloads(text) == [#"{"aps":{"alert":"a"}}"#])
        #expect(
            Self.read(text).items.first?.draft.headers == [
                PushDraft.Header("apns-push-type", "alert")
            ])
        // A member of the message that has Firebase's name is no message of Firebase's.
        #expect(
            Self.payloads(#"{"message":{"text":"x"},"pn_apns":{"aps":{"badge":1},"sound":"x"}}"#)
                == [#"{"aps":{"badge":1},"sound":"x"}"#])
    }

    @Test("a request of a Postman collection has the headers of its list")
    func postman() throws {
        let text = #"""
            {"info":{"name":"Push"},"item":[{"item":[{"request":{"method":"POST","header":[
            {"key":"apns-push-type","value":"background"},
            {"key":"apns-priority","value":"10","disabled":true},
            {"key":"apns-priority","value":"5"}],
            "body":{"mode":"raw","raw":"{\"aps\":{\"content-available\":1,\"sound\":\"\"}}"},
            "url":{"raw":"https://{{host}}/3/device/{{token}}"}}}]}]}
            """#
        let item = try #require(Self.read(text).items.first)
        #expect(
            item.draft.headers.prefix(2) == [
                PushDraft.Header("apns-push-type", "background"),
                PushDraft.Header("apns-priority", "5"),
            ])
        #expect(item.places.pointer == "/item/0/item/0/request/body/raw")
        #expect(item.places.headers[1].pointer == "/item/0/item/0/request/header/2/value")
    }

    @Test("a repair changes the request in its place")
    func repair() async throws {
        let folder = try TestFolder()
        let text =
            #"{"message":{"notification":{"title":"T"},"#
            + #""apns":{"payload":{"aps":{"badge":"1"}}}}}"#
        let path = try folder.write(text, to: "a.json")
        _ = try await FinishedRun([path]) { $0.fixes = .safe }
        #expect(try folder.text(of: "a.json") == text.replacing("\"1\"", with: "1"))
    }

    @Test("in a folder, requests are judged where they hold something for APNs")
    func folders() async throws {
        let folder = try TestFolder()
        try folder.write(#"{"message":{"apns":{"payload":{"aps":{"badge":"1"}}}}}"#, to: "f.json")
        try folder.write(#"{"app_id":"x","contents":{"en":"B"}}"#, to: "o.json")
        try folder.write(#"{"to":"x","subject":"y"}"#, to: "mail.json")
        try folder.write(#"{"message":"hello","topic":"x"}"#, to: "m.json")
        let run = try await FinishedRun([folder.path])
        #expect(run.result.summary.files == 2)
        #expect(run.result.summary.foreignFiles == 2)
        #expect(run.report.contains("2 files passed over"))
    }
}
