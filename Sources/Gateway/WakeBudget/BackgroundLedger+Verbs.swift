// SPDX-License-Identifier: Apache-2.0

import WakeModel

extension BackgroundLedger {
    // MARK: Deciding

    /// Decides on a request, with what waits already.
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

    /// Decides on a request and books the decision; what waited and is over ends first.
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

    /// Lets the pending wake stand for these requests, the oldest first, and for no others. It
    /// waits for as long as it did.
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

    /// When the pending wake may go.
    func outlook(_ settings: BudgetSettings) -> Outlook? {
        guard let pending else { return nil }
        let release = release(pending.urgency, repeats: pending.isRepeat, settings)
        return Outlook(
            due: Self.instant(release.until),
            deadline: Self.instant(deadline(of: pending, settings)), holds: release.holds)
    }

    /// A pending wake that can take in others, and when it may go.
    private struct Carrier {
        let wake: PendingWake
        let release: Release
    }

    /// The pending wake, unless its time is over, or will certainly be before it may go.
    @inline(__always)
    private func carrier(_ settings: BudgetSettings) -> Carrier? {
        guard let pending else { return nil }
        let deadline = deadline(of: pending, settings)
        guard deadline > clock else { return nil }
        let release = release(pending.urgency, repeats: pending.isRepeat, settings)
        return isInTime(deadline, release) ? Carrier(wake: pending, release: release) : nil
    }

    /// Whether the pending wake's time is over, or will certainly be before it may go.
    func isPendingOver(_ settings: BudgetSettings) -> Bool {
        pending != nil && carrier(settings) == nil
    }

    /// Debits the pending wake and takes it out, if it may go.
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
        // A probe: what was reported is believed again until a receipt says otherwise.
        if reports.contains(.refreshOff), hasReceipt(settings) { refreshOffAt = now }
        return .charged(
            BudgetDebit(
                second: clock, corrections: corrections, number: debits, wake: carrier.wake))
    }

    /// Records what became of a charged send; `returns` says that its wake is to be sent again.
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
        // The spacing keeps wakes apart, and not the attempts of one, which are one push with one
        // apns-id. So as long as nothing else was sent since, its own debits do not space it.
        wake.isRepeat = debit.number == debits && (!isRefunded || wake.isRepeat)
        if debit.corrections != corrections {
            // It is as old as it was when it was charged; the time since is lost.
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

    /// Records a report of the app; what it did to the pending wake.
    mutating func report(_ signal: DeviceSignal) -> PendingEnd? {
        switch signal {
        case .lowPowerMode(let isOn):
            reports.set(.lowPowerMode, to: isOn)
            lowPowerModeAt = now
        case .battery(let percent, let isCharging):
            reports.set(.battery, to: true)
            reports.set(.isCharging, to: isCharging)
            batteryPercent = UInt8(max(0, min(percent, 100)))
            batteryAt = now
        case .backgroundAppRefresh(let isOn):
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

    /// Books that the app confirmed a launch by the send of this second (`nil`: by the latest).
    ///
    /// A launch well after the send shows that the device held the push, and then the time since
    /// the launch before is its own spacing. The estimate follows longer ones at once and shorter
    /// ones slowly, for a push that goes out too early is the dearer mistake.
    ///
    /// Where the app says when it was launched, its receipts show how late they come. That
    /// estimate follows shorter times quickly and longer ones slowly: one that was kept for hours
    /// says little of the next.
    ///
    /// Where the app says that it synced, the pending wake has nothing to add if all its requests
    /// came before that launch.
    mutating func confirmLaunch(
        sentAt: Int64?, launchedAt: Int64?, hasSynced: Bool
    ) -> PendingEnd? {
        let sent = sentAt ?? (sends.count > 0 ? second(of: sends.latest) : clock)
        let launch = min(max(launchedAt ?? clock, sent), clock)
        let isFirst = !reports.contains(.launch)
        let interval = launch - second(of: launchAt)
        let later = (0..<Int(sends.count)).prefix { second(of: sends[$0]) > sent }
        let isHeld = launch - sent >= BudgetLimits.heldReceiptSeconds
        if 60 * Int64(lateMinutes) > BudgetLimits.lateReceiptSeconds {
            noteDistance(of: launch, isHeld: isHeld, behind: later.count)
        } else if !isFirst, isHeld, 1...BudgetLimits.launchIntervalSeconds ~= interval {
            launchInterval = max(UInt16(interval), launchInterval - launchInterval / 8)
        }
        noteLateness(launchedAt == nil ? 0 : clock - launch)
        unconfirmed = min(unconfirmed, UInt8(later.count))
        if reports.contains(.refreshOff), launch >= second(of: refreshOffAt) {
            reports.set(.refreshOff, to: false)
        }
        reports.set(.forceQuit, to: false)
        reports.set(.launch, to: true)
        // Receipts overtake each other.
        if isFirst || interval > 0 { launchAt = WrappedSeconds(second: launch) }
        // Seconds are rounded down: what came in the second of the launch may have come after it.
        guard hasSynced, let pending, let launched = launchedAt ?? sentAt,
            second(of: pending.newest) < launched
        else { return nil }
        return end(.superseded)
    }

    /// Takes account of a launch whose receipt came late, by a send that was followed by so many.
    ///
    /// Such receipts overtake each other, so the launch before may not be known yet: then the send
    /// before stands for it. And as no send waits for them, the sends must come closer to find out
    /// that a device launches the app more often: where it does so at once, its own spacing is no
    /// longer than the distance.
    private mutating func noteDistance(of launch: Int64, isHeld: Bool, behind later: Int) {
        var before = Int64.min / 2
        if reports.contains(.launch), second(of: launchAt) < launch {
            before = second(of: launchAt)
        }
        if later + 1 < Int(sends.count) { before = max(before, second(of: sends[later + 1])) }
        let distance = launch - before
        guard 1...BudgetLimits.launchIntervalSeconds ~= distance else { return }
        if isHeld {
            launchInterval = max(UInt16(distance), launchInterval - launchInterval / 8)
        } else if launchInterval == 0 {
            launchInterval = UInt16(distance)
        } else if 5 * distance < 6 * Int64(launchInterval) {
            launchInterval -= launchInterval / 16
        }
    }

    /// Takes account of how late a receipt came, in seconds.
    private mutating func noteLateness(_ seconds: Int64) {
        let minutes = Int(min(seconds / 60, BudgetLimits.receiptLateMinutes))
        let known = Int(lateMinutes)
        let change = minutes < known ? (minutes - known - 1) / 2 : (minutes - known) / 8
        lateMinutes = UInt8(known + change)
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

    /// Whether the rules that no report can lift let a wake go before its deadline.
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
