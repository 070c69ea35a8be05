// SPDX-License-Identifier: Apache-2.0

import SeedKit
import WakeBudget
import WakeModel

/// A random walk of one ledger, beside a plain model of what may have happened to it.
///
/// The model keeps every send and counts wakes one by one; it knows the rules only as the
/// properties state them, and the clock as the ledger's documentation does. The walk stops at the
/// first thing that does not fit.
struct BudgetWalk {
    /// A send as the model keeps it.
    struct Send {
        let number: Int
        /// When it was booked, in seconds that the ledger has lived through.
        let lived: Int64
        /// The reading of the clock, in milliseconds.
        let reading: Int64
    }

    /// A charge that was not settled.
    struct Flight {
        let debit: BudgetDebit
        let number: Int
        /// How many wakes it carries.
        let wakes: Int
        let corrections: Int
        /// Whether its wake was sent again.
        let isRepeat: Bool
    }

    /// The first thing that did not fit.
    final class Findings {
        private(set) var first: String?

        func expect(_ isSo: Bool, _ sentence: @autoclosure () -> String) {
            if !isSo && first == nil { first = sentence() }
        }
    }

    let policy: BudgetPolicy
    let hasClockTrouble: Bool
    var generator: SeededGenerator
    var ledger = DeviceLedger(kind: .background)
    var now: Int64 = 1_800_000_000_000
    /// What did not fit, and when; `nil` after a walk on which all did.
    var failure: String?
    /// What did not fit.
    let findings = Findings()

    // The model.
    var clock: Int64
    var lived: Int64 = 0
    var corrections = 0
    var sends: [Send] = []
    /// Sends with a lower number are confirmed.
    var confirmedBelow = 0
    /// The ledger keeps longer gaps between sends cut, in seconds, and does not find what is
    /// behind one any more.
    static let longestGap: Int64 = 65_535
    /// The numbers of sends that lie behind a cut gap.
    var lost: Set<Int> = []
    /// The numbers of those sends that the ledger can still refund.
    var refundable: [Int] = []
    var sendCount = 0
    /// When the latest confirmed launch was, in seconds that the ledger has lived through.
    var launched: Int64?
    var flights: [Flight] = []
    var accepted = 0
    var ended = 0
    var waiting = 0
    /// Whether what waits was sent before, and nothing else since.
    var isRepeat = false
    /// Whether Low Power Mode was reported last, on.
    var mayBeSaving = false

    init(seed: UInt64, policy: BudgetPolicy, hasClockTrouble: Bool) {
        self.policy = policy
        self.hasClockTrouble = hasClockTrouble
        generator = SeededGenerator(seed: seed)
        clock = now / 1000
    }

    var instant: WallInstant { WallInstant(millisecondsSinceEpoch: now) }

    /// Takes so many steps, or fewer when something does not fit, and lets all wakes end.
    mutating func run(steps: Int) {
        for number in 0..<steps {
            step()
            guard findings.first == nil else {
                failure = "step \(number): \(findings.first ?? "")"
                return
            }
        }
        drain()
        failure = findings.first.map { "at the end: \($0)" }
    }

    mutating func below(_ bound: Int64) -> Int64 {
        Int64(generator.next() % UInt64(bound))
    }

    // MARK: Time

    private mutating func passTime() {
        switch below(100) {
        case 0..<10: break
        case 10..<50: now += below(90_000)
        case 50..<90: now += below(1_200_000)
        case 90..<99: now += below(7_200_000)
        default: now += below(108_000_000)
        }
        if hasClockTrouble {
            switch below(50) {
            case 0: now -= below(100_000)
            case 1: now -= below(93_600_000)
            case 2: now += 86_400_000
            default: break
            }
        }
        // The model hears of every reading, so the ledger must when one may be a correction.
        if hasClockTrouble { ledger.observe(instant) }
        tell(now >= 0 ? now / 1000 : (now - 999) / 1000)
    }

    /// The clock as it is documented: a short step back is none, a long one loses no age.
    private mutating func tell(_ second: Int64) {
        if second >= clock {
            lived += second - clock
            clock = second
        } else if clock - second > 120 {
            clock = second
            corrections += 1
        }
    }

    // MARK: Steps

