// SPDX-License-Identifier: Apache-2.0

import Gateway
import SeedKit
import WakeBudget
import WakeModel

// What callers and gateways do.

extension QueueSimulation {
    // MARK: Callers

    func submit(_ gateway: Int) async {
        let isFlood = generator.chance(oneIn: 50)
        let count = isFlood ? 75 + generator.below(20) : 1 + generator.below(3)
        var asked: [(wake: WakeSubmission, request: WakeInfo)] = []
        if isFlood {
            // One call, many others to the same phone, and the one again: more than the phone may
            // get, which has not been called for a while.
            let phone = WakePool.firstFloodedPhone + model.floods
            model.floods += 1
            let first = UInt64(generator.below(WakePool.calls))
            for place in 0..<count {
                let other = UInt64(generator.below(WakePool.calls))
                asked.append(call(gateway, phone, 0 < place && place < count - 1 ? other : first))
            }
        } else {
            for _ in 0..<count {
                asked.append(
                    generator.chance(oneIn: 3) ? someCall(gateway) : background(gateway))
            }
        }
        var grant: ClaimGrant?
        if generator.chance(oneIn: 2) {
            grant = ClaimGrant(
                queues: Set(Samples.queues), background: generator.below(4),
                calls: generator.below(12), leaseSeconds: leaseSeconds)
        }
        let submissions = asked.map(\.wake)
        guard
            let answer = await transact(
                { (store) async throws(StoreFailure) in
                    try await store.perform(
                        AdmitWakes(submissions, grant: grant, under: WakePool.rules))
                },
                doubt: {
                    for asked in asked { model.doubt(asked.wake.entropy, asked.request) }
                })
        else { return }
        expect(answer.admissions.count == asked.count, "not every submission was answered")
        var items: [Notification] = []
        for (admission, asked) in zip(answer.admissions, asked) {
            guard case .admitted(let wake) = admission else { continue }
            if wake.isRepeated {
                note { $0.sameCalls += 1 }
            } else {
                note { $0.accepted += 1 }
                if case .coalesced = wake.decision { note { $0.merged += 1 } }
                model.keep(wake.id, asked.request)
            }
            items.append(.accepted(wake.id, isNew: !wake.isRepeated))
        }
        notify(gateway, items + answer.ended.map(Notification.ended) + [.claims(answer.claims)])
        // One without other work sends immediately.
        guard isFlood || generator.chance(oneIn: 4) else { return }
        await sync()
        await claim(gateway, limit: count)
        await sync()
        await send(gateway)
    }

    private func background(_ gateway: Int) -> (wake: WakeSubmission, request: WakeInfo) {
        let app = generator.chance(oneIn: 3) ? Samples.otherApp : Samples.app
        let device = UInt64(generator.below(WakePool.devices))
        let key = generator.below(WakePool.keys)
        let isUniting = device == WakePool.unitingDevice
        let isUrgent = WakePool.mayBeUrgent(device) && generator.chance(oneIn: 3)
        var expiration: Expiration?
        if !isUniting, generator.chance(oneIn: 6) {
            expiration = .at(now(gateway).advanced(bySeconds: Int64(1 + generator.below(4_000))))
        }
        let waits = generator.chance(oneIn: 8)
        let wake = WakeSubmission(
            wake: pool.background(app, device, key, expiration, at: now(gateway)),
            environment: app.environment, acceptedAt: now(gateway),
            notBefore: waits ? now(gateway).advanced(bySeconds: Int64(generator.below(900))) : nil,
            options: WakeOptions(
                urgency: isUrgent ? .urgent : generator.chance(oneIn: 5) ? .deferrable : .normal,
                coalescing: isUniting || generator.chance(oneIn: 2) ? .union : .replace),
            entropy: generator.next())
        return (wake, WakeInfo(device: device, app: app, payload: .key(key)))
    }

    private func someCall(_ gateway: Int) -> (wake: WakeSubmission, request: WakeInfo) {
        var device = UInt64(generator.below(WakePool.phones))
        var number = UInt64(generator.below(WakePool.calls))
        // Callers repeat themselves.
        if generator.chance(oneIn: 2), let last = model.recentCalls.last {
            (device, number) =
                generator.chance(oneIn: 2) ? last : generator.pick(model.recentCalls)
        }
        return call(gateway, device, number)
    }

