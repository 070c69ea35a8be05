// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeBudget
import WakeModel

/// The run of one device with one sending strategy.
///
/// The next step is the earliest of: an event of the device, an event that requests a wake, a
/// receipt, the due time of the rule, and the next change of the device. Simultaneous steps are in
/// that order; a rule that sends immediately sends with the event.
struct DeviceRun<Rule: SendingRule> {
    /// The input, which is the same for all strategies.
    private let story: DeviceStory
    private let scenario: Scenario
    private var rule: Rule
    private var device: ModelledDevice
    private var chance: SeededGenerator

    private var reports: [PushReport] = []
    private var pushes: [SentPush] = []
    /// The indexes of the events that the waiting wake carries.
    private var carried: [Int] = []
    /// The receipts in transit, the earliest first.
    private var receipts: [Receipt] = []
    /// The receipts that were not delivered and that the app keeps.
    private var keptReceipts: [Receipt] = []
    private var freshness = Freshness()
    private var conditions = ReportedConditions()
    private(set) var tally = Tally()
    private(set) var trace: DeviceTrace?
    /// Whether there is a trace. Checked after each step, so without accessing the trace itself.
    private let isTraced: Bool
    /// Whether the rule knows the outcomes of its pushes.
    private var isOracle: Bool { Rule.self == OracleSending.self }

    private struct SentPush {
        var sentAt: Int64
        var wasAble: Bool
        var isDecided = false
    }

    private struct Receipt {
        var at: Int64
        var launchedAt: Int64
        var push: Int
    }

    /// Prepares a run.
    init(_ story: DeviceStory, of scenario: Scenario, by rule: Rule, trace: DeviceTrace?) {
        self.story = story
        self.scenario = scenario
        self.rule = rule
        self.trace = trace
        isTraced = trace != nil
        device = story.device
        chance = story.chance
    }

    /// Runs the device until the end.
    mutating func run() {
        let end = scenario.end.millisecondsSinceEpoch
        tally.devices = 1
        tally.watchedMilliseconds = UInt64(scenario.seconds * 1000)
        var nextMoment = prepare()
        var nextAsk = 0
        var now = scenario.start.millisecondsSinceEpoch
        noteAbility(at: now)
        // Both change only when the rule or the device changes, so they are computed only then.
        var due = rule.due(at: now) ?? .max
        var change = nextChange
        while true {
            let moment = nextMoment < story.moments.count ? story.moments[nextMoment].at : nil
            let happening = moment?.millisecondsSinceEpoch ?? .max
            let asking = nextAsk < story.asks.count ? story.asks[nextAsk].at : .max
            let receipt = receipts.first?.at ?? .max
            let next = min(happening, asking, receipt, due, change)
            guard next < end else { break }
            now = next
            if now == happening {
                let event = story.moments[nextMoment].event
                happen(event, at: now)
                nextMoment += 1
                change = nextChange
                if event == .appOpened || isOracle { due = rule.due(at: now) ?? .max }
            } else if now == asking {
                ask(nextAsk, at: now)
                nextAsk += 1
                due = rule.due(at: now) ?? .max
                if Rule.sendsAtOnce, due <= now {
                    release(at: now)
                    due = rule.due(at: now) ?? .max
                    change = nextChange
                }
            } else if now == receipt {
                confirm(receipts.removeFirst(), at: now)
                due = rule.due(at: now) ?? .max
            } else if now == due {
                release(at: now)
                due = rule.due(at: now) ?? .max
                change = nextChange
            } else {
                device.advance(to: WallInstant(millisecondsSinceEpoch: now), into: &reports)
                digest()
                change = nextChange
                if isOracle { due = rule.due(at: now) ?? .max }
            }
            noteAbility(at: now)
        }
        finish(at: end)
    }

    /// The time of the next step of the device without an event, in milliseconds since the epoch.
    private var nextChange: Int64 { device.nextChange?.millisecondsSinceEpoch ?? .max }

