// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Commands that publish to Amazon SNS, and files that scripts write")
struct PublishCommandTests {
    private static func message(_ payload: String, part: String = "APNS") -> String {
        #"{"default":"d","\#(part)":"\#(payload.replacing("\"", with: "\\\""))"}"#
    }

    private static let start =
        "aws --region eu-west-1 sns publish \\\n  --target-arn \"$ARN\" --message-structure json "

    @Test("the message is judged as in a document")
    func messages() async throws {
        let badge = Self.message(#"{"aps":{"alert":"x","badge":"1"}}"#)
        let good = Self.message(#"{"aps":{"alert":"x","badge":1}}"#)
        for (text, expected) in [
            ("--message '\(badge)'", ["error G014 /APNS/aps/badge"]), ("--message '\(good)'", []),
            ("--message='\(badge)'", ["error G014 /APNS/aps/badge"]), ("--message \"$M\"", []),
            ("--message 'Good evening'", []),
            ("--message '{\"status\":\"ok\"}'", []),
            ("--message '\(good.replacing("1}", with: "'$N'}"))'", []),
            (#"--message "{\"default\":\"d\",\"APNS\":\"$PAYLOAD\"}""#, []),
        ] {
            #expect(
                try await FirebaseTests.findings(Self.start + text + "\n", name: "a.sh")
                    == expected, "\(text)")
        }
        let file = "cat > m.json << 'EOF'\n\(badge)\nEOF\n\(Self.start)--message file://m.json\n"
        #expect(
            try await FirebaseTests.findings(file, name: "a.sh") == ["error G014 /APNS/aps/badge"])
        let page = "# SNS\n\n```\n\(Self.start)--message '\(badge)'\n```\n"
        #expect(
            try await FirebaseTests.findings(page, name: "a.md") == ["error G014 /APNS/aps/badge"])
    }

    @Test(
        "the attributes of the message are its headers",
        arguments: [
            #"{"AWS.SNS.MOBILE.APNS.PUSH_TYPE":{"DataType":"String","StringValue":"background"},"#
                + #""AWS.SNS.MOBILE.APNS.PRIORITY":{"DataType":"String","StringValue":"10"}}"#,
            "AWS.SNS.MOBILE.APNS.PUSH_TYPE={DataType=String,StringValue=background},"
                + "AWS.SNS.MOBILE.APNS.PRIORITY={DataType=String,StringValue=10}",
        ])
    func attributes(text: String) async throws {
        let message = Self.message(#"{"aps":{"content-available":1},"v":1}"#)
        let command = Self.start + "--message '\(message)' --message-attributes '\(text)'\n"
        #expect(try await FirebaseTests.findings(command, name: "a.sh") == ["error BG006 "])
        let right = command.replacing("10", with: "5")
        #expect(try await FirebaseTests.findings(right, name: "a.sh") == [])
    }

    @Test("attributes that begin as JSON are JSON")
    func brokenAttributes() async throws {
        let attribute = { (name: String) in
            "\"AWS.SNS.MOBILE.APNS.\(name)\":{\"DataType\":\"String\",\"StringValue\":\"5\"}"
        }
        let message = Self.message(#"{"aps":{"content-available":1}}"#, part: "APNS_PLATFORM")
        let command = Self.start + "--message '\(message)' --message-attributes "
        let whole = "{\(attribute("PRIORITY"))}"
        for (text, expected) in [
            ("'\(whole.dropLast())'", ["error G001 "]),
            ("'{ \\\n \(attribute("PRIORITY"))}', \(attribute("TTL"))", ["error G001 "]),
            ("'\(whole)'", []), ("'\(whole.replacing("\"5\"", with: "'$P'"))'", []),
            ("'{\"a\":1'", []),
        ] {
            #expect(
                try await FirebaseTests.findings(command + text + "\n", name: "a.sh") == expected,
                "\(text)")
        }
    }

    @Test("without its structure, all of a message is a text")
    func structure() async throws {
        let message = Self.message(#"{"aps":{"alert":"x"}}"#)
        let command = Self.start + "--message '\(message)'\n"
        let plain = command.replacing("--message-structure json ", with: "")
        #expect(try await FirebaseTests.findings(command, name: "a.sh") == [])
        #expect(try await FirebaseTests.findings(plain, name: "a.sh") == ["error G014 "])
        for other in [
            plain.replacing("publish", with: "publish $OPTIONS"),
            plain.replacing("--target-arn", with: "--phone-number"),
            plain.replacing("--message ", with: "--message-structure=json --message "),
            plain.replacing("--message ", with: "--cli-input-json file://a.json --message "),
        ] {
            #expect(try await FirebaseTests.findings(other, name: "a.sh") == [], "\(other)")
        }
        let quoted = message.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let document = #"{"TargetArn":"a","Message":"\#(quoted)"}"#
        #expect(try await FirebaseTests.findings(document) == ["error G014 /Message"])
        for member in [#""MessageStructure":"json""#, #""Type":"Notification""#] {
            let other = document.replacing("{\"TargetArn", with: "{\(member),\"TargetArn")
            #expect(try await FirebaseTests.findings(other) == [], "\(other)")
        }
    }

    @Test("a payload that a script writes for another program is judged once")
    func writtenFiles() async throws {
        let payload = #"{"aps":{"alert":"x","badge":"1"}}"#
        let file = "#!/bin/sh\ncat > p.json << 'EOF'\n\(payload)\nEOF\n"
        let curl =
            "curl --http2 --cert c.pem -H 'apns-topic: a.b' -H 'apns-push-type: alert' "
            + "https://api.push.apple.com/3/device/$T "
        let found = ["error G014 /aps/badge"]
        for (command, expected) in [
            ("node send.js p.json", found), ("", found), (curl + "-d @p.json", found),
            (curl + "-d @- < p.json", found), (curl + "-d \"$(cat p.json)\"", found),
            ("xcrun simctl push booted a.b p.json", found),
            // Another server may take anything.
            ("curl https://relay.example.com -d @p.json", []), (curl + "-d @\"$1\"", []),
        ] {
            #expect(
                try await FirebaseTests.findings(file + command + "\n", name: "a.sh") == expected,
                "\(command)")
        }
        let printed = file.replacing("cat > p.json <<", with: "cat <<")
        #expect(try await FirebaseTests.findings(printed, name: "a.sh") == found)
        let piped = file.replacing("cat > p.json << 'EOF'", with: "cat << 'EOF' | ./edit")
        #expect(try await FirebaseTests.findings(piped, name: "a.sh") == [])
        let tee = file.replacing("cat > p.json", with: "tee p.json > /dev/null")
        #expect(try await FirebaseTests.findings(tee, name: "a.sh") == found)
        let other = file.replacing(payload, with: #"{"name":"x","badge":"1"}"#)
        #expect(try await FirebaseTests.findings(other, name: "a.sh") == [])
        let settings = file.replacing(payload, with: #"{"aps":3}"#)
        #expect(try await FirebaseTests.findings(settings, name: "a.sh") == [])
        let open = file.replacing("'EOF'", with: "EOF").replacing("\"1\"", with: "$N")
        #expect(try await FirebaseTests.findings(open, name: "a.sh") == [])
    }
}
