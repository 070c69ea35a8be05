// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@Suite("Rejection reasons")
struct RejectionReasonTests {
    /// One row of facts §3.3: status, reason, scope, retry, dead token, renewed provider token.
    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let reason: String
        let scope: RejectionReason.Scope
        let retry: RejectionReason.Retry
        var verdict = RejectionReason.DeviceTokenVerdict.unaffected
        var renews = false

        var testDescription: String { "\(status) \(reason)" }

        init(
            _ status: Int, _ reason: String, _ scope: RejectionReason.Scope,
            _ retry: RejectionReason.Retry,
            _ verdict: RejectionReason.DeviceTokenVerdict = .unaffected, renews: Bool = false
        ) {
            self.status = status
            self.reason = reason
            self.scope = scope
            self.retry = retry
            self.verdict = verdict
            self.renews = renews
        }
    }

    static let inMinutes = RejectionReason.Retry.later(
        .init(initialSeconds: 60, maximumSeconds: 900))
    static let inAQuarterHour = RejectionReason.Retry.later(
        .init(initialSeconds: 900, maximumSeconds: 14_400))
    static let inTwentyMinutes = RejectionReason.Retry.later(
        .init(initialSeconds: 1200, maximumSeconds: 3600))

    /// What facts §3.3 asks for, by status and name. MissingProviderToken is the key's fault here
    /// and not the request's, so that a gateway stops instead of losing one wake after the other.
    static let rows: [Row] = [
        Row(400, "BadCollapseId", .request, .afterFix),
        Row(400, "BadDeviceToken", .device, .never, .suspectEnvironment),
        Row(400, "BadExpirationDate", .request, .afterFix),
        Row(400, "BadMessageId", .request, .afterFix),
        Row(400, "BadPriority", .request, .afterFix),
        Row(400, "BadTopic", .topic, .afterFix),
        Row(400, "DeviceTokenNotForTopic", .deviceForTopic, .never, .deadForTopic),
        Row(400, "DuplicateHeaders", .request, .afterFix),
        Row(400, "IdleTimeout", .connection, .nowOnAnotherConnection),
        Row(400, "InvalidPushType", .request, .afterFix),
        Row(400, "MissingDeviceToken", .request, .afterFix),
        Row(400, "MissingTopic", .request, .afterFix),
        Row(400, "PayloadEmpty", .request, .afterFix),
        Row(400, "TopicDisallowed", .topic, .afterFix),
        Row(403, "BadCertificate", .key, .afterFix),
        Row(403, "BadCertificateEnvironment", .key, .afterFix),
        Row(403, "ExpiredProviderToken", .providerToken, .onceWithNewProviderToken, renews: true),
        Row(403, "Forbidden", .key, .never),
        Row(403, "InvalidProviderToken", .key, .afterFix),
        Row(403, "MissingProviderToken", .key, .afterFix),
        Row(403, "UnrelatedKeyIdInToken", .connection, .nowOnAnotherConnection),
        Row(403, "BadEnvironmentKeyIdInToken", .key, .afterFix),
        Row(403, "BadEnvironmentKeyInToken", .key, .afterFix),
        Row(404, "BadPath", .request, .afterFix),
        Row(405, "MethodNotAllowed", .request, .afterFix),
        Row(410, "ExpiredToken", .device, .never, .deadUnlessRegisteredSince),
        Row(410, "Unregistered", .deviceForTopic, .never, .deadUnlessRegisteredSince),
        Row(413, "PayloadTooLarge", .request, .never),
        Row(429, "TooManyProviderTokenUpdates", .providerToken, inTwentyMinutes),
        Row(429, "TooManyRequests", .device, inMinutes),
        Row(500, "InternalServerError", .service, inAQuarterHour),
        Row(503, "ServiceUnavailable", .service, inAQuarterHour),
        Row(503, "Shutdown", .connection, .nowOnAnotherConnection),
    ]

    @Test("each reason has its row's status, scope, retry and verdicts", arguments: rows)
    func row(row: Row) throws {
        let entry = try #require(RejectionReason(rawValue: row.reason).entry)
        #expect(entry.reason.rawValue == row.reason)
        #expect(entry.status == row.status)
        #expect(entry.advice.scope == row.scope)
        #expect(entry.advice.retry == row.retry)
        #expect(entry.advice.deviceToken == row.verdict)
        #expect(entry.advice.renewsProviderToken == row.renews)
        #expect(!entry.meaning.isEmpty)
        #expect(!entry.advice.remedy.isEmpty)
        let rejection = PushOutcome.Rejection(status: row.status, reason: entry.reason)
        #expect(rejection.advice == entry.advice)
    }

    @Test("the table holds these reasons and no others, each once")
    func complete() {
        #expect(
            RejectionReason.table.map(\.reason.rawValue).sorted()
                == Self.rows.map(\.reason).sorted())
    }

    @Test("no remedy promises what only a gateway does, unless it names the gateway")
    func promises() {
        for entry in RejectionReason.table {
            let remedy = entry.advice.remedy
            for promise in ["is tried again", "goes out", "is minted", "by itself"] {
                #expect(!remedy.contains(promise) || remedy.contains("the gateway"), "\(remedy)")
            }
            #expect(!remedy.hasPrefix("Nothing"), "\(remedy)")
        }
    }

    @Test("only an expired provider token asks for a new one")
    func oneRenewal() {
        let renewing = RejectionReason.table.filter(\.advice.renewsProviderToken)
        #expect(renewing.map(\.reason) == [.expiredProviderToken])
    }

    @Test("Apple's explicit set is never tried again")
    func neverRetried() {
        let never = RejectionReason.table.filter { $0.advice.retry == .never }
        #expect(
            Set(never.map(\.reason)) == [
                .badDeviceToken, .deviceTokenNotForTopic, .forbidden, .expiredToken, .unregistered,
                .payloadTooLarge,
            ])
    }

    @Test("the broadcast API's spelling with a space is the same reason, kept verbatim")
    func spacedReason() {
        let reason = RejectionReason(rawValue: "Service Unavailable")
        #expect(reason.entry?.reason == .serviceUnavailable)
        #expect(reason.description == "Service Unavailable")
        #expect(reason.advice(status: 503).retry == Self.inAQuarterHour)
    }

    @Test(
        "an unknown reason, or none, is treated by its status class",
        arguments: [
            Row(400, "NewReason", .request, .afterFix), Row(403, "NewReason", .key, .afterFix),
            Row(404, "NewReason", .request, .afterFix), Row(413, "NewReason", .request, .afterFix),
            Row(410, "NewReason", .device, .never, .deadUnlessRegisteredSince),
            Row(429, "NewReason", .device, inMinutes),
            Row(500, "NewReason", .service, inAQuarterHour),
            Row(502, "NewReason", .service, inAQuarterHour),
            Row(599, "NewReason", .service, inAQuarterHour),
            Row(204, "NewReason", .request, .afterFix), Row(302, "NewReason", .request, .afterFix),
        ])
    func unknownReason(row: Row) {
        #expect(RejectionReason(rawValue: row.reason).entry == nil)
        let known = PushOutcome.Rejection(
            status: row.status, reason: RejectionReason(rawValue: row.reason))
        let none = PushOutcome.Rejection(status: row.status, reason: nil)
        for advice in [known.advice, none.advice] {
            #expect(advice.scope == row.scope)
            #expect(advice.retry == row.retry)
            #expect(advice.deviceToken == row.verdict)
            #expect(!advice.renewsProviderToken)
            #expect(!advice.remedy.isEmpty)
        }
    }

    @Test("reasons are told apart by case")
    func caseMatters() {
        #expect(RejectionReason(rawValue: "baddevicetoken").entry == nil)
    }
}

