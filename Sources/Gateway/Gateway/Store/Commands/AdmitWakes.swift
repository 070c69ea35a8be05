// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeBudget
import WakeModel

/// Decides on wakes and stores them. Returns an answer for each, in order. Those that may be sent
/// immediately are claimed as far as the grant allows.
public struct AdmitWakes: StoreCommand {
    /// The wakes.
    public let submissions: [WakeSubmission]
    /// Permission to claim those that may be sent immediately.
    public let grant: ClaimGrant?
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(_ submissions: [WakeSubmission], grant: ClaimGrant?, under rules: StoreRules) {
        self.submissions = submissions
        self.grant = grant
        self.rules = rules
    }

    /// Calls and Push to Talk are in separate batches, and are urgent.
    public var profile: CommandProfile {
        var profile = CommandProfile(.write, weight: submissions.count)
        profile.isUrgent = submissions.first?.wake.kind.isImmediate ?? false
        profile.addsWork = true
        return profile
    }

    /// Devices, with the wakes that wait for them, and idempotency keys.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.devices.reserveCapacity(submissions.count)
        for submission in submissions {
            if let queue = queues[submission.queue] {
                reads.devices.append(
                    (
                        ReadSet.DeviceName(
                            token: submission.wake.deviceToken, queue: queue.number),
                        .payload
                    ))
            }
            if let key = submission.idempotency { reads.keys.append(key.key) }
        }
        reads.addBacklogs(of: rules)
        return reads
    }

    /// Decides on each by itself. One whose device cannot be read does not fail the others.
    public func decide(on set: WorkingSet) throws(RowFault) -> AdmitAnswer {
        var answer = AdmitAnswer()
        answer.admissions.reserveCapacity(submissions.count)
        var room = GrantedRoom(grant)
        for submission in submissions {
            let admission = try set.part { () throws(RowFault) in
                do throws(RowFault) {
                    return try set.admit(submission, &room, &answer)
                } catch {
                    // All rows of a submission are read before anything is written for it.
                    guard case .damaged(let failure) = error else { throw error }
                    return .damaged(failure.message)
                }
            }
            if let admission { answer.admissions.append(admission) }
        }
        answer.nextDue = set.nextDue
        return answer
    }
}

extension WorkingSet {
    fileprivate func admit(
        _ submission: borrowing WakeSubmission, _ room: inout GrantedRoom,
        _ answer: inout AdmitAnswer
    ) throws(RowFault) -> AdmissionResult {
        if let earlier = try earlierAdmission(submission) { return earlier }
        let admitted =
            switch submission.wake.kind.discipline {
            case .background: try admitBackground(submission, &room, &answer)
            case .call: try admitCall(submission, &room, &answer)
            case .plain: try admitPush(submission, &room, &answer)
            }
        if let key = submission.idempotency { reserve(key, for: admitted) }
        return .admitted(admitted)
    }

    /// The answer to an earlier request with the same key; `nil` when there is none that has not
    /// expired.
    private func earlierAdmission(
        _ submission: borrowing WakeSubmission
    ) throws(RowFault) -> AdmissionResult? {
        guard let key = submission.idempotency else { return nil }
        // An earlier request for the same user may have had other devices.
        if let first = key.first, let known = try known(first, at: submission.acceptedAt),
            known.request != key.request
        {
            return .idempotencyConflict
        }
        guard let known = try known(key.key, at: submission.acceptedAt) else { return nil }
        guard known.request == key.request else { return .idempotencyConflict }
        // Not the wake's row: another wake may have merged into it since.
        if let answer = known.answer { return .admitted(answer.repeated) }
        guard let wake = try wake(known.wake) else { return .idempotencyConflict }
        return .admitted(
            AdmittedWake(
                id: wake.id, acceptedAt: wake.acceptedAt, deadline: wake.deadline,
                decision: wake.decision, isRepeated: true))
    }

    // MARK: Background

