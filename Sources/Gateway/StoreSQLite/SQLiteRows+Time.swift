// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

extension SQLiteRows {
    func pullBack(from bound: WallInstant, to now: WallInstant) throws(StoreFailure) {
        // Each query uses an index, and mostly finds nothing.
        for queue in try queues() { try moveQueue(queue.number, from: bound, to: now) }
        try moveQueue(0, from: bound, to: now.advanced(bySeconds: 3_600))
        for endpoint in try webhookEndpoints() {
            let webhooks = try connection.prepare(
                """
                UPDATE webhook SET due_at = ?3, created_at = min(created_at, ?3)
                WHERE endpoint = ?1 AND due_at > ?2
                """)
            webhooks.bind(1, endpoint.rawValue)
            webhooks.bind(2, bound)
            webhooks.bind(3, now)
            try webhooks.run()
        }
        let marks = try connection.prepare(
            "UPDATE idempotency SET expires_at = ?1 WHERE expires_at > ?1")
        marks.bind(1, bound)
        try marks.run()
    }

    private func moveQueue(
        _ queue: Int64, from bound: WallInstant, to instant: WallInstant
    ) throws(StoreFailure) {
        let statement = try connection.prepare(
            "UPDATE wake SET at = ?3 WHERE queue = ?1 AND at > ?2")
        statement.bind(1, queue)
        statement.bind(2, bound)
        statement.bind(3, instant)
        try statement.run()
    }
}
