// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Errors where the text is a whole request, and not otherwise")
struct CertainErrorTests {
    private static let token = String(repeating: "a5", count: 32)

    /// The findings of a file, as `error G001 12`: severity, rule and line.
    private static func findings(
        _ text: String, name: String, without: Set<String> = []
    ) async throws -> [String] {
        let folder = try TestFolder()
        let path = try folder.write(text, to: name)
        let run = try await FinishedRun([path]) { $0.format = .json }
        let found = try run.files().flatMap {
            try #require($0["diagnostics"] as? [[String: Any]])
        }
        return found.filter { $0["severity"] as? String != "note" }.map { finding in
            "\(finding["severity"] ?? "") \(finding["rule"] ?? "") \(finding["line"] ?? "")"
        }
    }

    @Test("a request in notes or of an editor leaves out how it is authenticated")
    func certificates() async throws {
        for (type, rule, payload) in [
            ("location", "LO001", "{\"aps\":{}}"),
            ("widgets", "H019", "{\"aps\":{\"content-changed\":true}}"),
        ] {
            let suffix = type == "location" ? "location-query" : "push-type.widgets"
            let fields =
                "apns-topic: com.example.app.\(suffix)\napns-push-type: \(type)\n"
                + "apns-expiration: 0\n"
            let request =
                "POST https://api.push.apple.com/3/device/\(Self.token)\n\(fields)\n\(payload)\n"
            for name in ["a.http", "a.txt"] {
                #expect(try await Self.findings(request, name: name) == [])
            }
            let options = fields.split(separator: "\n").map { "-H '\($0)'" }
                .joined(separator: " ")
            let command =
                "curl --http2 --cert c.pem \(options) -d '\(payload)' "
                + "https://api.push.apple.com/3/device/\(Self.token)\n"
            #expect(try await Self.findings(command, name: "a.sh") == ["error \(rule) 1"])
        }
    }

    @Test("a request of an editor without a body is not judged, and remarks are not sent")
    func bodies() async throws {
        let start =
            "POST https://api.push.apple.com/3/device/\(Self.token)\napns-topic: com.a.b\n"
            + "apns-push-type: alert\n"
        for end in ["", "\n", "\n# later\n", "\n### next\nGET https://example.com/\napns-id: 1\n"] {
            #expect(try await Self.findings(start + end, name: "a.rest") == [], "\(end)")
        }
        let body = "\n# {\"aps\":{\"alert\":\"old\"}}\n{\"aps\":{\n  // \"badge\": 1,\n"
        #expect(
            try await Self.findings(start + body + "\"badge\":\"2\"}}\n", name: "a.http")
                == ["error G014 8"])
    }

    @Test(
        "a server that is not Apple's may add what its requests lack",
        arguments: [
            "http://push.internal:8080", "https://push.example.com", "10.0.0.4:2197",
            "http://localhost:8080",
        ])
    func ownServers(host: String) async throws {
        for body in [#"{"aps":{"content-available":1}}"#, #"{"aps":{"badge":"1"}}"#] {
            let expected = body.contains("badge") ? ["error G014 "] : []
            let command = "curl -u a:b -H 'authorization: Basic YTpi' -d '\(body)' "
            let found = try await Self.findings(
                "\(command)\(host)/3/device/\(Self.token)\n", name: "a.sh")
            #expect(found.map { $0.dropLast() } == expected.map { $0[...] }, "\(found)")
        }
        #expect(
            try await Self.findings(
                "POST \(host)/3/device/1\napns-push-type: alert\n", name: "a.http") == [])
        let other = "curl -d '{\"name\":\"x\"}' \(host)/3/device/7\n"
        #expect(try await Self.findings(other, name: "a.sh") == [])
    }

    @Test("a server that a variable names may be Apple's")
    func namedServers() async throws {
        let command = "curl -H 'apns-topic: a.b' -d '{\"aps\":{\"badge\":1}}' "
        #expect(
            try await Self.findings("\(command)https://$HOST/3/device/$TOKEN\n", name: "a.sh")
                == ["warning H004 1"])
    }

    @Test(
        "an id may be that of the call, and data of a sample is the reader's",
        arguments: [
            #"{"id":"42","media":"audio","name":"Ann","duration":"0"}"#,
            #"{"aps":{},"data":{"id":7,"kind":"ring"}}"#, #"{"your_custom_data":"v"}"#,
        ])
    func callIDs(payload: String) async throws {
        let request =
            #"{"headers":{"apns-push-type":"voip","apns-topic":"a.b.voip","#
            + #""apns-expiration":"0","apns-priority":"10"},"payload":"# + payload + "}"
        #expect(try await Self.findings(request, name: "a.json") == [])
        let other = request.replacing(payload, with: #"{"name":"Ann","valid":"1"}"#)
        #expect(try await Self.findings(other, name: "a.json") == ["warning VO003 1"])
    }

    @Test("a key that a variable names is not known")
    func namedKeys() async throws {
        let end = "--http2 --cert c.pem https://api.push.apple.com/3/device/$TOKEN\n"
        let start = "curl -H 'apns-topic: a.b' -H 'apns-push-type: alert' -d "
        let body = #""{\"aps\":{\"alert\":\"x\",\"$KEY\":\"v\"}}" "#
        #expect(try await Self.findings(start + body + end, name: "a.sh") == [])
        #expect(
            try await Self.findings(#"{"aps":{"alert":"x","{{key}}":1}}"#, name: "a.json") == [])
    }

    @Test(
        "what a script sets only under a condition is not known behind it",
        arguments: [
            "[ -n \"$1\" ] && P=5", "if [ -n \"$1\" ]; then P=5; fi", "for P in 5 10; do",
            "test -z \"$1\" || P=5",
        ])
    func conditions(line: String) async throws {
        let command =
            "curl --http2 --cert c.pem -H 'apns-topic: a.b' -H 'apns-push-type: background' "
            + "-H \"apns-priority: $P\" -d '{\"aps\":{\"content-available\":1}}' "
            + "https://api.push.apple.com/3/device/$TOKEN\n"
        #expect(
            try await Self.findings("P=10\n" + command, name: "a.sh") == ["error BG006 2"])
        #expect(try await Self.findings("P=10\n\(line)\n" + command, name: "a.sh") == [])
    }

    @Test("a value that a template puts in is no fault, nor is a comment that is not sent")
    func templates() async throws {
        let yaml =
            "headers:\n  apns-push-type: alert\n  apns-topic: {{ .Values.topic }}\n"
            + "payload:\n  aps:\n    alert: x\n"
        #expect(try await Self.findings(yaml, name: "a.yaml") == [])
        let collection = """
            {"request":{"method":"POST","url":"https://api.push.apple.com/3/device/{{token}}",
             "header":[{"key":"apns-topic","value":"a.b"},{"key":"apns-push-type","value":"alert"}],
             "body":{"mode":"raw","raw":"{ // x\\n\\"aps\\":{\\"badge\\":1}}"}}}
            """
        #expect(try await Self.findings(collection, name: "a.json") == [])
        let empty = collection.replacing(
            #"{ // x\n\"aps\":{\"badge\":1}}"#, with: "")
        #expect(try await Self.findings(empty, name: "a.json") == [])
    }
}
