// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

@testable import PayloadLint

/// Texts that a reader is meant to fill in, or that were not read to their end, have no errors
/// about what is missing in them.
@Suite("unfinished texts")
struct UnfinishedTextTests {
    private static let url = "https://api.push.apple.com/3/device/"
    private static let headers =
        #"-H "apns-topic: com.a.b" -H "apns-push-type: alert" -H "authorization: bearer $JWT""#
    private static let body = #"-d '{"aps":{"alert":"x"}}'"#

    /// The findings of a text, as `rule severity`.
    private static func findings(
        _ text: String, name: String = "push.sh"
    ) async throws -> [String] {
        let folder = try TestFolder()
        let path = try folder.write(text, to: name)
        let run = try await FinishedRun([path]) { $0.format = .json }
        let diagnostics = try run.files().first?["diagnostics"] as? [[String: Any]] ?? []
        return diagnostics.map { "\($0["rule"] ?? "") \($0["severity"] ?? "")" }
    }

    /// The usual forms of what is put in later.
    static let placeholders = [
        "<TOKEN>", "<device token>", "<device-token-here>", "<your device's token>",
        "<token (hex)>", "<token: 64 digits>", "<<token>>", "<%= token %>", "<?php echo $t ?>",
        "{token}", "{{token}}", "{{ token }}", "${TOKEN}", "$TOKEN", "$1", "${1:-}", "$(token)",
        "`token`", "%s", "%@", "%TOKEN%", "%(token)s", ":token", "@token", "@@TOKEN@@", "#{token}",
        "\\(token)", "((token))", "[token]", "[device token]", "[[token]]", "&lt;token&gt;",
        "YOUR_TOKEN", "YOUR-TOKEN-HERE", "yourtoken", "YOUR_TOKEN_1", "your device token",
        "DEVICE_TOKEN", "DEVICE_TOKEN_HERE", "device_token", "deviceToken", "REPLACE_ME",
        "REPLACEME", "CHANGE_ME", "INSERT_TOKEN_HERE", "TODO", "TBD", "__TOKEN__", "xxx",
        "XXXXXXXX", "***", "•••", "...", "…", "abc...", "abc…", "设备令牌", "‹token›", "«token»",
        "*your token*",
        "0a1b2c3d-device-token-of-ann-deed", "devicetoken-of-the-phone-of-ann-and-bob",
    ]

