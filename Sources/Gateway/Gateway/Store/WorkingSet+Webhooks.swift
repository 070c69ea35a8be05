// SPDX-License-Identifier: Apache-2.0

import WakeModel

extension WorkingSet {
    /// Writes a webhook for each endpoint that listens, unless too many wait for that one.
    func tell(
        _ subject: WebhookSubject, _ kind: WebhookKind, of app: AppIdentity, at now: WallInstant
    ) throws(RowFault) {
        for subscription in rules.webhooks where subscription.listens(to: kind, of: app) {
            let endpoint = subscription.endpoint
            guard try value(of: .webhooks(endpoint)) < subscription.backlogCount else {
                add(1, to: .webhooksDropped(endpoint))
                continue
            }
            add(subject, for: endpoint, at: now)
            add(1, to: .webhooks(endpoint))
        }
    }

    /// The state of an endpoint, without any items.
    func webhookStanding(
        of endpoint: WebhookEndpointID
    ) throws(RowFault) -> WebhookBatch {
        WebhookBatch(
            backlogCount: try value(of: .webhooks(endpoint)),
            droppedCount: try value(of: .webhooksDropped(endpoint)))
    }

    /// Removes a webhook under this lease, unless the lease is an older one.
    func remove(_ ticket: WebhookItem.Ticket) throws(RowFault) {
        guard try isUnderLease(ticket) else { return }
        change(webhook: ticket.number, fence: ticket.fence, .removed)
        add(-1, to: .webhooks(ticket.endpoint))
    }

    /// Puts a webhook back under this lease, unless the lease is an older one.
    func putBack(_ ticket: WebhookItem.Ticket, dueAt: WallInstant) throws(RowFault) {
        guard try isUnderLease(ticket) else { return }
        change(webhook: ticket.number, fence: ticket.fence, .due(dueAt))
    }

    private func isUnderLease(_ ticket: WebhookItem.Ticket) throws(RowFault) -> Bool {
        switch try webhook(ticket.number) {
        case .found(let row): row.ticket.fence == ticket.fence
        case .damaged(let fence): fence == ticket.fence
        case .absent: false
        }
    }
}
