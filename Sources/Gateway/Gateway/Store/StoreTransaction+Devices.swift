// SPDX-License-Identifier: Apache-2.0

import WakeBudget
public import WakeModel

extension StoreTransaction {
    /// Ends a pending wake because somebody asked; see ``WakeStore/cancel(_:at:under:)``.
    public func cancel(
        _ id: WakeID, at now: WallInstant, under rules: StoreRules
    ) throws(StoreFailure) -> CancelOutcome {
        begin(rules)
        guard var wake = try rows.wake(id.number, withPayload: false), wake.id == id else {
            return CancelOutcome(isCancelled: nil, ended: [])
        }
        guard wake.state == .pending else { return CancelOutcome(isCancelled: false, ended: []) }
        let ended = try abandon(&wake, .cancelled, try queue(wake.queue), at: now)
        return CancelOutcome(isCancelled: true, ended: [ended])
    }

    /// Records a report of a device; see
    /// ``WakeStore/report(_:of:in:makes:at:under:)``.
    public func report(
        _ report: DeviceReport, of token: DeviceToken, in queues: [WakeQueueKey], makes: Bool,
        at now: WallInstant, under rules: StoreRules
    ) throws(StoreFailure) -> ReportOutcome {
        begin(rules)
        var devices = 0
        var ended: [EndedWake] = []
        for name in queues {
            if report == .forget, var damaged = try damagedDevice(token, in: name) {
                devices += 1
                let queue = try queue(damaged.queue)
                // The calls that are known still are counted anew, the oldest first: what a phone
                // was called with rings no second time.
                for call in damaged.calls.reversed() where name.kind == .voip {
                    _ = damaged.ledger.admit(
                        .voip(call.call), policy: queue.policy, at: call.wake.acceptedAt)
                }
                ended += try forget(&damaged, queue, at: now)
                continue
            }
            guard var device = try device(token, in: name, makes: makes, at: now) else { continue }
            let queue = try queue(device.queue)
            devices += 1
            switch report {
            case .signals(let signals):
                for signal in signals {
                    let end = try book(signal, &device, queue, at: now)
                    if let end { ended.append(end) }
                }
            case .registered(let said):
                // A device whose clock is ahead must not outlive every later 410.
                let at = min(said, now)
                let known = device.registeredAt.flatMap { $0 > now ? nil : $0 }
                device.registeredAt = max(at, known ?? at)
                if let deadSince = device.deadSince, at > deadSince { device.deadSince = nil }
            case .forget:
                ended += try forget(&device, queue, at: now)
                continue
            }
            try rescheduleBehind(device, queue, at: now)
            try save(&device, at: now)
        }
        return ReportOutcome(devices: devices, ended: ended)
    }

    private func damagedDevice(
        _ token: DeviceToken, in queue: WakeQueueKey
    ) throws(StoreFailure) -> DeviceRow? {
        guard let row = try rows.queue(of: queue) else { return nil }
        return try rows.damagedDevice(token, queue: row.number, kind: queue.kind)
    }

    private func device(
        _ token: DeviceToken, in queue: WakeQueueKey, makes: Bool, at now: WallInstant
    ) throws(StoreFailure) -> DeviceRow? {
        if let row = try rows.queue(of: queue),
            let device = try rows.device(token, queue: row.number)
        {
            return device
        }
        guard makes else { return nil }
        let number = try self.queue(of: queue).row.number
        return try rows.make(token, queue: number, kind: queue.kind, at: now)
    }

