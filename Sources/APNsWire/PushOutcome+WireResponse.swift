// SPDX-License-Identifier: Apache-2.0

public import PushTransport
public import WakeModel

extension PushOutcome {
    /// Reads an answer of APNs. Total: a body that is not the JSON that Apple describes costs the
    /// reason, never the status (facts §3.1).
    public init(_ response: borrowing WireResponse) {
        guard response.status != 200 else {
            self = .accepted(
                Acceptance(apnsID: response.apnsID, apnsUniqueID: response.apnsUniqueID))
            return
        }
        let body = RejectionBody(response.body)
        self = .rejected(
            Rejection(
                status: response.status, reason: body.reason.map(RejectionReason.init(rawValue:)),
                timestamp: body.timestamp.map(WallInstant.init(millisecondsSinceEpoch:)),
                apnsID: response.apnsID))
    }
}