    /// Applies the events before the first day. Returns the index of the next one.
    private mutating func prepare() -> Int {
        var next = 0
        while next < story.moments.count, story.moments[next].at < scenario.start {
            let moment = story.moments[next]
            device.apply(moment.event, at: moment.at, into: &reports)
            conditions.note(moment.event)
            next += 1
        }
        return next
    }

    // MARK: Events

    private mutating func happen(_ event: DeviceEvent, at now: Int64) {
        device.apply(event, at: WallInstant(millisecondsSinceEpoch: now), into: &reports)
        digest()
        conditions.note(event)
        switch event {
        case .appOpened:
            for receipt in keptReceipts { deliver(receipt, at: now) }
            keptReceipts.removeAll()
            freshness.enterForeground(at: now, &tally)
            trace?.enterForeground(at: now)
            report(at: now)
        case .appLeft, .appForceQuit:
            freshness.leaveForeground()
            trace?.leaveForeground(at: now)
        default: break
        }
    }

    /// The app, in the foreground, reports the conditions of the device to the sender.
    private mutating func report(at now: Int64) {
        guard scenario.feedback.reportsForeground else { return }
        if scenario.feedback.reportsPower {
            let news = conditions.news(withRefresh: scenario.feedback.reportsRefresh)
            for signal in news where rule.report(signal, at: now) {
                endCarried(.superseded)
            }
        }
        if rule.report(.foreground, at: now) { endCarried(.superseded) }
    }

    private mutating func confirm(_ receipt: Receipt, at now: Int64) {
        let received = ReceivedReceipt(
            sentAt: pushes[receipt.push].sentAt, launchedAt: receipt.launchedAt,
            hasSynced: scenario.feedback.receiptsSaySynced)
        if rule.confirm(received, at: now) { endCarried(.superseded) }
    }

    private mutating func ask(_ number: Int, at now: Int64) {
        tally.asked += 1
        freshness.event(at: now, &tally)
        let stream = scenario.streams[story.asks[number].stream]
        trace?.asks.append(
            DeviceTrace.Ask(at: WallInstant(millisecondsSinceEpoch: now), stream: stream.name))
        switch rule.ask(stream, at: now) {
        case .waits(let endsWaiting):
            if endsWaiting { endCarried(.expired) }
            carried.append(number)
        case .merges:
            carried.append(number)
        case .ends(let why):
            tally.ended[why, default: 0] += 1
            trace?.asks[number].end = why
        }
    }

    private mutating func release(at now: Int64) {
        switch rule.release(at: now) {
        case .sends: send(at: now)
        case .expires: endCarried(.expired)
        case .waits: break
        }
    }

    private mutating func endCarried(_ why: AskEnd) {
        tally.ended[why, default: 0] += UInt64(carried.count)
        for number in carried { trace?.asks[number].end = why }
        carried.removeAll(keepingCapacity: true)
    }

    private mutating func send(at now: Int64) {
        let instant = WallInstant(millisecondsSinceEpoch: now)
        let number = pushes.count
        tally.sent += 1
        tally.merged += UInt64(max(0, carried.count - 1))
        var expiry = now
        for (place, ask) in carried.enumerated() {
            let asked = story.asks[ask]
            expiry = max(expiry, asked.at + scenario.streams[asked.stream].lifeSeconds * 1000)
            tally.wait.add(now - asked.at)
            trace?.asks[ask].push = number
            trace?.asks[ask].isMerged = place > 0
        }
        carried.removeAll(keepingCapacity: true)
        pushes.append(SentPush(sentAt: now, wasAble: story.isModelled && device.isAble))
        trace?.pushes.append(DeviceTrace.Push(sentAt: instant))
        guard story.isModelled else { return }
        let push = ArrivingPush(
            number: number, expiration: .at(WallInstant(millisecondsSinceEpoch: expiry)))
        device.take(push, at: instant, into: &reports)
        digest()
    }

    // MARK: Outcomes

    /// Records the outcomes that the device reported.
    private mutating func digest() {
        for report in reports { book(report) }
        reports.removeAll(keepingCapacity: true)
    }

