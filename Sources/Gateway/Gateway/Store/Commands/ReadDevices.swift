// SPDX-License-Identifier: Apache-2.0

import WakeBudget
public import WakeModel

/// Tells of a device as it stands, in those of some queues that know it.
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

    /// A caller's, who only reads.
    public var profile: CommandProfile {
        .callersRead(weight: DeviceView.recentCount * queues.count, isShown: true)
    }

    /// A view of it in each queue.
    public func decide(on transaction: StoreTransaction) throws(StoreFailure) -> [DeviceView] {
        var views: [DeviceView] = []
        for name in queues {
            guard let row = try transaction.rows.queue(of: name),
                let device = try transaction.rows.device(token, queue: row.number)
            else { continue }
            views.append(
                try transaction.view(of: device, try transaction.queue(row.number), at: now))
        }
        return views
    }
}

extension StoreTransaction {
    fileprivate func view(
        of device: DeviceRow, _ queue: SeenQueue, at now: WallInstant
    ) throws(StoreFailure) -> DeviceView {
        var recent: [WakeRecord] = []
        var number = device.latest
        while number != 0, recent.count < DeviceView.recentCount,
            let wake = try readableWake(number)
        {
            recent.append(try record(wake, of: device.token))
            number = wake.previous
        }
        var pending = recent.first { $0.state == .pending }
        if device.pending != 0, pending?.id.number != device.pending,
            let wake = try readableWake(device.pending)
        {
            pending = try record(wake, of: device.token)
        }
        var explanation = device.ledger.explain(policy: queue.policy, at: now)
        // The transaction settles a debit as they make it, so the ledger does not know.
        explanation.inFlight = recent.count { $0.state == .claimed }
        return DeviceView(
            queue: queue.row.queue, deviceToken: device.token, explanation: explanation,
            pending: pending, recent: recent, deadSince: device.deadSince,
            registeredAt: device.registeredAt, lastReceiptAt: device.lastReceiptAt,
            topicConfirmsLaunches: queue.row.confirmsLaunches)
    }
}
