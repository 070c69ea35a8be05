// SPDX-License-Identifier: Apache-2.0

import WakeModel

extension BackgroundLedger {
    // MARK: Deciding

    /// Decides on a request, given the pending wake.
    @inline(__always)
    func decide(on request: BackgroundRequest, _ settings: BudgetSettings) -> Decision {
        decide(on: request, onto: carrier(settings), settings)
    }

    @inline(__always)
    private func decide(
        on request: BackgroundRequest, onto carrier: Carrier?, _ settings: BudgetSettings
    ) -> Decision {
        let refreshOffEnd = refreshOffEnd(settings)
        guard refreshOffEnd <= clock else {
            return .suppressed(.backgroundAppRefreshOff(until: Self.instant(refreshOffEnd)))
        }
        let release =
            if let carrier, carrier.wake.urgency >= request.urgency {
                carrier.release
            } else {
                release(
                    request.urgency, repeats: carrier?.wake.isRepeat ?? false, settings)
            }
        var due: WallInstant { Self.instant(release.until) }
        let expiry = Self.expirySecond(request.expiration)
        if expiry <= clock || !isInTime(min(expiry, clock + Int64(settings.holdSeconds)), release) {
            return .expired(earliest: due, because: release.holds)
        }
        if carrier != nil {
            return .coalesced(request.coalescing, until: due, because: release.holds)
        }
        return release.until <= clock ? .send : .deferred(until: due, because: release.holds)
    }

    /// Decides on a request and records the decision; an expired pending wake ends first.
    mutating func admit(
        _ request: BackgroundRequest, _ settings: BudgetSettings
    ) -> AdmitVerdict {
        let carrier = carrier(settings)
        let endsPending = pending != nil && carrier == nil
        if endsPending { pending = nil }
        let decision = decide(on: request, onto: carrier, settings)
        apply(decision, request)
        return AdmitVerdict(decision: decision, expiredPending: endsPending)
    }

    /// Applies a decision that was just made on the request.
    private mutating func apply(_ decision: Decision, _ request: BackgroundRequest) {
        let wake = PendingWake(
            since: now, newest: now, expiry: Self.storedExpiry(request.expiration), requests: 1,
            urgency: request.urgency, coalescing: request.coalescing)
        switch decision {
        case .send, .deferred: pending = wake
        case .coalesced: pending = pending?.absorbing(wake)
        case .sameCall, .expired, .suppressed: break
        }
    }

    // MARK: The pending wake

    /// Makes the pending wake represent exactly these requests, the oldest first. Its due time does
    /// not change.
    mutating func revisePending(_ requests: [BackgroundRequest], isSameWake: Bool) {
        guard var wake = pending, let first = requests.first else { return }
        wake.expiry = Self.storedExpiry(first.expiration)
        wake.urgency = first.urgency
        wake.coalescing = first.coalescing
        for request in requests.dropFirst() {
            let expiry = Self.storedExpiry(request.expiration)
            wake.expiry = request.coalescing == .replace ? expiry : max(wake.expiry, expiry)
            wake.urgency = max(wake.urgency, request.urgency)
            if request.coalescing == .replace { wake.coalescing = .replace }
        }
        if wake.requests > 1, wake.requests < .max { wake.requests -= 1 }
        if !isSameWake { wake.isRepeat = false }
        pending = wake
    }

    /// The time at which the pending wake may be sent.
    func outlook(_ settings: BudgetSettings) -> Outlook? {
        guard let pending else { return nil }
        let release = release(pending.urgency, repeats: pending.isRepeat, settings)
        return Outlook(
            due: Self.instant(release.until),
            deadline: Self.instant(deadline(of: pending, settings)), holds: release.holds)
    }

    /// A pending wake that others can merge into, with the time at which it may be sent.
    private struct Carrier {
        let wake: PendingWake
        let release: Release
    }

    /// The pending wake, unless it has expired, or certainly will before it may be sent.
    @inline(__always)
    private func carrier(_ settings: BudgetSettings) -> Carrier? {
        guard let pending else { return nil }
        let deadline = deadline(of: pending, settings)
        guard deadline > clock else { return nil }
        let release = release(pending.urgency, repeats: pending.isRepeat, settings)
        return isInTime(deadline, release) ? Carrier(wake: pending, release: release) : nil
    }

    /// Whether the pending wake has expired, or certainly will before it may be sent.
    func isPendingOver(_ settings: BudgetSettings) -> Bool {
        pending != nil && carrier(settings) == nil
    }

