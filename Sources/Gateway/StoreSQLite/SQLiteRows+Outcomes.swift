// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeModel

extension SQLiteRows {
    /// Adds the ends of these wakes to the feed of outcomes.
    func insertOutcomes(_ wakes: [Int64], at instant: WallInstant) throws(StoreFailure) {
        let first = max(try lastOutcome() + 1, WakeID.firstNumber(at: instant))
        let statement = try connection.prepare("INSERT INTO outcome VALUES (?, ?)")
        statement.bind(1, first + Int64(wakes.count) - 1)
        writer.removeAll()
        for wake in wakes { writer.put(word: UInt64(bitPattern: wake)) }
        try statement.run(with: writer.bytes, at: 2)
    }

    /// The cursor of the last entry of the feed of outcomes; 0 when there is none.
    func lastOutcome() throws(StoreFailure) -> Int64 {
        let statement = try connection.prepare("SELECT coalesce(max(number), 0) FROM outcome")
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : 0
    }

    /// Entries of the feed of outcomes after a cursor, without those that cannot be read.
    func outcomes(
        after cursor: Int64, limit: Int
    ) throws(StoreFailure) -> [(cursor: Int64, wake: Int64)] {
        let statement = try connection.prepare(
            "SELECT number, wakes FROM outcome WHERE number > ? ORDER BY number")
        defer { statement.reset() }
        statement.bind(1, cursor)
        var entries: [(cursor: Int64, wake: Int64)] = []
        while entries.count < limit, try statement.step() {
            let last = statement.int64(0)
            guard let wakes = Self.numbers(in: statement.bytes(1)) else {
                _ = damaged(.outcome, "\(last)", .damaged("wakes"))
                continue
            }
            let first = last - Int64(wakes.count) + 1
            for (place, wake) in wakes.enumerated() where first + Int64(place) > cursor {
                entries.append((first + Int64(place), wake))
            }
        }
        return Array(entries.prefix(limit))
    }

    /// The numbers in a row's bytes; `nil` when the bytes are damaged.
    static func numbers(in bytes: [UInt8]) -> [Int64]? {
        guard !bytes.isEmpty, bytes.count.isMultiple(of: 8) else { return nil }
        return stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | Int64($1) }
        }
    }

    /// The last one is kept, because the next cursor follows from it.
    func removeOutcomes(below cursor: Int64, limit: Int) throws(StoreFailure) -> Int {
        let statement = try connection.prepare(
            """
            DELETE FROM outcome WHERE number IN (
                SELECT number FROM outcome
                WHERE number < min(?, (SELECT max(number) FROM outcome))
                ORDER BY number LIMIT ?)
            """)
        statement.bind(1, cursor)
        statement.bind(2, limit)
        try statement.run()
        return connection.changeCount
    }
}