    private func admitBackground(
        _ new: borrowing WakeSubmission, _ room: inout GrantedRoom, _ answer: inout AdmitAnswer
    ) throws(RowFault) -> AdmittedWake {
        let now = new.acceptedAt
        let queue = queue(of: new.queue)
        var device = try self.device(of: new, queue)
        var row = row(new, device, queue)
        if let deadSince = device.deadSince {
            return try endAtOnce(
                &row, .suppressed(.deviceTokenDead(since: deadSince)), &device, queue, &answer)
        }
        let verdict = device.ledger.admit(
            .background(
                new.options.urgency, coalescing: new.options.coalescing,
                expiration: new.wake.expiration),
            policy: queue.policy, at: now)
        if verdict.expiredPending,
            let ended = try finishPending(of: &device, .expired, at: now, queue)
        {
            answer.ended.append(ended)
        }
        switch verdict.decision {
        case .send, .deferred:
            return try keep(&row, &device, queue, &room, &answer)
        case .coalesced(let coalescing, _, _):
            let obstacles = room.obstacles(of: queue.row)
            if let merged = try merge(
                &row, new, coalescing, &device, queue, obstacles, &answer)
            {
                return merged
            }
            // The pending wake was removed, or ended as damaged, and the ledger must not refer to
            // it.
            device = try self.device(of: new, queue)
            _ = device.ledger.cancelPending(at: now)
            device.pending = 0
            save(&device, at: now)
            return try admitBackground(new, &room, &answer)
        case .expired(let earliest, let holds):
            let decision = WakeDecision.expired(earliest: earliest, because: holds)
            return try endAtOnce(&row, decision, &device, queue, &answer)
        case .suppressed(let suppression):
            let decision = WakeDecision.suppressed(WakeSuppression(suppression))
            return try endAtOnce(&row, decision, &device, queue, &answer)
        case .sameCall:
            preconditionFailure("The ledger of a background topic knows no calls.")
        }
    }

    /// A wake that waits, or is sent immediately when a slot is free.
    private func keep(
        _ row: inout WakeRow, _ device: inout DeviceRow, _ queue: SeenQueue,
        _ room: inout GrantedRoom, _ answer: inout AdmitAnswer
    ) throws(RowFault) -> AdmittedWake {
        let now = row.acceptedAt
        schedule(&row, device, queue, at: now)
        let hasSlot = takeSlot(for: &row, queue, &room)
        device.pending = row.number
        if hasSlot,
            case .charged(let debit) = device.ledger.claim(policy: queue.policy, at: now)
        {
            _ = device.ledger.settle(debit, as: .accepted)
            device.pending = 0
            row.debit = debit
            hold(&row, at: now, until: room.leaseEnd(now))
            answer.claims.append(claim(row, device, queue))
        } else {
            leave(row, queue, &answer)
        }
        return accept(row, &device)
    }

    /// Takes an in-flight slot for a wake that is due. Without one, the decision is the reasons why
    /// the wake waits, if there are any.
    private func takeSlot(
        for row: inout WakeRow, _ queue: SeenQueue, _ room: inout GrantedRoom
    ) -> Bool {
        let now = row.acceptedAt
        let isDue = row.dueAt <= now
        if isDue, room.take(queue.row) { return true }
        let obstacles = room.obstacles(of: queue.row)
        if !isDue || !obstacles.isEmpty {
            let reasons = row.reasons(at: now).union(obstacles)
            row = row.deciding(.deferred(until: row.dueAt, because: reasons))
        }
        return false
    }

    /// Records an accepted wake as the latest of its device.
    private func accept(_ row: WakeRow, _ device: inout DeviceRow) -> AdmittedWake {
        device.latest = row.number
        save(&device, at: row.acceptedAt)
        insert(row)
        add(1, to: .accepted)
        return row.receipt
    }

    /// A wake that merges into the one that waits; `nil` when none does.
    private func merge(
        _ row: inout WakeRow, _ new: borrowing WakeSubmission, _ coalescing: Coalescing,
        _ device: inout DeviceRow, _ queue: SeenQueue, _ obstacles: DelayReasons,
        _ answer: inout AdmitAnswer
    ) throws(RowFault) -> AdmittedWake? {
        guard
            var carrier = try liveWake(device.pending, withPayload: true),
            carrier.state == .pending
        else { return nil }
        // The result may differ from the requested mode: a union may be too long for a push.
        let coalescing = carrier.absorb(new, as: row.id)
        schedule(&carrier, device, queue, at: new.acceptedAt)
        update(carrier, .content)
        noteDue(carrier)
        row.deadline = carrier.deadline
        row.dueAt = carrier.dueAt
        let decision = WakeDecision.coalesced(
            into: carrier.id, coalescing, until: carrier.dueAt,
            because: carrier.reasons(at: new.acceptedAt).union(obstacles))
        return try endAtOnce(&row, decision, &device, queue, &answer)
    }

    // MARK: Calls

