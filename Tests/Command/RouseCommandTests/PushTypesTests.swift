// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import Foundation
import Testing
import WakeModel

@Suite("Every push type, from the request to APNs", .timeLimit(.minutes(10)))
struct PushTypesTests {
    private static let managed = "com.apple.mgmt.External.3f2504e0-4f89-11d3-9a0c-0305e82c3301"

    /// A payload on which no rule has an error.
    private static func payload(_ kind: WakeKind) -> String {
        switch kind {
        case .background: #"{"aps":{"content-available":1},"version":1}"#
        case .voip:
            #"{"callUUID":"3fae9b5c-94d6-4be5-b4f2-000000000001","caller":"Ann","timestamp":1}"#
        case .alert: #"{"aps":{"alert":{"title":"Ann","body":"Hello"},"sound":"default"}}"#
        case .liveactivity:
            #"{"aps":{"timestamp":1795000000,"event":"update","content-state":{"score":1}}}"#
        case .location: #"{"aps":{}}"#
        case .complication: #"{"aps":{},"temperature":21}"#
        case .fileprovider: #"{"container-identifier":"root","domain":"main"}"#
        case .mdm: #"{"mdm":"3F2504E0-4F89-11D3-9A0C-0305E82C3301"}"#
        case .widgets, .controls: #"{"aps":{"content-changed":true}}"#
        case .pushtotalk: #"{"aps":{},"activeSpeaker":"Ann"}"#
        }
    }

    private static func app(_ kind: WakeKind) -> String {
        kind == .mdm ? managed : RunningSimulator.bundleID
    }

    private static func body(_ kind: WakeKind, _ more: String = "") -> String {
        """
        {"kind":"\(kind)","app":"\(app(kind))","device_token":"\(RunningSimulator.device)",\
        "payload":\(payload(kind))\(more)}
        """
    }

    private static func post(_ body: String, _ base: String) async throws -> [String: Any] {
        try await ServeTests.curl(
            [
                "-H", "Content-Type: application/json", "-d", body,
                "\(base)/v1/wakes?wait=outcome&timeout=20",
            ])
    }

    /// A gateway with an app that has a key, and one that has an MDM certificate.
    private static func serve(
        _ body: (RunningSimulator, _ base: String) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        let (pem, key) = (folder.path + "/mdm.pem", folder.path + "/mdm.key")
        let made = try await Rouse.run(
            "/bin/sh",
            [
                "-c",
                """
                umask 077
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 \
                  -subj '/UID=\(managed)/CN=APSP:3f2504e0' -keyout '\(key)' -out '\(pem)'
                """,
            ])
        #expect(made.status == 0, "\(made.all)")
        let authority = try String(contentsOfFile: pem, encoding: .utf8)
        try await RunningSimulator.with {
            $0.trustedClientCertificateAuthorityPEM = authority
        } _: { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let certified = """
                apps:
                  - bundle-id: \(managed)
                    environment: sandbox
                    certificate-file: \(pem)
                    certificate-key-file: \(key)
                    server:
                      host: 127.0.0.1
                      port: \(simulator.simulator.port)
                      ca-file: ca.pem
                """
            try text.replacing("apps:", with: certified)
                .write(toFile: path, atomically: true, encoding: .utf8)
            let (gateway, base) = try await ServeTests.start(["--config", path])
            try await body(simulator, base)
            #expect(try await gateway.end(SIGTERM) == 0)
        }
    }

