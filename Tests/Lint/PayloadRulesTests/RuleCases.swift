// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

/// Requests that break a rule, and requests that come close and keep it.
struct RuleCase: Sendable, CustomTestStringConvertible {
    enum Expectation: Sendable {
        /// The rule finds something, with this pointer (or this header) and weight.
        case found(at: String, Severity)
        /// The rule has nothing to say.
        case clean
    }

    let rule: RuleID
    let kind: WakeKind
    let payload: [UInt8]
    let expiration: Expiration?
    let collapseID: String?
    let expectation: Expectation

    var testDescription: String {
        "\(rule) \(expectation): \(String(decoding: payload.prefix(80), as: UTF8.self))"
    }

    init(
        _ rule: RuleID, _ kind: WakeKind, _ payload: [UInt8], expiration: Expiration? = nil,
        collapseID: String? = nil, _ expectation: Expectation
    ) {
        self.rule = rule
        self.kind = kind
        self.payload = payload
        self.expiration = expiration
        self.collapseID = collapseID
        self.expectation = expectation
    }

    init(
        _ rule: RuleID, _ kind: WakeKind, _ payload: String, expiration: Expiration? = nil,
        collapseID: String? = nil, _ expectation: Expectation
    ) {
        self.init(
            rule, kind, Array(payload.utf8), expiration: expiration, collapseID: collapseID,
            expectation)
    }

    /// A background push whose `aps` is this.
    static func aps(_ rule: RuleID, _ aps: String, _ expectation: Expectation) -> RuleCase {
        RuleCase(rule, .background, "{\"aps\":\(aps),\"v\":1}", expectation)
    }

    /// A good background push with these custom members.
    static func data(_ rule: RuleID, _ members: String, _ expectation: Expectation) -> RuleCase {
        RuleCase(
            rule, .background, "{\"aps\":{\"content-available\":1},\(members)}", expectation)
    }

    /// A good VoIP push with these members besides.
    static func call(_ rule: RuleID, _ members: String, _ expectation: Expectation) -> RuleCase {
        RuleCase(
            rule, .voip, "{\"callUUID\":\"6f1c9d5e\",\"handle\":\"Ann\",\(members)}",
            expiration: .immediately, expectation)
    }

    static let all: [RuleCase] =
        genericText + genericKeys + genericValues + headers + background + backgroundContent + voip
        + voipServices + voipHeaders + voipContent
}

/// A background push that no rule has a remark on, given an expiration.
let cleanBackground = #"{"aps":{"content-available":1},"v":7}"#

/// A VoIP push that no rule has a remark on, given an expiration.
let cleanCall = #"{"callUUID":"6f1c9d5e","handle":"Ann","timestamp":1795255200}"#