    private func admitCall(
        _ new: borrowing WakeSubmission, _ room: inout GrantedRoom, _ answer: inout AdmitAnswer
    ) throws(RowFault) -> AdmittedWake {
        let now = new.acceptedAt
        let queue = queue(of: new.queue)
        var device = try self.device(of: new, queue)
        var row = row(new, device, queue)
        if let deadSince = device.deadSince {
            return try endAtOnce(
                &row, .suppressed(.deviceTokenDead(since: deadSince)), &device, queue, &answer)
        }
        row.deadline = now.advanced(
            bySeconds: Int64(queue.policy.settings.callDeadlineSeconds))
        if case .at(let expiry) = row.expiration { row.deadline = min(row.deadline, expiry) }
        guard row.deadline > now, let call = row.call else {
            let decision = WakeDecision.expired(earliest: now, because: [])
            return try endAtOnce(&row, decision, &device, queue, &answer)
        }
        switch device.ledger.admit(.voip(call), policy: queue.policy, at: now).decision {
        case .suppressed(let suppression):
            let decision = WakeDecision.suppressed(WakeSuppression(suppression))
            return try endAtOnce(&row, decision, &device, queue, &answer)
        case .sameCall:
            if let earlier = try sameCall(call, on: device, queue) { return earlier }
            // Its row lacks a call that its ledger counts, which no version writes. The phone must
            // not ring again in any case.
            let decision = WakeDecision.expired(earliest: row.deadline, because: [])
            return try endAtOnce(&row, decision, &device, queue, &answer)
        case .send, .deferred, .coalesced, .expired:
            try keepCall(row, call, on: &device, at: now)
        }
        return keepByItself(&row, &device, queue, &room, &answer)
    }

    // MARK: Plain pushes

    private func admitPush(
        _ new: borrowing WakeSubmission, _ room: inout GrantedRoom, _ answer: inout AdmitAnswer
    ) throws(RowFault) -> AdmittedWake {
        let now = new.acceptedAt
        let queue = queue(of: new.queue)
        var device = try self.device(of: new, queue)
        var row = row(new, device, queue)
        if let deadSince = device.deadSince {
            return try endAtOnce(
                &row, .suppressed(.deviceTokenDead(since: deadSince)), &device, queue, &answer)
        }
        let settings = queue.policy.settings
        let life =
            new.wake.kind.isImmediate ? settings.callDeadlineSeconds : settings.holdSeconds
        row.deadline = now.advanced(bySeconds: Int64(life))
        if case .at(let expiry) = row.expiration { row.deadline = min(row.deadline, expiry) }
        switch device.ledger.admit(.plain(until: row.deadline), policy: queue.policy, at: now)
            .decision
        {
        case .deferred(let turn, let holds):
            row.dueAt = max(turn, row.notBefore)
            row.holds = holds
        case .expired(let earliest, let holds):
            let decision = WakeDecision.expired(earliest: earliest, because: holds)
            return try endAtOnce(&row, decision, &device, queue, &answer)
        case .send, .coalesced, .sameCall, .suppressed:
            row.dueAt = max(now, row.notBefore)
        }
        return keepByItself(&row, &device, queue, &room, &answer)
    }

    /// Admits a wake that waits only for its due time, independently of others of its device, or is
    /// sent immediately when a slot is free.
    private func keepByItself(
        _ row: inout WakeRow, _ device: inout DeviceRow, _ queue: SeenQueue,
        _ room: inout GrantedRoom, _ answer: inout AdmitAnswer
    ) -> AdmittedWake {
        let now = row.acceptedAt
        if takeSlot(for: &row, queue, &room) {
            hold(&row, at: now, until: room.leaseEnd(now))
            answer.claims.append(claim(row, device, queue))
        } else {
            leave(row, queue, &answer)
        }
        return accept(row, &device)
    }

    /// Records a wake that waits.
    private func leave(
        _ row: borrowing WakeRow, _ queue: SeenQueue, _ answer: inout AdmitAnswer
    ) {
        noteDue(row)
        if row.dueAt <= row.acceptedAt, !answer.leftDue.contains(queue.row.queue) {
            answer.leftDue.append(queue.row.queue)
        }
    }

    // MARK: Parts

    private func device(
        of new: borrowing WakeSubmission, _ queue: SeenQueue
    ) throws(RowFault) -> DeviceRow {
        let token = new.wake.deviceToken
        if let device = try device(token, queue: queue.row.number) { return device }
        return try makeDevice(
            token, queue: queue.row.number, kind: new.wake.kind, at: new.acceptedAt)
    }

    private func row(
        _ new: borrowing WakeSubmission, _ device: borrowing DeviceRow, _ queue: SeenQueue
    ) -> WakeRow {
        let now = new.acceptedAt
        let call: CallFingerprint? =
            switch new.wake.kind.discipline {
            case .background, .plain: nil
            // A call without an id is never the same as another.
            case .call: CallFingerprint(new.wake.callID ?? "\(new.entropy)")
            }
        return WakeRow(
            id: WakeID(number: makeNumber(at: now, above: device.latest), entropy: new.entropy),
            device: device.number, queue: queue.row.number, previous: device.latest,
            acceptedAt: now, decision: .send, coalescing: new.options.coalescing,
            ref: new.options.ref,
            call: call, urgency: new.options.urgency, state: .pending, dueAt: now,
            notBefore: new.notBefore ?? now, deadline: now, holds: [], payload: new.wake.payload,
            expiration: new.wake.expiration, collapseID: new.wake.collapseID,
            priority: new.wake.priority)
    }

