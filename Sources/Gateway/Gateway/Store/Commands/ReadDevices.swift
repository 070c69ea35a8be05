// SPDX-License-Identifier: Apache-2.0

import WakeBudget
public import WakeModel

/// Returns a device's state in those of some queues that have it.
public struct FindDevices: StoreCommand {
    /// The device.
    public let token: DeviceToken
    /// The queues.
    public let queues: [WakeQueueKey]
    /// The present instant.
    public let now: WallInstant
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(
        _ token: DeviceToken, in queues: [WakeQueueKey], at now: WallInstant,
        under rules: StoreRules
    ) {
        self.token = token
        self.queues = queues
        self.now = now
        self.rules = rules
    }

    /// A read for a caller.
    public var profile: CommandProfile {
        .callersRead(weight: DeviceView.recentCount * queues.count, isShown: true)
    }

    /// The device in each of the queues.
    public func reads(of table: QueueTable) -> ReadSet {
        var reads = ReadSet()
        for queue in queues {
            guard let row = table[queue] else { continue }
            reads.devices.append((ReadSet.DeviceName(token: token, queue: row.number), []))
        }
        return reads
    }

    /// A view of it in each queue.
    public func decide(on set: WorkingSet) throws(RowFault) -> [DeviceView] {
        var views: [DeviceView] = []
        for name in queues {
            guard let row = set.knownQueue(name) else { continue }
            let view = try set.part { () throws(RowFault) -> DeviceView? in
                guard let device = try set.device(token, queue: row.number) else { return nil }
                return try set.view(of: device, try set.queue(row.number), at: now)
            }
            if let view = view.flatMap(\.self) { views.append(view) }
        }
        return views
    }
}

extension WorkingSet {
    fileprivate func view(
        of device: DeviceRow, _ queue: SeenQueue, at now: WallInstant
    ) throws(RowFault) -> DeviceView {
        var recent: [WakeRecord] = []
        var number = device.latest
        for _ in 0..<DeviceView.recentCount where number != 0 {
            guard let wake = try readableWake(number, chain: DeviceView.recentCount) else { break }
            let record = try part { () throws(RowFault) in
                try self.record(wake, of: device.token)
            }
            if let record { recent.append(record) }
            number = wake.previous
        }
        var pending = recent.first { $0.state == .pending }
        if device.pending != 0, pending?.id.number != device.pending,
            let wake = try readableWake(device.pending)
        {
            pending = try record(wake, of: device.token)
        }
        var explanation = device.ledger.explain(policy: queue.policy, at: now)
        // A debit is settled in the claim itself, so the ledger does not count it.
        explanation.inFlight = recent.count { $0.state == .claimed }
        if let pending, let since = explanation.waiting?.since {
            explanation.waiting?.since = min(since, pending.acceptedAt)
        }
        return DeviceView(
            queue: queue.row.queue, deviceToken: device.token, explanation: explanation,
            pending: pending, recent: recent, deadSince: device.deadSince,
            registeredAt: device.registeredAt, lastReceiptAt: device.lastReceiptAt,
            topicConfirmsLaunches: queue.row.confirmsLaunches, user: device.user)
    }
}
