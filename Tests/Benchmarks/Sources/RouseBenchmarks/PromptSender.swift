// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// Answers at once, as no APNs can.
struct PromptSender: WakeSender {
    func send(
        _ batch: [Claim], at now: WallInstant, report: @escaping @Sendable (SendReport) -> Void
    ) async {
        for claim in batch {
            report(
                SendReport(ticket: claim.ticket, result: .success(.accepted(.init(apnsID: nil)))))
        }
    }
}
