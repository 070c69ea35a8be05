// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

@Suite("Headers that the command line gives")
struct AssumedHeadersTests {
    /// A `curl` command that sends a payload with more headers.
    private static func curl(_ headers: String, _ payload: String) -> String {
        "curl \(headers)-H 'authorization: bearer t' -d '\(payload)' "
            + "https://api.push.apple.com/3/device/$TOKEN\n"
    }

    private static let call = #"{"aps":{},"callUUID":"u"}"#

    /// Requests without a push type, each with a name for its file.
    private static let requests: [(name: String, text: String)] = [
        ("a.sh", curl("-H 'apns-topic: com.e.a.voip' ", call)),
        (
            "a.http",
            "POST https://api.push.apple.com/3/device/a5\napns-topic: com.e.a\n\n\(call)\n"
        ),
        ("a.json", #"{"headers":{"apns-topic":"com.e.a"},"payload":\#(call)}"#),
        ("a.md", "# A\n\n```sh\n\(curl("", call))```\n"),
        ("b.json", call),
    ]

    @Test("a push type fills the place of one that is missing", arguments: requests)
    func type(request: (name: String, text: String)) async throws {
        let folder = try TestFolder()
        let path = try folder.write(request.text, to: request.name)
        for type in ["voip", "alert"] {
            let run = try await FinishedRun([path]) { $0.assumptions.pushType = type }
            #expect(!run.report.contains("--push-type says otherwise"), "\(run.report)")
            let files = try await FinishedRun([path]) {
                $0.assumptions.pushType = type
                $0.format = .json
            }.files()
            #expect(files.first?["pushType"] as? String == type)
        }
    }

    @Test("no option makes a push of what is none")
    func foreign() async throws {
        let folder = try TestFolder()
        try folder.write(#"{"headers":{"Accept":"*/*"},"body":"{}"}"#, to: "event.json")
        try folder.write(#"{"aps":{"alert":"x"}}"#, to: "a.json")
        let run = try await FinishedRun([folder.path]) {
            $0.assumptions.pushType = "alert"
            $0.assumptions.topic = "com.e.a"
        }
        #expect(run.result.summary.files == 1)
    }

    @Test("a request that names its type keeps it")
    func named() async throws {
        let text = Self.curl("-H 'apns-push-type: voip' -H 'apns-topic: com.e.a.voip' ", Self.call)
        let run = try await FinishedRun(of: text, named: "a.sh", rules: "H015,H005") {
            $0.assumptions.pushType = "alert"
        }
        #expect(try run.files().first?["pushType"] as? String == "voip")
        #expect(try run.findings() == [])
    }

    @Test("a variable for the type is what the command line says")
    func variable() async throws {
        let text = Self.curl("-H \"apns-push-type: $TYPE\" -H 'apns-topic: com.e.a' ", Self.call)
        let run = try await FinishedRun(of: text, named: "a.sh", rules: "H015,VO001") {
            $0.assumptions.pushType = "voip"
        }
        #expect(try run.findings().map { $0.prefix(5) } == ["VO001"])
    }

    @Test("a command that signs in by nothing")
    func signIn() async throws {
        func found(_ options: String) async throws -> [String] {
            let text =
                "curl \(options) -d '{\"aps\":{\"alert\":\"x\"}}' "
                + "https://api.push.apple.com/3/device/$TOKEN\n"
            return try await FinishedRun(of: text, named: "a.sh", rules: "AU006,H019").findings()
        }
        let topic = "-H 'apns-topic: com.e.a'"
        #expect(try await found(topic) == ["AU006 1:1 "])
        #expect(try await found(topic + " -H 'auth: bearer x'") == ["AU006 1:1 "])
        for option in [
            "--cert a.pem", "-E a.pem", "--key a.key", "-K curl.rc", "--config curl.rc",
            "-H 'authorization: bearer x'", "-H \"$AUTH\"", "$OPTIONS", "\"$@\"",
            "--oauth2-bearer x", "-x proxy:80", "--proxy proxy:80", "--unix-socket /tmp/s",
            "-H @headers", "-u a:b", "...", "-H \"Authorization: Bearer ${TOKEN}\"",
            "--connect-to ::localhost:1", "${CERT:+--cert \"$CERT\"}", "--cert=a.pem",
        ] {
            #expect(try await found("\(topic) \(option)") == [], "\(option)")
        }
        // What is before a command may sign in for it.
        for start in ["alias curl='curl -E a.pem'\n", "curl() { command curl -K a \"$@\"; }\n"] {
            let text =
                start + "curl \(topic) -d '{\"aps\":{\"alert\":\"x\"}}' "
                + "https://api.push.apple.com/3/device/$TOKEN\n"
            let run = try await FinishedRun(of: text, named: "a.sh", rules: "AU006")
            #expect(try run.findings() == [], "\(start)")
        }
        // Of a type that needs a token anyway, one finding is told.
        let activity = "\(topic).push-type.liveactivity -H 'apns-push-type: liveactivity'"
            .replacing("'.push", with: ".push").replacing("activity -H", with: "activity' -H")
        #expect(try await found(activity) == ["H019 1:1 "])
        // Another server signs in itself.
        let other = "curl -H 'apns-topic: a.b' -d '{\"aps\":{\"alert\":\"x\"}}' "
        for url in ["http://localhost:8080/3/device/a5", "https://$HOST/3/device/a5"] {
            let run = try await FinishedRun(of: other + url, named: "a.sh", rules: "AU006")
            #expect(try run.findings() == [], "\(url)")
        }
    }

    @Test("a page may call the body a label with more words, and leave out the server")
    func labels() async throws {
        let body = "```json\n{\"aps\":{\"content-available\":1}}\n```\n"
        let headers = "```\napns-push-type: background\napns-priority: 10\n```\n"
        for label in ["Body — must match `A`", "Body - as sent", "Body – sent", "Body"] {
            let page = "# A\n\n## B\n\n\(headers)\n**\(label)**\n\n\(body)"
            let run = try await FinishedRun(of: page, named: "a.md", rules: "BG006")
            #expect(try run.findings().count == 1, "\(label)")
        }
        for label in [
            "Another push — body", "Bodyless — x", "Body - of an alert push", "Payload - VoIP",
        ] {
            let page = "# A\n\n## B\n\n\(headers)\n**\(label)**\n\n\(body)"
            let run = try await FinishedRun(of: page, named: "a.md", rules: "BG006")
            #expect(try run.findings() == [], "\(label)")
        }
        let request =
            "```\nPOST .../3/device/<token of the phone>\napns-push-type: background\n"
            + "apns-topic: <topic>\napns-priority: 10\n"
            + "body: {\"aps\":{\"content-available\":1}}\n```\n"
        let run = try await FinishedRun(of: request, named: "a.md", rules: "BG006,H001,H017")
        #expect(try run.findings().map { $0.prefix(5) } == ["BG006"])
    }
}
