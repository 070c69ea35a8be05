// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

@Suite("Push validator")
struct PushValidatorTests {
    private let validator = PushValidator()

    @Test("a good push of each type has no error and no warning", arguments: PushType.all)
    func goodPushes(type: PushType) {
        let report = validator.report(on: DraftCase.good(type))
        #expect(report.diagnostics.filter { $0.severity > .note } == [])
        #expect(report.pushType == type.rawValue)
        #expect(!report.pushTypeIsInferred)
    }

    @Test(
        "a bare payload is judged by what it holds",
        arguments: [
            (#"{"aps":{"content-available":1}}"#, "background"),
            (#"{"aps":{"content-available":1,"badge":0}}"#, "alert"),
            (#"{"aps":{"contentAvailable":1}}"#, "background"),
            (#"{"content-available":1}"#, "background"),
            (#"{"aps":{"alert":"x"}}"#, "alert"), (#"{"aps":{"sound":"x"}}"#, "alert"),
            (#"{"aps":{"content-changed":true}}"#, "widgets"),
            (#"{"aps":{"event":"update","alert":"x"}}"#, "liveactivity"),
            (#"{"aps":{"content-state":{}}}"#, "liveactivity"),
            (#"{"aps":{"stale-date":1}}"#, "liveactivity"),
            (#"{"aps":{"alert":"x","attributes-type":"A","timestamp":1}}"#, "liveactivity"),
            (#"{"aps":{"alert":"x","attributes":{},"timestamp":1}}"#, "alert"),
            (#"{"aps":{"alert":"x","event":"sold"}}"#, "alert"),
            (#"{"aps":{"alert":"x","attributes":[]}}"#, "alert"),
            (#"{"aps":{"content-available":1,"event":"sold"}}"#, "background"),
            (#"{"aps":{"ptt-push-type":"service-update"}}"#, "pushtotalk"),
            (#"{"aps":{},"mdm":"26A1FD5C-2D78-45E6-B864-19327BD1C0AD"}"#, "mdm"),
            (#"{"aps":{"sound":"x"},"mdm":"26a1fd5c-2d78-45e6-b864-19327bd1c0ad"}"#, "mdm"),
            (#"{"aps":{"alert":"x"},"mdm":"26A1FD5C-2D78-45E6-B864-19327BD1C0AD"}"#, "alert"),
            (#"{"aps":{"sound":"x"},"mdm":"on"}"#, "alert"),
            (#"{"mdm":"x"}"#, "mdm"), (#"{"container-identifier":"x"}"#, "fileprovider"),
            (
                #"{"aps":{"alert":{"body":""}},"container-identifier":"x","domain":"d"}"#,
                "fileprovider"
            ), (#"{"aps":{"alert":"x"},"container-identifier":"x"}"#, "alert"),
            (#"{"aps":{"alert":{"body":"x"}},"container-identifier":"x","domain":"d"}"#, "alert"),
            (#"{"callUUID":"x"}"#, "voip"), (#"{"aps":{},"callUUID":"x"}"#, "voip"),
            (#"{"aps":{}}"#, "alert"), (#"{"aps":{"category":"x"},"callUUID":"x"}"#, "alert"),
            (#"{"v":1}"#, "alert"), ("", "alert"), ("{", "alert"), ("[]", "alert"),
        ])
    func judgement(payload: String, type: String) {
        let report = validator.report(on: PushDraft(payload: Array(payload.utf8)))
        #expect(report.pushType == type)
        #expect(report.pushTypeIsInferred)
        #expect(report.diagnostics.allSatisfy { $0.header == nil })
    }

    @Test(
        "a body too long to be read says that nothing else was checked",
        arguments: [
            (5_000, "the body has 5000 bytes, 4096 are allowed"),
            (
                16_385,
                "the body has 16385 bytes, 4096 are allowed, so that nothing else was checked"
            ),
            (
                16_777_217,
                "the body has more than 16777216 bytes, 4096 are allowed, so that nothing else was "
                    + "checked"
            ),
        ])
    func longBodies(count: Int, message: String) {
        let draft = PushDraft(payload: Array("{".utf8) + Array(repeating: 0x20, count: count - 1))
        let found = validator.report(on: draft).diagnostics
        #expect(found.first { $0.rule == "G003" }?.message == message)
        #expect(found.contains { $0.rule == "G001" } == (count == 5_000))
    }

    @Test("a property list is none of JSON, and its keys need more than quotes")
    func propertyList() throws {
        for (text, isList) in [("{\n  aps =   {\n badge = 1; }; }", true), ("{aps:{}}", false)] {
            let report = validator.report(on: PushDraft(payload: Array(text.utf8)))
            let found = try #require(report.diagnostics.first { $0.rule == "G001" })
            #expect(found.fix.contains("property list") == isList)
        }
    }

    @Test("the topic's suffix decides before the payload")
    func topicDecides() {
        let draft = PushDraft(
            payload: Array(#"{"aps":{"alert":"x"}}"#.utf8),
            headers: [.init("apns-topic", "com.example.app.voip")])
        let report = validator.report(on: draft)
        #expect(report.pushType == "voip")
        #expect(report.pushTypeIsInferred)
        #expect(report.diagnostics.contains { $0.rule == "VO003" })
    }

    @Test(
        "a date of a Live Activity decides only where nothing else is shown",
        arguments: [
            (#"{"aps":{"alert":"x","dismissal-date":1}}"#, "alert"),
            (#"{"aps":{"dismissal-date":1}}"#, "liveactivity"),
            (#"{"aps":{"alert":"x","event":"end"}}"#, "liveactivity"),
        ])
    func datesOfLiveActivities(payload: String, type: String) {
        let report = validator.report(on: PushDraft(payload: Array(payload.utf8)))
        #expect(report.pushType == type)
    }

    @Test("a type that nobody knows is judged by the rules for every type")
    func unknownType() {
        let draft = PushDraft(
            payload: Array(#"{"aps":{"alert":null,"alert":1}}"#.utf8),
            headers: [.init("apns-push-type", "hologram")])
        let report = validator.report(on: draft)
        #expect(report.pushType == "hologram")
        #expect(report.diagnostics.map(\.rule) == ["H005", "G015", "G006", "G014"])
    }

    @Test(
        "a misspelt push type is recognised",
        arguments: [
            ("Background", "background"), ("backgroud", "background"), ("VoIP", "voip"),
            ("live-activity", "liveactivity"), ("push_to_talk", "pushtotalk"),
            ("widget", "widgets"),
        ])
    func nearPushTypes(given: String, meant: String) throws {
        let draft = PushDraft(payload: [], headers: [.init("apns-push-type", given)])
        let found = try #require(
            validator.report(on: draft).diagnostics.first { $0.rule == "H005" })
        #expect(found.fix == "Write `\(meant)`.")
    }

    @Test(
        "a misnamed header is recognised",
        arguments: [
            ("apns-alert-type", "apns-push-type"), ("apns-pushtype", "apns-push-type"),
            ("apns-ttl", "apns-expiration"), ("apns-priorty", "apns-priority"),
            ("apns_topic", "apns-topic"), ("apns-collapse-key", "apns-collapse-id"),
        ])
    func nearHeaders(given: String, meant: String) throws {
        let draft = PushDraft(payload: [], headers: [.init(given, "x")])
        let found = try #require(
            validator.report(on: draft).diagnostics.first { $0.rule == "H017" })
        #expect(found.fix == "Write `\(meant)`.")
    }

    @Test("findings about headers come first, and none shows a token or a value of the payload")
    func secretsStay() {
        var draft = DraftCase.good(
            .background,
            [.init("authorization", "bearer c0ffee"), .init(":path", "/3/device/c0ffee")],
            #"{"aps":{"content-available":"c0ffee","badge":"c0ffee"}}"#)
        draft.headers.append(.init("authorization", "c0ffee"))
        let found = validator.report(on: draft).diagnostics
        let firstOfPayload = found.firstIndex { $0.offset > 0 } ?? 0
        #expect(found[..<firstOfPayload].contains { $0.header == "authorization" })
        #expect(found[firstOfPayload...].allSatisfy { $0.header == nil })
        #expect(!found.description.contains("c0ffee"))
        #expect(!"\(draft)".contains("c0ffee"))
        #expect(!String(reflecting: draft).contains("c0ffee"))
    }

    @Test("a header's value is shown short and without control characters")
    func shownValues() throws {
        let value = "a\nb" + String(repeating: "x", count: 100)
        let draft = PushDraft(payload: [], headers: [.init("apns-priority", value)])
        let found = try #require(
            validator.report(on: draft).diagnostics.first { $0.rule == "H008" })
        #expect(found.message.contains("`a\u{fffd}bxx"))
        #expect(found.message.contains("x…`"))
        #expect(found.message.utf8.count < 120)
    }

    @Test("a payload is checked in three lines in an app's own tests")
    func threeLines() {
        let payload = #"{"aps":{"content-available":1},"version":7}"#
        #expect(validate(payload).isEmpty)
        #expect(validate(Array(payload.utf8), as: .voip).contains { $0.rule == "VO003" })
    }
}
