// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

@Suite("Commands to Apple that do not sign in")
struct SignInTests {
    private static let start =
        "curl -H 'apns-topic: com.a.b' -H 'apns-push-type: alert' -d '{\"aps\":{\"alert\":\"x\"}}' "

    private static let url = "https://api.push.apple.com/3/device/$T"

    @Test(
        "a signing key is no certificate",
        arguments: ["--cert AuthKey_ABC.p8 ", "-E key.p8 --cert-type PEM "])
    func missing(options: String) async throws {
        let command = Self.start + options + Self.url + "\n"
        #expect(try await FirebaseTests.findings(command, name: "a.sh") == ["error AU006 "])
        let page = "# Push\n\n```sh\n\(command)```\n"
        #expect(try await FirebaseTests.findings(page, name: "a.md") == ["error AU006 "])
    }

    @Test(
        "what may hold one of them is enough",
        arguments: [
            "--cert c.pem ", "--cert \"$CERT\" ", "-E c.p12:pass ", "--key k.pem ", "$OPTIONS ",
            "\"${ARGS[@]}\" ", "-H \"$AUTH\" ", "-H @headers ", "-K curl.conf ", "--cert=c.pem ",
            "-H 'authorization: bearer '$JWT ", "-H \"Authorization: $JWT\" ", "... ", "[options] ",
        ])
    func present(options: String) async throws {
        let command = Self.start + options + Self.url + "\n"
        #expect(try await FirebaseTests.findings(command, name: "a.sh") == [])
    }

    @Test(
        "a command `curl` of its own, settings or a proxy may sign in",
        arguments: [
            "function curl { command curl --cert a.pem \"$@\"; }", "curl  () {\n:\n}",
            "alias  curl='curl -E a.pem'", "alias -- curl=other", "CURL_HOME=/etc/push",
            "export https_proxy=http://proxy",
        ])
    func elsewhere(line: String) async throws {
        let command = Self.start + Self.url + "\n"
        #expect(try await FirebaseTests.findings(command, name: "a.sh") == ["warning AU006 "])
        let script = line + "\n" + command
        #expect(try await FirebaseTests.findings(script, name: "a.sh") == [], "\(line)")
    }

    @Test("what is not shown hides no other finding")
    func hidden() async throws {
        let command =
            "curl -H 'apns-topic: a.b.push-type.liveactivity' -H 'apns-push-type: liveactivity' "
            + "-d '{\"aps\":{\"timestamp\":1790000000,\"event\":\"update\","
            + "\"content-state\":{}}}' \(Self.url)\n"
        let run = try await FinishedRun(of: command, named: "a.sh", rules: "AU006")
        #expect(try run.findings().count == 1)
    }

    @Test("another server, or what stands for one, may sign in itself")
    func others() async throws {
        for host in ["$HOST", "localhost:8080", "<host>", "relay.example.com"] {
            let command = Self.start + Self.url.replacing("api.push.apple.com", with: host) + "\n"
            #expect(try await FirebaseTests.findings(command, name: "a.sh") == [], "\(host)")
        }
        let request =
            "POST \(Self.url)\napns-topic: com.a.b\napns-push-type: alert\n\n"
            + #"{"aps":{"alert":"x"}}"#
        #expect(try await FirebaseTests.findings(request, name: "a.http") == [])
    }

    @Test("a type that needs a provider token is told once")
    func types() async throws {
        let command =
            "curl --cert c.p8 -H 'apns-topic: com.a.b.location-query' "
            + "-H 'apns-push-type: location' -d '{\"aps\":{}}' \(Self.url)\n"
        #expect(try await FirebaseTests.findings(command, name: "a.sh") == ["error AU006 "])
        let certified = command.replacing("c.p8", with: "c.pem")
        #expect(try await FirebaseTests.findings(certified, name: "a.sh") == ["error LO001 "])
    }

    @Test("the name of a header is judged without its value")
    func names() async throws {
        for value in ["<token>", "$T", "abc123"] {
            let command = Self.start + "-H \"apns-devtoken: \(value)\" --cert c.pem \(Self.url)\n"
            #expect(
                try await FirebaseTests.findings(command, name: "a.sh") == ["warning H017 "],
                "\(value)")
        }
        let type = Self.start.replacing("push-type: alert'", with: "type: '$TYPE")
        #expect(
            try await FirebaseTests.findings("\(type)--cert c.pem \(Self.url)\n", name: "a.sh")
                == ["warning H017 "])
    }

    @Test("a sketch of a request without headers is told once")
    func sketch() async throws {
        let payload = #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{"a":1}}}"#
        let sketch = "POST https://api.push.apple.com/3/device/<token>\n\n\(payload)\n"
        #expect(try await FirebaseTests.findings(sketch, name: "a.http") == ["warning H004 "])
        let partial = sketch.replacing("\n\n", with: "\napns-priority: 5\n\n")
        #expect(
            try await FirebaseTests.findings(partial, name: "a.http")
                == ["warning H004 ", "warning H006 "])
    }
}
