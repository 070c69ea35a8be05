// SPDX-License-Identifier: Apache-2.0

import WakeBudget
public import WakeModel

/// Everything that delays wakes, at one time: the source of ``WaitExplanation``.
public struct WaitContext: Sendable {
    /// The present instant.
    public let now: WallInstant
    /// The status of the queues; unconfigured ones are not included.
    let queues: [WakeQueueKey: QueueStatus]
    /// The wakes that this gateway has with its sender; `nil` where no other gateway uses the
    /// store, so that all that are claimed are its own.
    let ownLeases: Set<WakeID>?

    /// Explains a wake; `nil` for one that has ended.
    public func explain(_ wake: WakeRecord) -> WaitExplanation? {
        guard wake.end == nil else { return nil }
        if wake.state == .claimed {
            return WaitExplanation(
                .claimed, at: now, due: wake.dueAt, deadline: wake.deadline,
                reasons: ownLeases?.contains(wake.id) ?? true
                    ? stopping(wake) : [leasedElsewhere(wake)])
        }
        return explain(wake, as: .wake)
    }

    private func explain(
        _ wake: WakeRecord, as subject: WaitExplanation.Subject
    ) -> WaitExplanation {
        var reasons = wake.budgetReasons(at: now) + (wake.backOff(at: now).map { [$0] } ?? [])
        reasons += queueReasons(WakeQueueKey(app: wake.app, kind: wake.kind))
        if reasons.isEmpty { reasons = secondsReason(until: wake.dueAt, of: wake.kind, wake) }
        return WaitExplanation(
            subject, at: now, due: wake.dueAt, deadline: wake.deadline, reasons: reasons)
    }

    /// Explains the wake that waits for a device, or else when the next may go.
    public func explain(_ device: DeviceView) -> WaitExplanation {
        let budget = device.explanation
        let kind = device.queue.kind
        // The ledger's times are those of a new one. A background wake that waits is that as well.
        if kind.discipline != .background, let pending = device.pending {
            return explain(pending, as: .pending(kind))
        }
        var reasons = budget.rules.map {
            WaitExplanation.Reason($0.hold, until: $0.until, sentence: $0.sentence)
        }
        if let backOff = device.pending?.backOff(at: now) { reasons.append(backOff) }
        reasons += queueReasons(device.queue)
        let due = max(budget.nextSend, device.pending?.dueAt ?? budget.nextSend)
        let suppression =
            device.deadSince.map { .deviceTokenDead(since: $0) }
            ?? budget.suppression.map { WakeSuppression($0) }
        if reasons.isEmpty, suppression == nil {
            reasons = secondsReason(until: due, of: kind, device.pending)
        }
        return WaitExplanation(
            device.pending == nil ? .next(kind) : .pending(kind), at: now, due: due,
            deadline: device.pending?.deadline, reasons: reasons,
            suppression: device.pending == nil ? suppression : nil)
    }

    private func queueReasons(_ queue: WakeQueueKey) -> [WaitExplanation.Reason] {
        queues[queue]?.reasons ?? []
    }

    /// The reason for a delay to the end of a second: after a send, or one that was taken back, the
    /// ledger of a device goes on with the next second. `wake` is the one that waits.
    private func secondsReason(
        until due: WallInstant, of kind: WakeKind, _ wake: WakeRecord?
    ) -> [WaitExplanation.Reason] {
        guard kind.discipline == .background, due > now, due.milliseconds(since: now) <= 1_000
        else { return [] }
        if let wake, !wake.attempts.isEmpty { return [wake.backOff(until: due)] }
        return [
            WaitExplanation.Reason(
                .spacing, until: due,
                sentence: "Budgets are counted in whole seconds: it waits until \(due).")
        ]
    }

    private func stopping(_ wake: WakeRecord) -> [WaitExplanation.Reason] {
        guard queues[WakeQueueKey(app: wake.app, kind: wake.kind)]?.isStopping == true else {
            return []
        }
        return [
            WaitExplanation.Reason(
                .stopping,
                sentence: "The gateway is shutting down; it still waits for APNs' answer, and "
                    + "records it.")
        ]
    }

    private func leasedElsewhere(_ wake: WakeRecord) -> WaitExplanation.Reason {
        let end = wake.leaseUntil.map { " at \($0)" } ?? ""
        return WaitExplanation.Reason(
            .leasedElsewhere,
            sentence: "If that one has died, the wake comes back when its lease ends\(end).")
    }
}

extension WakeRecord {
    /// The rules of the budget that delay it until it is due.
    fileprivate func budgetReasons(at now: WallInstant) -> [WaitExplanation.Reason] {
        guard dueAt > now else { return [] }
        // It is due at the end of the rule that ends last; the others end before, at times that
        // only the device's ledger has.
        let end = holds.all.count == 1 && notBefore < dueAt ? dueAt : nil
        return holds.all.map { reason in
            guard reason == .rate else {
                return WaitExplanation.Reason(
                    reason, until: end,
                    sentence: "The device's budget keeps it back"
                        + (end.map { " until \($0)" } ?? "") + ": \(reason.words).")
            }
            return WaitExplanation.Reason(
                .rate, until: dueAt,
                sentence: "The device has had as many \(kind) pushes in a row as it may have. The "
                    + "turn of this one is at \(dueAt).")
        }
    }

