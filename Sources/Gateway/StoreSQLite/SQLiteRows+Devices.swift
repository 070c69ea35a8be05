// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeBudget
import WakeModel

extension SQLiteRows {
    // MARK: Queues

    /// All queues.
    func queueTable() throws(StoreFailure) -> QueueTable {
        if let knownQueues { return knownQueues }
        let table = try readQueues()
        knownQueues = table
        return table
    }

    func queue(_ number: Int64) throws(StoreFailure) -> WakeQueueRow {
        guard let queue = try queueTable()[number] else {
            throw damaged(DamagedRow(table: .queue, key: "\(number)", problem: "missing"))
        }
        return queue
    }

    func queues() throws(StoreFailure) -> [WakeQueueRow] { try queueTable().all }

    /// Inserts a queue.
    func insert(_ queue: WakeQueueRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            "INSERT INTO queue (number, bundle_id, environment, kind) VALUES (?, ?, ?, ?)")
        statement.bind(1, queue.number)
        statement.bind(2, queue.queue.app.bundleID.value)
        statement.bind(3, queue.queue.app.environment.rawValue)
        statement.bind(4, queue.queue.kind.number)
        try statement.run()
        knownQueues?.insert(queue)
    }

    func save(_ queue: WakeQueueRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            """
            UPDATE queue SET confirms_launches = ?, paused_at = ?, pause_reason = ?,
                held_told_at = ?
            WHERE number = ?
            """)
        statement.bind(1, queue.confirmsLaunches ? 1 : 0)
        statement.bind(2, queue.pausedAt)
        statement.bind(3, queue.pauseReason)
        statement.bind(4, queue.heldToldAt)
        statement.bind(5, queue.number)
        try statement.run()
        knownQueues?.insert(queue)
    }

    private func readQueues() throws(StoreFailure) -> QueueTable {
        let statement = try connection.prepare(
            """
            SELECT number, bundle_id, environment, kind, confirms_launches, paused_at,
                pause_reason, held_told_at FROM queue
            """)
        defer { statement.reset() }
        var table = QueueTable()
        while try statement.step() {
            let number = statement.int64(0)
            let queue: WakeQueueKey
            do throws(StoreFailure) {
                queue = try WakeQueueKey(
                    stored: statement.text(1), statement.text(2), statement.int64(3))
            } catch {
                // The other apps are not affected.
                _ = damaged(.queue, "\(number)", error)
                table.reserve(number)
                continue
            }
            table.insert(
                WakeQueueRow(
                    number: number, queue: queue,
                    confirmsLaunches: statement.int64(4) != 0,
                    pausedAt: statement.optionalInstant(5), pauseReason: statement.text(6),
                    heldToldAt: statement.optionalInstant(7)))
        }
        return table
    }

    // MARK: Devices

    /// The number of the device of this token in a queue, or the number it would have, and whether
    /// it is there. Devices with adjacent numbers are distinguished without their ledgers, so that
    /// damage to one does not affect another.
    func place(
        of token: DeviceToken, queue: Int64
    ) throws(StoreFailure) -> (number: Int64, isThere: Bool) {
        let first = hash.number(of: token, queue: queue)
        if let device = cache.find(first), device.token == token, device.queue == queue {
            return (first, true)
        }
        var number = first
        while let owner = try owner(of: number) {
            if owner.queue == queue, owner.token == token.bytes { return (number, true) }
            number += 1
        }
        return (number, false)
    }

    /// The queue and the stored token of a device's row; `nil` when there is no row.
    private func owner(
        of number: Int64
    ) throws(StoreFailure) -> (queue: Int64, token: [UInt8])? {
        if let device = cache.find(number) { return (device.queue, device.token.bytes) }
        let statement = try connection.prepare("SELECT queue, token FROM device WHERE number = ?")
        defer { statement.reset() }
        statement.bind(1, number)
        guard try statement.step() else { return nil }
        return (statement.int64(0), statement.bytes(1))
    }

    /// The readable columns of a damaged device, with an empty ledger; `nil` when its token or its
    /// queue cannot be read.
    func rest(ofDevice number: Int64) throws(StoreFailure) -> DeviceRow? {
        guard let owner = try owner(of: number),
            let token = try? DeviceToken(stored: owner.token)
        else { return nil }
        let kind = try queueTable()[owner.queue]?.queue.kind
        let statement = try connection.prepare(
            "SELECT pending, latest, touched_at, calls FROM device WHERE number = ?")
        defer { statement.reset() }
        statement.bind(1, number)
        guard try statement.step() else { return nil }
        var device = DeviceRow(
            number: number, queue: owner.queue, token: token, kind: kind ?? .background,
            touchedAt: statement.instant(2))
        device.pending = statement.int64(0)
        device.latest = statement.int64(1)
        device.calls = (try? CountedCall.decode(statement.bytes(3))) ?? []
        return device
    }

    /// The device with this number; `nil` when there is none.
    func device(_ number: Int64) throws(StoreFailure) -> DeviceRow? {
        if let device = cache.find(number) { return device }
        let statement = try connection.prepare(
            """
            SELECT queue, token, ledger, pending, latest, registered_at, dead_since, receipt_at,
                touched_at, calls, user
            FROM device WHERE number = ?
            """)
        defer { statement.reset() }
        statement.bind(1, number)
        guard try statement.step() else { return nil }
        let token: DeviceToken
        let ledger: DeviceLedger
        do throws(StoreFailure) {
            token = try DeviceToken(stored: statement.bytes(1))
        } catch {
            throw damaged(.device, "\(number)", error)
        }
        do throws(LedgerDecodingError) {
            ledger = try DeviceLedger(decoding: statement.bytes(2))
        } catch {
            throw damaged(.device, "\(token)", .damaged("ledger: \(error)"))
        }
        let queue = statement.int64(0)
        // A ledger of another kind does not support the queue's requests.
        guard try self.queue(queue).queue.kind.discipline == ledger.discipline else {
            throw damaged(.device, "\(token)", .damaged("ledger of another kind"))
        }
        var device = DeviceRow(
            number: number, queue: queue, token: token, ledger: ledger,
            touchedAt: statement.instant(8))
        device.pending = statement.int64(3)
        device.latest = statement.int64(4)
        device.registeredAt = statement.optionalInstant(5)
        device.deadSince = statement.optionalInstant(6)
        device.lastReceiptAt = statement.optionalInstant(7)
        do throws(StoreFailure) {
            device.calls = try CountedCall.decode(statement.bytes(9))
            device.user = try UserID(stored: statement.text(10))
        } catch {
            throw damaged(.device, "\(token)", error)
        }
        cache.insert(device)
        return device
    }

    /// Writes a device. In an existing row, queue and token are not changed.
    func write(_ device: DeviceRow) throws(StoreFailure) {
        guard !made.contains(device.number) else { return try writeFirst(device) }
        let statement = try connection.prepare(
            """
            UPDATE device SET ledger = ?2, pending = ?3, latest = ?4, registered_at = ?5,
                dead_since = ?6, receipt_at = ?7, touched_at = ?8, calls = ?9, user = ?10
            WHERE number = ?1
            """)
        statement.bind(1, device.number)
        bind(statement, from: 2, device)
        try statement.run()
        if connection.changeCount == 0 { try writeFirst(device) }
    }

    private func writeFirst(_ device: DeviceRow) throws(StoreFailure) {
        let statement = try connection.prepare(
            "INSERT INTO device VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        statement.bind(1, device.number)
        statement.bind(2, device.queue)
        statement.bind(3, device.token.bytes)
        bind(statement, from: 4, device)
        try statement.run()
    }

    private func bind(_ statement: Statement, from place: CInt, _ device: DeviceRow) {
        statement.bind(place, device.ledger.encoded())
        statement.bind(place + 1, device.pending)
        statement.bind(place + 2, device.latest)
        statement.bind(place + 3, device.registeredAt)
        statement.bind(place + 4, device.deadSince)
        statement.bind(place + 5, device.lastReceiptAt)
        statement.bind(place + 6, device.touchedAt)
        if device.calls.isEmpty {
            statement.bindNull(place + 7)
        } else {
            statement.bind(place + 7, CountedCall.encoded(device.calls))
        }
        statement.bind(place + 8, device.user?.value)
    }

    /// The numbers of the devices of a user in a queue, the smallest first. Changes of the running
    /// transaction are not in its row yet.
    func devices(of name: ReadSet.UserName, limit: Int) throws(StoreFailure) -> [Int64] {
        let changed = cache.dirty
        let statement = try connection.prepare(
            "SELECT number FROM device WHERE user = ? AND queue = ? ORDER BY number LIMIT ?")
        statement.bind(1, name.user.value)
        statement.bind(2, name.queue)
        statement.bind(3, limit + changed.count)
        var found = try numbers(statement).filter { !changed.contains($0) }
        for number in changed {
            guard let device = cache.find(number), device.user == name.user,
                device.queue == name.queue
            else { continue }
            found.append(number)
        }
        return Array(found.sorted().prefix(limit))
    }

    // MARK: Old devices

    func sweepDevices(
        after number: Int64, untouchedSince instant: WallInstant, limit: Int
    ) throws(StoreFailure) -> SweptDevices {
        let look = try connection.prepare(
            """
            SELECT number, latest, touched_at < ?3 AND pending = 0 AND user IS NULL
                AND NOT EXISTS (SELECT 1 FROM wake WHERE wake.number = device.latest)
            FROM device WHERE number > ?1 ORDER BY number LIMIT ?2
            """)
        look.bind(1, number)
        look.bind(2, limit)
        look.bind(3, instant)
        var seen = 0
        var last = number
        var old: [(number: Int64, latest: Int64)] = []
        do {
            defer { look.reset() }
            while try look.step() {
                seen += 1
                last = look.int64(0)
                // The running transaction may have changed it, which is not in its row yet.
                guard look.int64(2) == 1, !cache.dirty.contains(last) else { continue }
                old.append((last, look.int64(1)))
            }
        }
        var removed = 0
        if let needed = try devices(ofWakesBelow: old.map(\.latest).max() ?? 0) {
            for device in old where !needed.contains(device.number) {
                if try remove(device.number, latest: device.latest) { removed += 1 }
            }
        }
        return SweptDevices(removed: removed, last: seen < limit ? nil : last)
    }

    func pullBackDevices(
        after number: Int64, through last: Int64, from bound: WallInstant, to now: WallInstant
    ) throws(StoreFailure) {
        // A copy in the cache keeps the old time: it is written with the time of its next change.
        let statement = try connection.prepare(
            """
            UPDATE device SET touched_at = ?4
            WHERE number > ?1 AND number <= ?2 AND touched_at > ?3
            """)
        statement.bind(1, number)
        statement.bind(2, last)
        statement.bind(3, bound)
        statement.bind(4, now)
        try statement.run()
    }

    /// Removes a device, unless a wake of it is still there or another device cannot be found
    /// without it; returns whether it did. Its latest wake may be pruned before an older one that
    /// has not ended.
    func remove(_ device: DeviceRow) throws(StoreFailure) -> Bool {
        guard try !holdsWake(device.latest),
            let needed = try devices(ofWakesBelow: device.latest), !needed.contains(device.number)
        else { return false }
        return try remove(device.number, latest: device.latest)
    }

    /// The most wakes that are examined before devices are removed.
    static let olderWakeLimit = 4_096

    /// The devices of the wakes below this number, which a removed latest wake had; `nil` when they
    /// are too many to examine, and then no device is removed for now.
    ///
    /// Wakes are pruned in the order of their numbers. So the remaining ones below a pruned one are
    /// those that had not ended by then, and they are few.
    private func devices(ofWakesBelow latest: Int64) throws(StoreFailure) -> Set<Int64>? {
        var devices: Set<Int64> = []
        let numbers = try wakes(before: latest, limit: Self.olderWakeLimit) { _, wake in
            if let wake { devices.insert(wake.device) }
        }
        return numbers.count < Self.olderWakeLimit ? devices : nil
    }

    /// Removes a device, unless one with the next number exists, which may be found through it.
    private func remove(_ number: Int64, latest: Int64) throws(StoreFailure) -> Bool {
        guard !cache.dirty.contains(number + 1) else { return false }
        let statement = try connection.prepare(
            """
            DELETE FROM device WHERE number = ?1
                AND NOT EXISTS (SELECT 1 FROM device AS next WHERE next.number = ?1 + 1)
                AND NOT EXISTS (SELECT 1 FROM wake WHERE wake.number = ?2)
            """)
        statement.bind(1, number)
        statement.bind(2, latest)
        try statement.run()
        guard connection.changeCount > 0 else { return false }
        cache.remove(number)
        made.remove(number)
        return true
    }
}
