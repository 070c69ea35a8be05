// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeModel

extension SQLiteRows {
    /// Adds a webhook for an endpoint, under a number of ``makeNumber(at:)``.
    func insert(
        _ webhook: WebhookSubject, for endpoint: WebhookEndpointID, at now: WallInstant
    ) throws(StoreFailure) {
        let statement = try connection.prepare(
            """
            INSERT INTO webhook (kind, subject, created_at, due_at, bundle_id, environment,
                queue_kind, reason, endpoint, number)
            VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """)
        var hold: AppHold?
        let (kind, subject): (WebhookKind, Int64) =
            switch webhook {
            case .outcome(let wake): (.outcome, wake)
            case .tokenDead(let feedback): (.tokenDead, feedback)
            case .appHeld(let subject): (.appHeld, subject.isHeld ? 1 : 0)
            }
        if case .appHeld(let subject) = webhook { hold = subject }
        statement.bind(1, kind.rawValue)
        statement.bind(2, subject)
        statement.bind(3, now)
        statement.bind(4, hold?.queue.app.bundleID.value)
        statement.bind(5, hold?.queue.app.environment.rawValue)
        statement.bind(6, hold?.queue.kind.number)
        statement.bind(7, hold?.reason)
        statement.bind(8, endpoint.rawValue)
        statement.bind(9, makeNumber(at: now))
        try statement.run()
    }

    /// Webhooks of an endpoint that are due, the longest due first.
    func dueWebhooks(
        of endpoint: WebhookEndpointID, at now: WallInstant, limit: Int
    ) throws(StoreFailure) -> [(number: Int64, fact: LoadedRows.WebhookFact)] {
        let look = try connection.prepare(
            """
            SELECT number, kind, subject, created_at, fence, tries, bundle_id, environment,
                queue_kind, reason
            FROM webhook WHERE endpoint = ? AND due_at <= ?
            ORDER BY due_at, number LIMIT ?
            """)
        defer { look.reset() }
        look.bind(1, endpoint.rawValue)
        look.bind(2, now)
        look.bind(3, limit)
        var due: [(number: Int64, fact: LoadedRows.WebhookFact)] = []
        while try look.step() { due.append((look.int64(0), fact(look, of: endpoint))) }
        return due
    }

    /// The webhook with this number.
    func webhook(_ number: Int64) throws(StoreFailure) -> LoadedRows.WebhookFact {
        let look = try connection.prepare(
            """
            SELECT number, kind, subject, created_at, fence, tries, bundle_id, environment,
                queue_kind, reason, endpoint
            FROM webhook WHERE number = ?
            """)
        defer { look.reset() }
        look.bind(1, number)
        guard try look.step() else { return .absent }
        return fact(look, of: WebhookEndpointID(rawValue: look.int64(10)))
    }

    private func fact(
        _ row: Statement, of endpoint: WebhookEndpointID
    ) -> LoadedRows.WebhookFact {
        do throws(StoreFailure) {
            return .found(try webhook(row, of: endpoint))
        } catch {
            _ = damaged(.webhook, "\(row.int64(0))", error)
            return .damaged(fence: row.int64(4))
        }
    }

    /// Changes a webhook under the lease on which was decided.
    func update(_ change: Changes.WebhookChange) throws(StoreFailure) {
        switch change.kind {
        case .removed:
            let statement = try connection.prepare(
                "DELETE FROM webhook WHERE number = ? AND fence = ?")
            statement.bind(1, change.number)
            statement.bind(2, change.fence)
            try statement.run()
        case .due(let instant):
            let statement = try connection.prepare(
                "UPDATE webhook SET due_at = ?3 WHERE number = ?1 AND fence = ?2")
            statement.bind(1, change.number)
            statement.bind(2, change.fence)
            statement.bind(3, instant)
            try statement.run()
        case .leased(let leaseEnd):
            let statement = try connection.prepare(
                """
                UPDATE webhook SET fence = fence + 1, tries = tries + 1, due_at = ?3
                WHERE number = ?1 AND fence = ?2
                """)
            statement.bind(1, change.number)
            statement.bind(2, change.fence)
            statement.bind(3, leaseEnd)
            try statement.run()
        }
    }