    private mutating func step() {
        passTime()
        checkOutlook()
        switch below(100) {
        case 0..<40: admit()
        case 40..<70: claim()
        case 70..<85: settle()
        case 85..<90: confirm()
        case 90..<94: report()
        case 94..<97: expire()
        case 97: cancel()
        default: foreground()
        }
        if hasClockTrouble { checkEncoding() }
        let broken = ledger.invariantsBroken()
        findings.expect(broken.isEmpty, "broken: \(broken)")
        findings.expect(
            Int(ledger.pending?.requests ?? 0) == waiting,
            "\(ledger.pending?.requests ?? 0) wakes wait, and should be \(waiting)")
        findings.expect(ledger.inFlight == flights.count, "\(ledger.inFlight) sends are in flight")
    }

    /// What is written and read is the same.
    private func checkEncoding() {
        do throws(LedgerDecodingError) {
            let copy = try DeviceLedger(decoding: ledger.encoded())
            findings.expect(copy == ledger, "written \(ledger), read \(copy)")
        } catch {
            findings.expect(false, "written \(ledger), refused: \(error)")
        }
    }

    /// The due time is kept: not a second earlier, and not later.
    private func dueTimeFault() -> String? {
        var ledger = ledger
        ledger.observe(instant)
        guard let outlook = ledger.outlook(policy: policy, at: instant) else { return nil }
        var copy = ledger
        switch copy.claim(policy: policy, at: outlook.due) {
        case .charged, .expired: break
        case .notYet(let until, let holds):
            return "due at \(outlook.due), but then not before \(until) because of \(holds.all)"
        case .nothingPending: return "a wake is due that does not wait"
        }
        guard !outlook.holds.isEmpty else { return nil }
        if let pending = ledger.pending,
            let hold = needlessHold(outlook.holds, pending.urgency)
        {
            return "\(hold) holds although it is met"
        }
        copy = ledger
        let before = max(instant, outlook.due.advanced(byMilliseconds: -1))
        if before < outlook.due, case .charged = copy.claim(policy: policy, at: before) {
            return "due at \(outlook.due), but sent at \(before)"
        }
        return nil
    }

    private mutating func checkOutlook() {
        if let fault = dueTimeFault() { findings.expect(false, fault) }
    }

    private mutating func request() -> BudgetRequest {
        let urgency: Urgency =
            switch below(8) {
            case 0: .urgent
            case 1: .deferrable
            default: .normal
            }
        let expiration: Expiration =
            below(3) == 0
            ? .at(instant.advanced(byMilliseconds: below(7_260_000) - 60_000)) : .immediately
        return .background(
            urgency, coalescing: below(2) == 0 ? .replace : .union, expiration: expiration)
    }

    private mutating func admit() {
        let request = request()
        let decision = ledger.decide(on: request, policy: policy, at: instant)
        let again = ledger.decide(on: request, policy: policy, at: instant)
        findings.expect(decision == again, "decided \(decision), then \(again)")
        let verdict = ledger.admit(request, policy: policy, at: instant)
        findings.expect(
            verdict.decision == decision, "decided \(decision), booked \(verdict.decision)")
        accepted += 1
        if verdict.expiredPending {
            findings.expect(waiting > 0, "a wake expired that did not wait")
            endWaiting()
        }
        switch decision {
        case .send, .deferred:
            findings.expect(waiting == 0, "\(decision) while another wake waits")
            waiting = 1
            isRepeat = false
        case .coalesced:
            findings.expect(waiting > 0, "coalesced into nothing")
            waiting += 1
        case .expired, .suppressed: ended += 1
        case .sameCall: findings.expect(false, "a background wake is no call")
        }
    }

    private mutating func endWaiting() {
        ended += waiting
        waiting = 0
    }

    private mutating func claim() {
        switch ledger.claim(policy: policy, at: instant) {
        case .charged(let debit):
            findings.expect(waiting > 0, "nothing waited, but it was charged")
            checkLimits(debit.wake.urgency)
            tell((now + (now >= 0 ? 999 : 0)) / 1000)
            sends.append(Send(number: sendCount, lived: lived, reading: now))
            loseBehindCutGaps()
            refundable.append(sendCount)
            if refundable.count > 13 { refundable.removeFirst() }
            flights.append(
                Flight(
                    debit: debit, number: sendCount, wakes: waiting, corrections: corrections,
                    isRepeat: isRepeat))
            sendCount += 1
            waiting = 0
        case .expired:
            findings.expect(waiting > 0, "nothing waited, but it expired")
            endWaiting()
        case .notYet(_, let holds):
            findings.expect(waiting > 0 && !holds.isEmpty, "held back by nothing")
        case .nothingPending:
            findings.expect(waiting == 0, "a wake waits, but none is to be claimed")
        }
    }