    /// The reasons for its delay other than the budget: its place in a spread batch, or a failed
    /// attempt.
    fileprivate func backOff(at now: WallInstant) -> WaitExplanation.Reason? {
        guard notBefore > now else { return nil }
        if attempts.isEmpty, case .deferred(let until, _) = decision, notBefore <= until {
            return WaitExplanation.Reason(
                .spread, until: notBefore,
                sentence: "It is one of those that are spread over time: its turn comes at "
                    + "\(notBefore).")
        }
        return backOff(until: notBefore)
    }

    /// The last attempt as the reason for a delay.
    fileprivate func backOff(until due: WallInstant) -> WaitExplanation.Reason {
        WaitExplanation.Reason(
            .backOff, until: due,
            sentence: "\(lastFailure), so the next attempt is not before \(due).")
    }

    private var lastFailure: String {
        guard let attempt = attempts.last else {
            return "An earlier attempt for this device failed"
        }
        switch attempt.result {
        case .refused(let refusal):
            return "APNs answered \(refusal.words) at \(attempt.endedAt)"
        case .unanswered: return "The attempt of \(attempt.startedAt) had no answer"
        case .abandoned, .accepted: return "The attempt of \(attempt.startedAt) was cut short"
        }
    }
}

extension Refusal {
    /// Status and reason, as in `429 TooManyRequests`.
    public var words: String { reason.map { "\(status) \($0)" } ?? "\(status)" }
}

/// Whether a queue sends, in one word.
public enum QueueState: String, Hashable, Sendable, CaseIterable {
    /// It sends what is due.
    case sending
    /// Its app is paused.
    case paused
    /// APNs refuses its key, topic or certificate.
    case held
    /// APNs does not answer its pushes.
    case unresponsive
}

extension QueuePause {
    /// The meaning of a pause, as a sentence, with a reason if it may be shown.
    package func sentence(saying reason: String?) -> String {
        let why = reason.map { ": \"\($0)\"" } ?? ""
        return "The app is paused since \(at)\(why). Nothing of it is sent until it is resumed."
    }
}

extension QueueStatus {
    /// Its state. Paused takes precedence over held, because a paused queue sends no probe.
    public var state: QueueState {
        if pause != nil { return .paused }
        if circuit != .closed { return .held }
        return isUnresponsive ? .unresponsive : .sending
    }

    /// Whether APNs does not answer its pushes, also if it is paused or held.
    package var isUnresponsive: Bool { unresponsive != nil || silence != nil }

    /// All reasons why it does not send.
    public var reasons: [WaitExplanation.Reason] {
        var reasons: [WaitExplanation.Reason] = []
        if let pause {
            reasons.append(
                WaitExplanation.Reason(.paused, sentence: pause.sentence(saying: pause.reason)))
        }
        switch circuit {
        case .closed: break
        case .open(let reason, let since, let probeAt):
            reasons.append(
                WaitExplanation.Reason(
                    .held, until: pause == nil ? probeAt : nil,
                    sentence: "The queue is held since \(since). \(reason)"
                        + (pause == nil ? " One wake is tried at \(probeAt)." : "")))
        case .probing(let reason, let since):
            reasons.append(
                WaitExplanation.Reason(
                    .held,
                    sentence: "The queue is held since \(since). \(reason) "
                        + "One wake is being tried."))
        }
        if let silenceSentence {
            reasons.append(WaitExplanation.Reason(.unresponsive, sentence: silenceSentence))
        }
        if isStopping {
            reasons.append(
                WaitExplanation.Reason(
                    .stopping,
                    sentence: "The gateway is shutting down. What waits is kept, and sent when a "
                        + "gateway runs on this store again."))
        }
        return reasons
    }

    private var silenceSentence: String? {
        let probes = unresponsive.map(\.explanation)
        let failure = silence.map {
            "APNs has answered nothing since \($0.since): \($0.failure)"
                + ($0.failure.hasSuffix(".") ? "" : ".")
        }
        let sentences = [probes, failure].compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    /// Its state and the consequences for its wakes, in sentences.
    public var message: String {
        guard !reasons.isEmpty else { return "It sends what is due." }
        let noun =
            switch kind.discipline {
            case .background: "Wakes"
            case .call: "Calls"
            case .plain: "Pushes"
            }
        let fate =
            kind.isImmediate
            ? "\(noun) are still accepted; each expires unsent unless that ends within its "
                + "deadline of a few seconds."
            : "\(noun) are still accepted and wait; each that reaches its deadline first expires "
                + "unsent."
        return reasons.map(\.sentence).joined(separator: " ") + " " + fate
    }
}
