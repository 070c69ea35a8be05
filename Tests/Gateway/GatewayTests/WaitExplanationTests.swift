// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Testing
import WakeBudget
import WakeModel

@testable import Gateway

@Suite("Why a wake waits")
struct WaitExplanationTests {
    private static let now = WallInstant(secondsSinceEpoch: 1_800_000_000)
    private static let openEnded: Set<DelayReason> = [
        .paused, .held, .unresponsive, .stopping, .leasedElsewhere,
    ]

    private static func at(_ seconds: Int) -> WallInstant {
        now.advanced(bySeconds: Int64(seconds))
    }

    /// When a reason ends: each at another time, in no order; for some nobody knows.
    private static func end(of reason: DelayReason) -> WallInstant? {
        openEnded.contains(reason) && reason != .held
            ? nil : at(60 * (1 + (Int(reason.rawValue) * 7) % 17))
    }

    private static func reasons(_ kinds: [DelayReason]) -> [WaitExplanation.Reason] {
        // Against the order, in which they are to be told.
        kinds.reversed().map {
            WaitExplanation.Reason($0, until: end(of: $0), sentence: "Sentence \($0.rawValue).")
        }
    }

    @Test("Every combination of reasons is told wholly, and no time is too early")
    func everyCombination() {
        var faults: [String] = []
        let all = DelayReason.allCases
        for bits in 0..<(1 << all.count) {
            let kinds = DelayReasons(rawValue: UInt32(bits)).all
            let reasons = Self.reasons(kinds)
            let latest = reasons.compactMap(\.until).max()
            // Without a deadline, with one behind all, and with one before the latest reason's end.
            let deadline = [nil, Self.at(7_200), Self.at(30)][bits % 3]
            let due = Self.at([0, 20, 3_600][bits / 3 % 3])
            let explanation = WaitExplanation(
                .wake, at: Self.now, due: due, deadline: deadline, reasons: reasons)
            faults += Self.faults(of: explanation, kinds, latest: latest, due: due).map {
                "\(kinds), due \(due), deadline \(deadline.map { "\($0)" } ?? "none"): \($0)"
            }
        }
        #expect(faults.isEmpty, "\(faults.count) faults, such as \(faults.first ?? "")")
    }

    private static func faults(
        of explanation: WaitExplanation, _ kinds: [DelayReason], latest: WallInstant?,
        due: WallInstant
    ) -> [String] {
        var faults: [String] = []
        let message = explanation.message
        if explanation.earliest < max(latest ?? now, due) { faults.append("earliest is too early") }
        if explanation.reasons.map(\.kind) != kinds { faults.append("reasons are missing") }
        let isBlocked = !kinds.isEmpty || due > now
        if isBlocked == (message == "Will be sent now.") { faults.append("now: \(message)") }
        if explanation.isOpenEnded == openEnded.isDisjoint(with: kinds) {
            faults.append("open-ended is wrong")
        }
        let sentences = explanation.sentences
        for kind in kinds where !sentences.contains("Sentence \(kind.rawValue).") {
            faults.append("\(kind) has no sentence")
        }
        // A wake that another gateway is sending is not deferred: that alone is its message.
        guard !kinds.contains(.leasedElsewhere) else { return faults }
        for kind in kinds where !message.contains(kind.words) {
            faults.append("\(kind) is not named: \(message)")
        }
        if let deadline = explanation.deadline, isBlocked {
            let isBehind = deadline <= explanation.earliest
            if explanation.willExpire != isBehind { faults.append("will expire is wrong") }
            if isBehind != message.hasPrefix("Will expire at \(deadline)") {
                faults.append("expiry: \(message)")
            }
            let isTold = isBehind || explanation.isOpenEnded
            if isTold != message.contains("\(deadline)") { faults.append("deadline: \(message)") }
        }
        if explanation.earliest > now, !message.contains("\(explanation.earliest)") {
            faults.append("time: \(message)")
        }
        return faults
    }

