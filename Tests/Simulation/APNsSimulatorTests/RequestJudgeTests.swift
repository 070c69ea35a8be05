// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@testable import APNsSimulator

@Suite("Request judge")
struct RequestJudgeTests {
    static let now = WallInstant(secondsSinceEpoch: TestToken.now)
    static let push = Push(authorization: TestToken.bearer(issuedAt: TestToken.now))

    static func judge(
        _ push: Push, by judge: RequestJudge = RequestJudge(),
        certificate: ConnectionIdentity.CertificateRights? = nil
    ) -> RequestJudge.Verdict {
        var connection = ConnectionIdentity(certificate: certificate)
        return judge.judge(
            push.head, bodyByteCount: push.body.count, connection: &connection, now: now)
    }

    @Test(
        "what is in order is accepted",
        arguments: [
            push,
            push.with("apns-id", nil),
            push.with("apns-id", Push.apnsID.uppercased()),
            push.with("apns-priority", nil),
            push.with("apns-priority", "10"),
            push.with("apns-priority", "1"),
            push.with("apns-push-type", nil),
            push.with("apns-push-type", "alert"),
            push.with("apns-expiration", "0"),
            push.with("apns-expiration", "1795256400"),
            push.with("apns-collapse-id", String(repeating: "x", count: 64)),
            push.with("x-other", "1"),
            push.with(bodyByteCount: 4096),
            push.with(path: "/3/device/AB"),
            push.with(path: "/3/device/" + String(repeating: "0f", count: 256)),
        ])
    func accepted(push: Push) {
        #expect(Self.judge(push) == .accepted)
    }