    /// Debits the pending wake and removes it, if it may be sent.
    mutating func claim(at instant: WallInstant, _ settings: BudgetSettings) -> ClaimVerdict {
        guard pending != nil else { return .nothingPending }
        guard let carrier = carrier(settings) else {
            pending = nil
            return .expired
        }
        let release = carrier.release
        guard release.until <= clock else {
            return .notYet(until: Self.instant(release.until), because: release.holds)
        }
        pending = nil
        observeSend(instant)
        sends.insert(now)
        day.add()
        debits &+= 1
        if inFlight < .max { inFlight += 1 }
        if unconfirmed < .max { unconfirmed += 1 }
        // A probe: the report counts again until a receipt contradicts it.
        if reports.contains(.refreshOff), hasReceipt(settings) { refreshOffAt = now }
        return .charged(
            BudgetDebit(
                second: clock, corrections: corrections, number: debits, wake: carrier.wake))
    }

    /// Records the outcome of a debited send; `returns` if its wake is to be sent again.
    mutating func settle(_ debit: BudgetDebit, _ fate: SendFate, returns: Bool) -> SettledWake {
        if inFlight > 0 { inFlight -= 1 }
        let stamp = WrappedSeconds(second: debit.second)
        var isRefunded = false
        if fate == .notSent, debit.corrections == corrections,
            let index = sends.remove(stamp)
        {
            day.remove(stamp)
            if index < unconfirmed { unconfirmed -= 1 }
            isRefunded = true
        }
        guard returns else { return .ended }
        var wake = debit.wake
        // The spacing is between wakes, and not between the attempts of one, which are one push
        // with one apns-id. So while nothing else was sent since, its own debits do not space it.
        wake.isRepeat = debit.number == debits && (!isRefunded || wake.isRepeat)
        if debit.corrections != corrections {
            // It has the age that it had when it was debited; the time since is not counted.
            wake.since = now &- (stamp &- wake.since)
            wake.newest = now &- (stamp &- wake.newest)
        }
        guard let other = pending else {
            pending = wake
            return .pending
        }
        let isNewer = wake.isNewer(than: other)
        var both = isNewer ? other.absorbing(wake) : wake.absorbing(other)
        both.isRepeat = other.isRepeat
        pending = both
        return .coalesced(isNewer: isNewer)
    }

    // MARK: Reports

    /// Records a report of the app. Returns the effect on the pending wake.
    mutating func report(_ signal: DeviceSignal) -> PendingEnd? {
        switch signal {
        case .lowPowerMode(let isOn):
            reports.set(.lowPowerMode, to: isOn)
            lowPowerModeAt = now
            // The app may post both at once, and requests overtake each other.
            if isOn, isWithinHour(refreshOffAt) { reports.set(.refreshOff, to: false) }
        case .battery(let percent, let isCharging):
            reports.set(.battery, to: true)
            reports.set(.isCharging, to: isCharging)
            batteryPercent = UInt8(max(0, min(percent, 100)))
            batteryAt = now
        case .backgroundAppRefresh(let isOn):
            // Low Power Mode turns it off, and delays wakes itself.
            if !isOn, wasSavingPower { return nil }
            reports.set(.refreshOff, to: !isOn)
            refreshOffAt = now
            if !isOn { return end(.suppressed) }
        case .forceQuit:
            reports.set(.forceQuit, to: true)
            forceQuitAt = now
        case .foreground:
            reports.set(.forceQuit, to: false)
            reports.set(.foreground, to: true)
            foregroundAt = now
            unconfirmed = 0
            return end(.superseded)
        }
        return nil
    }

    /// Records that the app confirmed a launch by the send of this second (`nil`: by the latest).
    ///
    /// It shows how long the device held the push, and whether receipts are missing.
    ///
    /// If the app reports that it synced, the pending wake is not needed if all its requests were
    /// made before that launch.
    mutating func confirmLaunch(
        sentAt: Int64?, launchedAt: Int64?, hasSynced: Bool
    ) -> PendingEnd? {
        let sent = sentAt ?? (sends.count > 0 ? second(of: sends.latest) : clock)
        let launch = min(max(launchedAt ?? clock, sent), clock)
        let isFirst = !reports.contains(.launch)
        let interval = launch - second(of: launchAt)
        let later = (0..<Int(sends.count)).prefix { second(of: sends[$0]) > sent }
        noteHold(from: sent, until: launch, behind: later.count, isFirst: isFirst)
        if launchedAt != nil, silence == .late { note(lateness: clock - launch) }
        unconfirmed = min(unconfirmed, UInt8(later.count))
        endReports(before: launch, certainlyAfter: launchedAt == nil ? sent : launch)
        reports.set(.forceQuit, to: false)
        reports.set(.launch, to: true)
        // Receipts may be out of order.
        if isFirst || interval > 0 { launchAt = WrappedSeconds(second: launch) }
        // Seconds are rounded down: a request in the second of the launch may be later than the
        // launch.
        guard hasSynced, let pending, let launched = launchedAt ?? sentAt,
            second(of: pending.newest) < launched
        else { return nil }
        return end(.superseded)
    }

