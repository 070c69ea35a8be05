// SPDX-License-Identifier: Apache-2.0

package import Gateway
import PayloadRules
import Synchronization
package import WakeBudget
package import WakeModel

/// Wakes to test with, valid by the real rules.
package enum Samples {
    package static let start = WallInstant(secondsSinceEpoch: 1_795_000_000)
    package static let app = identity("com.example.app", .sandbox)
    package static let otherApp = identity("com.example.other", .production)
    package static let queues = WakeKind.allCases.flatMap { kind in
        [app, otherApp].map { WakeQueueKey(app: $0, kind: kind) }
    }
    /// Two webhook endpoints.
    package static let endpoint = WebhookEndpointID(rawValue: 7)
    package static let otherEndpoint = WebhookEndpointID(rawValue: -7)
    /// All webhooks for one endpoint, and the standard budget.
    package static let rules = StoreRules(webhooks: [
        WebhookSubscription(endpoint: endpoint, kinds: Set(WebhookKind.allCases))
    ])

    private static let counter = Atomic<UInt64>(1)

    package static func identity(
        _ bundleID: String, _ environment: APNsEnvironment
    ) -> AppIdentity {
        guard let bundleID = try? BundleID(bundleID) else { fatalError("A bad bundle id.") }
        return AppIdentity(bundleID: bundleID, environment: environment)
    }

    package static func deviceToken(_ number: UInt64 = 7) -> DeviceToken {
        let bytes = (0..<32).map { place in
            UInt8(truncatingIfNeeded: (number &* 0x9e37_79b9_7f4a_7c15) >> UInt64(place % 8 * 8))
                ^ UInt8(place)
        }
        guard let token = try? DeviceToken(bytes: bytes) else { fatalError("A bad token.") }
        return token
    }

    /// A request; each call is another one unless `call` says which.
    package static func request(
        _ kind: WakeKind = .background, app: AppIdentity = Samples.app, device: UInt64 = 7,
        expiration: Expiration? = nil, call: UInt64? = nil
    ) -> WakeRequest {
        let number = call ?? counter.wrappingAdd(1, ordering: .relaxed).newValue
        let digits = String(number + 0x1000_0000_0000, radix: 16)
        let payload =
            switch kind {
            case .background: #"{"aps":{"content-available":1},"note":"n\#(device)"}"#
            case .voip:
                #"{"aps":{},"callUUID":"3fae9b5c-94d6-4be5-b4f2-\#(digits)","caller":"Ann"}"#
            case .alert: #"{"aps":{"alert":{"title":"Ann","body":"Note \#(device)"}}}"#
            case .liveactivity:
                #"{"aps":{"timestamp":1795000000,"event":"update","content-state":{"s":1}}}"#
            case .widgets, .controls: #"{"aps":{"content-changed":true}}"#
            case .mdm: #"{"mdm":"3F2504E0-4F89-11D3-9A0C-0305E82C3301"}"#
            case .fileprovider: #"{"container-identifier":"root","domain":"main"}"#
            case .location, .complication: #"{"aps":{}}"#
            case .pushtotalk: #"{"aps":{},"activeSpeaker":"Ann"}"#
            }
        return WakeRequest(
            kind: kind, deviceToken: deviceToken(device), bundleID: app.bundleID,
            payload: Array(payload.utf8), expiration: expiration)
    }

    /// A wake accepted at `at`, not to be sent within `dueIn` seconds.
    package static func wake(
        _ kind: WakeKind = .background, app: AppIdentity = Samples.app, at: WallInstant = start,
        dueIn: Int64 = 0, device: UInt64 = 7, expiration: Expiration? = nil,
        payload: String? = nil, call: UInt64? = nil, urgency: Urgency = .normal,
        coalescing: Coalescing = .replace, ref: String? = nil, priority: Priority? = nil,
        collapseID: String? = nil
    ) -> WakeSubmission {
        var request = request(kind, app: app, device: device, expiration: expiration, call: call)
        if let priority {
            guard let prioritized = try? request.prioritized(priority) else {
                fatalError("The kind does not have this priority.")
            }
            request = prioritized
        }
        request.collapseID = collapseID.flatMap { try? CollapseID($0) }
        if let payload { request.payload = Array(payload.utf8) }
        guard case .valid(let valid, _) = WakeValidator().validate(request, now: at) else {
            fatalError("The sample is not valid by the rules.")
        }
        return WakeSubmission(
            wake: valid, environment: app.environment, acceptedAt: at,
            notBefore: dueIn == 0 ? nil : at.advanced(bySeconds: dueIn),
            options: WakeOptions(
                urgency: urgency, coalescing: coalescing, ref: ref.map(name)),
            entropy: counter.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// A caller's name of a wake.
    package static func name(_ text: String) -> WakeRef {
        guard let ref = try? WakeRef(text) else { fatalError("The sample is no name.") }
        return ref
    }

    /// An id that no store gave.
    package static func freshID(at instant: WallInstant = start) -> WakeID {
        let number = counter.wrappingAdd(1, ordering: .relaxed).newValue
        return WakeID(number: WakeID.firstNumber(at: instant) + Int64(number), entropy: number)
    }

    package static func refusal(
        _ status: Int, _ reason: RejectionReason?
    ) -> Result<PushOutcome, SendFailure> {
        .success(.rejected(PushOutcome.Rejection(status: status, reason: reason)))
    }

    package static let accepted = Result<PushOutcome, SendFailure>.success(
        .accepted(PushOutcome.Acceptance(apnsID: nil)))
    package static let notSent = Result<PushOutcome, SendFailure>.failure(
        SendFailure(certainty: .notSent, description: "The connection was refused."))
    package static let unknown = Result<PushOutcome, SendFailure>.failure(
        SendFailure(certainty: .unknown, description: "The connection was lost."))
}