    private mutating func book(_ report: PushReport) {
        let at = report.at.millisecondsSinceEpoch
        let push = pushes[report.number]
        pushes[report.number].isDecided = true
        trace?.pushes[report.number].report = report
        tally.count(report.fate)
        if push.wasAble { tally.sentWhileAble += 1 }
        if rule.end(reachedApp: report.fate.reachedApp, at: at) { endCarried(.superseded) }
        switch report.fate {
        case .launched: tally.launched += 1
        case .deliveredInForeground: tally.inForeground += 1
        default: return
        }
        if push.wasAble { tally.reachedWhileAble += 1 }
        tally.hold.add(at - push.sentAt)
        freshness.sync(at: at, &tally)
        let feedback = scenario.feedback
        let receipt = Receipt(at: at, launchedAt: at, push: report.number)
        guard chance.chance(feedback.receiptProbability) else {
            if feedback.keepsReceipts { keptReceipts.append(receipt) }
            return
        }
        for kept in keptReceipts { deliver(kept, at: at) }
        keptReceipts.removeAll()
        deliver(receipt, at: at)
    }

    /// Schedules the arrival of a receipt.
    private mutating func deliver(_ receipt: Receipt, at now: Int64) {
        let feedback = scenario.feedback
        var receipt = receipt
        let spread = feedback.receiptSpreadMilliseconds
        receipt.at = now + feedback.receiptDelayMilliseconds
        if spread > 0 { receipt.at += chance.integer(in: 0...spread) }
        let place = receipts.lastIndex { $0.at <= receipt.at }.map { $0 + 1 } ?? 0
        receipts.insert(receipt, at: place)
    }

    private mutating func noteAbility(at now: Int64) {
        guard isTraced, story.isModelled else { return }
        trace?.note(isAble: device.isAble, at: now)
    }

    private mutating func finish(at end: Int64) {
        freshness.finish(at: end, &tally)
        tally.waiting = UInt64(carried.count)
        tally.undecided = UInt64(pushes.count { !$0.isDecided })
        trace?.finish(at: end)
    }
}

/// The conditions of the device as the app knows them, and those that it has reported.
struct ReportedConditions: Hashable, Sendable {
    private var isInLowPowerMode = false
    private var batteryPercent = 80
    private var isCharging = false
    private var allowsRefresh = true
    private var told: [DeviceSignal] = []

    mutating func note(_ event: DeviceEvent) {
        switch event {
        case .lowPowerMode(let isOn): isInLowPowerMode = isOn
        case .battery(let permille): batteryPercent = permille / 10
        case .charging(let isOn): isCharging = isOn
        case .backgroundRefresh(let isOn): allowsRefresh = isOn
        default: break
        }
    }

    /// Returns the signals that differ from the last report.
    mutating func news(withRefresh: Bool) -> [DeviceSignal] {
        var signals: [DeviceSignal] = [
            .lowPowerMode(isInLowPowerMode),
            .battery(percent: batteryPercent, isCharging: isCharging),
        ]
        if withRefresh {
            signals.append(.backgroundAppRefresh(allowsRefresh && !isInLowPowerMode))
        }
        defer { told = signals }
        return signals.filter { !told.contains($0) }
    }
}

extension DeviceTrace {
    fileprivate mutating func enterForeground(at now: Int64) {
        foreground.append(now..<Int64.max)
    }

    fileprivate mutating func leaveForeground(at now: Int64) {
        Self.close(&foreground, at: now)
    }

    fileprivate mutating func note(isAble: Bool, at now: Int64) {
        let wasAble = unable.last.map { $0.upperBound != .max } ?? true
        if wasAble, !isAble {
            unable.append(now..<Int64.max)
        } else if !wasAble, isAble {
            Self.close(&unable, at: now)
        }
    }

    fileprivate mutating func finish(at end: Int64) {
        Self.close(&foreground, at: end)
        Self.close(&unable, at: end)
    }

    /// Ends the last span, if it is open.
    private static func close(_ spans: inout [Range<Int64>], at end: Int64) {
        guard let last = spans.last, last.upperBound == .max else { return }
        spans[spans.count - 1] = last.lowerBound..<max(last.lowerBound, end)
    }
}
