// SPDX-License-Identifier: Apache-2.0

import WakeBudget
public import WakeModel

/// Ends a wake on request: one that waits, or has merged into one that does.
///
/// Only this request is removed. Wakes that merged into it still wait: the newest of them replaces
/// it. And the wake that it merged into continues without its payload, as far as that is
/// distinguishable (``MergedPart``).
public struct CancelWake: StoreCommand {
    /// The wake.
    public let id: WakeID
    /// The present instant.
    public let now: WallInstant
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(_ id: WakeID, at now: WallInstant, under rules: StoreRules) {
        self.id = id
        self.now = now
        self.rules = rules
    }

    /// A write for a caller.
    public var profile: CommandProfile { .callersWrite(.readThenWrite) }

    /// The wake and its device.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.add(wake: id.number, [.device, .payload])
        reads.addBacklogs(of: rules)
        return reads
    }

    /// Ends the wake if it is pending, or what carries it is.
    public func decide(on set: WorkingSet) throws(RowFault) -> CancelOutcome {
        guard var wake = try set.wake(id.number), wake.id == id
        else { return CancelOutcome(isCancelled: nil, ended: []) }
        let ended: EndedWake?
        switch wake.state {
        case .pending:
            let queue = try set.queue(wake.queue)
            if let carried = try set.cancelCarrier(&wake, queue, at: now) {
                ended = carried
            } else {
                ended = try set.abandon(&wake, .cancelled, queue, at: now)
            }
        case .coalesced:
            ended = try set.cancelMerged(&wake, try set.queue(wake.queue), at: now)
        default: ended = nil
        }
        guard let ended else { return CancelOutcome(isCancelled: false, ended: []) }
        return CancelOutcome(isCancelled: true, ended: [ended])
    }
}

extension WorkingSet {
    /// Cancels a wake that carries others; the newest of them carries them from now on. `nil` when
    /// there is none.
    fileprivate func cancelCarrier(
        _ wake: inout WakeRow, _ queue: SeenQueue, at now: WallInstant
    ) throws(RowFault) -> EndedWake? {
        let number = wake.number
        guard var device = try readableDevice(wake.device), device.pending == number else {
            return nil
        }
        let found = try readable { () throws(RowFault) in
            try self.wake(number, withPayload: true)
        }
        guard var whole = found else { return nil }
        let unnamed = try unnamed(in: whole, latest: device.latest)
        guard var heir = try heir(of: whole) ?? unnamed.first else { return nil }
        if !unnamed.isEmpty { whole.fold(wake.id) }
        heir.payload = whole.payload
        heir.parts = whole.parts
        heir.expiration = whole.expiration
        heir.collapseID = whole.collapseID
        heir.urgency = whole.urgency
        heir.coalescing = whole.coalescing
        heir.notBefore = whole.notBefore
        heir.state = .pending
        heir.end = nil
        heir.endedAt = nil
        _ = heir.withdraw(wake.id)
        device.ledger.revisePending(heir.requests, isSameWake: false, at: now)
        device.pending = heir.number
        schedule(&heir, device, queue, at: now)
        save(&device, at: now)
        update(heir, .content)
        noteDue(heir)
        add(-1, to: .ended(.coalesced))
        wake.successor = heir.id
        return try finish(&wake, .cancelled, at: now, queue)
    }

    /// The newest wake that has merged into another and was not cancelled.
    private func heir(of wake: borrowing WakeRow) throws(RowFault) -> WakeRow? {
        for part in wake.parts.reversed() {
            for id in part.wakes.reversed() where id != wake.id {
                guard let other = try readableWake(id.number), other.id == id,
                    other.device == wake.device, case .coalesced = other.end
                else { continue }
                return other
            }
        }
        return nil
    }

    /// Wakes that a wake carries and that its parts do not name, the newest first: parts name some
    /// of the latest, and earlier versions kept none. They precede it in their device's chain.
    private func unnamed(
        in wake: borrowing WakeRow, latest: Int64
    ) throws(RowFault) -> [WakeRow] {
        let named = Set(wake.parts.flatMap(\.wakes))
        let id = wake.id
        var found: [WakeRow] = []
        var number = latest
        for _ in 0..<Self.mergedLookCount where number > id.number {
            guard let other = try readableWake(number, chain: Self.mergedLookCount) else { break }
            number = other.previous
            guard case .coalesced = other.end, !named.contains(other.id),
                try carrier(of: other)?.id == id
            else { continue }
            found.append(other)
        }
        return found
    }

    /// How many of a device's latest wakes are searched for those that a wake carries.
    private static let mergedLookCount = 1_024

    /// Cancels a wake that has merged into one that waits; `nil` when that one does not wait any
    /// more.
    fileprivate func cancelMerged(
        _ wake: inout WakeRow, _ queue: SeenQueue, at now: WallInstant
    ) throws(RowFault) -> EndedWake? {
        guard case .coalesced(let into) = wake.end, let found = try carrier(of: wake),
            found.state == .pending
        else { return nil }
        let whole = try readable { () throws(RowFault) in
            try self.wake(found.number, withPayload: true)
        }
        if var carrier = whole, carrier.withdraw(wake.id) {
            if var device = try readableDevice(wake.device), device.pending == carrier.number {
                device.ledger.revisePending(carrier.requests, isSameWake: true, at: now)
                schedule(&carrier, device, queue, at: now)
                save(&device, at: now)
            }
            update(carrier, .content)
            noteDue(carrier)
        }
        add(-1, to: .ended(.coalesced))
        wake.successor = into
        return try finish(&wake, .cancelled, at: now, queue)
    }
}

extension WakeRow {
    /// The parts in its ledger.
    fileprivate var requests: [BackgroundRequest] {
        allParts.map {
            BackgroundRequest(
                urgency: $0.urgency, coalescing: $0.coalescing, expiration: $0.expiration)
        }
    }
}
