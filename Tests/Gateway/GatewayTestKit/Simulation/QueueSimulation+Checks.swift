// SPDX-License-Identifier: Apache-2.0

import Gateway
import SeedKit
import WakeBudget
import WakeModel

// What must hold.

extension QueueSimulation {
    func record(_ id: WakeID) -> WakeRecord? {
        look { (transaction) throws(StoreFailure) in try transaction.record(of: id) } ?? nil
    }

    // MARK: The counts

    /// Accepted is ended and pending, by the counters and row by row.
    func checkCounts() {
        guard failure == nil,
            let (count, recount) = look({ (transaction) throws(StoreFailure) in
                (try transaction.count(), try transaction.recount())
            })
        else { return }
        expect(recount.isConserved, "the rows are not conserved: \(recount)")
        expect(
            count.accepted == recount.accepted && count.unended == recount.unended,
            "the counters say \(count), the rows \(recount)")
    }

    /// What was acknowledged is there, and what was told of it still holds.
    func checkDurable() {
        for id in model.acknowledged {
            guard failure == nil else { return }
            guard let record = record(id) else {
                return expect(false, "\(id) was acknowledged and is lost")
            }
            guard let end = model.ends[id] else { continue }
            expect(
                record.end == end,
                "\(id) was told as \(end), and is \(record.end.map { "\($0)" } ?? "unended")")
        }
    }

    /// Each merged wake has the outcome of another that was not merged.
    func checkCarriers() {
        for id in model.acknowledged {
            guard failure == nil, let record = record(id), record.carriedBy != nil else { continue }
            guard let end = record.carrierEnd else {
                // Its carrier was removed with its time.
                continue
            }
            expect(end.state != .coalesced, "\(id) shares the outcome of none")
        }
    }

    /// Those that were acknowledged and have not ended.
    func unended() -> [WakeID] {
        model.acknowledged.filter { id in
            model.ends[id] == nil && record(id).map { !$0.state.isEnd } ?? false
        }
    }

    /// Forgets wakes that were removed with their time.
    func forgetPruned() {
        var gone: Set<WakeID> = []
        for id in model.wakes.keys where record(id) == nil { gone.insert(id) }
        model.forget(gone)
    }

    // MARK: Pushes

    /// A push that the sender is handed: that it may be sent, and that it is within the budget.
    func check(_ claim: Claim, mayHaveArrived: Bool) {
        trace("push \(claim.id) fence \(claim.ticket.fence), may arrive: \(mayHaveArrived)")
        if let end = model.ends[claim.id] {
            return expect(false, "\(claim.id) is sent, and had ended as \(end)")
        }
        guard let info = model.wakes[claim.id] else {
            return expect(false, "\(claim.id) is sent, and nobody asked for it")
        }
        if let call = info.call {
            checkCall(claim.id, call, on: info.device)
            if mayHaveArrived {
                model.rung[info.device, default: []].append((claim.id, call))
            }
            return
        }
        if info.device == WakePool.unitingDevice { checkUnion(claim, info) }
        guard info.app == Samples.app, mayHaveArrived, !isClockTroubled else { return }
        if let forgotten = model.forgotten[info.device],
            claim.claimedAt <= forgotten.advanced(byMilliseconds: 2 * skewRange)
        {
            return
        }
        model.arrivals[info.device, default: []].append(
            QueueModel.Arrival(wake: claim.id, at: claim.claimedAt))
        checkBudget(info.device, claim)
    }

    /// A phone does not ring twice for one call.
    private func checkCall(_ id: WakeID, _ call: WakeInfo.Call, on device: UInt64) {
        let deadline = 1_000 * Int64(WakePool.settings.callDeadlineSeconds) - 2 * skewRange
        model.rung[device]?.removeAll { time - $0.call.acceptedAt > 600_000 }
        for earlier in model.rung[device] ?? [] where earlier.call.number == call.number {
            expect(earlier.wake != id, "call \(call.number) is sent again, and may have rung")
            expect(
                earlier.call.leaps != call.leaps
                    || abs(earlier.call.acceptedAt - call.acceptedAt) >= deadline,
                "call \(call.number) rings as \(id), and may have rung as \(earlier.wake)")
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
        for other in times where other.wake != claim.id {
            let distance = abs(claim.claimedAt.milliseconds(since: other.at))
            expect(
                distance >= spacing,
                "device \(device) gets \(claim.id) \(distance) ms beside \(other.wake)")
        }
    }

    /// A wake that carries others carries what they would have.
    private func checkUnion(_ claim: Claim, _ info: WakeInfo) {
        let text = String(decoding: claim.payload, as: UTF8.self)
        for id in model.recent {
            guard id != claim.id, let other = model.wakes[id], other.device == info.device,
                other.app == info.app, case .key(let key) = other.payload,
                carrier(of: id) == claim.id
            else { continue }
            expect(
                text.contains(WakePool.text(ofKey: key)),
                "\(claim.id) carries \(id), and not its key \(key): \(text)")
        }
    }

    /// The wake that carries another in the end.
    private func carrier(of id: WakeID) -> WakeID? {
        var id = id
        for _ in 0..<64 {
            guard let record = record(id) else { return nil }
            guard let carrier = record.carriedBy else { return id }
            id = carrier
        }
        return nil
    }
}
