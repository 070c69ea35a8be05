// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("What is certain of a file that was named")
struct CertaintyTests {
    /// The errors and warnings of a file, as `E G010` and `W G013`.
    private static func findings(_ text: String, name: String) async throws -> [String] {
        let folder = try TestFolder()
        let path = try folder.write(text, to: name)
        let run = try await FinishedRun([path]) { $0.format = .json }
        let diagnostics = try run.files().flatMap {
            try #require($0["diagnostics"] as? [[String: Any]])
        }
        return diagnostics.compactMap { found in
            let severity = found["severity"] as? String
            guard severity != "note", let first = severity?.first else { return nil }
            return "\(first.uppercased()) \(found["rule"] ?? "")"
        }
    }

    @Test(
        "JSON that need not be a payload has no faults as one",
        arguments: [
            #"{"data":{"alert":"x","badge":1}}"#, #"{"sound":"on","volume":3}"#, "[1,2,3]",
            #""text""#, "{}", #"{"content_available":true,"id":"run","status":"completed"}"#,
            #"{"type":"call_ended","callId":"abc"}"#, #"{"aps":{},"data":{"type":"notice"}}"#,
            #"{"body":"x","icon":"y","badge":"z","sound":"w"}"#,
            #"{"content-available":"1","message":"x","foreground":"false"}"#,
            #"{"headers":[{"name":"apns-topic","value":"com.x"}],"body":{"aps":{"alert":"x"}}}"#,
        ])
    func others(text: String) async throws {
        #expect(try await Self.findings(text, name: "a.json").isEmpty)
    }