    /// Notes which sends lie behind a gap that the ledger keeps cut: it never finds them again.
    private mutating func loseBehindCutGaps() {
        for (index, (older, newer)) in zip(sends, sends.dropFirst()).enumerated()
        where newer.lived - older.lived > Self.longestGap {
            lost.formUnion(sends[...index].map(\.number))
        }
    }

    private func isFound(_ number: Int) -> Bool {
        !lost.contains(number) && sends.contains { $0.number == number }
    }

    private mutating func settle() {
        guard !flights.isEmpty else { return }
        let flight = flights.remove(at: Int(below(Int64(flights.count))))
        let fate = SendFate.allCases[Int(below(3))]
        let returns = fate != .accepted && below(2) == 0
        let isRefunded =
            fate == .notSent && flight.corrections == corrections
            && refundable.contains(flight.number) && isFound(flight.number)
        if isRefunded {
            refundable.removeAll { $0 == flight.number }
            sends.removeAll { $0.number == flight.number }
            loseBehindCutGaps()
        }
        switch ledger.settle(flight.debit, as: fate, returns: returns) {
        case .ended:
            findings.expect(!returns, "a wake ended that was to return")
            ended += flight.wakes
        case .pending:
            findings.expect(returns && waiting == 0, "a wake returned that was not to")
            waiting = flight.wakes
            isRepeat = flight.number == sendCount - 1 && (!isRefunded || flight.isRepeat)
        case .coalesced:
            findings.expect(returns && waiting > 0, "a wake returned into nothing")
            waiting += flight.wakes
        }
    }

    private mutating func confirm() {
        let hasSynced = below(4) == 0
        let end = ledger.confirmLaunch(launchedAt: instant, hasSynced: hasSynced, at: instant)
        findings.expect(end == nil || hasSynced, "superseded without a sync")
        if end != nil { endWaiting() }
        launched = lived
        confirmSends()
    }

    private mutating func confirmSends() {
        confirmedBelow = sendCount
    }

    private mutating func report() {
        let isBad = below(4) == 0
        let signal: DeviceSignal =
            switch below(4) {
            case 0: .lowPowerMode(isBad)
            case 1: .battery(percent: isBad ? 10 : 60, isCharging: below(2) == 0)
            case 2: .backgroundAppRefresh(!isBad)
            default: isBad ? .forceQuit : .lowPowerMode(false)
            }
        let end = ledger.report(signal, at: instant)
        if case .lowPowerMode(let isOn) = signal { mayBeSaving = isOn }
        // In Low Power Mode, unless a launch ended that, it says nothing more.
        if mayBeSaving, signal == .backgroundAppRefresh(false), end == nil { return }
        self.end(by: end, signal == .backgroundAppRefresh(false))
    }

    private mutating func foreground() {
        end(by: ledger.report(.foreground, at: instant), true)
        confirmSends()
    }

    private mutating func end(by end: PendingEnd?, _ mustEnd: Bool) {
        findings.expect(
            (end != nil) == (mustEnd && waiting > 0), "a report ended \(end?.rawValue ?? "nothing")"
        )
        if end != nil { endWaiting() }
    }

    private mutating func expire() {
        guard ledger.expirePending(policy: policy, at: instant) else { return }
        findings.expect(waiting > 0, "nothing waited, but it expired")
        endWaiting()
    }

    private mutating func cancel() {
        let wasWaiting = ledger.cancelPending(at: instant)
        findings.expect(wasWaiting == (waiting > 0), "cancelled \(wasWaiting) of \(waiting)")
        endWaiting()
    }

    /// After a time that no wake may wait, all have ended, each once.
    private mutating func drain() {
        while !flights.isEmpty { settle() }
        now = max(now, 1000 * clock) + 1000 * Int64(policy.settings.holdSeconds)
        expire()
        findings.expect(
            accepted == ended && waiting == 0,
            "\(accepted) wakes were accepted, \(ended) ended, \(waiting) wait")
    }
}

