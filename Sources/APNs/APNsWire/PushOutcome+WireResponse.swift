// SPDX-License-Identifier: Apache-2.0

public import PushTransport
public import WakeModel

extension PushOutcome {
    /// Reads an answer of APNs. Never fails: if the body is not the JSON that Apple documents, the
    /// reason is missing, never the status (facts §3.1).
    ///
    /// Inlinable, because Swift 6.3 copies a response that is passed to another module's function.
    @inlinable
    public init(_ response: borrowing WireResponse) {
        if response.status == 200 {
            self = .accepted(
                Acceptance(apnsID: response.apnsID, apnsUniqueID: response.apnsUniqueID))
        } else {
            self = .rejected(
                Rejection(
                    status: response.status, body: response.body, apnsID: response.apnsID))
        }
    }
}

extension PushOutcome.Rejection {
    /// Reads the body of an answer.
    @usableFromInline
    init(status: Int, body: [UInt8], apnsID: APNsID?) {
        let body = RejectionBody(body)
        self.init(
            status: status, reason: body.reason.map(RejectionReason.init(rawValue:)),
            timestamp: body.timestamp.map(WallInstant.init(millisecondsSinceEpoch:)),
            apnsID: apnsID)
    }
}
