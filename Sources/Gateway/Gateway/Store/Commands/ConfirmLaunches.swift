// SPDX-License-Identifier: Apache-2.0

import WakeBudget
public import WakeModel

/// Records receipts; answers one by one, in order. See ``WakeStore/confirm(_:at:under:)``.
public struct ConfirmLaunches: StoreCommand {
    /// The receipts.
    public let receipts: [Receipt]
    /// The present instant.
    public let now: WallInstant
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(_ receipts: [Receipt], at now: WallInstant, under rules: StoreRules) {
        self.receipts = receipts
        self.now = now
        self.rules = rules
    }

    /// A write for a caller.
    public var profile: CommandProfile {
        .callersWrite(.readThenWrite, weight: receipts.count)
    }

    /// The wakes with their devices.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        for receipt in receipts {
            if case .wake(let id) = receipt.subject { reads.add(wake: id.number, .device) }
        }
        reads.addBacklogs(of: rules)
        return reads
    }

    /// Records each by itself.
    public func decide(on set: WorkingSet) throws(RowFault) -> ReceiptOutcome {
        var outcome = ReceiptOutcome()
        for receipt in receipts {
            let answer = try set.part { () throws(RowFault) in
                try set.confirm(receipt, at: now, &outcome)
            }
            if let answer { outcome.answers.append(answer) }
        }
        return outcome
    }
}

/// Replaces the refs in receipts by the ids of wakes; `nil` where no wake has the ref. It need not
/// be in the transaction that records the receipts: a wake that is admitted in between did not
/// launch the app.
public struct ResolveReceipts: StoreCommand {
    /// The number of refs of one read. A ref is searched in a device's whole chain of wakes, so
    /// this is not done in a writing transaction, and a claim can run in between.
    static let refsPerLook = 8
    /// How many wakes of a device, in one queue, are searched for a ref: those of some days, by the
    /// usual budget.
    public static let refChainCount = 128

    /// The receipts.
    public let receipts: [Receipt]

    /// Creates the command.
    public init(_ receipts: [Receipt]) { self.receipts = receipts }

    /// A read for a caller.
    public var profile: CommandProfile { .callersRead(weight: receipts.count) }

    /// The devices in all queues that may have them.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        for receipt in receipts {
            guard case .ref(_, let token) = receipt.subject else { continue }
            for queue in queues.all where receipt.mayConcern(queue) {
                reads.devices.append((ReadSet.DeviceName(token: token, queue: queue.number), []))
            }
        }
        return reads
    }

    /// Resolves each by itself.
    public func decide(on set: WorkingSet) throws(RowFault) -> [Receipt?] {
        var resolved: [Receipt?] = []
        for receipt in receipts {
            let known = try set.part { () throws(RowFault) in try set.resolve(receipt) }
            resolved.append(known.flatMap(\.self))
        }
        return resolved
    }
}

extension WakeStore {
    /// Records receipts; answers one by one, in order. Wakes named by refs are resolved first.
    public func confirm(
        _ receipts: [Receipt], at now: WallInstant, under rules: StoreRules
    ) async throws(StoreFailure) -> ReceiptOutcome {
        let resolved = try await resolve(receipts)
        let known = resolved.compactMap(\.self)
        var outcome = ReceiptOutcome()
        if !known.isEmpty {
            outcome = try await perform(ConfirmLaunches(known, at: now, under: rules))
        }
        var answers = outcome.answers.makeIterator()
        outcome.answers = resolved.map { $0 == nil ? .unknownWake : answers.next() ?? .unknownWake }
        return outcome
    }

    private func resolve(_ receipts: [Receipt]) async throws(StoreFailure) -> [Receipt?] {
        var resolved: [Receipt?] = receipts
        let places = receipts.indices.filter { place in
            if case .ref = receipts[place].subject { true } else { false }
        }
        var rest = places[...]
        while !rest.isEmpty {
            let part = rest.prefix(ResolveReceipts.refsPerLook)
            let found = try await perform(ResolveReceipts(part.map { receipts[$0] }))
            for (place, receipt) in zip(part, found) { resolved[place] = receipt }
            rest = rest.dropFirst(part.count)
        }
        return resolved
    }
}