    @Test(
        "every push type takes its own topic, and no other's",
        arguments: PushType.all.filter { !$0.topicSuffix.isEmpty })
    func topicSuffix(type: PushType) {
        let typed = Self.push.with("apns-push-type", type.rawValue).with("apns-priority", "10")
        let right = typed.with("apns-topic", "com.example.app" + type.topicSuffix)
        #expect(Self.judge(right) == .accepted)
        #expect(Self.judge(typed) == .rejected(.topicDisallowed))
        #expect(
            Self.judge(typed.with("apns-topic", type.topicSuffix)) == .rejected(.topicDisallowed))
        #expect(
            Self.judge(right.with("apns-push-type", "background")) == .rejected(.topicDisallowed))
        #expect(Self.judge(right.with("apns-push-type", nil)) == .accepted)
    }

    @Test(
        "each fault has its reason",
        arguments: [
            (push.with(method: "GET"), RejectionReason.methodNotAllowed),
            (push.with(path: "/3/devices/ab"), .badPath),
            (push.with(path: "/4/broadcasts/apps/com.example.app"), .badPath),
            (push.with(path: "/3/device/"), .missingDeviceToken),
            (push.with(path: "/3/device/xyz"), .badDeviceToken),
            (push.with(path: "/3/device/abc"), .badDeviceToken),
            (push.with(path: "/3/device/" + String(repeating: "0f", count: 257)), .badDeviceToken),
            (push.with("authorization", nil), .missingProviderToken),
            (push.with("authorization", "bearer "), .missingProviderToken),
            (push.with("authorization", "bearer"), .missingProviderToken),
            (push.with("authorization", "basic abc"), .invalidProviderToken),
            (push.with("apns-topic", nil), .missingTopic),
            (push.with("apns-topic", ""), .badTopic),
            (push.with("apns-topic", "com example"), .badTopic),
            (push.with("apns-topic", "com.example.app.voip"), .topicDisallowed),
            (push.with("apns-push-type", "silent"), .invalidPushType),
            (push.with("apns-push-type", "Background"), .invalidPushType),
            (push.with("apns-priority", "6"), .badPriority),
            (push.with("apns-priority", "05"), .badPriority),
            (push.with("apns-priority", ""), .badPriority),
            (push.with("apns-expiration", "-1"), .badExpirationDate),
            (push.with("apns-expiration", "1.5"), .badExpirationDate),
            (push.with("apns-expiration", "soon"), .badExpirationDate),
            (push.with("apns-expiration", ""), .badExpirationDate),
            (push.with("apns-expiration", "99999999999999999999"), .badExpirationDate),
            (push.with("apns-id", "123e4567"), .badMessageID),
            (push.with("apns-id", "123e4567e89b42d3a456426614174000"), .badMessageID),
            (push.with("apns-collapse-id", String(repeating: "x", count: 65)), .badCollapseID),
            (push.with("apns-collapse-id", String(repeating: "é", count: 33)), .badCollapseID),
            (push.with(bodyByteCount: 0), .payloadEmpty),
            (push.with(bodyByteCount: 4097), .payloadTooLarge),
        ])
    func rejected(push: Push, reason: RejectionReason) {
        #expect(Self.judge(push) == .rejected(reason))
    }

    @Test(
        "any header twice is refused, known or not",
        arguments: [
            "authorization", "apns-topic", "apns-push-type", "apns-priority", "apns-id", "x-other",
            "user-agent",
        ])
    func duplicates(name: String) {
        var push = Self.push.with("x-other", "1").with("user-agent", "test")
        push.headers.append((name, push.headers.first { $0.0 == name }?.1 ?? ""))
        #expect(Self.judge(push) == .rejected(.duplicateHeaders))
    }

    @Test(
        "an apns-id is judged as WakeModel judges it",
        arguments: [
            "", "-", Push.apnsID, Push.apnsID.uppercased(), Push.apnsID + "0", " " + Push.apnsID,
            String(Push.apnsID.dropLast()), Push.apnsID.replacing("-", with: "0"),
            Push.apnsID.replacing("4", with: "-"), Push.apnsID.replacing("e", with: "é"),
            Push.apnsID.replacing("e", with: "g"), String(repeating: "-", count: 36),
        ])
    func apnsID(text: String) {
        #expect(RequestJudge.isUUID(text) == ((try? APNsID(text)) != nil))
    }

    @Test("a VoIP push may have 5120 bytes, by type or by topic")
    func voipSize() {
        let voip = Self.push.with("apns-push-type", "voip")
            .with("apns-topic", "com.example.app.voip")
        #expect(Self.judge(voip.with(bodyByteCount: 5120)) == .accepted)
        #expect(Self.judge(voip.with(bodyByteCount: 5121)) == .rejected(.payloadTooLarge))
        let untyped = voip.with("apns-push-type", nil)
        #expect(Self.judge(untyped.with(bodyByteCount: 5120)) == .accepted)
        #expect(Self.judge(untyped.with(bodyByteCount: 5121)) == .rejected(.payloadTooLarge))
    }

    @Test("background with priority 10, or none, is refused only where the switch says so")
    func backgroundPriority10() {
        let strict = RequestJudge(refusesBackgroundPriority10: true)
        #expect(Self.judge(Self.push, by: strict) == .accepted)
        for priority in ["10", nil] {
            let push = Self.push.with("apns-priority", priority)
            #expect(Self.judge(push) == .accepted)
            #expect(Self.judge(push, by: strict) == .rejected(.badPriority))
            #expect(Self.judge(push.with("apns-push-type", "alert"), by: strict) == .accepted)
        }
    }

    @Test("a registered device decides about topic, environment and state")
    func devices() throws {
        let token = try DeviceToken(hex: Push.token)
        let since = WallInstant(secondsSinceEpoch: 1_700_000_000)
        func verdict(_ device: RegisteredDevice) -> RequestJudge.Verdict {
            Self.judge(Self.push, by: RequestJudge(devices: [token: device]))
        }
        #expect(verdict(.init(token: token)) == .accepted)
        #expect(verdict(.init(token: token, topic: "com.example.app")) == .accepted)
        #expect(
            verdict(.init(token: token, topic: "com.other"))
                == .rejected(.deviceTokenNotForTopic))
        #expect(verdict(.init(token: token, environment: .sandbox)) == .accepted)
        #expect(
            verdict(.init(token: token, environment: .production)) == .rejected(.badDeviceToken))
        #expect(
            verdict(.init(token: token, state: .unregistered(since: since)))
                == .rejected(.unregistered, timestamp: since))
        #expect(
            verdict(.init(token: token, state: .expired(since: since)))
                == .rejected(.expiredToken, timestamp: since))
    }

    @Test("the case of hexadecimal digits does not matter to a registration")
    func deviceTokenCase() throws {
        let token = try DeviceToken(hex: Push.token)
        let judge = RequestJudge(
            refusesUnknownDeviceTokens: true, devices: [token: .init(token: token)])
        #expect(
            Self.judge(Self.push.with(path: "/3/device/" + Push.token.uppercased()), by: judge)
                == .accepted)
        #expect(
            Self.judge(Self.push.with(path: "/3/device/ab"), by: judge)
                == .rejected(.badDeviceToken))
    }

    @Test("a client certificate takes the place of the token, within its topics")
    func certificate() {
        let anonymous = Self.push.with("authorization", nil)
        #expect(Self.judge(anonymous, certificate: .init(topics: nil)) == .accepted)
        let one = ConnectionIdentity.CertificateRights(topics: ["com.example.app"])
        #expect(Self.judge(anonymous, certificate: one) == .accepted)
        #expect(Self.judge(anonymous.with("apns-topic", nil), certificate: one) == .accepted)
        #expect(
            Self.judge(anonymous.with("apns-topic", "com.other"), certificate: one)
                == .rejected(.topicDisallowed))
        let two = ConnectionIdentity.CertificateRights(topics: ["com.example.app", "com.other"])
        #expect(
            Self.judge(anonymous.with("apns-topic", nil), certificate: two)
                == .rejected(.missingTopic))
        let managed = Self.push.with("apns-push-type", "mdm")
            .with("apns-topic", "com.apple.mgmt.External.1f")
        #expect(Self.judge(managed) == .rejected(.topicDisallowed), "no team owns the topic")
        let rights = ConnectionIdentity.CertificateRights(topics: ["com.apple.mgmt.External.1f"])
        #expect(
            Self.judge(managed.with("authorization", nil), certificate: rights) == .accepted)
        let location = anonymous.with("apns-push-type", "location")
            .with("apns-topic", "com.example.app.location-query")
        #expect(Self.judge(location, certificate: one) == .rejected(.invalidPushType))
    }

    @Test(
        "a client certificate is good until its last second, in its own environment",
        arguments: [
            (0, nil, nil), (0, APNsEnvironment.sandbox, nil),
            (0, .production, RejectionReason.badCertificateEnvironment),
            (-1, nil, .badCertificate), (-1, .production, .badCertificate),
        ] as [(Int64, APNsEnvironment?, RejectionReason?)])
    func certificateRights(
        secondsLeft: Int64, environment: APNsEnvironment?, reason: RejectionReason?
    ) {
        let rights = ConnectionIdentity.CertificateRights(
            environment: environment, validUntilSeconds: TestToken.now + secondsLeft)
        let verdict = Self.judge(Self.push, certificate: rights)
        #expect(verdict == reason.map { .rejected($0) } ?? .accepted)
    }
}
