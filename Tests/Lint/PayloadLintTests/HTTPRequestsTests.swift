// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Requests in the form of HTTP")
struct HTTPRequestsTests {
    private static func findings(
        _ text: String, _ rules: String, name: String = "push.http"
    ) async throws -> [String] {
        try await FinishedRun(of: text, named: name, rules: rules).findings()
    }

    @Test("a body in the line of its label may be no UTF-8, and fields may stand behind it")
    func labelled() async throws {
        let folder = try TestFolder()
        let broken = [UInt8](repeating: 0xe9, count: 12)
        let words = [[UInt8]](repeating: [0xe9, 0x61, 0x62, 0x63], count: 16).joined()
        for (start, body) in [
            ("PUT /3/device/a\nbody: {", broken),
            ("PUT /3/device/a\na: b\n\nbody: {", Array(words)),
        ] {
            let bytes = Array(start.utf8) + body + [0x7d]
            let path = try folder.write(bytes, to: "push.http")
            let run = try await FinishedRun([path])
            #expect(run.report.contains("not judged"), "\(run.report)")
        }
        let request =
            "POST https://api.push.apple.com/3/device/a5\nbody: {\"aps\":{\"alert\":\"x\"}}\n"
            + "apns-push-type: alert\napns-topic: a.b\n"
        #expect(try await Self.findings(request, "G001,H004") == [])
    }