    @Test(
        "What is decided says the same as what is explained",
        arguments: [DelayReasons(.paused), [], DelayReasons(.spacing), DelayReasons(.hourly)])
    func decision(reasons: DelayReasons) {
        let until = reasons.contains(DelayReasons(.paused)) ? Self.now : Self.at(600)
        for deadline in [Self.at(7_200), Self.at(300)] {
            let decision = WakeDecision.deferred(until: until, because: reasons)
            let explanation = WaitExplanation(
                .wake, at: Self.now, due: until, deadline: deadline,
                reasons: reasons.all.map { WaitExplanation.Reason($0, sentence: "") })
            #expect(decision.message(until: deadline) == explanation.message)
        }
    }

    @Test("A decision in retrospect names no deadline, which a merged wake may have moved")
    func pastDecision() {
        let reasons: DelayReasons = [DelayReasons(.spacing), DelayReasons(.paused)]
        #expect(
            WakeDecision.deferred(until: Self.at(600), because: reasons).pastMessage
                == "When it was accepted: deferred until \(Self.at(600)) at the earliest: minimum "
                + "spacing, the app is paused.")
    }

    @Test("A wake that merges into one that is due says that it is sent now")
    func mergedIntoOneThatIsDue() {
        let decision = WakeDecision.coalesced(
            into: Samples.freshID(), .replace, until: Self.now, because: [])
        #expect(
            decision.message(until: Self.at(60)).hasSuffix("That wake: Will be sent now."))
    }

    @Test("The words of one wake, of a device, and of one that nobody asked for")
    func words() {
        func message(
            _ subject: WaitExplanation.Subject, _ kinds: [DelayReason], deadline: Int?
        ) -> String {
            WaitExplanation(
                subject, at: Self.now, due: Self.now, deadline: deadline.map(Self.at),
                reasons: Self.reasons(kinds)
            ).message
        }
        #expect(message(.wake, [], deadline: 60) == "Will be sent now.")
        #expect(message(.claimed, [], deadline: 60) == "It is on its way to APNs.")
        #expect(
            message(.wake, [.paused], deadline: 60)
                == "Deferred: the app is paused. It will expire at \(Self.at(60)) unless that ends "
                + "before.")
        #expect(
            message(.pending(.background), [.spacing], deadline: 3_600)
                == "The waiting wake is deferred until \(Self.at(60)): minimum spacing.")
        #expect(
            message(.wake, [.lowPowerMode], deadline: 90)
                == "Will expire at \(Self.at(90)): it cannot be sent before "
                + "\(Self.end(of: .lowPowerMode) ?? Self.now) as things are (Low Power Mode).")
        #expect(
            message(.next(.voip), [.unresponsive], deadline: nil)
                == "The next call would be deferred: APNs does not answer.")
        #expect(message(.next(.voip), [], deadline: nil) == "A call may be sent now.")
        #expect(
            message(.wake, [], deadline: 0) == "It expires now: its deadline was \(Self.now).")
    }

    @Test("A wake's page says until when a rule of the budget keeps it back, where that is known")
    func budget() throws {
        let context = WaitContext(now: Self.now, queues: [:], ownLeases: [])
        for (kinds, notBefore) in [
            ([DelayReason.lowPowerMode], 0), ([.spacing, .hourly], 0), ([.spacing], 600),
        ] {
            let row = WakeRow(
                id: Samples.freshID(), device: 1, queue: 1, previous: 0, acceptedAt: Self.now,
                decision: .send, coalescing: .replace, call: nil, urgency: .normal,
                state: .pending, dueAt: Self.at(600), notBefore: Self.at(notBefore),
                deadline: Self.at(7_200),
                holds: kinds.reduce(into: []) { $0.insert(DelayReasons($1)) }, payload: [],
                expiration: .immediately, collapseID: nil)
            let wake = WakeRecord(
                row, queue: WakeQueueKey(app: Samples.app, kind: .background),
                deviceToken: Samples.deviceToken(), attempts: [])
            let explanation = try #require(context.explain(wake))
            let isKnown = kinds.count == 1 && notBefore == 0
            #expect(explanation.earliest == Self.at(600))
            for reason in explanation.reasons where kinds.contains(reason.kind) {
                #expect(reason.until == (isKnown ? Self.at(600) : nil))
                let until = isKnown ? " until \(Self.at(600))" : ""
                #expect(
                    reason.sentence
                        == "The device's budget keeps it back\(until): \(reason.kind.words).")
            }
            let told = explanation.delayReasons
            #expect(kinds.allSatisfy { told.contains(DelayReasons($0)) })
        }
    }

    private static func record(
        _ state: WakeState, kind: WakeKind = .background, dueAfterMilliseconds due: Int64,
        attempts: [AttemptRecord] = []
    ) -> WakeRecord {
        let row = WakeRow(
            id: Samples.freshID(), device: 1, queue: 1, previous: 0, acceptedAt: now,
            decision: .send, coalescing: .replace, call: nil, urgency: .normal, state: state,
            dueAt: now.advanced(byMilliseconds: due), notBefore: now, deadline: at(7_200),
            holds: [], payload: [], expiration: .immediately, collapseID: nil)
        return WakeRecord(
            row, queue: WakeQueueKey(app: Samples.app, kind: kind),
            deviceToken: Samples.deviceToken(), attempts: attempts)
    }

    @Test("Only on a shared store may another gateway be sending a wake")
    func claimed() throws {
        let wake = Self.record(.claimed, dueAfterMilliseconds: 0)
        for (leases, message) in [
            (nil, "It is on its way to APNs."), ([wake.id], "It is on its way to APNs."),
            ([], "Another gateway on the same store is sending it."),
        ] as [(Set<WakeID>?, String)] {
            let context = WaitContext(now: Self.now, queues: [:], ownLeases: leases)
            #expect(try #require(context.explain(wake)).message == message)
        }
    }

    @Test("A wait for the end of a second has a reason, as at the admission")
    func endOfSecond() throws {
        let context = WaitContext(now: Self.now, queues: [:], ownLeases: nil)
        let wake = Self.record(.pending, dueAfterMilliseconds: 400)
        let explanation = try #require(context.explain(wake))
        #expect(explanation.message == "Deferred until \(wake.dueAt): minimum spacing.")
        #expect(explanation.reasons.count == 1)
        let refusal = Refusal(status: 400, reason: .idleTimeout, tokenDeadSince: nil)
        let attempt = AttemptRecord(
            startedAt: Self.now, endedAt: Self.now, result: .refused(refusal))
        let tried = Self.record(.pending, dueAfterMilliseconds: 400, attempts: [attempt])
        let later = try #require(context.explain(tried))
        #expect(
            later.sentences == [
                "Deferred until \(tried.dueAt): back-off after a failed attempt.",
                "APNs answered 400 IdleTimeout at \(Self.now), so the next attempt is not before "
                    + "\(tried.dueAt).",
            ])
        for other in [
            Self.record(.pending, kind: .alert, dueAfterMilliseconds: 400),
            Self.record(.pending, dueAfterMilliseconds: 1_001),
        ] {
            #expect(try #require(context.explain(other)).reasons.isEmpty)
        }
    }

    @Test("A due time is one that can come true")
    func due() {
        func explanation(
            _ kinds: [DelayReason], of subject: WaitExplanation.Subject = .wake, due: Int = -60,
            deadline: Int? = 7_200, suppression: WakeSuppression? = nil
        ) -> WaitExplanation {
            WaitExplanation(
                subject, at: Self.now, due: Self.at(due), deadline: deadline.map(Self.at),
                reasons: Self.reasons(kinds), suppression: suppression)
        }
        #expect(explanation([]).due == Self.at(-60))
        #expect(explanation([], due: 90).due == Self.at(90))
        #expect(explanation([.spacing, .hourly]).due == Self.end(of: .hourly))
        for kind in Self.openEnded { #expect(explanation([.spacing, kind]).due == nil, "\(kind)") }
        #expect(explanation([.spacing], deadline: 30).due == nil)
        let isOff = WakeSuppression.backgroundAppRefreshOff(until: Self.at(300))
        #expect(
            explanation(
                [], of: .next(.background), due: 300, deadline: nil, suppression: isOff
            ).due == Self.at(300))
        let isDead = explanation(
            [], of: .next(.background), deadline: nil,
            suppression: .deviceTokenDead(since: Self.now))
        #expect(isDead.isNever && isDead.due == nil)
    }

    @Test("A call or a push that waits has its own time, and not that of the next one")
    func waitingOfOwnTime() throws {
        let context = WaitContext(now: Self.now, queues: [:], ownLeases: [])
        for kind in [WakeKind.voip, .alert] {
            var ledger = DeviceLedger(kind: kind)
            let policy = BudgetPolicy.standard
            for number in 0..<UInt64(policy.settings.burstPushes + 5) {
                let call = BudgetRequest.voip(CallFingerprint(bits: number))
                _ = ledger.admit(
                    kind == .voip ? call : .plain(until: Self.at(3_600)), policy: policy,
                    at: Self.now)
            }
            let budget = ledger.explain(policy: policy, at: Self.now)
            #expect(budget.nextSend > Self.at(1), "\(kind)")
            let row = WakeRow(
                id: Samples.freshID(), device: 1, queue: 1, previous: 0, acceptedAt: Self.now,
                decision: .send, coalescing: .replace, call: nil, urgency: .normal,
                state: .pending, dueAt: Self.at(1), notBefore: Self.now, deadline: Self.at(10),
                holds: kind == .voip ? [] : DelayReasons(.rate), payload: [],
                expiration: .immediately, collapseID: nil)
            let queue = WakeQueueKey(app: Samples.app, kind: kind)
            let wake = WakeRecord(
                row, queue: queue, deviceToken: Samples.deviceToken(), attempts: [])
            let view = DeviceView(
                queue: queue, deviceToken: Samples.deviceToken(), explanation: budget,
                pending: wake, recent: [wake], deadSince: nil, registeredAt: nil,
                lastReceiptAt: nil, topicConfirmsLaunches: false)
            let explanation = context.explain(view)
            #expect(explanation.earliest == Self.at(1), "\(kind): \(explanation.message)")
            #expect(explanation.reasons == context.explain(wake)?.reasons)
        }
    }

    @Test("A queue has one name for its state, and says what becomes of its wakes")
    func queueStates() {
        let pause = QueuePause(at: Self.now, reason: "a new key")
        let held = Circuit.open(reason: "APNs refused it.", since: Self.now, probeAt: Self.at(30))
        let silence = Silence(since: Self.now, failure: "no route")
        for bits in 0..<16 {
            for kind in WakeKind.allCases {
                let queue = QueueStatus(
                    kind: kind, pause: bits & 1 == 0 ? nil : pause,
                    circuit: bits & 2 == 0 ? .closed : held,
                    silence: bits & 4 == 0 ? nil : silence, inFlight: 0, unresponsive: nil,
                    confirmsLaunches: false, isStopping: bits & 8 != 0)
                let expected: [DelayReason] = [.paused, .held, .unresponsive, .stopping]
                #expect(
                    queue.reasons.map(\.kind)
                        == (0..<4).filter { bits & 1 << $0 != 0 }.map { expected[$0] })
                let states: [QueueState] = [.paused, .held, .unresponsive]
                let first = (0..<3).first { bits & 1 << $0 != 0 }
                #expect(queue.isUnresponsive == (bits & 4 != 0))
                #expect(queue.state == first.map { states[$0] } ?? .sending)
                #expect(queue.message.contains("expires unsent") == (bits != 0))
                for reason in queue.reasons { #expect(queue.message.contains(reason.sentence)) }
            }
        }
    }
}
