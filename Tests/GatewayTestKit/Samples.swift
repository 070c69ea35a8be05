// SPDX-License-Identifier: Apache-2.0

package import Gateway
import PayloadRules
import Synchronization
package import WakeModel

/// Wakes to test with, valid by the real rules.
package enum Samples {
    package static let start = WallInstant(secondsSinceEpoch: 1_795_000_000)
    package static let app = identity("com.example.app", .sandbox)
    package static let otherApp = identity("com.example.other", .production)

    private static let counter = Atomic<UInt64>(1)

    package static func identity(
        _ bundleID: String, _ environment: APNsEnvironment
    ) -> AppIdentity {
        guard let bundleID = try? BundleID(bundleID) else { fatalError("A bad bundle id.") }
        return AppIdentity(bundleID: bundleID, environment: environment)
    }

    package static func deviceToken(_ number: UInt64 = 7) -> DeviceToken {
        let bytes = (0..<32).map { UInt8(truncatingIfNeeded: number &* 31 &+ UInt64($0)) }
        guard let token = try? DeviceToken(bytes: bytes) else { fatalError("A bad token.") }
        return token
    }

    package static func request(
        _ kind: WakeKind = .background, app: AppIdentity = Samples.app, device: UInt64 = 7,
        expiration: Expiration? = nil
    ) -> WakeRequest {
        let payload =
            switch kind {
            case .background: #"{"aps":{"content-available":1},"note":"n\#(device)"}"#
            case .voip:
                #"{"aps":{},"callUUID":"3fae9b5c-94d6-4be5-b4f2-2f1d0a6b7c01","caller":"Ann"}"#
            }
        return WakeRequest(
            kind: kind, deviceToken: deviceToken(device), bundleID: app.bundleID,
            payload: Array(payload.utf8), expiration: expiration)
    }

    /// A wake accepted at `at`, due `dueIn` later, with its deadline `life` after acceptance.
    package static func wake(
        _ kind: WakeKind = .background, app: AppIdentity = Samples.app, at: WallInstant = start,
        dueIn: Int64 = 0, lifeSeconds: Int64 = 3_600, device: UInt64 = 7,
        expiration: Expiration? = nil
    ) -> NewWake {
        let request = request(kind, app: app, device: device, expiration: expiration)
        guard case .valid(let valid, _) = WakeValidator().validate(request, now: at) else {
            fatalError("The sample is not valid by the rules.")
        }
        return NewWake(
            id: freshID(at: at), wake: valid, environment: app.environment, acceptedAt: at,
            dueAt: at.advanced(bySeconds: dueIn), deadline: at.advanced(bySeconds: lifeSeconds))
    }

    package static func freshID(at instant: WallInstant = start) -> WakeID {
        let number = counter.wrappingAdd(1, ordering: .relaxed).newValue
        return WakeID(at: instant, entropy: number, number)
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
