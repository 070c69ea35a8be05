// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

extension WrapperTests {
    @Test(
        "a flag in another spelling than the service's, or inside of `notification`, is misspelt",
        arguments: [
            (
                #"{"to":"t","notification":{"title":"x","content-available":1,"#
                    + #""mutable-content":1},"content_available":true}"#,
                ["/notification/content-available", "/notification/mutable-content"]
            ),
            (
                #"{"to":"t","content_available":true,"mutable-content":true,"#
                    + #""contentAvailable":true,"data":{"a":"b"}}"#,
                ["/mutable-content", "/contentAvailable"]
            ),
            (#"{"to":"t","content-available":true,"data":{"a":"b"}}"#, ["/content-available"]),
            (
                #"{"app_id":"a","contents":{"en":"x"},"mutableContent":true}"#, ["/mutableContent"]
            ),
            (
                #"{"notifications":[{"tokens":["a"],"platform":1,"message":"x","#
                    + #""content-available":true}]}"#, ["/notifications/0/content-available"]
            ),
            (
                #"{"token":"t","apns":{"payload":{"aps":{"contentAvailable":true,"#
                    + #""content-available":1}}}}"#, ["/apns/payload/aps/contentAvailable"]
            ),
            (#"{"to":"t","content_available":true,"mutable_content":true,"data":{"a":"b"}}"#, []),
            (#"{"to":"ExponentPushToken[x]","title":"x","data":{},"mutableContent":true}"#, []),
            (#"{"to":"<token>","_contentAvailable":true,"data":{"a":"b"}}"#, []),
            (#"{"to":"t","notification":{"title":"x","sound":"s"},"data":{"content":"b"}}"#, []),
            (#"{"token":"t","apns":{"payload":{"aps":{"contentAvailable":true}}}}"#, []),
        ])
    func misspeltFlags(text: String, pointers: [String]) async throws {
        let found = try await Self.findings(text, "G012,G006")
        #expect(
            found.map { $0.split(separator: " ").map(String.init) }.map { $0[0] + $0[2] }
                .sorted() == pointers.map { "G012" + $0 }.sorted())
    }

    @Test(
        "requests of services are recognised in folders by their shape",
        arguments: [
            ("a.json", #"{"deviceToken":"t","payload":{"aps":{"alert":"x","badge":"1"}}}"#, 1),
            ("a.json", #"[{"push_token":"t","payload":{"aps":{"alert":"x","badge":"1"}}}]"#, 1),
            (
                "a.json",
                #"{"request":{"notifications":[{"content":"x","ios_root_params":"#
                    + #"{"aps":{"badge":"1"}}}]}}"#, 1
            ),
            (
                "a.yaml",
                "notifications:\n  - tokens: [a]\n    platform: 1\n    message: x\n    "
                    + "content-available: true\n",
                1
            ),
            ("a.yml", "app_id: a\ncontents: {en: x}\nmutable-content: true\n", 1),
            ("a.yaml", "deviceToken: a\npayload:\n  aps:\n    badge: \"1\"\n", 1),
            ("a.json", #"{"deviceToken":"t","payload":{"badge":"1"}}"#, 0),
            ("a.yaml", "notifications:\n  email: [a]\n  slack: {badge: \"1\"}\n", 0),
            ("a.yaml", "APNS: on\nAPNS_SANDBOX: off\n", 0),
            ("a.yaml", "app_id: a\nname: x\nenv: {badge: \"1\"}\n", 0),
            ("a.json", #"{"map":{"payload":{"aps":{"badge":"1"}}}}"#, 0),
        ])
    func shapes(name: String, text: String, count: Int) async throws {
        let folder = try TestFolder()
        try folder.write(text, to: name)
        let run = try await FinishedRun([folder.path]) {
            $0.format = .json
            $0.selected = try? .only("G012,G014")
        }
        #expect(run.result.summary.files == count)
        #expect(run.result.summary.errors + run.result.summary.warnings >= count)
    }

    @Test("the key of a Google service account is reported once")
    func serviceAccount() async throws {
        let label = "-----BEGIN " + "PRIVATE KEY-----"
        let text =
            #"{"headers":{"apns-push-type":"alert"},"payload":{"aps":{"alert":"x"},"account":{"#
            + #""type":"service_account","private_key":"\#(label)\nMIGH","#
            + #""client_email":"f@p.iam.gserviceaccount.com"}}}"#
        let found = try await Self.findings(text, "AU010,G017")
        #expect(
            found.map { $0.split(separator: " ").map(String.init) }.map { $0[0] + " " + $0[2] }
                == ["AU010 /payload/account/private_key"])
        // Without that rule, the value is still one that should not be sent.
        #expect(try await Self.findings(text, "G017").count == 1)
    }
}