    /// Whether Low Power Mode was reported in the last hour, and is not known to have ended.
    private var wasSavingPower: Bool {
        reports.contains(.lowPowerMode) && isWithinHour(lowPowerModeAt)
    }

    private func isWithinHour(_ stamp: WrappedSeconds) -> Bool {
        second(of: stamp) + BudgetLimits.hourSeconds > clock
    }

    /// Ends the reports that a later launch contradicts; a receipt without the time of the launch
    /// shows only that it was not before the send.
    private mutating func endReports(before launch: Int64, certainlyAfter earliest: Int64) {
        if launch >= second(of: refreshOffAt) { reports.set(.refreshOff, to: false) }
        if earliest > second(of: lowPowerModeAt) { reports.set(.lowPowerMode, to: false) }
        if earliest > second(of: batteryAt) { reports.set(.battery, to: false) }
    }

    /// Records a launch by a send that was followed by this number of others.
    private mutating func noteHold(
        from sent: Int64, until launch: Int64, behind later: Int, isFirst: Bool
    ) {
        // The number of consecutive silent sends until this launch, this one included.
        let silent = max(1, Int(unconfirmed) - later)
        let isHeld = launch - sent >= BudgetLimits.heldReceiptSeconds
        var begin = sent
        if isHeld, missingReceipts < BudgetLimits.lostReceipts, later + silent <= sends.count {
            // It held the first of them, and the others replaced it.
            begin = second(of: sends[later + silent - 1])
        }
        if later > 0, second(of: sends[later - 1]) > launch {
            note(.late, isFirst: isFirst)
        } else if silent == 1 {
            if unconfirmed > later { note(.prompt) }
        } else if !isHeld {
            // A device that launches the app immediately held nothing: the unconfirmed pushes had
            // arrived.
            for _ in 1..<min(silent, 4) { note(.lost) }
            note(.prompt)
        }
        note(hold: launch - begin)
    }

    /// Counts a receipt, by whether it was known when the next send needed it.
    private enum Receipt {
        case prompt, lost, late
    }

    private mutating func note(_ receipt: Receipt, isFirst: Bool = false) {
        switch receipt {
        case .prompt:
            missingReceipts -= missingReceipts / 16 + (missingReceipts % 16 > 0 ? 1 : 0)
        case .lost where missingReceipts < Self.mostLost:
            missingReceipts += (Self.mostLost - missingReceipts + 3) / 4
        case .lost: break
        // Where even the first receipt is late, others are taken to be, until a prompt one comes.
        case .late where isFirst: missingReceipts = Self.mostLost + 1
        case .late: missingReceipts += (.max - missingReceipts) / 8
        }
    }

    /// Updates the estimate of the time by which half of the receipts come.
    private mutating func note(lateness: Int64) {
        let known = Int64(lateSeconds)
        let moved =
            known == 0
            ? lateness
            : lateness > known
                ? min(known + known / 8 + 1, lateness) : max(known - known / 8, lateness)
        lateSeconds = UInt16(clamping: max(moved, 1))
    }

    /// Updates the estimate of the hold time with the hold time of a push, in seconds: a step up is
    /// eight times a step down, so that the estimate is stable where one push in nine is held
    /// longer. Late receipts are about old sends, so they move it half as far.
    private mutating func note(hold: Int64) {
        let known = Int64(knownHold)
        let slowness: Int64 = missingReceipts > Self.mostLost ? 2 : 1
        let moved =
            hold > known
            ? min(known + known / (2 * slowness), hold)
            : max(known - known / (16 * slowness), hold)
        holdSeconds = UInt16(
            min(max(moved, BudgetLimits.heldReceiptSeconds), BudgetLimits.longestHoldSeconds))
    }

    private mutating func end(_ end: PendingEnd) -> PendingEnd? {
        guard pending != nil else { return nil }
        pending = nil
        return end
    }

    // MARK: Times

    private func deadline(of wake: PendingWake, _ settings: BudgetSettings) -> Int64 {
        let held = second(of: wake.since) + Int64(settings.holdSeconds)
        return wake.expiry == PendingWake.noExpiry ? held : min(held, Int64(wake.expiry))
    }

    /// Whether the rules that no report can lift allow a wake before its deadline.
    private func isInTime(_ deadline: Int64, _ release: Release) -> Bool {
        release.firm <= clock || release.firm < deadline
    }

    private static func expirySecond(_ expiration: Expiration) -> Int64 {
        switch expiration {
        case .immediately: .max
        case .at(let instant): instant.secondsSinceEpoch
        }
    }

    private static func storedExpiry(_ expiration: Expiration) -> UInt32 {
        UInt32(clamping: expirySecond(expiration))
    }

    static func instant(_ second: Int64) -> WallInstant { WallInstant(secondsSinceEpoch: second) }
}
