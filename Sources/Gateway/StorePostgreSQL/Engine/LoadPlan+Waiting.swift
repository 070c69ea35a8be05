// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows

extension LoadPlan {
    /// Counts the pending wakes of queues, by the index alone, up to a number.
    mutating func addWaiting(_ queues: Set<Int64>) {
        guard !queues.isEmpty else { return }
        add(
            Query(
                Self.waiting, .int8s(queues.sorted()), .int8(Int64(ReadSet.waitingCount)))
        ) { columns, rows in
            for row in 0..<columns.result.rowCount {
                rows.waiting[columns.result.int64(row, 0) ?? 0] = Int(
                    columns.result.int64(row, 1) ?? 0)
            }
        }
    }

    private static let waiting = Statement(
        """
        SELECT queue, (SELECT count(*) FROM
            (SELECT 1 FROM rouse.wake WHERE place = queue LIMIT $2) AS counted)
        FROM unnest($1) AS asked (queue)
        """, .int8Array, .int8)
}