    /// A wake that ends with its admission.
    private func endAtOnce(
        _ row: inout WakeRow, _ decision: WakeDecision, _ device: inout DeviceRow,
        _ queue: SeenQueue, _ answer: inout AdmitAnswer
    ) throws(RowFault) -> AdmittedWake {
        let now = row.acceptedAt
        let end: WakeEnd =
            switch decision {
            case .coalesced(let carrier, _, _, _): .coalesced(into: carrier)
            case .suppressed(let suppression): .suppressed(suppression)
            default: .expired
            }
        row = row.deciding(decision)
        row.state = end.state
        row.end = end
        row.endedAt = now
        row.payload = []
        let admitted = accept(row, &device)
        answer.ended.append(try booked(row, end, at: now, queue))
        return admitted
    }
}

/// The rest of a grant.
private struct GrantedRoom {
    private let grant: ClaimGrant?
    private var slots: [WakeQueueKey: Int]
    private var background: Int
    private var calls: Int

    init(_ grant: ClaimGrant?) {
        self.grant = grant
        slots = grant?.slots ?? [:]
        background = grant?.background ?? 0
        calls = grant?.calls ?? 0
    }

    /// The reasons why a queue does not send. A pause by another gateway is in the store before it
    /// is in the grant.
    func obstacles(of row: WakeQueueRow) -> DelayReasons {
        let known = grant?.obstacles[row.queue] ?? []
        return row.pausedAt == nil ? known : known.union(DelayReasons(.paused))
    }

    /// Takes one place for a wake of this queue, if there is one.
    mutating func take(_ row: WakeQueueRow) -> Bool {
        let queue = row.queue
        guard row.pausedAt == nil, let room = slots[queue], room > 0 else { return false }
        if queue.kind.isImmediate {
            guard calls > 0 else { return false }
            calls -= 1
        } else {
            guard background > 0 else { return false }
            background -= 1
        }
        slots[queue] = room - 1
        return true
    }

    func leaseEnd(_ now: WallInstant) -> WallInstant {
        now.advanced(bySeconds: Int64(grant?.leaseSeconds ?? 0))
    }
}

extension WakeRow {
    /// The same wake with another decision.
    fileprivate func deciding(_ decision: WakeDecision) -> WakeRow {
        guard decision != self.decision else { return self }
        return WakeRow(
            id: id, device: device, queue: queue, previous: previous, acceptedAt: acceptedAt,
            decision: decision, coalescing: coalescing, ref: ref, call: call, urgency: urgency,
            state: state, dueAt: dueAt, notBefore: notBefore, deadline: deadline, holds: holds,
            payload: payload, expiration: expiration, collapseID: collapseID, priority: priority)
    }

    /// The reasons for its delay in its row.
    fileprivate func reasons(at now: WallInstant) -> DelayReasons {
        guard notBefore > now else {
            // A ledger counts whole seconds: after a send, the next one waits for the second's end.
            guard holds.isEmpty, dueAt > now else { return holds }
            return DelayReasons(fence == 0 ? .spacing : .backOff)
        }
        return holds.union(DelayReasons(fence == 0 ? .spread : .backOff))
    }

    /// Merges a newer wake into it. Returns whether they were united or this one was replaced.
    fileprivate mutating func absorb(
        _ new: borrowing WakeSubmission, as id: WakeID
    ) -> Coalescing {
        let part = MergedPart(
            wakes: [id], isFolded: false, payload: new.wake.payload,
            expiration: new.wake.expiration, collapseID: new.wake.collapseID,
            urgency: new.options.urgency, coalescing: new.options.coalescing)
        let all = allParts + [part]
        // A delay by the request ends with the first wake without one; a delay by APNs' answer does
        // not.
        if fence == 0 { notBefore = min(notBefore, new.notBefore ?? new.acceptedAt) }
        let outcome = merge(
            WakeContent(
                payload: new.wake.payload, expiration: new.wake.expiration,
                collapseID: new.wake.collapseID),
            new.options.coalescing, new.options.urgency, isNewer: true)
        keep(all)
        return outcome
    }

    fileprivate var receipt: AdmittedWake {
        AdmittedWake(id: id, acceptedAt: acceptedAt, deadline: deadline, decision: decision)
    }
}
