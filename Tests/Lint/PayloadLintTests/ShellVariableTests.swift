// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Values that scripts pass on")
struct ShellVariableTests {
    private static let body = #"P='{"aps":{"alert":"a b","badge":"1"}}'"# + "\n"
    private static let request =
        #"curl --http2 -H "apns-push-type: alert" -H "apns-topic: com.a.b" "#
        + #"-H "authorization: bearer $JWT" https://api.push.apple.com/3/device/$T "#

    @Test(
        "a body that goes through a variable, a pipe or a file is judged",
        arguments: [
            #"echo "$P" | xcrun simctl push booted com.a.b -"#,
            #"xcrun simctl push booted com.a.b - <<< "$P""#,
            "printf '%s' \"$P\" > x.apns\nxcrun simctl push booted com.a.b x.apns",
            "echo $P > x.apns\nxcrun simctl push booted com.a.b ./x.apns",
            "echo \"$P\" > x.apns\n\(request)-d @x.apns",
            "echo \"$P\" > x.apns\n\(request)-d \"$(cat x.apns)\"",
            "echo \"$P\" | \(request)-d @-", "\(request)-d @- <<< \"$P\"",
        ])
    func passedOn(command: String) async throws {
        #expect(
            try await FirebaseTests.findings(Self.body + command + "\n", name: "a.sh")
                == ["error G014 /aps/badge"])
    }

    @Test("a shell splits a body without quotes at its blanks")
    func split() async throws {
        let command = Self.request + "-d ${P}\n"
        let good = Self.body.replacing(#""1""#, with: "1")
        #expect(
            try await FirebaseTests.findings(good + command, name: "a.sh") == ["error G001 "])
        let page = "```sh\n\(good)\(command)```\n"
        #expect(try await FirebaseTests.findings(page, name: "a.md") == ["warning G001 "])
        // Only a block that is for `sh` or `bash` shows that its words are split.
        for language in ["zsh", "", "console", "shell"] {
            let other = page.replacing("```sh", with: "```" + language)
            #expect(try await FirebaseTests.findings(other, name: "a.md") == [], "\(language)")
        }
        let named = page.replacing("```sh", with: "```\n#!/bin/bash")
        #expect(try await FirebaseTests.findings(named, name: "a.md") == ["warning G001 "])
        for (name, start) in [("a.sh", "#!/bin/zsh\n"), ("a.zsh", ""), ("Makefile", "")] {
            #expect(try await FirebaseTests.findings(start + good + command, name: name) == [])
        }
        let short = good.replacing("a b", with: "ab")
        #expect(try await FirebaseTests.findings(short + command, name: "a.sh") == [])
        let quoted = command.replacing("${P}", with: "\"${P}\"")
        #expect(try await FirebaseTests.findings(good + quoted, name: "a.sh") == [])
    }

    @Test("typographic quotation marks of a command are read as straight ones, and told")
    func typographicQuotes() async throws {
        let command = Self.request.replacing(
            "\"apns-topic: com.a.b\"", with: "“apns-topic: com.a.b”")
        for body in [#"‘{“aps”:{“alert”:“a b”,”badge“:“1”}}’"#, #"‘{"aps":{"badge":"1"}}’"#] {
            #expect(
                try await FirebaseTests.findings(command + "-d \(body)\n", name: "a.sh")
                    == ["error G001 ", "error G014 /aps/badge"])
        }
        let escaped = Self.request + #"-d “{\"aps\":{\"alert\":\"$A b\",\"badge\":\"1\"}}”"#
        #expect(
            try await FirebaseTests.findings(escaped + "\n", name: "a.sh")
                == ["error G001 ", "error G014 /aps/badge"])
        let inside = Self.request + #"-d '{"aps":{"alert":"“Hi” he said"}}'"# + "\n"
        #expect(try await FirebaseTests.findings(inside, name: "a.sh") == [])
    }

    @Test(
        "a shell takes the quotation marks of a body that stands in such marks, or in none",
        arguments: [
            (#""{"aps":{"alert":"hello"}}""#, ["error G001 "]),
            (#"{"aps":{"alert":"hello","badge":1}}"#, ["error G001 "]),
            (#""{\"aps\":{\"alert\":\"hello\"}}""#, []), (#""$P""#, []), ("<payload>", []),
            (#""{ "aps": { "alert": "hello" } }""#, ["error G001 "]), (#""{payload}""#, []),
            (#"'{"aps":{"alert":"'"$MSG"'"}}'"#, []),
        ])
    func lostQuotes(body: String, expected: [String]) async throws {
        let folder = try TestFolder()
        let text = Self.request + "-d \(body)\n"
        #expect(try await FirebaseTests.findings(text, name: "a.sh") == expected)
        guard !expected.isEmpty else { return }
        let run = try await FinishedRun([try folder.write(text, to: "a.sh")]) { $0.format = .json }
        let found = try #require(try run.files()[0]["diagnostics"] as? [[String: Any]])
        #expect((found[0]["fix"] as? String)?.contains("single quotes") == true)
    }

    @Test(
        "a shell runs what stands in backquotes, and a bundle id is no command",
        arguments: [
            (#"`"${T}"`"#, ["error H006 "]), ("`$T`", ["error H006 "]),
            ("$($T)", ["error H006 "]), ("`com.example.app`", ["error H006 "]), ("$T", []),
            ("`cat topic.txt`", []), ("`echo com.a.b`", []), ("`bin/my.topic.sh`", []),
            ("$(my.topic.sh)", []),
            ("`$X`", []),
        ])
    func runTopic(topic: String, expected: [String]) async throws {
        let text =
            "T=\"com.a.b\"\n" + Self.request.replacing("com.a.b", with: topic)
            + #"-d '{"aps":{"alert":"x"}}'"# + "\n"
        #expect(try await FirebaseTests.findings(text, name: "a.sh") == expected)
    }

    @Test("a URL of Expo shows a message for it, whose recipient may be a variable")
    func expo() async throws {
        for (host, expected) in [
            ("exp.host", ["warning G012 /content-available"]), ("push.example.com", []),
        ] {
            let text =
                "curl https://\(host)/--/api/v2/push/send -d "
                + #""{\"to\":\"$1\",\"body\":\"b\",\"content-available\":1}""# + "\n"
            #expect(try await FirebaseTests.findings(text, name: "a.sh") == expected)
        }
    }

    @Test("only a command sets a variable, not a word like it")
    func words() async throws {
        let push =
            Self.request.replacing("alert", with: "background")
            + #"-H "apns-priority: $PRIO" -d '{"aps":{"content-available":1}}'"# + "\n"
        for line in [
            "if [ $1 = alert ]; then echo PRIO=5; fi", "[ -n \"$1\" ] && log PRIO=5",
            "[ PRIO=5 ] && exit",
        ] {
            #expect(
                try await FirebaseTests.findings("PRIO=10\n\(line)\n\(push)", name: "a.sh")
                    == ["error BG006 "], "\(line)")
        }
        for line in [
            "if [ $1 = alert ]; then PRIO=5; fi", "[ -n \"$1\" ] && PRIO=5",
            "[ -n \"$1\" ] && { X=1 PRIO=5; }", "case $1 in a) export PRIO=5 ;; esac",
        ] {
            #expect(
                try await FirebaseTests.findings("PRIO=10\n\(line)\n\(push)", name: "a.sh") == [],
                "\(line)")
        }
    }
}