    @Test(
        "a missing aps is a warning where the keys are Apple's, and an error in a file for pushes",
        arguments: [
            (#"{"alert":"x","badge":1}"#, "a.json", ["W G010"]),
            (#"{"content-available":1,"k":2}"#, "a.json", ["W G010"]),
            (#"{"k":2}"#, "a.apns", ["E G010"]),
        ])
    func missingAPS(text: String, name: String, expected: [String]) async throws {
        #expect(try await Self.findings(text, name: name) == expected)
    }

    @Test(
        "what is put in later has no type, and what was left out is no fault of the text",
        arguments: [
            #"{"aps":{"alert":"x","badge":{{count}}}}"#, #"{"aps":{"alert":"x", ...}}"#,
            #"{"aps":{"alert":"x","badge":<number>}}"#,
            #"{"aps":{"alert":"x","badge":"{{count}}","content-available":"${n}"}}"#,
            #"{"aps":{"alert":"x","badge":"%d","mutable-content":"<0 or 1>"}}"#,
        ])
    func templates(text: String) async throws {
        #expect(try await Self.findings(text, name: "a.json").isEmpty)
    }

    @Test("a placeholder in a file for the simulator is not JSON, and a number in quotes no number")
    func noTemplates() async throws {
        let open = #"{"aps":{"alert":"x","badge":{{count}}}}"#
        #expect(try await Self.findings(open, name: "a.apns") == ["E G001"])
        let quoted = #"{"aps":{"alert":"x","badge":"1"}}"#
        #expect(try await Self.findings(quoted, name: "a.json") == ["E G014"])
    }

    @Test(
        "a mark by itself, and those of a conflict of versions, are faults and no placeholders",
        arguments: [
            #"{"aps":{"alert":"x","badge":5%}}"#, #"{"aps":{"alert":"x","badge":$}}"#,
            "{\"aps\":{\n<<<<<<< HEAD\n\"alert\":\"x\"\n=======\n\"alert\":\"y\"\n"
                + ">>>>>>> new\n}}",
            #"{"aps":{"alert":"x","badge":1 < 2}}"#,
        ])
    func faultyMarks(text: String) async throws {
        #expect(try await Self.findings(text, name: "a.json") == ["E G001"])
    }

    @Test(
        "a request keeps its faults",
        arguments: [
            (
                #"{"headers":["apns-priority: 5"],"payload":{"aps":{"alert":"x"}}}"#, "a.apns",
                "G001"
            ),
            (#"{"headers":{"apns-topic":"com.a.my b"},"payload":{"aps":{}}}"#, "a.json", "H022"),
            (
                #"{"$schema":"s","headers":{"apns-push-type":"background"},"payload":{"aps":{}}}"#,
                "a.json", "BG001"
            ),
            ("header:\n  apns-priority: 5\npayload:\n  aps:\n    badge: \"1\"\n", "a.yaml", "G014"),
        ])
    func requestFaults(text: String, name: String, rule: String) async throws {
        #expect(try await Self.findings(text, name: name).contains("E \(rule)"))
    }

    @Test("lines that are records have payloads in them, and may be about something else")
    func lines() async throws {
        let rows = """
            {"id":1,"token":"t","payload":{"aps":{"alert":"x"}}}
            {"id":2,"token":"t","payload":{"aps":{"alert":"x","badge":"1"}}}
            {"level":"info","msg":"sent"}
            """
        #expect(try await Self.findings(rows, name: "a.jsonl") == ["E G014"])
    }

    @Test(
        "the sender of a row of a queue may add what a Live Activity needs",
        arguments: [
            #"{"id":7,"status":"queued","headers":{"apns-push-type":"liveactivity","#
                + #""apns-topic":"com.a.push-type.liveactivity","apns-priority":"10"},"#
                + #""payload":{"aps":{"event":"update","content-state":{"a":1}}}}"#,
            #"{"kind":"la_end","attempts":1,"payload":{"tokens":["a"],"#
                + #""aps":{"event":"end","content-state":{"a":1}}}}"#,
            #"{"deviceId":"d","pushType":"liveactivity","payload":{"aps":{"timestamp":0,"#
                + #""event":"start","content-state":{},"attributes-type":"A","attributes":{}}}}"#,
        ])
    func queues(text: String) async throws {
        #expect(try await Self.findings(text, name: "a.json").isEmpty)
    }

    @Test("a request by itself lacks what its payload lacks")
    func requests() async throws {
        let text =
            #"{"headers":{"apns-push-type":"liveactivity","#
            + #""apns-topic":"com.a.push-type.liveactivity","apns-priority":"10"},"#
            + #""payload":{"aps":{"event":"update","content-state":{"a":1}}}}"#
        #expect(try await Self.findings(text, name: "a.json") == ["E LA001"])
    }

    @Test("the part of a message for Firebase that goes to APNs lacks no topic and no push type")
    func firebasePart() async throws {
        let text = #"{"headers":{"apns-priority":"5"},"payload":{"aps":{"content-available":1}}}"#
        #expect(try await Self.findings(text, name: "a.json").isEmpty)
    }

    @Test(
        "a file that is named for pushes keeps the faults of its headers",
        arguments: [
            #"{"headers":{"x":{"a":1}},"payload":{"aps":{"alert":"x"}}}"#,
            #"{"headers":{"x":{"a":1}},"payload":{"Simulator Target Bundle":"com.x"}}"#,
        ])
    func headersOfNamed(text: String) async throws {
        #expect(try await Self.findings(text, name: "a.apns").contains("E G001"))
    }

    @Test(
        "commands to other services of Apple's, and to try a connection, send no push",
        arguments: [
            "curl -v --http2 https://api.sandbox.push.apple.com\n",
            "curl https://api-manage-broadcast.push.apple.com:2196/1/apps/com.x/channels "
                + "-H 'apns-request-id: 1' -d '{\"push-type\":\"LiveActivity\"}'\n",
            "curl -X POST https://web.push.apple.com/QGx -H 'TTL: 60' --data-binary @body\n",
        ])
    func otherCommands(text: String) async throws {
        #expect(try await Self.findings(text, name: "a.sh").isEmpty)
    }

    @Test("names in the places of a device token and a provider token are placeholders")
    func names() async throws {
        let text = """
            POST https://api.push.apple.com/3/device/my-device
            authorization: bearer token
            apns-topic: the app's bundle id
            apns-push-type: alert

            {"aps":{"alert":"x"}}
            """
        #expect(try await Self.findings(text, name: "a.http").isEmpty)
    }

    @Test(
        "YAML for another service is not judged",
        arguments: [
            "services:\n  web:\n    image: nginx\n",
            "message:\n  apns:\n    payload:\n      aps:\n        badge: 1\n", "- a\n- b\n",
        ])
    func otherYAML(text: String) async throws {
        #expect(try await Self.findings(text, name: "a.yaml").isEmpty)
    }

    @Test("a level of interruption in the spelling of OneSignal is its own")
    func oneSignal() async throws {
        let text =
            #"{"app_id":"a","contents":{"en":"x"},"included_segments":["All"],"#
            + #""ios_interruption_level":"time_sensitive"}"#
        #expect(try await Self.findings(text, name: "a.json").isEmpty)
    }

    @Test("a copy beside aps of what is in it is the app's, and what is not in it has no effect")
    func copies() async throws {
        let text = #"{"aps":{"alert":"x"},"alert":"x","badge":3}"#
        #expect(try await Self.findings(text, name: "a.json") == ["W G013"])
    }

    @Test(
        "a payload with commas or comments that JSON has not is judged beside that fault",
        arguments: [
            (#"{"aps":{"alert":"x","badge":"1",},}"#, ["E G014", "E G001"]),
            ("{\"aps\":{\"badge\":\"1\" // count\n}}", ["E G014", "E G001"]),
            (#"{"message":{"apns":{"payload":{"aps":{"badge":"1",}}}}}"#, ["E G014", "E G001"]),
            (#"{"aps":{"alert":"x" "badge":"1",},}"#, ["E G001"]),
        ])
    func commas(text: String, expected: [String]) async throws {
        #expect(try await Self.findings(text, name: "a.json") == expected)
    }
}