    private func call(
        _ gateway: Int, _ device: UInt64, _ number: UInt64
    ) -> (wake: WakeSubmission, request: WakeInfo) {
        model.noteCall(device, number)
        let wake = WakeSubmission(
            wake: pool.call(device, number, at: now(gateway)), environment: Samples.app.environment,
            acceptedAt: now(gateway), entropy: generator.next())
        let call = WakeInfo.Call(number: number, acceptedAt: time, leaps: model.leaps)
        return (wake, WakeInfo(device: device, app: Samples.app, payload: .call(call)))
    }

    func cancel(_ gateway: Int) async {
        guard !model.recent.isEmpty else { return }
        let (id, at) = (generator.pick(model.recent), now(gateway))
        let outcome = await transact { (store) async throws(StoreFailure) in
            try await store.perform(CancelWake(id, at: at, under: WakePool.rules))
        }
        guard let outcome else { return }
        notify(gateway, outcome.ended.map(Notification.ended))
    }

    func report(_ gateway: Int) async {
        let reports: [DeviceReport] = [
            .signals([.lowPowerMode(generator.chance(oneIn: 2))]),
            .signals([.battery(percent: generator.below(100), isCharging: false)]),
            .signals([.backgroundAppRefresh(!generator.chance(oneIn: 8))]),
            .signals([.foreground]), .registered(at: now(gateway)), .registered(at: now(gateway)),
            generator.chance(oneIn: 4) ? .forget : .signals([.lowPowerMode(false)]),
        ]
        let (report, at) = (generator.pick(reports), now(gateway))
        let device = UInt64(generator.below(WakePool.devices))
        let outcome = await transact { (store) async throws(StoreFailure) in
            try await store.perform(
                ReportDevice(
                    report, of: Samples.deviceToken(device), in: Samples.queues, makes: false,
                    at: at,
                    under: WakePool.rules))
        } doubt: {
            if case .forget = report { model.forgetDevice(device, at: at) }
        }
        guard let outcome else { return }
        if case .forget = report { model.forgetDevice(device, at: at) }
        notify(gateway, outcome.ended.map(Notification.ended))
    }

    /// Receipts come from one of the two apps.
    func confirm(_ gateway: Int) async {
        guard !model.recent.isEmpty else { return }
        let (id, at) = (generator.pick(model.recent), now(gateway))
        guard model.wakes[id]?.app == Samples.otherApp else { return }
        let receipt = Receipt(id: id, launchedAt: nil, hasSynced: generator.chance(oneIn: 2))
        let outcome = await transact { (store) async throws(StoreFailure) in
            try await store.confirm([receipt], at: at, under: WakePool.rules)
        }
        guard let outcome else { return }
        notify(gateway, outcome.ended.map(Notification.ended))
    }

    // MARK: Gateways

    /// Claims some of what is due; with a limit, at most so much of it.
    func claim(_ gateway: Int, limit: Int? = nil) async {
        let order = ClaimOrder(
            shares: Samples.queues.map { .init(queue: $0, limit: limit ?? generator.below(6)) },
            limit: limit ?? 1 + generator.below(8), now: now(gateway),
            leaseUntil: now(gateway).advanced(bySeconds: Int64(leaseSeconds)))
        let answer = await transact { (store) async throws(StoreFailure) in
            try await store.perform(ClaimWakes(order, under: WakePool.rules))
        }
        guard let answer else { return }
        notify(gateway, answer.ended.map(Notification.ended) + [.claims(answer.claims)])
    }

    /// Hands what it holds to the sender.
    func send(_ gateway: Int) async {
        let claims = gateways[gateway].held
        gateways[gateway].held = []
        for claim in claims {
            let unsent = retry.settlementWithoutSending(
                claim, now: now(gateway), sendSeconds: sendSeconds)
            if unsent != nil {
                gateways[gateway].inFlight.append(
                    PushInFlight(claim: claim, result: nil, answerAt: time, unsent: unsent))
            } else {
                await push(claim, gateway)
            }
        }
    }