@Suite("Back-off")
struct BackoffTests {
    typealias Backoff = RejectionReason.Backoff

    @Test(
        "the delay doubles from its first value up to its last",
        arguments: [
            (.tooManyRequests, [60, 120, 240, 480, 900, 900]),
            (.serviceTrouble, [900, 1800, 3600, 7200, 14_400, 14_400]),
            (.tokenUpdates, [1200, 2400, 3600, 3600]),
            (Backoff(initialSeconds: 50, maximumSeconds: 20), [20, 20]),
        ] as [(Backoff, [Int])])
    func delays(backoff: Backoff, delays: [Int]) {
        for (index, delay) in delays.enumerated() {
            #expect(backoff.delaySeconds(attempt: index + 1) == delay)
        }
    }

    @Test(
        "attempts before the first and without end are held, at once", arguments: [0, -1, Int.min])
    func extremes(attempt: Int) {
        #expect(Backoff.tooManyRequests.delaySeconds(attempt: attempt) == 60)
        #expect(Backoff.tooManyRequests.delaySeconds(attempt: .max) == 900)
        let endless = Backoff(initialSeconds: 1, maximumSeconds: .max)
        #expect(endless.delaySeconds(attempt: .max) == .max)
        #expect(endless.delaySeconds(attempt: 63) == 1 << 62)
    }
}
