// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

extension SQLiteRows {
    /// Writes changes within the running transaction. Devices and counters are written at its end;
    /// see ``flush()``.
    func write(_ changes: Changes) throws(StoreFailure) {
        lastNumber = max(lastNumber, changes.lastNumber)
        for queue in changes.newQueues { try insert(queue) }
        for (number, change) in changes.queues {
            var row = try queue(number)
            row.apply(change)
            try save(row)
        }
        for wake in changes.newWakes { try insert(wake) }
        for change in changes.wakes { try update(change.row, change.columns) }
        for number in changes.damagedWakes { try quarantine(number) }
        for attempt in changes.attempts { try insert(attempt) }
        for key in changes.keys { try insert(key) }
        try writeFeeds(changes)
        for (number, change) in changes.devices {
            switch change.kind {
            case .made: made.insert(number)
            case .changed: break
            case .forgotten: if try remove(change.row) { continue }
            }
            cache.change(change.row)
        }
        for (counter, amount) in changes.counters { add(amount, to: counter) }
    }

    private func writeFeeds(_ changes: Changes) throws(StoreFailure) {
        var entries: [Int64] = []
        for entry in changes.feedback { entries.append(try insert(entry)) }
        if !changes.outcomes.isEmpty {
            try insertOutcomes(changes.outcomes, at: changes.outcomesAt)
        }
        for webhook in changes.newWebhooks {
            var subject = webhook.subject
            if case .tokenDead(let place) = subject {
                subject = .tokenDead(feedback: entries[Int(place)])
            }
            try insert(subject, for: webhook.endpoint, at: webhook.at)
        }
        for change in changes.webhooks { try update(change) }
    }
}