    @Test("Each arrives with its topic, type, priority and expiration, and has one outcome")
    func everyKind() async throws {
        try await Self.serve { simulator, base in
            for kind in WakeKind.allCases {
                let answer = try await Self.post(Self.body(kind), base)
                #expect(answer["state"] as? String == "sent", "\(kind): \(answer)")
                #expect(answer["priority"] as? Int == Int(kind.defaultPriority.rawValue))
                let push = try #require(simulator.simulator.receivedPushes.last)
                #expect(push["apns-id"] == answer["id"] as? String)
                #expect(push["apns-push-type"] == kind.rawValue)
                #expect(push["apns-topic"] == Self.app(kind) + kind.pushType.topicSuffix)
                #expect(push["apns-priority"] == "\(kind.defaultPriority)")
                #expect(push.body == Array(Self.payload(kind).utf8))
                #expect((push["authorization"] == nil) == (kind == .mdm))
                let expiration = try #require(push["apns-expiration"].flatMap { Int64($0) })
                let expected =
                    kind.lifetimeSeconds == 0
                    ? 0 : WakeClock.system.now().secondsSinceEpoch + kind.lifetimeSeconds
                #expect(abs(expiration - expected) < 60, "\(kind): \(expiration)")
            }
            #expect(simulator.simulator.receivedPushes.count == WakeKind.allCases.count)
            let device = try await ServeTests.curl(["\(base)/v1/devices/\(RunningSimulator.device)"]
            )
            let queues = try #require(device["queues"] as? [[String: Any]])
            #expect(
                Set(queues.compactMap { $0["kind"] as? String })
                    == Set(WakeKind.allCases.map(\.rawValue)))
            let metrics = try await Rouse.run(
                "/usr/bin/curl",
                [
                    "-sS", "-H", "Authorization: Bearer \(ServeTests.secret)", "\(base)/metrics",
                ])
            for kind in WakeKind.allCases {
                #expect(metrics.out.contains("kind=\"\(kind)\""), "\(kind)")
            }
        }
    }

    @Test("An alert has the priority and the collapse id that it asks for")
    func options() async throws {
        try await Self.serve { simulator, base in
            for priority in [10, 5, 1] {
                let more = #","priority":\#(priority),"collapse_id":"score","ttl_seconds":60"#
                let answer = try await Self.post(Self.body(.alert, more), base)
                #expect(answer["state"] as? String == "sent", "\(answer)")
                let push = try #require(simulator.simulator.receivedPushes.last)
                #expect(push["apns-priority"] == "\(priority)")
                #expect(push["apns-collapse-id"] == "score")
            }
        }
    }

    @Test("What Apple does not allow is refused with the field, and nothing is sent")
    func refusals() async throws {
        try await Self.serve { simulator, base in
            let cases: [(WakeKind, String, code: String, field: String)] = [
                (.background, #","priority":10"#, "invalid-field", "priority"),
                (.voip, #","priority":5"#, "invalid-field", "priority"),
                (.pushtotalk, #","priority":5"#, "invalid-field", "priority"),
                (.liveactivity, #","priority":1"#, "invalid-field", "priority"),
                (.alert, #","priority":7"#, "invalid-field", "priority"),
                (.alert, #","priority":"10""#, "invalid-field", "priority"),
            ]
            for (kind, more, code, field) in cases {
                let answer = try await Self.post(Self.body(kind, more), base)
                #expect(answer["code"] as? String == code, "\(kind) \(more): \(answer)")
                #expect(answer["field"] as? String == field)
            }
            // The key's app cannot send mdm, and the certificate's no type that needs a token.
            let key = Self.body(.mdm).replacing(Self.managed, with: RunningSimulator.bundleID)
            let certificate = Self.body(.liveactivity).replacing(
                RunningSimulator.bundleID, with: Self.managed)
            for body in [key, certificate] {
                let answer = try await Self.post(body, base)
                #expect(answer["code"] as? String == "wrong-credential", "\(answer)")
                #expect(answer["status"] as? Int == 409)
                #expect(answer["field"] as? String == "kind")
            }
            // An alert that shows nothing is one on which the rules have errors.
            let empty = Self.body(.alert).replacing(
                Self.payload(.alert), with: #"{"aps":{"content-available":1}}"#)
            let answer = try await Self.post(empty, base)
            #expect(answer["code"] as? String == "invalid-wake", "\(answer)")
            #expect(simulator.simulator.receivedPushes.isEmpty)
        }
    }

    @Test("A multicast and a file of wakes take every kind")
    func many() async throws {
        try await Self.serve { simulator, base in
            let tokens = (0..<3).map { "\"\(RunningSimulator.device.dropLast(2))0\($0)\"" }
            let multicast = """
                {"kind":"widgets","app":"\(RunningSimulator.bundleID)","priority":1,\
                "payload":\(Self.payload(.widgets)),\
                "device_tokens":[\(tokens.joined(separator: ","))]}
                """
            let answer = try await ServeTests.curl([
                "-H", "Content-Type: application/json", "-d", multicast,
                "\(base)/v1/wakes/multicast",
            ])
            #expect(answer["accepted"] as? Int == 3, "\(answer)")
            let lines = WakeKind.allCases.map { Self.body($0) }.joined(separator: "\n")
            let sent = try await Rouse.run(
                ["send", "--gateway", base, "-"], stdin: lines,
                environment: ["ROUSE_API_KEY": ServeTests.secret])
            #expect(sent.status == 0, "\(sent.all)")
            await simulator.simulator.waitForPushes(3 + WakeKind.allCases.count)
            let types = simulator.simulator.receivedPushes.compactMap { $0["apns-push-type"] }
            #expect(Set(types) == Set(WakeKind.allCases.map(\.rawValue)))
            #expect(types.count { $0 == "widgets" } == 4)
        }
    }
}
