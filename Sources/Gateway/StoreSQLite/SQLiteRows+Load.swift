// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeModel

extension SQLiteRows {
    /// Carries out a command within the running transaction, in which no other writer changes rows.
    func perform<Command: StoreCommand>(
        _ command: Command
    ) throws(StoreFailure) -> Command.Answer {
        let (answer, changes) = try command.decide(from: try nothingLoaded(), noting: damage.note) {
            reads, rows throws(StoreFailure) in
            try load(reads, into: &rows)
        }
        if !changes.isEmpty { try write(changes) }
        return answer
    }

    /// The answer to a command if the rows show that nothing is to be decided.
    func idleAnswer<Command: StoreCommand>(
        to command: Command
    ) throws(StoreFailure) -> Command.Answer? {
        try command.decideIdle(from: try nothingLoaded(), noting: damage.note) {
            reads, rows throws(StoreFailure) in
            try load(reads, into: &rows)
        }
    }

    private func nothingLoaded() throws(StoreFailure) -> LoadedRows {
        var rows = LoadedRows()
        rows.queues = try queueTable()
        rows.lastNumber = lastNumber
        return rows
    }

    /// Loads the rows that are not loaded yet.
    func load(_ reads: ReadSet, into rows: inout LoadedRows) throws(StoreFailure) {
        rows.reserve(for: reads)
        for read in reads.devices { try load(read.name, read.parts, &rows) }
        for number in reads.deviceNumbers { try load(device: number, [], &rows) }
        for name in reads.users where rows.users[name] == nil {
            let numbers = try devices(of: name, limit: ReadSet.userDeviceCount)
            rows.users[name] = numbers
            for number in numbers { try load(device: number, [], &rows) }
        }
        for scan in reads.due { try load(scan, &rows) }
        for scan in reads.scans { try load(scan, &rows) }
        for (number, count) in reads.chains { try load(chain: number, count, &rows) }
        for (number, parts) in reads.wakes { try load(wake: number, parts, &rows) }
        for key in reads.keys where rows.keys[key] == nil {
            rows.keys[key] = .some(try known(key))
        }
        for number in reads.attempts { rows.attempts[number] = try attempts(of: number) }
        for number in reads.feedback { rows.feedback[number] = .some(try feedback(number)) }
        for number in reads.webhooks { rows.webhooks[number] = try webhook(number) }
        for counter in reads.counters { rows.counters[counter] = try value(of: counter) }
        for queue in reads.waiting { rows.waiting[queue] = try waiting(queue: queue) }
        for queue in reads.nextDue { rows.nextDue[queue] = .some(try nextDue(queue: queue)) }
        if reads.countsStates { rows.states = try countByState() }
    }

    // MARK: Devices

    private func load(
        _ name: ReadSet.DeviceName, _ parts: ReadSet.Parts, _ rows: inout LoadedRows
    ) throws(StoreFailure) {
        if let number = rows.deviceNumbers[name] {
            return try load(device: number, parts, &rows)
        }
        let (number, isThere) = try place(of: name.token, queue: name.queue)
        rows.deviceNumbers[name] = number
        guard !isThere else { return try load(device: number, parts, &rows) }
        if case nil = rows.devices[number] {
            rows.devices[number] = .absent
            return
        }
        // Another new device of the same command has the same place and keeps it; this one is
        // refused once.
        let damage = DamagedRow(
            table: .device, key: "\(name.token)", problem: "its place is being taken, try again")
        rows.deviceNumbers[name] = .max
        rows.devices[.max] = .damaged(StoreFailure(damage), rest: nil)
    }

    private func load(
        device number: Int64, _ parts: ReadSet.Parts, _ rows: inout LoadedRows
    ) throws(StoreFailure) {
        if rows.devices[number] == nil { rows.devices[number] = try fact(ofDevice: number) }
        guard case .found(let row, _) = rows.devices[number], row.pending != 0 else { return }
        try load(wake: row.pending, parts.intersection(.payload), &rows)
    }