    func webhooks(
        of endpoint: WebhookEndpointID, limit: Int
    ) throws(StoreFailure) -> [WebhookRow] {
        let look = try connection.prepare(
            """
            SELECT number, kind, subject, created_at, fence, tries, bundle_id, environment,
                queue_kind, reason
            FROM webhook WHERE endpoint = ? ORDER BY due_at, number LIMIT ?
            """)
        look.bind(1, endpoint.rawValue)
        look.bind(2, limit)
        var rows: [WebhookRow] = []
        var damaged: [Int64] = []
        do {
            defer { look.reset() }
            while try look.step() {
                let number = look.int64(0)
                do throws(StoreFailure) {
                    rows.append(try webhook(look, of: endpoint))
                } catch {
                    _ = self.damaged(.webhook, "\(number)", error)
                    damaged.append(number)
                }
            }
        }
        guard !damaged.isEmpty else { return rows }
        for number in damaged {
            let remove = try connection.prepare("DELETE FROM webhook WHERE number = ?")
            remove.bind(1, number)
            try remove.run()
        }
        add(-damaged.count, to: .webhooks(endpoint))
        add(damaged.count, to: .webhooksDropped(endpoint))
        return rows
    }

    /// The webhook in a row of the columns that the queries select. Throws only
    /// ``Gateway/StoreFailure/Kind/damaged``.
    func webhook(
        _ row: Statement, of endpoint: WebhookEndpointID
    ) throws(StoreFailure) -> WebhookRow {
        let fence = row.int64(4)
        let tries = row.int64(5)
        guard ByteReader.counts.contains(fence), ByteReader.counts.contains(tries) else {
            throw .damaged("count")
        }
        let ticket = WebhookItem.Ticket(
            endpoint: endpoint, number: row.int64(0), fence: fence)
        let subject: WebhookSubject
        switch WebhookKind(rawValue: row.text(1) ?? "") {
        case .outcome: subject = .outcome(wake: row.int64(2))
        case .tokenDead: subject = .tokenDead(feedback: row.int64(2))
        case .appHeld:
            subject = .appHeld(
                AppHold(
                    queue: try WakeQueueKey(stored: row.text(6), row.text(7), row.int64(8)),
                    isHeld: row.int64(2) != 0, reason: row.text(9) ?? "",
                    at: row.instant(3)))
        case nil: throw .damaged("webhook")
        }
        return WebhookRow(
            ticket: ticket, subject: subject, createdAt: row.instant(3), tries: Int(tries))
    }

    func removeWebhook(_ ticket: WebhookItem.Ticket) throws(StoreFailure) -> Bool {
        let statement = try connection.prepare(
            "DELETE FROM webhook WHERE number = ? AND fence = ?")
        statement.bind(1, ticket.number)
        statement.bind(2, ticket.fence)
        try statement.run()
        return connection.changeCount > 0
    }

    func webhookEndpoints() throws(StoreFailure) -> [WebhookEndpointID] {
        // One index lookup for each endpoint instead of one for each row.
        let next = try connection.prepare(
            "SELECT endpoint FROM webhook WHERE endpoint > ? ORDER BY endpoint LIMIT 1")
        var endpoints: [WebhookEndpointID] = []
        next.bind(1, Int64.min)
        while let endpoint = try numbers(next).first {
            endpoints.append(WebhookEndpointID(rawValue: endpoint))
            next.bind(1, endpoint)
        }
        return endpoints
    }

    func moveWebhook(
        _ ticket: WebhookItem.Ticket, to heir: WebhookEndpointID
    ) throws(StoreFailure) {
        let statement = try connection.prepare(
            "UPDATE webhook SET endpoint = ?2 WHERE number = ?1")
        statement.bind(1, ticket.number)
        statement.bind(2, heir.rawValue)
        try statement.run()
    }

    func removeWebhooks(
        of endpoint: WebhookEndpointID, limit: Int
    ) throws(StoreFailure) -> Int {
        let statement = try connection.prepare(
            """
            DELETE FROM webhook WHERE number IN (
                SELECT number FROM webhook WHERE endpoint = ? LIMIT ?)
            """)
        statement.bind(1, endpoint.rawValue)
        statement.bind(2, limit)
        try statement.run()
        return connection.changeCount
    }
}
