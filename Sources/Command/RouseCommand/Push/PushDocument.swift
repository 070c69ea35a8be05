// SPDX-License-Identifier: Apache-2.0

import APNsWire
import PayloadRules
import PushTransport
import WakeModel

/// `rouse push --json`.
///
/// | Key | Value |
/// |---|---|
/// | `outcome` | `accepted`, `rejected` or `unanswered` |
/// | `apns_id` | the id that was sent |
/// | `device` | the device token's digest |
/// | `push_type`, `topic`, `priority`, `expiration`, `payload_bytes` | what was sent |
/// | `host`, `port`, `environment` | where; no `environment` when only a host was named |
/// | `milliseconds` | from sending to the answer |
/// | `status`, `reason`, `token_dead_since` | APNs' answer; the last two where it has them |
/// | `apns_unique_id` | for the Delivery Log of Apple's console (sandbox) |
/// | `failure`, `certainty` | `unanswered`: what failed, `not-sent` or `unknown` |
/// | `meaning`, `next` | the same in words, and what to do; absent when accepted |
/// | `diagnostics` | what the rules remark: `rule`, `severity`, `line`, `column`, `pointer`, … |
struct PushDocument: Encodable {
    let outcome: String
    let apnsId: String
    let device: String
    let pushType: String
    let topic: String
    let priority: Int
    let expiration: String?
    let payloadBytes: Int
    let host: String
    let port: Int
    let environment: String?
    let milliseconds: Int
    var status: Int?
    var reason: String?
    var tokenDeadSince: String?
    var apnsUniqueId: String?
    var failure: String?
    var certainty: String?
    var meaning: String?
    var next: String?
    let diagnostics: [FindingDocument]

    /// Describes a push and what came of it.
    init(_ plan: PushPlan, _ reply: SingleReply) {
        apnsId = plan.push.apnsID.description
        device = plan.push.deviceToken.description
        pushType = plan.push.type.rawValue
        topic = plan.push.topic.value
        priority = Int(plan.push.priority.rawValue)
        expiration = plan.push.expiration?.headerValue
        payloadBytes = plan.push.payload.count
        host = plan.transport.host
        port = plan.transport.port
        environment = plan.environment?.rawValue
        milliseconds = reply.milliseconds
        diagnostics = plan.findings.map(FindingDocument.init)
        switch reply.result {
        case .success(.accepted(let acceptance)):
            outcome = "accepted"
            status = 200
            apnsUniqueId = acceptance.apnsUniqueID
        case .success(.rejected(let rejection)):
            outcome = "rejected"
            status = rejection.status
            reason = rejection.reason?.rawValue
            tokenDeadSince = rejection.timestamp?.description
            meaning = rejection.meaning
            next = rejection.advice.remedy
        case .failure(let error):
            outcome = "unanswered"
            failure = error.kind.rawValue
            certainty = error.certainty.rawValue
            meaning = error.meaning
            next = error.remedy
        }
    }
}

/// `rouse push --json` for a payload that was not sent: `outcome` is `not-sent`.
struct PayloadRefusalDocument: Encodable {
    let outcome = "not-sent"
    let diagnostics: [FindingDocument]
}

/// One finding of the rules, as JSON.
struct FindingDocument: Encodable {
    let rule: String
    let severity: String
    let message: String
    let fix: String
    let line: Int
    let column: Int
    let pointer: String
    let header: String?

    /// Describes a finding.
    init(_ finding: Diagnostic) {
        rule = finding.rule.rawValue
        severity = finding.severity.rawValue
        message = finding.message
        fix = finding.fix
        line = finding.line
        column = finding.column
        pointer = finding.pointer
        header = finding.header
    }
}
