// SPDX-License-Identifier: Apache-2.0

import Gateway
import SeedKit
import WakeBudget
import WakeModel

// What must hold.

extension QueueSimulation {
    func record(_ id: WakeID) async -> WakeRecord? {
        await look { (store) async throws(StoreFailure) in try await store.perform(FindWake(id)) }
            ?? nil
    }

    // MARK: The counts

    /// Accepted is ended and pending, by the counters and row by row, and is what was accepted.
    func checkCounts() async {
        guard failure == nil,
            let (count, recount) = await look({ (store) async throws(StoreFailure) in
                (try await store.perform(CountWakes()), try await store.perform(RecountWakes()))
            })
        else { return }
        expect(recount.isConserved, "the rows are not conserved: \(recount)")
        expect(
            count.accepted == recount.accepted && count.unended == recount.unended,
            "the counters say \(count), the rows \(recount)")
        expect(
            count.accepted == model.acceptedCount,
            "\(count.accepted) are accepted, and \(model.acceptedCount) were")
    }

    /// After a restart: what was accepted by transactions that are done, and at most by those with
    /// an unknown result.
    func checkAccepted(mayHaveLost: Bool) async {
        guard failure == nil,
            let count = await look({ (store) async throws(StoreFailure) in
                try await store.perform(CountWakes())
            }
            )
        else { return }
        let isLoss = mayHaveLost && machine.answers == .afterSync
        expect(
            isLoss || count.accepted >= model.acceptedCount,
            "\(count.accepted) are accepted, and \(model.acceptedCount) were")
        expect(
            count.accepted <= model.acceptedCount + model.doubtfulCount,
            "\(count.accepted) are accepted, and at most "
                + "\(model.acceptedCount + model.doubtfulCount) can be")
        model.settleDoubts(accepted: count.accepted)
    }

    // MARK: What was said

    /// What was acknowledged is stored, and what was reported of it still holds.
    func checkDurable() async {
        for id in model.acknowledged {
            guard failure == nil, machine.isAlive else { return }
            guard let record = await record(id) else {
                return expect(!machine.isAlive, "\(id) was acknowledged and is lost")
            }
            guard let end = model.ends[id], end.state != .coalesced else { continue }
            expect(
                record.end == end,
                "\(id) was told as \(end), and is \(record.end.map { "\($0)" } ?? "unended")")
        }
    }

    /// After a power cut that may have taken what was not synced: it took the transactions from
    /// some one on, and each of them as a whole. The callers' knowledge of those is taken back.
    func findLosses() async {
        var firstLost: Int?
        for (place, told) in notifications.enumerated() {
            var (there, gone) = (0, 0)
            for item in told.items {
                switch item {
                case .accepted(let id, isNew: true):
                    if await record(id) == nil { gone += 1 } else { there += 1 }
                case .ended(let wake):
                    if await record(wake.id)?.end == wake.end {
                        there += 1
                    } else if wake.end.state != .coalesced {
                        gone += 1
                    }
                default: break
                }
            }
            expect(
                there == 0 || gone == 0,
                "of a transaction \(there) things are there, and \(gone) are lost: \(told.items)")
            expect(
                there == 0 || firstLost == nil,
                "a transaction is there, and an earlier one is lost: \(told.items)")
            if gone > 0 { firstLost = firstLost ?? place }
        }
        // The result of those without a trace before it is unknown; they count as lost.
        var first = firstLost ?? notifications.count
        while first > 0, !notifications[first - 1].items.contains(where: \.leavesTrace) {
            first -= 1
        }
        for told in notifications[first...] {
            for item in told.items {
                switch item {
                case .accepted(let id, isNew: true): model.lose(id)
                case .ended(let wake): model.ends[wake.id] = nil
                case .claims(let claims): for claim in claims { model.lose(claim.ticket) }
                default: break
                }
            }
        }
    }

    /// Each merged wake has the outcome of another that was not merged.
    func checkCarriers() async {
        for id in model.acknowledged {
            guard failure == nil, let record = await record(id), record.carriedBy != nil else {
                continue
            }
            guard let end = record.carrierEnd else {
                // Its carrier was removed with its time.
                continue
            }
            expect(end.state != .coalesced, "\(id) shares the outcome of none")
        }
    }

    /// Those that were acknowledged and have not ended.
    func unended() async -> [WakeID] {
        var unended: [WakeID] = []
        for id in model.acknowledged
        where model.ends[id] == nil || model.ends[id]?.state == .coalesced {
            if let record = await record(id), !record.state.isEnd { unended.append(id) }
        }
        return unended
    }

    /// Forgets wakes that were removed with their time.
    func forgetPruned() async {
        var gone: Set<WakeID> = []
        for id in model.wakes.keys where await record(id) == nil { gone.insert(id) }
        if machine.isAlive { model.forget(gone) }
    }