    private func book(
        _ signal: DeviceSignal, _ device: inout DeviceRow, _ queue: SeenQueue, at now: WallInstant
    ) throws(StoreFailure) -> EndedWake? {
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

    /// Ends what waits for a device and removes it. While wakes tell of it, a row stays that says
    /// no more than their device token, and goes after the last of them.
    private func forget(
        _ device: inout DeviceRow, _ queue: SeenQueue, at now: WallInstant
    ) throws(StoreFailure) -> [EndedWake] {
        var ended: [EndedWake] = []
        if let end = try finishPending(of: &device, .cancelled, at: now, queue) {
            ended.append(end)
        }
        switch queue.row.queue.kind {
        case .background: device.ledger.forget()
        // What it was called with stays counted for as long as the row does: a phone that was
        // forgotten must not ring again for the same call either.
        case .voip: ended += try cancelCalls(of: &device, at: now, queue)
        }
        device.registeredAt = nil
        device.deadSince = nil
        device.lastReceiptAt = nil
        if try !rows.remove(device) {
            try save(&device, at: WallInstant(millisecondsSinceEpoch: 0))
        }
        return ended
    }

    // MARK: Receipts

    /// Records receipts; see ``WakeStore/confirm(_:at:under:)``.
    public func confirm(
        _ receipts: [Receipt], at now: WallInstant, under rules: StoreRules
    ) throws(StoreFailure) -> ReceiptOutcome {
        begin(rules)
        var outcome = ReceiptOutcome()
        for receipt in receipts {
            outcome.answers.append(try confirm(receipt, at: now, &outcome))
        }
        return outcome
    }

    private func confirm(
        _ receipt: Receipt, at now: WallInstant, _ outcome: inout ReceiptOutcome
    ) throws(StoreFailure) -> ReceiptAnswer {
        guard let named = try wake(receipt) else { return .unknownWake }
        // The device was launched by the wake that carried the one it names.
        guard var wake = try carrier(of: named) else { return .notSent }
        guard wake.mayHaveLaunched else { return .notSent }
        guard wake.launchedAt == nil else { return .repeated }
        // By the device's clock, which may be wrong: a launch was not before its wake left, and of
        // one after its receipt came nothing is known.
        let launchedAt = receipt.launchedAt.flatMap { $0 > now ? nil : max($0, wake.claimedAt) }
        wake.launchedAt = launchedAt ?? now
        try rows.update(wake, .launch)
        let queue = try queue(wake.queue)
        if try noteConfirmation(in: queue) { outcome.confirmingQueues.append(queue.row.queue) }
        guard var device = try readableDevice(wake.device) else { return .recorded }
        device.lastReceiptAt = now
        let end = device.ledger.confirmLaunch(
            ofSendAt: wake.claimedAt, launchedAt: launchedAt,
            hasSynced: receipt.hasSynced, at: now)
        if end != nil, let end = try finishPending(of: &device, .superseded, at: now, queue) {
            outcome.ended.append(end)
        }
        try rescheduleBehind(device, try self.queue(wake.queue), at: now)
        try save(&device, at: now)
        return .recorded
    }

    /// The same receipt with its wake's id in the place of its ref; `nil` when no wake has the ref.
    /// It only reads, and need not be of the transaction that records the receipt: a wake that
    /// comes in between is not the one that launched the app.
    public func resolve(_ receipt: Receipt) throws(StoreFailure) -> Receipt? {
        guard case .ref(let ref, let token) = receipt.subject else { return receipt }
        guard let wake = try wake(ref, of: token, among: receipt.apps) else { return nil }
        return Receipt(
            .wake(wake.id), launchedAt: receipt.launchedAt, hasSynced: receipt.hasSynced,
            among: receipt.apps)
    }

    private func wake(_ receipt: Receipt) throws(StoreFailure) -> WakeRow? {
        switch receipt.subject {
        case .wake(let id):
            guard let wake = try readableWake(id.number), wake.id == id,
                let queue = try readableQueue(wake.queue),
                receipt.apps?.contains(queue.row.queue.app.bundleID) ?? true
            else { return nil }
            return wake
        case .ref(let ref, let token):
            return try wake(ref, of: token, among: receipt.apps)
        }
    }

    /// The newest wake of this name among the device's latest, in whatever queue knows the device.
    private func wake(
        _ ref: WakeRef, of token: DeviceToken, among apps: Set<BundleID>?
    ) throws(StoreFailure) -> WakeRow? {
        var newest: WakeRow?
        for queue in try rows.queues() where apps?.contains(queue.queue.app.bundleID) ?? true {
            let device = try readable { () throws(StoreFailure) in
                try rows.device(token, queue: queue.number)
            }
            guard let device else { continue }
            var number = device.latest
            for _ in 0..<Self.refChainCount where number > newest?.number ?? 0 {
                guard let wake = try readableWake(number) else { break }
                if wake.ref == ref { newest = wake }
                number = wake.previous
            }
        }
        return newest
    }

    /// How many wakes of a device, in one queue, are looked at for a ref: those of some days, by
    /// the usual budget.
    public static let refChainCount = 128

    /// The wake itself, or the one that carries it in the end.
    func carrier(of wake: WakeRow) throws(StoreFailure) -> WakeRow? {
        var wake = wake
        for _ in 0..<Self.carrierChainCount {
            guard case .coalesced(let carrier) = wake.end else { return wake }
            guard let next = try readableWake(carrier.number) else { return nil }
            wake = next
        }
        return nil
    }

    /// How many carriers are followed: a wake that is carried by another that is carried by
    /// another. Each step takes a send that came back while a newer wake waited.
    static let carrierChainCount = 64
}

extension WakeRow {
    /// Whether its push may have reached the device.
    fileprivate var mayHaveLaunched: Bool {
        switch (state, end) {
        case (.claimed, _), (.sent, _), (_, .failed): true
        default: tries > 0
        }
    }
}