extension WorkingSet {
    fileprivate func confirm(
        _ receipt: Receipt, at now: WallInstant, _ outcome: inout ReceiptOutcome
    ) throws(RowFault) -> ReceiptAnswer {
        guard let named = try wake(receipt) else { return .unknownWake }
        // The device was launched by the wake that carried the one it names.
        guard var wake = try carrier(of: named) else { return .notSent }
        guard wake.mayHaveLaunched else { return .notSent }
        guard wake.launchedAt == nil else { return .repeated }
        // By the device's clock, which may be wrong: a launch is not before its wake was sent, and
        // not after its receipt.
        let launchedAt = receipt.launchedAt.flatMap { $0 > now ? nil : max($0, wake.claimedAt) }
        wake.launchedAt = launchedAt ?? now
        update(wake, .launch)
        let queue = try queue(wake.queue)
        if noteConfirmation(in: queue) { outcome.confirmingQueues.append(queue.row.queue) }
        guard var device = try readableDevice(wake.device) else { return .recorded }
        device.lastReceiptAt = now
        let end = device.ledger.confirmLaunch(
            ofSendAt: wake.claimedAt, launchedAt: launchedAt,
            hasSynced: receipt.hasSynced, at: now)
        if end != nil, let end = try finishPending(of: &device, .superseded, at: now, queue) {
            outcome.ended.append(end)
        }
        try rescheduleBehind(device, try self.queue(wake.queue), at: now)
        save(&device, at: now)
        return .recorded
    }

    private func wake(_ receipt: Receipt) throws(RowFault) -> WakeRow? {
        switch receipt.subject {
        case .wake(let id):
            guard let wake = try readableWake(id.number), wake.id == id,
                let queue = try readableQueue(wake.queue),
                receipt.mayConcern(queue.row)
            else { return nil }
            return wake
        case .ref(let ref, let token):
            return try wake(ref, of: token, among: receipt.apps)
        }
    }

    fileprivate func resolve(_ receipt: Receipt) throws(RowFault) -> Receipt? {
        guard case .ref(let ref, let token) = receipt.subject else { return receipt }
        guard let wake = try wake(ref, of: token, among: receipt.apps) else { return nil }
        return Receipt(
            .wake(wake.id), launchedAt: receipt.launchedAt, hasSynced: receipt.hasSynced,
            among: receipt.apps)
    }

    /// The newest wake with this ref among the device's latest, in any of its queues.
    private func wake(
        _ ref: WakeRef, of token: DeviceToken, among apps: Set<BundleID>?
    ) throws(RowFault) -> WakeRow? {
        var newest: WakeRow?
        for queue in queues where apps?.contains(queue.queue.app.bundleID) ?? true {
            let device = try readable { () throws(RowFault) in
                try self.device(token, queue: queue.number)
            }
            guard let device else { continue }
            var number = device.latest
            for _ in 0..<ResolveReceipts.refChainCount where number > newest?.number ?? 0 {
                guard
                    let wake = try readableWake(number, chain: ResolveReceipts.refChainCount)
                else { break }
                if wake.ref == ref { newest = wake }
                number = wake.previous
            }
        }
        return newest
    }

    /// The wake itself, or the one that carries it in the end.
    func carrier(of wake: WakeRow) throws(RowFault) -> WakeRow? {
        var wake = wake
        for _ in 0..<Self.carrierChainCount {
            let carrier: WakeID
            switch wake.end {
            case .coalesced(let into): carrier = into
            case .cancelled:
                guard let successor = wake.successor else { return wake }
                carrier = successor
            default: return wake
            }
            guard let next = try readableWake(carrier.number) else { return nil }
            wake = next
        }
        return nil
    }

    /// The number of carriers that are followed, because a carrier may have merged into another
    /// wake. Each step requires a send that was returned while a newer wake waited.
    static let carrierChainCount = 64
}

extension Receipt {
    /// Whether its caller may name wakes of this queue.
    fileprivate func mayConcern(_ queue: WakeQueueRow) -> Bool {
        apps?.contains(queue.queue.app.bundleID) ?? true
    }
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