    // MARK: Pushes

    /// A push that the sender is handed: that it may be sent, and that it is within the budget.
    func check(_ claim: Claim, mayHaveArrived: Bool) async {
        trace("push \(claim.id) fence \(claim.ticket.fence), may arrive: \(mayHaveArrived)")
        if let end = model.ends[claim.id], end.state != .coalesced {
            return expect(false, "\(claim.id) is sent, and had ended as \(end)")
        }
        guard let info = model.info(of: claim.id) else {
            return expect(false, "\(claim.id) is sent, and nobody asked for it")
        }
        if let call = info.call {
            checkCall(claim.id, call, on: info.device)
            if mayHaveArrived {
                model.rung[info.device, default: []].append((claim.ticket, call))
            }
            return
        }
        if info.device == WakePool.unitingDevice { await checkUnion(claim, info) }
        guard info.app == Samples.app, mayHaveArrived, !isClockTroubled else { return }
        if let forgotten = model.forgotten[info.device],
            claim.claimedAt <= forgotten.advanced(byMilliseconds: 2 * skewRange)
        {
            return
        }
        model.arrivals[info.device, default: []].append(
            QueueModel.Arrival(ticket: claim.ticket, at: claim.claimedAt))
        checkBudget(info.device, claim)
    }

    /// A phone does not ring twice for one call.
    private func checkCall(_ id: WakeID, _ call: WakeInfo.Call, on device: UInt64) {
        let deadline = 1_000 * Int64(WakePool.settings.callDeadlineSeconds) - 2 * skewRange
        model.rung[device]?.removeAll { time - $0.call.acceptedAt > 600_000 }
        for earlier in model.rung[device] ?? [] where earlier.call.number == call.number {
            expect(earlier.ticket.id != id, "call \(call.number) is sent again, and may have rung")
            expect(
                earlier.call.leaps != call.leaps
                    || abs(earlier.call.acceptedAt - call.acceptedAt) >= deadline,
                "call \(call.number) rings as \(id), and may have rung as \(earlier.ticket.id)")
        }
    }

    /// No more pushes than the budget has, if each that may have arrived did.
    private func checkBudget(_ device: UInt64, _ claim: Claim) {
        let settings = WakePool.settings
        let day = Int64(86_400_000)
        model.arrivals[device]?.removeAll { claim.claimedAt.milliseconds(since: $0.at) > 2 * day }
        let times = (model.arrivals[device] ?? []).sorted { $0.at < $1.at }
        func most(within milliseconds: Int64) -> Int {
            var (most, first) = (0, 0)
            for (last, arrival) in times.enumerated() {
                while arrival.at.milliseconds(since: times[first].at) >= milliseconds { first += 1 }
                most = max(most, last - first + 1)
            }
            return most
        }
        // Two gateways' clocks may differ by so much.
        let slack = 2 * skewRange
        let (hour, inDay) = (most(within: 3_600_000 - slack), most(within: day - slack))
        expect(hour <= settings.hourlySends, "device \(device) may have got \(hour) in an hour")
        expect(inDay <= settings.dailySends, "device \(device) may have got \(inDay) in a day")
        guard !WakePool.mayBeUrgent(device) else { return }
        let spacing = 1_000 * Int64(settings.spacingSeconds) - slack
        for other in times where other.ticket.id != claim.id {
            let distance = abs(claim.claimedAt.milliseconds(since: other.at))
            expect(
                distance >= spacing,
                "device \(device) gets \(claim.id) \(distance) ms beside \(other.ticket.id)")
        }
    }

    /// A wake that carries others carries what they would have.
    private func checkUnion(_ claim: Claim, _ info: WakeInfo) async {
        let text = String(decoding: claim.payload, as: UTF8.self)
        for id in model.recent {
            guard id != claim.id, let other = model.wakes[id], other.device == info.device,
                other.app == info.app, case .key(let key) = other.payload,
                await carrier(of: id) == claim.id
            else { continue }
            expect(
                text.contains(WakePool.text(ofKey: key)),
                "\(claim.id) carries \(id), and not its key \(key): \(text)")
        }
    }

    /// The wake that carries another in the end.
    private func carrier(of id: WakeID) async -> WakeID? {
        var id = id
        for _ in 0..<64 {
            guard let record = await record(id) else { return nil }
            guard let carrier = record.carriedBy else { return id }
            id = carrier
        }
        return nil
    }
}

extension QueueSimulation.Notification {
    /// Whether a read of the store shows if the transaction was done.
    fileprivate var leavesTrace: Bool {
        switch self {
        case .accepted(_, let isNew): isNew
        case .ended: true
        case .claims, .settled: false
        }
    }
}