    private func fact(ofDevice number: Int64) throws(StoreFailure) -> LoadedRows.DeviceFact {
        do throws(StoreFailure) {
            return try device(number).map { .found($0, version: 0) } ?? .absent
        } catch {
            guard error.kind == .damaged else { throw error }
            return .damaged(error, rest: try rest(ofDevice: number))
        }
    }

    // MARK: Wakes

    private func load(
        wake number: Int64, _ parts: ReadSet.Parts, _ rows: inout LoadedRows
    ) throws(StoreFailure) {
        switch rows.wakes[number] {
        case nil: break
        case .found(_, false, _): if parts.contains(.payload) { break } else { fallthrough }
        default:
            return try loadDevice(ofWake: number, parts, &rows)
        }
        let hasPayload = parts.contains(.payload)
        do throws(StoreFailure) {
            let row = try wake(number, withPayload: hasPayload)
            rows.wakes[number] =
                row.map { .found($0, hasPayload: hasPayload, version: 0) } ?? .absent
        } catch {
            guard error.kind == .damaged else { throw error }
            rows.wakes[number] = .damaged(error, hasEnded: try hasEnded(number))
        }
        try loadDevice(ofWake: number, parts, &rows)
    }

    private func loadDevice(
        ofWake number: Int64, _ parts: ReadSet.Parts, _ rows: inout LoadedRows
    ) throws(StoreFailure) {
        guard parts.contains(.device), case .found(let row, _, _) = rows.wakes[number] else {
            return
        }
        try load(device: row.device, [], &rows)
    }

    private func load(
        chain first: Int64, _ count: Int, _ rows: inout LoadedRows
    ) throws(StoreFailure) {
        var number = first
        for _ in 0...count where number != 0 {
            try load(wake: number, [], &rows)
            guard case .found(let row, _, _) = rows.wakes[number] else { return }
            number = row.previous
        }
    }

    private func load(
        _ scan: ReadSet.DueScan, _ rows: inout LoadedRows
    ) throws(StoreFailure) {
        var rest = scan.limit
        for share in scan.shares {
            let limit = min(share.limit, rest)
            guard limit > 0 else { continue }
            let numbers = try due(queue: share.queue, at: scan.now, limit: limit)
            rows.due[share.queue] = LoadedRows.DueWakes(
                now: scan.now, limit: limit, numbers: numbers)
            for number in numbers { try load(wake: number, [.payload, .device], &rows) }
            rest -= numbers.count
        }
    }

    private func load(_ scan: ReadSet.Scan, _ rows: inout LoadedRows) throws(StoreFailure) {
        guard rows.scans[scan] == nil else { return }
        let numbers: [Int64]
        switch scan {
        case .overdue(let now, let limit):
            numbers = try overdue(at: now, limit: limit)
            for number in numbers { try load(wake: number, .device, &rows) }
        case .lapsed(let now, let limit):
            numbers = try lapsed(at: now, limit: limit)
            for number in numbers { try load(wake: number, .device, &rows) }
        case .wakes(let before, let limit):
            numbers = try wakes(before: before, limit: limit) { number, wake in
                rows.wakes[number] =
                    wake.map { .found($0, hasPayload: false, version: 0) }
                    ?? .damaged(
                        StoreFailure(DamagedRow(wake: number, problem: "unreadable")),
                        hasEnded: true)
            }
        case .feedback(let cursor, let limit, let queue):
            let entries = try feedback(after: cursor, limit: limit, queue: queue)
            for entry in entries { rows.feedback[entry.number] = .some(entry) }
            numbers = entries.map(\.number)
        case .outcomes(let cursor, let limit):
            let entries = try outcomes(after: cursor, limit: limit)
            for entry in entries {
                rows.outcomes[entry.cursor] = entry.wake
                try load(wake: entry.wake, .device, &rows)
            }
            numbers = entries.map(\.cursor)
        case .lastOutcome: numbers = [try lastOutcome()]
        case .dueWebhooks(let endpoint, let now, let limit):
            let due = try dueWebhooks(of: endpoint, at: now, limit: limit)
            for (number, fact) in due { rows.webhooks[number] = fact }
            numbers = due.map(\.number)
        }
        rows.scans[scan] = numbers
    }
}
