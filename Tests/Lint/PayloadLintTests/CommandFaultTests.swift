// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

@Suite("What a shell or curl makes of a command other than was meant")
struct CommandFaultTests {
    private static let body = #"-d '{"aps":{"alert":"x"}}'"#
    private static let headers =
        "-H 'authorization: bearer '$JWT -H 'apns-topic: com.a.b' -H 'apns-push-type: alert'"
    private static let url = "https://api.push.apple.com/3/device/$T"

    private static func findings(
        _ command: String, _ name: String = "a.sh"
    ) async throws -> [String] {
        let text = command.replacing("{body}", with: body).replacing("{url}", with: url)
            .replacing("{headers}", with: headers)
        return try await FirebaseTests.findings(text, name: name)
    }

    @Test("a comment behind a backslash ends the command, and what was meant is judged")
    func remark() async throws {
        let command = "curl {headers} \\ # headers\n  {body} {url}\n"
        #expect(try await Self.findings(command) == ["warning G001 "])
        #expect(try await Self.findings("```sh\n\(command)```\n", "a.md") == ["warning G001 "])
        let faulty = command.replacing("{headers}", with: Self.headers)
            .replacing("push-type: alert'", with: "push-type: alert' -H 'apns-priority: 7'")
        #expect(try await Self.findings(faulty) == ["error H008 ", "warning G001 "])
        // Each part of a command has the same line.
        let next = command.replacing("\n  {body} {url}", with: "\n  {body} {url} --next {url}")
        #expect(try await Self.findings(next).filter { $0 == "warning G001 " }.count == 1)
    }

    @Test("a line end without a backslash ends the command of a script, and not that of a page")
    func gap() async throws {
        let command = "curl {headers} \\\n  {body}\n  --http2 {url}\n"
        #expect(try await Self.findings(command) == ["warning G001 "])
        #expect(try await Self.findings("```sh\n\(command)```\n", "a.md") == [])
        #expect(try await Self.findings(command, "a.zsh") == ["warning G001 "])
        for start in ["args=( ", "args=(sudo ", "args=( # why\n "] {
            #expect(try await Self.findings("\(start)\(command))\n\"${args[@]}\"\n") == [])
        }
        #expect(try await Self.findings(command.replacing("\n  --", with: " # why\n  --")) == [])
        #expect(try await Self.findings(command.replacing("{body}", with: "{body} \\")) == [])
        #expect(try await Self.findings(command.replacing("\n  --http2", with: " \\\n-v")) == [])
    }

    @Test(
        "a comment behind the last line, in quotes, or on a line of its own ends nothing",
        arguments: [
            "curl {headers} {body} {url} # all", "curl {headers} {body} {url} \\ # all\n\n",
            "curl {headers} {body} {url} \\ # all\n# done\necho ok",
            "curl {headers} -H 'x: \\ # y' \\\n  {body} {url}", "curl {headers} {body} '{url}#a'",
            "curl {headers} \\\n  `# body` \\\n  {body} {url}", "curl {headers} \\\n{body} {url}",
        ])
    func noRemark(command: String) async throws {
        #expect(try await Self.findings(command + "\n") == [])
    }

    @Test("a method without -X is another address", arguments: ["POST", "PUT", "GET"])
    func method(name: String) async throws {
        let options = "{headers} {body}"
        for command in ["curl -v \(name) {url} \(options)", "curl \(options) {url} \(name)"] {
            #expect(try await Self.findings(command + "\n") == ["warning H001 "])
        }
        let unsigned =
            "curl \(name) {url} -H 'apns-topic: com.a.b' -H 'apns-push-type: alert' {body}\n"
        #expect(try await Self.findings(unsigned) == ["warning AU006 ", "warning H001 "])
    }

    @Test(
        "other words beside the address are no method",
        arguments: [
            "curl –X POST {url} {headers} {body}", "curl POST ... {url} {headers} {body}",
            "curl -X POST {url} {headers} {body}", "curl $POST {url} {headers} {body}",
            "curl post {url} {headers} {body}", "curl \"$@\" POST {url} {headers} {body}",
            "OPTS=\"-s -X\"\ncurl $OPTS POST {url} {headers} {body}",
        ])
    func noMethod(command: String) async throws {
        #expect(try await Self.findings(command + "\n") == [])
    }

    @Test(
        "another scheme than bearer is told without the secret",
        arguments: ["key=$K", "Basic $K", "Token ${K}", "JWT <token>", "key {{token}}"])
    func scheme(value: String) async throws {
        let other =
            "curl -H \"authorization: \(value)\" -H 'apns-topic: com.a.b' "
            + "-H 'apns-push-type: alert' {body} {url}\n"
        #expect(try await Self.findings(other) == ["error AU006 "], "\(other)")
        let relay = other.replacing("{url}", with: "$HOST/3/device/$T")
        #expect(try await Self.findings(relay) == [], "\(relay)")
    }

    @Test(
        "what may hold the scheme is not judged",
        arguments: ["$K", "${SCHEME} $K", "<scheme> $K", "TOKEN HERE", "your token", "token"])
    func unknownScheme(value: String) async throws {
        let other =
            "curl -H \"authorization: \(value)\" -H 'apns-topic: com.a.b' "
            + "-H 'apns-push-type: alert' {body} {url}\n"
        #expect(try await Self.findings(other) == [], "\(other)")
    }

    @Test("a state that was encoded twice is text, and a template is not judged")
    func encodedTwice() async throws {
        let payload = { (state: String) in
            #"{"aps":{"timestamp":1790000000,"event":"update","content-state":"\#(state)"}}"#
        }
        #expect(
            try await FirebaseTests.findings(payload(#"{\"a\":1}"#))
                == ["error G014 /aps/content-state"])
        for text in ["{state}", "{{state}}", "${state}"] {
            #expect(try await FirebaseTests.findings(payload(text)) == [], "\(text)")
        }
    }

    @Test("Firebase needs the token of a Live Activity")
    func activityToken() async throws {
        let aps = #""aps":{"timestamp":1790000000,"event":"update","content-state":{"a":1}}"#
        let message = { (more: String) in
            #"{"message":{"token":"t","apns":{\#(more)"payload":{\#(aps)}}}}"#
        }
        #expect(try await FirebaseTests.findings(message("")) == ["warning H007 /message/apns"])
        #expect(try await FirebaseTests.findings(message(#""live_activity_token":"a","#)) == [])
        let own = message("").replacing(#""event":"update","#, with: #""alert":"x","#)
        #expect(
            try await !FirebaseTests.findings(own).contains { $0.contains("H007 /message/apns") })
    }
}