// MARK: Limits

extension BudgetWalk {
    /// How many sends in a row were not confirmed.
    private var unconfirmed: Int {
        var count = 0
        while count < sends.count, sends[sends.count - 1 - count].number >= confirmedBelow {
            count += 1
        }
        return count
    }

    /// The sends that an hour and a day may have now.
    private var windows: (hourly: Int, daily: Int) {
        let settings = policy.settings
        let isTrusted =
            settings.confirmsLaunches
            && launched.map { (sends.last?.lived ?? lived) - $0 < 86_400 } ?? false
        return isTrusted
            ? (settings.confirmedHourlySends, settings.confirmedDailySends)
            : (settings.hourlySends, settings.dailySends)
    }

    /// How many sends of the model are younger than so many seconds.
    private func sends(youngerThan seconds: Int64) -> Int {
        var count = 0
        while count < sends.count, lived - sends[sends.count - 1 - count].lived < seconds {
            count += 1
        }
        return count
    }

    /// Whether one more send keeps to the limits: in the time that the ledger has lived through,
    /// and by an orderly clock to the millisecond.
    private mutating func checkLimits(_ urgency: Urgency) {
        let settings = policy.settings
        let (hourly, daily) = windows
        let isConfirmed = settings.confirmsLaunches && launched != nil && unconfirmed == 0
        let spacing = isConfirmed ? settings.confirmedSpacingSeconds : settings.spacingSeconds

        if let oldest = sends.first, lived - oldest.lived >= 90_000 {
            sends.removeAll { lived - $0.lived >= 90_000 && $0.number < confirmedBelow }
        }
        let (inHour, inDay) = (sends(youngerThan: 3_600) + 1, sends(youngerThan: 86_400) + 1)
        findings.expect(inHour <= hourly, "\(inHour) sends in an hour, \(hourly) allowed")
        findings.expect(inDay <= daily, "\(inDay) sends in a day, \(daily) allowed")
        // The attempts of one wake are one push: the spacing keeps wakes apart.
        let last = isRepeat ? nil : sends.last
        if let last, urgency != .urgent {
            findings.expect(
                lived - last.lived >= spacing,
                "\(lived - last.lived) s after the last send, \(spacing) required")
        }
        guard !hasClockTrouble else { return }
        if sends.count >= hourly {
            let first = sends[sends.count - hourly]
            findings.expect(
                now - first.reading >= 3_600_000, "\(hourly + 1) sends in an hour by the clock")
        }
        if sends.count >= daily {
            let first = sends[sends.count - daily]
            findings.expect(
                now - first.reading >= 86_400_000, "\(daily + 1) sends in a day by the clock")
        }
        if let last, urgency != .urgent {
            findings.expect(
                now - last.reading >= 1000 * Int64(spacing), "too near by the clock")
        }
    }

    /// A rule about sends that is said to hold, although it is met; a day may last a slot longer.
    func needlessHold(_ holds: DelayReasons, _ urgency: Urgency) -> DelayReason? {
        let settings = policy.settings
        let (hourly, daily) = windows
        let room = urgency == .deferrable ? max(1, hourly - 1) : hourly
        let age = sends.last.map { lived - $0.lived } ?? .max
        let isMet: (DelayReason) -> Bool = { hold in
            switch hold {
            case .hourly: sends(youngerThan: 3_600) < room
            case .daily: isDayMet(daily, age)
            case .spacing: age >= settings.spacingSeconds
            case .unconfirmed:
                launched == nil || unconfirmed == 0 || age >= 2 * settings.spacingMaximumSeconds
            case .foreground, .unused, .lowPowerMode, .lowBattery, .forceQuit: false
            case .paused, .held, .unresponsive, .spread, .backOff, .stopping, .leasedElsewhere,
                .rate:
                true
            }
        }
        return holds.all.first(where: isMet)
    }

    /// Whether the day has room, and its sends beyond half of the limit are spread; each send may
    /// count for a slot longer.
    private func isDayMet(_ limit: Int, _ age: Int64) -> Bool {
        let count = sends(youngerThan: 86_400 + 1_440)
        guard 2 * count > limit else { return true }
        return count < limit && age >= 86_400 * Int64(limit + 2 * count) / Int64(2 * limit * limit)
    }
}
