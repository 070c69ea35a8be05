// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

@testable import PayloadLint

@Suite("curl commands")
struct CurlTests {
    private static let token = String(repeating: "a5", count: 32)

    private static func read(_ text: String, name: String = "push.sh") -> PushDocument {
        DocumentReader(assumptions: PushAssumptions(), forcedKind: nil)
            .read(Array(text.utf8), name: name)
    }

    private static func findings(
        _ text: String, _ rules: String, name: String = "push.sh", files: [String: String] = [:]
    ) async throws -> [String] {
        try await FinishedRun(of: text, named: name, rules: rules, others: files).findings()
    }

    @Test("headers, payload, token and place are those of the command")
    func command() throws {
        let text = """
            TOPIC=com.example.app
            curl -v --header "apns-topic: $TOPIC" -H 'apns-push-type: alert' \\
              -H"Apns-Priority: 10" --data '{"aps":{"alert":"it'"'"'s"}}' --http2 \\
              https://api.push.apple.com/3/device/\(Self.token)
            """
        let item = try #require(Self.read(text).items.first)
        #expect(String(decoding: item.draft.payload, as: UTF8.self) == #"{"aps":{"alert":"it's"}}"#)
        #expect(
            item.draft.headers == [
                .init("apns-topic", "com.example.app"), .init("apns-push-type", "alert"),
                .init("apns-priority", "10"), .init(":path", "/3/device/" + Self.token),
            ])
        #expect(item.draft.headersAreComplete)
    }

    @Test(
        "simctl: a payload from a here-document, a pipe, or a file that the script writes",
        arguments: [
            (
                "xcrun simctl push booted com.a.b - <<EOF\n"
                    + "{\"aps\":{\"badge\":\"1\"}}\nEOF\n", "2:17"
            ),
            (#"echo '{"aps":{"badge":"1"}}' | xcrun simctl push booted com.a.b -"#, "1:23"),
            (
                "cat > p.apns <<'EOF'\n{\"aps\":{\"badge\":\"1\"}}\nEOF\n"
                    + "xcrun simctl push booted com.a.b p.apns\n", "2:17"
            ),
            (
                "cat > p.apns 2>&1 <<'EOF'\n{\"aps\":{\"badge\":\"1\"}}\nEOF\n"
                    + "xcrun simctl push booted com.a.b p.apns 2>&1 | tee x.log\n", "2:17"
            ),
            (
                "echo '{\"aps\":{\"badge\":\"1\"}}' 1> p.apns 2>/dev/null\n"
                    + "xcrun simctl push booted com.a.b p.apns >/dev/null 2>&1\n", "1:23"
            ),
        ])
    func simulator(text: String, place: String) async throws {
        #expect(try await Self.findings(text, "G014") == ["G014 \(place) /aps/badge"])
        let page = "Text.\n\n```sh\n" + text + "\n```\n"
        #expect(try await Self.findings(page, "G014", name: "a.md").count == 1)
    }

    @Test("the blocks of JSON of a page are judged at their places, unless they are abridged")
    func blocks() async throws {
        let page = """
            # Pushes

            ```json
            {"aps": {"alert": "x", "badge": "1"}}
            ```
            ```json
            {"headers": {"apns-push-type": "background", "apns-topic": "a", "apns-priority": "10"},
             "payload": {"aps": {"content-available": 1}}}
            ```
            ~~~
            {"aps": {"alert": "x",}}
            ~~~
            ```jsonc
            {"aps": {"alert": "x", ...}}
            ```
            ```json
            { // a comment
              "aps": {"badge": "1"}}
            ```
            ```json
            {"aps": {"timestamp": "<now>", "event": "update | end", "content-state": {}}}
            ```
            ```json
            {"name": "other"}
            ```
            ```swift
            let payload = 1
            ```
            ```python
            {"aps": {"alert": "x"},}
            ```
            ```json
            {"aps": {"alert": "x"}},
            {"aps": {"alert": "y"}}
            ```
            ```json
            {"aps": {"alert": "x"}, "..."}
            ```
            ```{"aps": {}}```
            """
        #expect(
            try await Self.findings(page, "G001,G014,BG006,LA", name: "a.md")
                == [
                    "G014 4:33 /aps/badge", "BG006 7:82 /headers/apns-priority", "G001 11:23 /aps",
                    "G014 18:20 /aps/badge",
                ])
    }

    @Test("a makefile is a script, and no JSON", arguments: ["Makefile", "app.mk", "justfile"])
    func makefiles(name: String) async throws {
        let recipe = #"""
            ID = $(shell xcrun simctl list | grep Booted)
            push:
            	-@echo '{"aps":{"badge":"1"}}' | \
            		xcrun simctl push booted com.a.b -
            """#
        #expect(
            try await Self.findings(recipe, "G001,G014", name: name) == ["G014 3:26 /aps/badge"])
    }

    @Test("simctl: the key that only the simulator reads is not in the payload")
    func simulatorBundle() {
        let text = """
            xcrun simctl push $ID - <<EOF
            {"Simulator Target Bundle": "com.a.b", "aps": {"alert": "x"}}
            EOF
            """
        let items = Self.read(text).items
        #expect(
            items.map { String(decoding: $0.draft.payload, as: UTF8.self) }
                == [#"{"aps": {"alert": "x"}}"#])
        #expect(Self.read("xcrun simctl push booted com.a.b a.apns\n").items.isEmpty)
    }

    @Test("a value with a text replaced is known, apart from what the shell puts in")
    func replacedText() async throws {
        let text = """
            read -r -d '' BODY <<-'EOF'
            {"aps":{"timestamp":NOW,"event":"update","content-state":{"n":"NOW"},"badge":1}}
            EOF
            SENT=${BODY//NOW/$(date +%s)}
            /usr/local/bin/curl --http2 -H "apns-topic: com.x.push-type.liveactivity" \\
              -H "apns-push-type: liveactivity" -H "authorization: bearer $JWT" \\
              -d "$SENT" https://api.push.apple.com/3/device/$TOKEN
            """
        #expect(try await Self.findings(text, "LA,H,G") == ["LA009 2:70 /aps/badge"])
        let once = "A='\"xyxy\"'; curl -H 'apns-id: z' -d ${A/x/[} https://h/3/device/a"
        #expect(
            Self.read(once).items.map { String(decoding: $0.draft.payload, as: UTF8.self) }
                == ["\"[yxy\""])
    }

    @Test("what the shell puts into a message of Firebase is not judged")
    func expansionInMessage() async throws {
        let text = """
            curl -H "Authorization: Bearer $T" -d '{"message":{"token":"t","apns":{"payload":{
            "aps":{"timestamp":'$(date +%s)',"event":"end","content-state":{},"badge":1}}}}}' \\
              https://fcm.googleapis.com/v1/projects/p/messages:send
            """
        #expect(try await Self.findings(text, "LA").map { $0.prefix(5) } == ["LA009"])
    }

    @Test("a topic in letters that no bundle id has is a placeholder")
    func topicOfAnotherScript() async throws {
        let text = """
            curl -H "apns-topic: ВАШ.bundle-id" -H "apns-push-type: alert" \\
              -d '{"aps":{"alert":"x"}}' https://api.push.apple.com/3/device/$TOKEN
            """
        #expect(try await Self.findings(text, "H") == [])
    }

    @Test(
        "what was cut or crossed out is not judged",
        arguments: [
            "xxx", "XXXX", "***", "a5...",
            "536ee41f2e2756c4c063db4b4ed7dc2ff431bf71a40eb1768797462119XXXXXX",
        ])
    func redacted(token: String) async throws {
        let text = """
            curl --http2 -H "apns-topic: com.example.app" -H "apns-push-type: alert" \\
              -H "authorization: bearer eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQ0RFRkdISUoifQ..." \\
              -d '{"aps":{"alert":"x"}}' https://api.push.apple.com/3/device/\(token)
            """
        #expect(try await Self.findings(text, "H,AU") == [])
    }

    @Test("names in the place of a token are placeholders", arguments: ["JWT", "my-jwt"])
    func namedPlaceholders(jwt: String) async throws {
        let text = """
            curl --http2 -H "apns-topic: com.example.app" -H "apns-push-type: alert" \\
              -H "authorization: bearer \(jwt)" \\
              -d '{"aps":{"alert":"x"}}' https://api.push.apple.com/3/device/:deviceToken
            """
        #expect(try await Self.findings(text, "H,AU") == [])
    }

    @Test(
        "a variable with something replaced, or a part of one, is unknown",
        arguments: ["${BODY//NOW/$(date +%s)}", "${BODY//NOW/${NOW}}", "${BODY:1:5}"])
    func changedVariable(body: String) async throws {
        let text = """
            BODY='{"aps":{"timestamp":NOW}}'
            curl --http2 -H "apns-topic: com.example.app" -d "\(body)" \\
              https://api.push.apple.com/3/device/$TOKEN
            """
        #expect(try await Self.findings(text, "G") == [])
    }

    @Test("a relay in front of APNs knows the path and the topic")
    func relay() async throws {
        let text = """
            curl -X POST "http://127.0.0.1:8787/v1/push/raw?device_token=$T" \\
              -H "apns-push-type: background" -H "apns-priority: 10" \\
              -d '{"aps":{"content-available":1}}'
            """
        #expect(try await Self.findings(text, "H,BG006").map { $0.prefix(5) } == ["BG006"])
    }

    @Test(
        "a script without a push that can be read is not judged",
        arguments: [
            "#!/bin/sh\npayload=`cat a.json`\ncurl -H \"a: b\" -d \"${payload}\" https://x.org/",
            "curl \"127.0.0.1/apn_push?token=5\" -d '{\"aps\" : {\"alert\" : \"x\"}}'\n",
            "echo key: value\n",
        ])
    func scriptWithoutPush(text: String) async throws {
        let folder = try TestFolder()
        let path = try folder.write(text, to: "push.sh")
        let run = try await FinishedRun([path]) { $0.format = .json }
        #expect(try run.findings() == [])
        #expect(run.result.summary.textsWithoutPush == 1)
    }

    @Test("findings point into the script")
    func places() async throws {
        let text = """
            #!/bin/sh
            curl --http1.1 -H "apns-topic: .voip" -H "apns-push-type: voip" \\
              -H "authorization: bearer $JWT" \\
              -d "{\\"aps\\":{},\\"badge\\":1,\\"call_id\\":1}" \\
              https://api.push.apple.com/3/device/zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
            """
        #expect(
            try await Self.findings(text, "VO001,H002,H021,VO003,H006,AU") == [
                "H021 2:6 ", "VO001 2:19 ", "H002 5:3 ",
            ])
        let badge =
            "curl -H 'apns-push-type: alert' -H \"apns-topic: com.example.app\" "
            + "-d '{\"aps\":{\"badge\":\"1\"}}' https://api.push.apple.com/3/device/\(Self.token)"
        #expect(try await Self.findings(badge, "G014") == ["G014 1:86 /aps/badge"])
    }

    @Test("what a script does not say is not judged")
    func unknown() async throws {
        let text = """
            curl --http2 -H "apns-topic: $BUNDLE.voip" -H "apns-push-type: $TYPE" \\
              -H "authorization: bearer $JWT" -H "apns-expiration: $(date +%s)" \\
              -d "{\\"aps\\":{\\"badge\\":$COUNT,\\"alert\\":\\"$TEXT\\"}}" \\
              "https://$HOST/3/device/${TOKEN}"
            """
        #expect(try await Self.findings(text, "G,H,AU") == [])
        #expect(
            Self.read("curl -H 'apns-topic: a' -d \"$PAYLOAD\" https://x/3/device/ab").items.isEmpty
        )
        for token in ["YOUR TOKEN HERE", "deviceToken", "your_device_token", "DEVICE_TOKEN"] {
            let template =
                "curl -H 'apns-push-type: alert' -d '{\"aps\":{\"alert\":\"x\"}}' "
                + "\"https://api.push.apple.com/3/device/\(token)\""
            #expect(try await Self.findings(template, "H002") == [], "\(token)")
        }
        let live =
            "curl -H 'apns-push-type: liveactivity' -H 'authorization: bearer YOUR_AUTH_KEY' "
            + "-d '{\"aps\":{\"timestamp\":'$(date +%s)',\"event\":\"update\","
            + "\"content-state\":{}}}' https://api.push.apple.com/3/device/$TOKEN"
        #expect(try await Self.findings(live, "LA,AU006") == [])
        let missing =
            "curl -H 'apns-push-type: background' -d '{\"aps\":{\"content-available\":1}}' "
            + "https://api.push.apple.com/3/device/$TOKEN"
        #expect(
            try await Self.findings(missing, "BG007,H006,H002") == ["BG007 1:1 ", "H006 1:1 "])
    }

    @Test("a payload can stand in a variable, a here-document or a file beside the script")
    func bodies() async throws {
        let url = "https://api.push.apple.com/3/device/\(Self.token)"
        let head = "curl -H 'apns-topic: com.example.app' -H 'apns-push-type: alert' "
        let variable =
            "PAYLOAD='{\n  \"aps\": {\"badge\": \"1\"}\n}'\n\(head)-d \"$PAYLOAD\" \(url)\n"
        #expect(try await Self.findings(variable, "G014") == ["G014 2:20 /aps/badge"])
        let here = "\(head)-d @- \(url) <<EOF\n{\"aps\":{\"badge\":\"1\"}}\nEOF\n"
        #expect(try await Self.findings(here, "G014") == ["G014 2:17 /aps/badge"])
        let cat = "\(head)-d \"$(cat <<'EOF'\n{\"aps\":{\"badge\":\"1\"}}\nEOF\n)\" \(url)\n"
        #expect(try await Self.findings(cat, "G014") == ["G014 2:17 /aps/badge"])
        let file = "\(head)--data-binary @p.json \(url)\n"
        #expect(
            try await Self.findings(file, "G014", files: ["p.json": #"{"aps":{"badge":"1"}}"#])
                == ["G014 1:80 /aps/badge"])
        // What stands outside of the script's folder is not read.
        let outside = "\(head)-d @/etc/hostname \(url)\n"
        #expect(Self.read(outside).items.isEmpty)
    }

    @Test(
        "a payload that `read` takes, that is written to a file or piped is judged",
        arguments: [
            "read -r -d '' BODY <<-'EOF'\n{payload}\nEOF\n{curl} -d \"$BODY\" {url}\n",
            "IFS= read -rd '' BODY <<EOF || true\n{payload}\nEOF\n{curl} -d \"$BODY\" {url}\n",
            "cat > push.json <<EOF\n{payload}\nEOF\n{curl} -d @./push.json {url}\n",
            "rm -f a_$1.json;\necho '{payload}' >> a_$1.json\n{curl} -d @a_$1.json {url}\n",
            "echo '{payload}' | {curl} -d @- {url}\n",
            "printf '%s' '{payload}' | {curl} -d @- {url}\n",
            "BODY=$(echo '{payload}')\n{curl} -d \"$BODY\" {url}\n",
        ])
    func wrapped(script: String) async throws {
        let parts = [
            "{payload}": #"{"aps":{"badge":"1"}}"#,
            "{curl}": "curl -H 'apns-topic: com.example.app' -H 'apns-push-type: alert'",
            "{url}": "https://api.push.apple.com/3/device/\(Self.token)",
        ]
        let text = parts.reduce(script) { $0.replacing($1.key, with: $1.value) }
        let found = try await Self.findings(text, "G,H")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("G014 ") == true)
    }

    @Test("a name in angle brackets is what people put in, and no redirection")
    func angleBrackets() async throws {
        let text = """
            curl --cert <cert.pem>:<password> -H "apns-topic: <bundle id>" \\
              -H "apns-push-type: alert" -d '{"aps":{"badge":"1"}}' \\
              https://api.push.apple.com/3/device/<device-token> > answer.txt
            """
        #expect(try await Self.findings(text, "G,H") == ["G014 2:50 /aps/badge"])
    }

    @Test("what a script counts is a number, and a here-document without end is none")
    func arithmetic() async throws {
        let text = """
            cat << this is a page, and no script
            curl -H "apns-topic: a.b" -H "apns-push-type: alert" \\
              -H "apns-expiration: $(( $(date +%s) + 3600 ))" \\
              -d '{"aps":{"badge":"1"},"at":'$(( NOW - 60 ))'}' \\
              https://api.push.apple.com/3/device/\(Self.token)
            """
        #expect(try await Self.findings(text, "G,H") == ["G014 4:23 /aps/badge"])
    }

    @Test("commands to services in front of APNs are judged by what reaches APNs")
    func services() async throws {
        let azure =
            "curl -X POST \"$URI\" -H 'ServiceBusNotification-Format: apple' "
            + "-d '{\"aps\":{\"badge\":\"1\"}}'"
        #expect(try await Self.findings(azure, "G014,H") == ["G014 1:83 /aps/badge"])
        let oneSignal =
            "curl --request POST --url https://onesignal.com/api/v1/notifications "
            + "--header 'Authorization: Basic k' --data '{\"app_id\":\"x\","
            + "\"content_available\":true,\"priority\":10}'"
        #expect(try await Self.findings(oneSignal, "BG006").count == 1)
    }

    @Test("several commands in a text, whatever stands between them")
    func several() {
        let text = """
            Don't forget: run `curl` twice.

            $ curl -H 'apns-topic: a.b' -d '{"aps":{"alert":"1"}}' https://x/3/device/ab
            it's fine
            X=$(curl -s -H 'apns-topic: a.b' -d '{"aps":{"alert":"2"}}' https://x/3/device/ab)
            """
        #expect(
            Self.read(text, name: "README.md").items.map {
                String(decoding: $0.draft.payload, as: UTF8.self)
            } == [#"{"aps":{"alert":"1"}}"#, #"{"aps":{"alert":"2"}}"#])
    }

    @Test("a token in angle brackets can be named in any language")
    func placeholderInAnyLanguage() async throws {
        let text = "curl -H 'apns-topic: a.b' -d '{\"aps\":{\"alert\":\"x\"}}' "
        let host = "https://api.push.apple.com/3/device/"
        for token in ["<64位假token>", "<ВАШ_TOKEN>", "<jeton de téléphone>"] {
            #expect(try await Self.findings(text + host + token, "H001,H002") == [])
        }
    }

    @Test("a page may write backslashes at line ends twice, and notes in brackets")
    func pageWithNotes() async throws {
        let text = """
            curl -H "apns-topic: com.example(.voip)" \\\\
              -H "apns-push-type: alert" \\\\
              -d '{"aps":{"badge":"1"}}' https://api.push.apple.com/3/device/$TOKEN
            """
        #expect(
            try await Self.findings(text, "G,H", name: "a.md").map { $0.prefix(4) } == ["G014"])
    }

    @Test("a body of which something was left out is not judged", arguments: ["...", "…"])
    func cutBody(dots: String) async throws {
        let text = "curl -H 'apns-topic: a.b' https://x/3/device/ab -d "
        let cut = "'{\"aps\":{\"badge\":\"1\",\(dots)}}'"
        #expect(Self.read(text + cut).items.isEmpty)
        let said = "'{\"aps\":{\"alert\":\"\(dots)\",\"badge\":\"1\"}}'"
        #expect(try await Self.findings(text + said, "G014").count == 1)
        #expect(try await Self.findings(text + "'{\"aps\":{,\(dots)}}'", "G001").count == 1)
    }

    @Test("a comment in the script ignores a finding")
    func comments() async throws {
        let text = """
            # rouse:ignore G014 the app of 2019 needs it
            curl -H 'apns-topic: a.b' -d '{"aps":{"badge":"1"}}' https://x/3/device/ab
            """
        #expect(try await Self.findings(text, "G014") == [])
    }

    @Test(
        "no text makes the reader fail",
        arguments: [
            "curl -H '", "curl -d \"", "X=$(", "curl $(cat <<E",
            "curl -d ${", "curl -H \\", "A=`", "curl -H a -d @- <<", "curl -vH", "=curl -H 'x",
        ])
    func broken(text: String) {
        _ = Self.read(text)
        _ = Self.read(text + "\n-H 'apns-topic: x' /3/device/")
    }

    @Test("a variable that is left empty is for the user to fill in")
    func emptyVariable() async throws {
        let command = """
            curl -H "apns-topic: com.a.b" -H "apns-push-type: $TYPE" -d "$BODY" \\
              https://api.push.apple.com/3/device/${TOKEN}
            """
        let empty = "TOKEN=\"\"\nTYPE= \nBODY=''\n" + command
        #expect(try await Self.findings(empty, "H,G") == [])
        let token = "TOKEN=\(String(repeating: "z", count: 40))\n"
        let filled = token + "TYPE=alert\nBODY='{\"aps\":{\"badge\":\"1\"}}'\n" + command
        #expect(try await Self.findings(filled, "H002,G014").count == 2)
    }

    @Test("a remark behind a backslash is told, and what was meant is judged, as with blanks")
    func remark() async throws {
        let command = """
            curl -H "apns-topic: com.a.b" \\  # the bundle id
              -H "apns-push-type: alert" \\ \t
              --data '{
                "aps": {
                  "timestamp": '$(date +%s)', # now
                  "alert": "x"
                }
              }' \\
              https://api.push.apple.com/3/device/$TOKEN
            """
        let ended = "G001 1:34 "
        #expect(try await Self.findings(command, "G001,H") == ["G001 5:35 /aps", ended])
        let right = command.replacing("# now", with: "")
        #expect(try await Self.findings(right, "G001,H") == [ended])
    }

    @Test("the body of a request to Firebase is reported where it is no JSON by mistake")
    func brokenBody() async throws {
        func findings(_ body: String, _ url: String) async throws -> [String] {
            try await Self.findings("curl -X POST \(url) -H 'a: b' -d '\(body)'", "G")
        }
        let signal = "https://api.onesignal.com/notifications"
        #expect(try await findings(#"{"included_segments: ["A"],"name":"n"}"#, signal).count == 1)
        #expect(try await findings(#"{"included_segments":["A"],"name":"n"}"#, signal) == [])
        let old = "https://fcm.googleapis.com/fcm/send"
        let new = "https://fcm.googleapis.com/v1/projects/$ID/messages:send"
        for (url, start, end) in [(old, #"{"to":"#, "}"), (new, #"{"message":{"token":"#, "}}")] {
            let body = { (rest: String) in start + rest + end }
            #expect(try await findings(body(#""x","data":{"a":"b",}"#), url).count == 1)
            #expect(try await findings(body(#""x","data":{...}"#), url) == [])
            #expect(try await findings(body(#""x","data":{}"#) + " // why", url) == [])
            #expect(try await findings(body(#""x","data":{}"#), url) == [])
            #expect(try await findings(body("'$TO',\"data\":{'$MORE'}"), url) == [])
        }
        #expect(try await findings(#"{"to":"x",}"#, "https://example.com/v1/x") == [])
        let silent = #"{"to":"x","content_available":true,"priority":"high",}"#
        let command = "curl \(old) -H 'a: b' -d '\(silent)'"
        #expect(try await Self.findings(command, "G001,BG006").count == 2)
    }
}
