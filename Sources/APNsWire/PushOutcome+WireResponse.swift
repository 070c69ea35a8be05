// SPDX-License-Identifier: Apache-2.0

public import PushTransport
public import WakeModel

extension PushOutcome {
    /// Reads an answer of APNs. Total: a body that is not the JSON that Apple describes costs the
    /// reason, never the status (reference §3.1).
    public init(_ response: WireResponse) {
        let apnsID = response.header("apns-id").flatMap { text in try? APNsID(text) }
        guard response.status != 200 else {
            self = .accepted(
                Acceptance(apnsID: apnsID, apnsUniqueID: response.header("apns-unique-id")))
            return
        }
        let body = RejectionBody(response.body)
        self = .rejected(
            Rejection(
                status: response.status, reason: body.reason.map(RejectionReason.init(rawValue:)),
                timestamp: body.timestamp.map(WallInstant.init(millisecondsSinceEpoch:)),
                apnsID: apnsID))
    }
}
