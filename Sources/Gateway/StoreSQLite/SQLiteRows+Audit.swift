// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeModel

extension SQLiteRows {
    /// The number of wakes of one read of an audit.
    private static let auditedWakes = 4_096
    /// The number of entries of the feedback feed of one read of an audit.
    private static let auditedEntries = 4_096

    /// Reads every row of every table as a gateway would; ``damage`` is called for each that cannot
    /// be read. A table of an earlier version that was not migrated is omitted.
    func readEverything() throws(StoreFailure) {
        let knowsQueues = try has("held_told_at", in: "queue")
        if knowsQueues { _ = try queues() } else { knownQueues = QueueTable() }
        if try has("user", in: "device") { try readDevices() }
        var place: Int64? = .max
        while let before = place {
            let numbers = try wakes(before: before, limit: Self.auditedWakes) { number, wake in
                if knowsQueues, let wake { checkQueue(wake.queue, .wake, number) }
            }
            place = numbers.count < Self.auditedWakes ? nil : numbers.last
        }
        for number in try numbers(connection.prepare("SELECT DISTINCT wake FROM attempt")) {
            _ = try attempts(of: number)
        }
        if try has("answer", in: "idempotency") { try readMarks() }
        var cursor = Int64.min
        while true {
            let entries = try feedback(after: cursor, limit: Self.auditedEntries, queue: nil)
            for entry in entries where knowsQueues {
                checkQueue(entry.queue, .feedback, entry.number)
            }
            guard entries.count == Self.auditedEntries, let last = entries.last else { break }
            cursor = last.number
        }
        if try has("queue_kind", in: "webhook") { try readWebhooks() }
        if try has("wakes", in: "outcome") { try readOutcomes() }
    }

    private func has(_ column: String, in table: String) throws(StoreFailure) -> Bool {
        try connection.columns(of: table).contains(column)
    }

    private func checkQueue(_ queue: Int64, _ table: DamagedRow.Table, _ number: Int64) {
        guard knownQueues?[queue] == nil else { return }
        let problem = "its queue \(queue) is missing or damaged"
        damage.note(
            table == .wake
                ? DamagedRow(wake: number, problem: problem)
                : DamagedRow(table: table, key: "\(number)", problem: problem))
    }

    private func readDevices() throws(StoreFailure) {
        let look = try connection.prepare("SELECT number, queue FROM device")
        defer { look.reset() }
        while try look.step() {
            let number = look.int64(0)
            checkQueue(look.int64(1), .device, number)
            do throws(StoreFailure) {
                _ = try device(number)
            } catch {
                guard error.kind == .damaged else { throw error }
            }
        }
    }

    private func readMarks() throws(StoreFailure) {
        let look = try connection.prepare("SELECT key FROM idempotency")
        defer { look.reset() }
        while try look.step() {
            _ = try known(look.bytes(0))
        }
    }

    private func readOutcomes() throws(StoreFailure) {
        let look = try connection.prepare(
            """
            SELECT number FROM (
                SELECT number, number - length(wakes) / 8 AS start,
                    lag(number, 1, 0) OVER (ORDER BY number) AS previous
                FROM outcome)
            WHERE start < previous
            """)
        defer { look.reset() }
        while try look.step() {
            damage.note(
                DamagedRow(
                    table: .outcome, key: "\(look.int64(0))",
                    problem: "it has cursors of the entry before it"))
        }
        var cursor = Int64.min
        while true {
            let entries = try outcomes(after: cursor, limit: Self.auditedEntries)
            guard entries.count == Self.auditedEntries, let last = entries.last else { return }
            cursor = last.cursor
        }
    }

    /// Unlike a gateway, it does not remove those that cannot be read.
    private func readWebhooks() throws(StoreFailure) {
        let look = try connection.prepare(
            """
            SELECT number, kind, subject, created_at, fence, tries, bundle_id, environment,
                queue_kind, reason, endpoint
            FROM webhook
            """)
        defer { look.reset() }
        while try look.step() {
            do throws(StoreFailure) {
                let endpoint = WebhookEndpointID(rawValue: look.int64(10))
                _ = try webhook(look, of: endpoint)
            } catch {
                _ = damaged(.webhook, "\(look.int64(0))", error)
            }
        }
    }
}