    @Test("what stands for a token, a topic or another header", arguments: placeholders)
    func values(form: String) async throws {
        for command in [
            "curl \(Self.headers) \(Self.body) \(Self.url)\(form)\n",
            "curl \(Self.headers) \(Self.body) \"\(Self.url)\(form)\"\n",
            #"curl -H "apns-topic: \#(form)" -H "apns-push-type: \#(form)" -H "apns-id: \#(form)" "#
                + #"-H "apns-priority: \#(form)" -H "apns-expiration: \#(form)" "#
                + #"-H "authorization: bearer \#(form)" \#(Self.body) \#(Self.url)$TOKEN"# + "\n",
            "TOKEN='\(form)'\nTOPIC='\(form)'\n"
                + #"curl -H "apns-topic: $TOPIC" -H "apns-push-type: alert" \#(Self.body) "#
                + #"-H "authorization: bearer $TOKEN" \#(Self.url)$TOKEN"# + "\n",
        ] {
            #expect(try await Self.findings(command) == [], "\(command)")
        }
        let request = """
            POST \(Self.url)\(form)
            apns-topic: \(form)
            apns-push-type: \(form)
            apns-priority: \(form)
            authorization: bearer \(form)

            {"aps":{"alert":"x"}}

            """
        #expect(try await Self.findings(request, name: "push.http") == [])
        #expect(
            try await Self.findings("# A\n\n```http\n\(request)```\n", name: "a.md") == [])
    }

    @Test("what stands for a body", arguments: placeholders)
    func bodies(form: String) async throws {
        let start = "curl \(Self.headers) \(Self.url)$TOKEN "
        for command in [
            "\(start)-d '\(form)'\n", "\(start)-d \(form)\n", "\(start)-d \"\(form)\"\n",
            "\(start)-d \"{\(form)}\"\n",
        ] where !form.contains("'") {
            #expect(try await Self.findings(command) == [], "\(command)")
        }
    }

    @Test(
        "a body with something left open in it",
        arguments: [
            "{\"aps\": {{aps}}}", "{\"aps\": <aps>}", "{\"aps\": %s}", "{\"aps\": %@}",
            "{\"aps\": {\"badge\": %d}}", "{\"aps\": {\"badge\": BADGE}}", "{\"aps\": ${APS}}",
            "{\"aps\": {...}}", "{...}", "{ … }", "{\"aps\": {\"alert\": \"x\"}'$MORE'}",
            "{\"aps\": {\"alert\": '$A'\"x\"}}", "{\"aps\": {\"alert\": \"x\"'$MORE'}}",
            "{'$ALL'}", "'$ALL'", "{\"aps\": {\"badge\": #{n}}}",
        ])
    func parts(body: String) async throws {
        let start = "curl \(Self.headers) \(Self.url)$TOKEN "
        #expect(try await Self.findings("\(start)-d '\(body)'\n") == [])
        #expect(try await Self.findings("echo '\(body)' | \(start) -d @-\n") == [])
        #expect(
            try await Self.findings("echo '\(body)' | xcrun simctl push booted com.a.b -\n") == [])
    }

    /// Commands that are not read to their end, or whose options are not all in the text.
    static let commands = [
        // Options that are elsewhere.
        "A=(-H \"apns-topic: com.a.b\")\ncurl \"${A[@]}\" {body} {url}$T",
        "A=()\nA+=(-H \"apns-topic: com.a.b\")\ncurl \"${A[@]}\" {body} {url}$T",
        "curl $OPTIONS {url}$T", "curl {url}$T \"$@\"", "curl {body} {url}$T $*",
        "push() { curl \"$@\" {body} {url}$T; }",
        "curl $(options) {body} {url}$T", "curl `options` {body} {url}$T",
        "curl -K push.conf {url}$T", "curl --config push.conf {body} {url}$T",
        "curl -H @headers.txt {body} {url}$T", "curl -H \"$HEADERS\" {body} {url}$T",
        "curl -H <headers> {body} {url}$T", "curl -H ... {body} {url}$T",
        "A='-H apns-topic:com.a.b'\ncurl $A {body} {url}$T",
        "A=\"-X POST\"\nA=\"$A -H apns-topic:com.a.b\"\ncurl $A {body} {url}$T",
        // Dots, and what stands for options.
        "curl ... {url}$T", "curl {headers} ... {url}$T", "curl -X POST {url}$T ...",
        "curl -X POST {url}$T …", "curl -X POST {url}$T \\\n  ...",
        "curl [options] {url}$T", "curl <options> {body} {url}$T", "curl {options} {url}$T",
        // Comments, empty lines and other marks between the options.
        "curl -v \\\n# topic\n{headers} \\\n{body} {url}$T",
        "curl -v {url}$T \\\n  # topic\n  {headers} \\\n  {body}",
        "curl -v {url}$T \\\n#  -H 'a: b' \\\n  {headers} \\\n  {body}",
        "curl -v {url}$T \\\n  `# topic` \\\n {headers} \\\n  {body}",
        "curl -v {url}$T \\ # topic\n {headers} \\\n  {body}",
        "curl -v {url}$T \\\n\n  {headers} \\\n\n  {body}",
        "curl -v {url}$T\n  {headers}\n  {body}", "curl -v\n{headers}\n{body}\n{url}$T",
        "curl {headers} \n  {body} \\\n  {url}$T",
        "curl {headers} \\\n  {body} \\\n  # production\n  {url}$T",
        "curl -v {url}$T ^\n  {headers} ^\n  {body}", "curl -v {url}$T `\n  {headers} `\n  {body}",
        "curl -v {url}$T \\\\\n  {headers} \\\\\n  {body}",
        "curl -v {url}$T /\n  {headers} /\n  {body}", "curl {headers} {url}$T \\\n",
        "curl {headers} {url}$T \\\n  # the rest as above\n", "curl {headers} {url}$T \\\n\nText.",
        // Quotes and hyphens of a word processor, and quotes without an end.
        "curl –H “apns-topic: com.a.b” –d ‘{}’ {url}$T", "curl {headers} -d '{\"aps\":{} {url}$T",
        "curl {headers} -d \"{\\\"aps\\\":{} {url}$T", "curl —header \"a: b\" —data '{}' {url}$T",
        // Bodies that are elsewhere.
        "curl {headers} -d @- {url}$T <<EOF\n{\"aps\":{\"alert\":\"x\"}}",
        "curl {headers} -d @- {url}$T", "make | curl {headers} -d @- {url}$T",
        "curl {headers} -d @a.json {url}$T", "curl {headers} -d @$FILE {url}$T",
        "curl {headers} -d \"$BODY\" {url}$T", "BODY=''\ncurl {headers} -d \"$BODY\" {url}$T",
        "curl {headers} -T a.json {url}$T", "curl {headers} -F a=@a.json {url}$T",
        "curl {headers} --data='{}' {url}$T", "curl {headers} -d \"$(jq -n '{}')\" {url}$T",
        "B='{\"aps\":'\nB=\"$B{\\\"alert\\\":\\\"x\\\"}\"\nB+='}'\ncurl {headers} -d $B {url}$T",
        "B=$(printf '{\"aps\":{\"badge\":%d}}' 1)\ncurl {headers} -d \"$B\" {url}$T",
        // A token to put behind the URL.
        "curl {headers} {body} {url}", "curl {headers} {body} {url} <token>",
        "curl {headers} {body} {url} $TOKEN", "curl {headers} {body} {url}(token)",
        "curl {headers} {body} $HOST/3/device/", "curl {headers} {body} {url}\\\n$TOKEN",
        "TOKEN=\ncurl {headers} {body} {url}$TOKEN",
        "TOKEN= # hex\ncurl {headers} {body} {url}$TOKEN",
        "curl {headers} {body} https://api.push.apple.com/3/device",
        // Headers that are left empty.
        "curl -H 'apns-topic:' -H 'apns-push-type: ' -H 'authorization: bearer ' {body} {url}$T",
        "curl -H 'apns-topic: ' -H 'apns-priority: ' -H 'apns-id: ' {headers} {body} {url}$T",
        // What only tries the connection, or is text.
        "curl -v {url}$T", "curl -I --http2 {url}test", "curl --http2 https://api.push.apple.com",
        "echo curl -v {url}$T", "Then run curl {url}$T and look.",
        "curl -X POST -H 'content-type: application/json' {url}$T",
        // Two requests.
        "curl {headers} {body} {url}$T --next {headers} {body} {url}$T",
    ]

    @Test("commands that are not all there", arguments: commands)
    func unread(command: String) async throws {
        let text = [("{url}", Self.url), ("{headers}", Self.headers), ("{body}", Self.body)]
            .reduce(command) { $0.replacing($1.0, with: $1.1) }
        for (text, name) in [
            (text + "\n", "push.sh"), ("# A\n\n```sh\n\(text)\n```\n\nText.\n", "a.md"),
        ] {
            let found = try await Self.findings(text, name: name)
            #expect(!found.contains { $0.hasSuffix("error") }, "\(text): \(found)")
            let missing = ["H004", "H006", "H001", "G002", "AL001"]
            #expect(!found.contains { missing.contains(String($0.prefix(4))) }, "\(text): \(found)")
        }
    }

    @Test("requests that are not all there")
    func requests() async throws {
        let start = "POST \(Self.url)a\n"
        let end = "\n{\"aps\":{\"alert\":\"x\"}}\n"
        for request in [
            start + "...\n" + end, start + "<headers>\n" + end, start + "[other headers]\n" + end,
            start + "apns-push-type: alert\n…\n" + end, start + "apns-topic: a.b\n\n< a.json\n",
            start + "apns-topic: a.b\napns-push-type: alert\n\n<payload>\n",
            start + "apns-topic: a.b\napns-push-type: alert\n\n{ ... }\n",
            start + "apns-topic: a.b\napns-push-type: alert\n\n{{payload}}\n", start,
        ] {
            let found = try await Self.findings(request, name: "a.http").filter {
                !$0.hasPrefix("AU")
            }
            #expect(found == [], "\(request)")
            #expect(
                try await Self.findings("```http\n\(request)```\n", name: "a.md") == [],
                "\(request)")
        }
    }

    @Test("a command that was read to its end misses what is not in it")
    func complete() async throws {
        let start = "curl --http2 -X POST --max-time 3 "
        let push = #"-H "apns-push-type: alert" -H "authorization: bearer $T" "#
        for (command, rule) in [
            (start + push + Self.body, "H006"), (start + Self.headers, "G002"),
            (start + "-H 'apns-topic: a.b' " + Self.body, "H004"),
            (start + push + "-H 'apns-topic: a.b' -d '{\"aps\":{}}'", "AL001"),
            (start + Self.headers + " \\\n# c\n  -d '{\"aps\":{\"badge\":\"1\"}}'", "G014"),
        ] {
            let found = try await Self.findings("\(command) \(Self.url)$TOKEN\n")
            #expect(found.contains { $0.hasPrefix(rule) }, "\(command): \(found)")
        }
        let words = "curl -d '{\"aps\":{}}' -H \"apns-topic: [Bundle ID]\" --cert [pem file] "
        #expect(
            try await Self.findings("\(words)\(Self.url)[device token]\n").contains("H004 warning"))
        let named = "token_" + String(repeating: "a5", count: 32)
        #expect(
            try await Self.findings("curl \(Self.headers) \(Self.body) \(Self.url)\(named)\n")
                == ["H002 error"])
        let wrong = String(repeating: "z", count: 40)
        #expect(
            try await Self.findings("curl \(Self.headers) \(Self.body) \(Self.url)\(wrong)\n")
                == ["H002 error"])
    }

    @Test(
        "a server on the same machine asks for what it likes",
        arguments: ["localhost", "127.0.0.1"])
    func ownServers(host: String) async throws {
        let start = "curl -H 'apns-id: 1' \(Self.body) http://\(host):8080/3/device/abc"
        let found = try await Self.findings(start + "\n")
        #expect(!found.contains { $0.hasPrefix("H004") || $0.hasPrefix("H006") }, "\(found)")
    }

    @Test("the push type of broadcasts may be written as in Apple's page about them")
    func broadcasts() async throws {
        func found(_ type: String) async throws -> [String] {
            try await Self.findings(
                "curl -H 'apns-channel-id: dHN0' -H 'apns-push-type: \(type)' "
                    + #"-d '{"aps":{"alert":"t"}}' "#
                    + "https://api.push.apple.com/4/broadcasts/apps/com.a.b\n")
        }
        #expect(try await found("Liveactivity") == found("liveactivity"))
        #expect(try await found("LiveActivity").contains("H005 error"))
    }
}
