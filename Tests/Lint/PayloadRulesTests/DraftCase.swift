// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

/// Drafts that break a rule, and drafts that come close and keep it.
struct DraftCase: Sendable, CustomTestStringConvertible {
    let rule: RuleID
    let name: String
    let draft: PushDraft
    let configuration: WakeValidator.Configuration
    let expectation: RuleCase.Expectation

    var testDescription: String { "\(rule) \(expectation): \(name)" }

    init(
        _ rule: RuleID, _ draft: PushDraft, _ name: String, _ expectation: RuleCase.Expectation,
        configuration: WakeValidator.Configuration = .init()
    ) {
        self.rule = rule
        self.name = name
        self.draft = draft
        self.configuration = configuration
        self.expectation = expectation
    }

    /// A complete request whose headers are those of a good push of this type, with changes: an
    /// empty value takes a header away.
    static func request(
        _ rule: RuleID, _ type: PushType, _ changes: [PushDraft.Header], _ payload: String,
        _ expectation: RuleCase.Expectation
    ) -> DraftCase {
        let shown = changes.map { "\($0.name)=\($0.value.prefix(40))" }.joined(separator: " ")
        return DraftCase(
            rule, good(type, changes, payload), "\(type) \(shown) \(payload.prefix(80))",
            expectation)
    }

    /// The same with the good payload of this type.
    static func request(
        _ rule: RuleID, _ type: PushType, _ changes: [PushDraft.Header],
        _ expectation: RuleCase.Expectation
    ) -> DraftCase {
        request(rule, type, changes, goodPayload(type), expectation)
    }

    /// A good push of this type.
    static func request(
        _ rule: RuleID, _ type: PushType, _ expectation: RuleCase.Expectation
    ) -> DraftCase {
        request(rule, type, [], goodPayload(type), expectation)
    }

    /// A payload by itself, with its push type.
    static func payload(
        _ rule: RuleID, _ type: PushType, _ payload: String, _ expectation: RuleCase.Expectation
    ) -> DraftCase {
        let draft = PushDraft(
            payload: Array(payload.utf8), headers: [.init("apns-push-type", type.rawValue)])
        return DraftCase(rule, draft, "\(type) \(payload)", expectation)
    }

    /// A draft that no rule has an error for.
    static func good(
        _ type: PushType, _ changes: [PushDraft.Header] = [], _ payload: String? = nil
    ) -> PushDraft {
        var headers = goodHeaders(type)
        for change in changes {
            if change.value.isEmpty {
                headers.removeAll { $0.name == change.name }
            } else if let index = headers.firstIndex(where: { $0.name == change.name }) {
                headers[index].value = change.value
            } else {
                headers.append(change)
            }
        }
        return PushDraft(
            payload: Array((payload ?? goodPayload(type)).utf8), headers: headers, now: testNow,
            headersAreComplete: true)
    }

    private static func goodHeaders(_ type: PushType) -> [PushDraft.Header] {
        let priority = type == .background ? "5" : "10"
        let topic = type == .mdm ? "com.apple.mgmt.External.1f" : "com.example.app"
        return [
            .init(":path", "/3/device/" + String(repeating: "a5", count: 32)),
            .init("authorization", "bearer " + ProviderTokens.good),
            .init("apns-push-type", type.rawValue),
            .init("apns-topic", topic + type.topicSuffix), .init("apns-priority", priority),
            .init("apns-expiration", "0"),
            .init("apns-id", "123e4567-e89b-42d3-a456-426614174000"),
        ]
    }

    static func goodPayload(_ type: PushType) -> String {
        switch type {
        case .alert: #"{"aps":{"alert":{"title":"Tea","body":"It is ready"}}}"#
        case .background: cleanBackground
        case .voip: cleanCall
        case .complication: #"{"v":1}"#
        case .fileprovider: #"{"container-identifier":"c","domain":"d"}"#
        case .mdm: #"{"mdm":"0A1B"}"#
        case .location: #"{"aps":{"content-available":1}}"#
        case .liveactivity:
            #"{"aps":{"timestamp":1795255200,"event":"update","content-state":{"score":1}}}"#
        case .pushtotalk: #"{"speaker":"Ann"}"#
        default: #"{"aps":{"content-changed":true}}"#
        }
    }

    static let all: [DraftCase] =
        headers + typeHeaders + alert + liveActivity + otherTypes
        + authentication + generic
}