    private func push(_ claim: Claim, _ gateway: Int) async {
        note { $0.pushes += 1 }
        let (result, mayHaveArrived) = fate()
        await check(claim, mayHaveArrived: mayHaveArrived)
        var delay = Int64(generator.below(2_000))
        // Some answers come late, and some after the lease.
        if generator.chance(oneIn: 6) { delay += Int64(generator.below(300_000)) }
        gateways[gateway].inFlight.append(
            PushInFlight(
                claim: claim, result: result, answerAt: isCalm ? time : time + delay, unsent: nil))
    }

    /// The outcome of a push, and whether it may have arrived; no result when no answer comes.
    private func fate() -> (Result<PushOutcome, SendFailure>?, Bool) {
        guard !isCalm else { return (Samples.accepted, true) }
        switch generator.below(100) {
        case 0..<52: return (Samples.accepted, true)
        case 52..<68:
            note { $0.unknown += 1 }
            return (Samples.unknown, true)
        case 68..<78: return (Samples.notSent, false)
        case 78..<82: return (nil, true)
        case 82..<86: return (Samples.refusal(429, .tooManyRequests), false)
        case 86..<91: return (Samples.refusal(503, .serviceUnavailable), false)
        case 91..<94: return (Samples.refusal(410, .unregistered), false)
        case 94..<97: return (Samples.refusal(400, .badDeviceToken), false)
        default: return (Samples.refusal(413, .payloadTooLarge), false)
        }
    }

    /// Writes the answers that came, one of ten batches twice.
    func settle(_ gateway: Int) async {
        let instant = time
        let come = gateways[gateway].inFlight.filter {
            $0.answerAt <= instant && ($0.result != nil || $0.unsent != nil)
        }
        let inFlight = isCalm ? come : Array(come.prefix(1 + generator.below(4)))
        guard !inFlight.isEmpty else { return }
        let settlements = inFlight.compactMap { settlement($0, gateway) }
        for round in 0..<(generator.chance(oneIn: 10) ? 2 : 1) {
            let answer = await transact { (store) async throws(StoreFailure) in
                try await store.perform(SettleWakes(settlements, under: WakePool.rules))
            }
            guard let answer else { return }
            expect(
                round == 0 || (answer.ended.isEmpty && !answer.verdicts.contains(.applied)),
                "a settlement took effect twice")
            notify(
                gateway,
                answer.ended.map(Notification.ended) + [.settled(settlements.map(\.ticket))])
        }
    }

    private func settlement(_ flight: PushInFlight, _ gateway: Int) -> Settlement? {
        if let unsent = flight.unsent { return unsent }
        guard let result = flight.result else { return nil }
        let jitter = Double(generator.below(1_000)) / 1_000
        return retry.decide(flight.claim, result, now: now(gateway), jitter: jitter).settlement
    }

    /// Takes lapsed leases back, but its own, and ends what is overdue.
    func keepHouse(_ gateway: Int) async {
        // It records its own leases once they are durable.
        await sync()
        let at = now(gateway)
        let all = gateways[gateway].held + gateways[gateway].inFlight.map(\.claim)
        let own = Set(all.filter { $0.leaseUntil <= at }.map(\.id))
        let limit = isCalm ? 1_000 : 1 + generator.below(6)
        let reclaimed = await transact { (store) async throws(StoreFailure) in
            try await store.perform(
                ReclaimLeases(at: at, limit: limit, except: own, under: WakePool.rules))
        }
        if let reclaimed { notify(gateway, reclaimed.ended.map(Notification.ended)) }
        let expired = await transact { (store) async throws(StoreFailure) in
            try await store.perform(ExpireWakes(at: at, limit: limit, under: WakePool.rules))
        }
        if let expired { notify(gateway, expired.map(Notification.ended)) }
    }

    func prune(_ gateway: Int) async {
        await sync()
        let waiting = await unended()
        let at = now(gateway)
        let order = PruneOrder(
            now: at, wakesBefore: at.advanced(bySeconds: -7_200),
            devicesBefore: at.advanced(bySeconds: -3 * 86_400), webhooks: [], limit: 200)
        let pruned = await transact { (store) async throws(StoreFailure) in
            try await store.prune(order)
        } doubt: {
            mayHavePruned = true
        }
        guard pruned != nil else { return }
        for id in waiting {
            let isThere = await record(id) != nil
            expect(isThere || !machine.isAlive, "\(id) was pruned before it had ended")
        }
        await forgetPruned()
        await sync()
    }
}