    @Test("each request of a file is judged by its headers and its body, at its place")
    func requests() async throws {
        let text = """
            @host = https://api.push.apple.com

            ### A wake
            # @name wake
            POST {{host}}/3/device/{{token}} HTTP/2
            authorization: bearer {{jwt}}
            apns-topic: com.example.app
            apns-push-type: background
            // apns-priority: 10
            apns-priority: 5

            {"aps":{"content-available":1},"count":{{count}},"cursor":"{{cursor}}"}

            > {% client.log("sent") %}

            ###
            POST {{host}}/3/device/{{token}}
            apns-topic: com.example.app
            apns-push-type: background
            apns-priority: 10

            {
              "aps": {"content-available": 1, "alert": "x"}
            }
            """
        #expect(
            try await Self.findings(text, "G,H,BG001,BG002,BG006")
                == ["BG006 20:1 ", "BG002 23:35 /aps/alert"])
    }

    @Test(
        "an empty line below the request line, and words about what follows, are no body",
        arguments: [("", ""), ("", "Body:\n"), ("Headers:\n", "Payload:\n"), ("\n", "body: ")])
    func labels(fields: String, body: String) async throws {
        let text = """
            POST https://api.push.apple.com/3/device/<token> HTTP/2

            \(fields)authorization: bearer <jwt>
            apns-topic: com.example.app.voip
              apns-push-type: voip
            apns-priority: 5

            \(body){"callUUID": "6F1D1F0A-4C8E-4F3E-9B5B-30A4F9C3E7D1", "handle": "x"}
            """
        let found = try await Self.findings(text, "G,H,VO")
        #expect(found.map { $0.prefix(5) }.sorted() == ["VO005", "VO006", "VO015"], "\(found)")
    }

    @Test(
        "a remark behind a line is for people",
        arguments: ["  // must", " # x", "\t# a // b", " #x", "   //5 or 10", " // \u{fc}", ""])
    func remarks(remark: String) async throws {
        let fields = [
            "apns-push-type: background", "apns-topic: com.a.b", "apns-priority: 5",
            "apns-expiration: 0", "authorization: bearer <jwt>",
        ]
        let lines = fields.map { $0 + remark + "\n" }.joined()
        let body = "\n{\"aps\":{\"content-available\":1}}\n"
        let request = "POST /3/device/<the token # 1>\(remark)\n\(lines)\(body)"
        let frames =
            "HEADERS\n:method = POST\n:path = /3/device/<token>\(remark)\n"
            + lines.replacing(":", with: " =") + "DATA\n" + body
        for text in [request, frames, lines + body] {
            for name in ["a.http", "a.txt", "a.md"] {
                let shown = name == "a.md" ? "# A\n\n```\n\(text)```\n" : text
                #expect(
                    try await Self.findings(shown, "H,G,BG006", name: name) == [],
                    "\(name) \(text)")
            }
        }
        let wrong = request.replacing("apns-priority: 5", with: "apns-priority: 10")
        for name in ["a.http", "a.txt", "a.md"] {
            let shown = name == "a.md" ? "# A\n\n```\n\(wrong)```\n" : wrong
            #expect(
                try await Self.findings(shown, "BG006", name: name).map { $0.prefix(5) }
                    == ["BG006"], "\(name)")
        }
    }

    @Test(
        "a mark within a value is none",
        arguments: ["com.a.b#c", "com.a//b", "{{a # b}}", "<b // c>"])
    func marks(topic: String) async throws {
        let text = "apns-topic: \(topic)"
        #expect(HTTPRequests.withoutRemark(text[...]) == text[...])
    }

    @Test("a request without a file's name is told by its first line", arguments: ["\n", "\r\n"])
    func text(lineEnd: String) async throws {
        let text = """
            POST /3/device/\(String(repeating: "a5", count: 32)) HTTP/2
            host: api.push.apple.com
            apns-topic: com.example.app
            apns-push-type: voip
            apns-expiration: 0

            {"callUUID":"3f2504e0-4f89-11d3-9a0c-0305e82c3301","handle":"Ann"}
            """
            .replacing("\n", with: lineEnd)
        #expect(try await Self.findings(text, "G,H,VO001", name: "call.txt") == ["VO001 3:1 "])
    }

    @Test("the authorization of Azure Notification Hubs is its own, and so is a body of parts")
    func azure() async throws {
        let start = """
            POST https://a.servicebus.windows.net/hub/messages/$batch?direct
            Content-Type: multipart/mixed; boundary="b"
            Authorization: SharedAccessSignature sr=x
            ServiceBusNotification-Format: apple


            """
        let part = "--b\n\n{\"aps\":{\"alert\":\"x\"}}\n--b--\n"
        #expect(try await Self.findings(start + part, "AU006,G001").isEmpty)
        let body = "{\"aps\":{\"badge\":\"1\"}}\n"
        #expect(
            try await Self.findings(start + body, "AU006,G014").map { $0.prefix(4) } == ["G014"])
    }

    @Test("a missing provider token and a misspelt header are reported once")
    func repeated() async throws {
        let location =
            "curl --cert c.pem -H 'apns-topic: com.example.app.location-query' "
            + "-H 'apns-push-type: location' -d '{\"aps\":{}}' "
            + "https://api.push.apple.com/3/device/$T\n"
        #expect(
            try await Self.findings(location, "H019,LO001", name: "a.sh") == ["LO001 1:1 "])
        let call = """
            POST https://api.push.apple.com/3/device/{{token}}
            apns-topic: com.example.app.voip
            apns-push-type: voip
            apns-expriation: 0

            {"callUUID":"3f2504e0-4f89-11d3-9a0c-0305e82c3301"}
            """
        #expect(try await Self.findings(call, "H017,VO005") == ["H017 4:1 "])
    }

    @Test("a request of Bruno is judged by its headers and its body, at its place")
    func bruno() async throws {
        let text = """
            meta {
              name: wake
              type: http
            }

            post {
              url: https://api.push.apple.com/3/device/{{token}}
              body: json
            }

            headers {
              apns-topic: com.example.app
              apns-push-type: background
              ~apns-priority: 5
              apns-priority: 10
            }

            body:json {
              {
                "aps": {"content-available": 1, "badge": 2}
              }
            }

            tests {
              test("sent", function() {});
            }
            """
        #expect(
            try await Self.findings(text, "G,H,BG004,BG006", name: "wake.bru")
                == ["BG006 15:1 ", "BG004 20:37 /aps/badge"])
        #expect(
            try await Self.findings("meta {\n  name: x\n}\n", "G001", name: "collection.bru")
                .isEmpty)
    }

    @Test("the token and the body of a request of Bruno are those that it says are sent")
    func brunoModes() async throws {
        let text = """
            post {
              url: https://api.push.apple.com/3/device/{{token}}
              body: json
              auth: bearer
            }

            headers {
              apns-topic: com.example.app.push-type.liveactivity
              apns-push-type: liveactivity
              apns-priority: 10
            }

            auth:bearer {
              token: {{jwt}}
            }

            body:json {
              {"aps": {"timestamp": 1800000000, "event": "update", "content-state": {"a": 1}}}
            }

            body:xml {
              <a/>
            }
            """
        #expect(try await Self.findings(text, "G001,H,LO,LA", name: "live.bru").isEmpty)
        let unsent = text.replacing("body: json", with: "body: none")
        #expect(try await Self.findings(unsent, "LA", name: "live.bru").isEmpty)
    }

    @Test("what people put in may be named with blanks")
    func namedToken() async throws {
        let text = """
            POST https://api.push.apple.com/3/device/<the device's token> HTTP/2
            apns-topic: com.example.app
            apns-push-type: background
            apns-priority: 10

            {"aps":{"content-available":1}}
            """
        #expect(try await Self.findings(text, "G,H,BG006") == ["BG006 4:1 "])
        let prose = "GET / or POST it, as you like\n\n{\"aps\":{}}"
        #expect(try await Self.findings(prose, "G001", name: "a.json") == ["G001 1:1 "])
    }

    @Test("a file in UTF-16 is not passed over in silence", arguments: [true, false])
    func wideText(isBigEndian: Bool) async throws {
        let text = "POST /3/device/ab\napns-topic: a.b\n\n{\"aps\":{\"badge\":\"1\"}}\n"
        let folder = try TestFolder()
        let path = try folder.write(
            text.utf16.flatMap { unit -> [UInt8] in
                let bytes = [UInt8(unit & 0xff), UInt8(unit >> 8)]
                return isBigEndian ? bytes.reversed() : bytes
            }, to: "a.http")
        let run = try await FinishedRun([path]) { $0.format = .json }
        #expect(try run.findings() == ["G005 1:1 "])
    }

    @Test("a remark in brackets behind the target is none of it")
    func brackets() async throws {
        let request =
            "POST https://api.push.apple.com/3/device/<token>  (or sandbox... for dev)\n"
            + "apns-topic: com.a.b\napns-push-type: background\napns-priority: 10\n\n"
        let text = "```\n" + request + "{\"aps\":{\"content-available\":1}}\n```\n"
        #expect(
            try await Self.findings(text, "BG006", name: "a.md").map { $0.prefix(7) }
                == ["BG006 5"])
    }

    @Test("words about a body are no body")
    func describedBody() async throws {
        let request = "POST https://api.push.apple.com/3/device/<token>\napns-topic: com.a.b\n\n"
        for body in ["body: free-form. Say {\"aps\":{\"alert\":\"x\"}}", "Payload: none"] {
            let text = "```\n\(request)\(body)\n```\n"
            #expect(try await Self.findings(text, "G001,AL", name: "a.md") == [], "\(body)")
            #expect(try await Self.findings(request + body, "G001,AL") == [], "\(body)")
        }
        // A second address is no field, so that the fields may stand behind an empty line.
        let two =
            "POST https://api.push.apple.com/3/device/<token>   (production)\n"
            + "     https://api.sandbox.push.apple.com/3/device/<token>  (development)\n\n"
            + "apns-topic: com.a.b\napns-push-type: location\n\nbody: free-form. Say {\"a\":1}\n"
        #expect(try await Self.findings("```\n\(two)```\n", "G,H", name: "a.md") == [])
        #expect(
            try await Self.findings(request + "body: {\"aps\":{\"badge\":\"1\"}}", "G001,G014")
                == ["G014 4:23 /aps/badge"])
    }

    @Test("a curl command in such a file is judged as in any other")
    func command() async throws {
        let text = """
            curl --http2 -H "apns-topic: com.example.app" -H "apns-push-type: background" \\
              -H "apns-priority: 10" -d '{"aps":{"content-available":1}}' \\
              https://api.push.apple.com/3/device/00fc13adff785122b4ad28809a3420982341241421348097

            """
        #expect(
            try await Self.findings(text, "BG006").map { $0.prefix(5) } == ["BG006"])
    }

    @Test(
        "what is not in the file, or not for APNs, is not judged",
        arguments: [
            "POST https://api.push.apple.com/3/device/{{t}}\napns-topic: a.b\n\n< ./alert.json\n",
            "POST https://api.push.apple.com/3/device/{{t}}\napns-topic: a.b\n\n{{body}}\n",
            "GET https://api.example.com/v1/users\nAccept: application/json\n", "# empty\n", "",
        ])
    func unknown(text: String) async throws {
        #expect(try await Self.findings(text, "G001,G002,H001,AL") == [])
    }
}
