// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

@Suite("What findings say, and what they advise")
struct TrueWordsTests {
    /// The findings of a text with one rule: severity, message and fix.
    private static func words(
        _ text: String, name: String = "a.json", of rule: String
    ) async throws -> [String] {
        let run = try await FinishedRun(of: text, named: name, rules: rule)
        let found = try run.files().flatMap {
            try #require($0["diagnostics"] as? [[String: Any]])
        }
        return found.map { finding in
            let severity = finding["severity"] ?? ""
            return "\(severity): \(finding["message"] ?? ""). \(finding["fix"] ?? "")"
        }
    }

    /// A page with a block of JSON.
    private static func page(_ block: String, _ language: String = "json") -> String {
        "# Pushes\n\n## One\n\n```\(language)\n\(block)\n```\n"
    }

    @Test(
        "a placeholder may have a quotation mark in it",
        arguments: [
            (#"<unix seconds, only on \"end\">"#, 0), (#"{now, for \"end\"}"#, 0),
            (#"at \"end\""#, 1), (#"<now"#, 1), (#"a\\"#, 1),
        ])
    func placeholder(text: String, count: Int) async throws {
        let payload =
            #"{"aps":{"timestamp":1790000000,"event":"end","content-state":{},"#
            + #""dismissal-date":"\#(text)"}}"#
        #expect(try await Self.words(payload, of: "LA002").count == count)
    }

    @Test("a remark that names the form of a date, or an own decoder, speaks for a text")
    func dates() async throws {
        let before =
            #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{"#
            + "\n\"when\": \"2026-08-31T09:41:00Z\""
        let plain = Self.page(before + "}}}")
        #expect(try await Self.words(plain, name: "a.md", of: "LA008").count == 1)
        #expect(
            try await Self.words(plain, name: "a.md", of: "LA008")[0].hasPrefix("warning"))
        for remark in ["// ISO-8601; see below", "// RFC 3339", "/* iso8601 */"] {
            let page = Self.page(before + " \(remark)\n}}}", "jsonc")
            #expect(
                try await Self.words(page, name: "a.md", of: "LA008") == [
                    "note: a date of `content-state` is text. "
                        + "Decode it by hand in the app: by default, a Date is a number there."
                ], "\(remark)")
        }
        let other = Self.page(before + " // when it starts\n}}}", "jsonc")
        #expect(
            try await Self.words(other, name: "a.md", of: "LA008")[0].hasPrefix("warning"))
        let decoder = plain + "\n`init(from decoder: any Decoder)` reads the date.\n"
        #expect(
            try await Self.words(decoder, name: "a.md", of: "LA008")[0].hasPrefix("note"))
    }

    @Test("what the app may read in an alert is to be moved, not removed")
    func dataInAlert() async throws {
        let call = { (alert: String) in
            #"{"headers":{"apns-push-type":"voip","apns-topic":"com.e.app.voip"},"#
                + #""payload":{"aps":{"alert":\#(alert),"sound":"x"},"callId":"c"}}"#
        }
        #expect(
            try await Self.words(call(#"{"title":"x"}"#), of: "VO009") == [
                "warning: a VoIP push has `alert`, `sound`. Remove the keys."
            ])
        #expect(
            try await Self.words(call(#"{"title":"x","notification_uuid":"u"}"#), of: "VO009") == [
                "warning: a VoIP push has `alert`, `sound`. "
                    + "Move what the app needs from `alert` to beside `aps`, and remove the keys."
            ])
    }

    @Test("no type is advised where a command has words of VoIP pushes")
    func typeOfCommand() async throws {
        let fix = { (certificate: String) in
            let command =
                #"curl -d '{"aps":{"sound":"x"}}' -H "apns-topic: com.e.app" --http2 "#
                + "--cert \(certificate) https://api.push.apple.com/3/device/$TOKEN\n"
            return try await Self.words(command, name: "a.sh", of: "H004")
        }
        #expect(try await fix("a.pem")[0].hasSuffix("this payload looks like `alert`."))
        #expect(
            try await fix("voip_certificate.pem")
                == [
                    "warning: apns-push-type is missing. "
                        + "Add apns-push-type with the type of this push."
                ])
    }

    @Test("a sound without an alert is not told to be beside it")
    func soundOfActivity() async throws {
        let push = { (rest: String) in
            #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{},"#
                + #""sound":"x"\#(rest)}}"#
        }
        #expect(
            try await Self.words(push(""), of: "LA009") == [
                "warning: a Live Activity push has a `sound` and no alert that plays it. "
                    + "Put `sound` into an `alert` with `title` and `body`, or remove it."
            ])
        #expect(
            try await Self.words(push(#","alert":{"title":"a","body":"b"}"#), of: "LA009") == [
                "warning: the `sound` of a Live Activity is beside its alert. "
                    + "Move `sound` into `alert`."
            ])
    }

    @Test("an expiration of a few seconds is rather meant as 0")
    func expiration() async throws {
        let request = { (value: Int) in
            #"{"headers":{"apns-push-type":"alert","apns-expiration":"\#(value)"},"#
                + #""payload":{"aps":{"alert":"x"}}}"#
        }
        #expect(
            try await Self.words(request(1), of: "H011") == [
                "error: apns-expiration is 1 s into the year 1970. "
                    + "Use 0 to try once, or add it to the current time in epoch seconds."
            ])
        #expect(
            try await Self.words(request(60), of: "H011") == [
                "error: apns-expiration is a number of seconds from now. "
                    + "Add it to the current time in epoch seconds."
            ])
    }

    @Test("what is empty is not visible")
    func emptySound() async throws {
        let push = { (rest: String) in #"{"aps":{"content-available":1,"sound":\#(rest)}}"# }
        #expect(try await Self.words(push(#""""#), of: "BG015") == [])
        #expect(try await Self.words(push(#""","badge":1"#), of: "BG015").count == 1)
        #expect(try await Self.words(push(#""x""#), of: "BG015").count == 1)
    }

    @Test("a type that only the title above gives is told as a guess")
    func typeOfTitle() async throws {
        let text = "# A\n\n## VoIP payload\n\n```json\n{\"aps\":{},\"callId\":\"c\"}\n```\n"
        let folder = try TestFolder()
        let run = try await FinishedRun([try folder.write(text, to: "a.md")])
        #expect(
            run.report.contains("1 payload judged as voip: no push type was read with it"))
    }

    @Test("a longer token is not said to be cut, and the caret is at its value")
    func longToken() async throws {
        let token = String(repeating: "a5", count: 80)
        let script = { (token: String) in
            "TOKEN=\(token)\ncurl -H 'apns-push-type: alert' -H 'apns-topic: com.e.a' "
                + "-H 'authorization: bearer t' -d '{\"aps\":{\"alert\":\"x\"}}' "
                + "https://api.push.apple.com/3/device/$TOKEN\n"
        }
        let short = String(token.prefix(40))
        for (fix, token) in [("compare it", token), ("token was not cut", short)] {
            let words = try await Self.words(script(token), name: "a.sh", of: "H003")
            #expect(words.count == 1 && words[0].lowercased().contains(fix), "\(words)")
        }
        let run = try await FinishedRun(of: script(token), named: "a.sh", rules: "H003")
        #expect(try run.findings() == ["H003 1:7 "])
        let plain = script(token).replacing("$TOKEN", with: token)
        let other = try await FinishedRun(of: plain, named: "a.sh", rules: "H003")
        #expect(try other.findings()[0].hasPrefix("H003 2:"))
    }

    @Test("cures that help: for an object of headers, and for an empty header")
    func cures() async throws {
        let inner = #"{"aps":{"alert":"x","header":{"apns-priority":10},"other":{"a":1}}}"#
        #expect(
            try await Self.words(inner, of: "G011") == [
                "warning: a key inside `aps` is none of Apple's. "
                    + "Send what is in it as headers of the request.",
                "warning: a key inside `aps` is none of Apple's. "
                    + "Move it out of `aps` to the top level.",
            ])
        let headers = { (sound: String) in
            #"{"headers":{"apns-push-type":"alert","sound":"\#(sound)"},"#
                + #""payload":{"aps":{"alert":"x"}}}"#
        }
        #expect(try await Self.words(headers(""), of: "H017")[0].hasSuffix("Leave it out."))
        #expect(try await Self.words(headers("x"), of: "H017")[0].hasSuffix("Put it into `aps`."))
    }

    @Test("of a block that is abridged, the report says that its keys are judged")
    func abridged() async throws {
        let page = Self.page("{\n\"aps\": {\n\"content-available\": 1,\n\"own\": 5,\n...\n}\n}")
        let folder = try TestFolder()
        let run = try await FinishedRun([try folder.write(page, to: "a.md")])
        #expect(run.report.contains("warning G011"))
        #expect(
            run.report.contains(
                "the block in line 5 is judged by its keys alone: it is abridged."))
        #expect(!run.report.contains("not judged"))
    }

    @Test("what Firebase ignores is told")
    func headersForFirebase() async throws {
        let request =
            #"{"to":"t","content_available":true,"apns-priority":5,"apns-topic":"a.b","data":{}}"#
        #expect(
            try await Self.words(request, of: "G012") == [
                "warning: `apns-priority` is not a member of a request to Firebase, which ignores "
                    + #"it. Write `priority`, "high" or "normal"."#,
                "warning: `apns-topic` is not a member of a request to Firebase, which ignores "
                    + "it. Remove it.",
            ])
    }

    @Test("the data of a push for Parse lack no `aps`")
    func parse() async throws {
        let data = { (type: String) in
            #"{"title":"2","content-available":1,\#(type)"custom":{"a":"b"}}"#
        }
        #expect(try await Self.words(data(#""push_type":"background","#), of: "G010") == [])
        #expect(try await Self.words(data(""), of: "G010").count == 1)
    }
}
