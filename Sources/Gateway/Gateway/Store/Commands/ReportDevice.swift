// SPDX-License-Identifier: Apache-2.0

import WakeBudget
public import WakeModel

/// Records a report about a device in some of its queues.
public struct ReportDevice: StoreCommand {
    /// The report.
    public let report: DeviceReport
    /// The device.
    public let token: DeviceToken
    /// The queues.
    public let queues: [WakeQueueKey]
    /// Whether an unknown device is created.
    public let makes: Bool
    /// The present instant.
    public let now: WallInstant
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(
        _ report: DeviceReport, of token: DeviceToken, in queues: [WakeQueueKey], makes: Bool,
        at now: WallInstant, under rules: StoreRules
    ) {
        self.report = report
        self.token = token
        self.queues = queues
        self.makes = makes
        self.now = now
        self.rules = rules
    }

    /// A write for a caller.
    public var profile: CommandProfile { .callersWrite(.readThenWrite) }

    /// The device in each of the queues, with the wake that waits for it.
    public func reads(of table: QueueTable) -> ReadSet {
        var reads = ReadSet()
        for queue in queues {
            guard let row = table[queue] else { continue }
            reads.devices.append((ReadSet.DeviceName(token: token, queue: row.number), []))
        }
        reads.addBacklogs(of: rules)
        return reads
    }

    /// Records it in each queue that has the device.
    public func decide(on set: WorkingSet) throws(RowFault) -> ReportOutcome {
        var devices = 0
        var ended: [EndedWake] = []
        var unfinished: [WakeQueueKey: Int64] = [:]
        for name in queues {
            if report == .forget, var damaged = try set.damagedDevice(token, in: name) {
                devices += 1
                let queue = try set.queue(damaged.queue)
                // The calls that are still recorded are counted again, the oldest first, so that a
                // phone does not ring twice for one.
                for call in damaged.calls.reversed() where name.kind == .voip {
                    _ = damaged.ledger.admit(
                        .voip(call.call), policy: queue.policy, at: call.wake.acceptedAt)
                }
                ended += try set.forget(&damaged, queue, at: now, &unfinished)
                continue
            }
            guard var device = try set.device(token, in: name, makes: makes, at: now) else {
                continue
            }
            let queue = try set.queue(device.queue)
            devices += 1
            switch report {
            case .signals(let signals):
                for signal in signals {
                    let end = try set.book(signal, &device, queue, at: now)
                    if let end { ended.append(end) }
                }
            case .registered(let said, let change):
                // A device whose clock is ahead must not outlive every later 410.
                let at = min(said, now)
                let known = device.registeredAt.flatMap { $0 > now ? nil : $0 }
                device.registeredAt = max(at, known ?? at)
                if let deadSince = device.deadSince, at > deadSince { device.deadSince = nil }
                // A late report names a former user of the device.
                if at >= known ?? at { try set.register(&device, change, at: now) }
            case .forget:
                ended += try set.forget(&device, queue, at: now, &unfinished)
                continue
            }
            try set.rescheduleBehind(device, queue, at: now)
            set.save(&device, at: now)
        }
        return ReportOutcome(devices: devices, ended: ended, unfinished: unfinished)
    }
}

/// Ends further plain pushes that waited for a device when it was removed.
public struct ForgetPushes: StoreCommand {
    /// The device.
    public let token: DeviceToken
    /// The queue.
    public let queue: WakeQueueKey
    /// The number of the first wake to examine; those before it follow.
    public let first: Int64
    /// The present instant.
    public let now: WallInstant
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(
        of token: DeviceToken, in queue: WakeQueueKey, from first: Int64, at now: WallInstant,
        under rules: StoreRules
    ) {
        self.token = token
        self.queue = queue
        self.first = first
        self.now = now
        self.rules = rules
    }

    /// A write for a caller.
    public var profile: CommandProfile { .callersWrite(.readThenWrite) }

    /// The device.
    public func reads(of table: QueueTable) -> ReadSet {
        var reads = ReadSet()
        if let row = table[queue] {
            reads.devices = [(ReadSet.DeviceName(token: token, queue: row.number), [])]
        }
        reads.addBacklogs(of: rules)
        return reads
    }

    /// The ended wakes, and the wake to continue with, if there is any.
    public func decide(on set: WorkingSet) throws(RowFault) -> ReportOutcome {
        guard let row = set.knownQueue(queue),
            var device = try set.device(token, queue: row.number)
        else { return ReportOutcome(devices: 0, ended: [], unfinished: [:]) }
        var rest: Int64 = 0
        let ended = try set.cancelPushes(
            of: &device, from: first, at: now, try set.queue(row.number), &rest)
        // It may have been used again meanwhile.
        let isForgotten = device.touchedAt == WallInstant(millisecondsSinceEpoch: 0)
        if !ended.isEmpty {
            if isForgotten { set.forget(&device) } else { set.save(&device, at: now) }
        }
        return ReportOutcome(
            devices: 1, ended: ended, unfinished: rest == 0 ? [:] : [queue: rest])
    }
}

extension WorkingSet {
    fileprivate func damagedDevice(
        _ token: DeviceToken, in queue: WakeQueueKey
    ) throws(RowFault) -> DeviceRow? {
        guard let row = knownQueue(queue) else { return nil }
        return try damagedDevice(token, queue: row.number)
    }

    fileprivate func device(
        _ token: DeviceToken, in queue: WakeQueueKey, makes: Bool, at now: WallInstant
    ) throws(RowFault) -> DeviceRow? {
        if let row = knownQueue(queue),
            let device = try device(token, queue: row.number)
        {
            return device
        }
        guard makes else { return nil }
        let number = self.queue(of: queue).row.number
        return try makeDevice(token, queue: number, kind: queue.kind, at: now)
    }

    fileprivate func book(
        _ signal: DeviceSignal, _ device: inout DeviceRow, _ queue: SeenQueue, at now: WallInstant
    ) throws(RowFault) -> EndedWake? {
        switch device.ledger.report(signal, at: now) {
        case nil: return nil
        case .superseded:
            return try finishPending(of: &device, .superseded, at: now, queue)
        case .suppressed:
            var until = now
            if case .suppressed(.backgroundAppRefreshOff(let end)) = device.ledger.decide(
                on: .background(), policy: queue.policy, at: now)
            {
                until = end
            }
            return try finishPending(
                of: &device, .suppressed(.backgroundAppRefreshOff(until: until)), at: now, queue)
        }
    }

    /// Ends what waits for a device and removes it. While wakes refer to it, a row with only its
    /// device token stays, and is removed after the last of them.
    fileprivate func forget(
        _ device: inout DeviceRow, _ queue: SeenQueue, at now: WallInstant,
        _ unfinished: inout [WakeQueueKey: Int64]
    ) throws(RowFault) -> [EndedWake] {
        var ended: [EndedWake] = []
        if let end = try finishPending(of: &device, .cancelled, at: now, queue) {
            ended.append(end)
        }
        switch queue.row.queue.kind.discipline {
        case .background: device.ledger.forget()
        // Its calls stay counted while the row exists: a phone must not ring again for the same
        // call after its device was removed.
        case .call: ended += try cancelCalls(of: &device, at: now, queue)
        case .plain:
            var rest: Int64 = 0
            ended += try cancelPushes(of: &device, from: device.latest, at: now, queue, &rest)
            if rest != 0 { unfinished[queue.row.queue] = rest }
        }
        device.registeredAt = nil
        device.user = nil
        device.deadSince = nil
        device.lastReceiptAt = nil
        forget(&device)
        return ended
    }
}
