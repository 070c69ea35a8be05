// SPDX-License-Identifier: Apache-2.0

// The device's scheduler: steps 6, 7 and 9 of facts §6.3.
extension ModelledDevice {
    /// Something that the device or APNs does by itself.
    enum Step {
        case arrival
        case storageExpiry
        case callExpiry
        case drop
        case launch
    }

    /// What comes next and when; at one instant, in the order of the cases.
    func nextStep() -> (at: Instant, step: Step)? {
        var next: (at: Instant, step: Step)?
        func consider(_ instant: Instant?, _ step: Step) {
            guard let instant, instant < next?.at ?? .max else { return }
            next = (instant, step)
        }
        consider(transit.first?.arrival, .arrival)
        if let stored { consider(storageEnd(stored), .storageExpiry) }
        if let storedCall { consider(storageEnd(storedCall), .callExpiry) }
        if let held {
            consider(held.dropsAt, .drop)
            consider(opening(), .launch)
        }
        return next
    }

    /// Does what comes by itself, up to and including `end`.
    mutating func settle(through end: Instant, _ reports: inout [PushReport]) {
        while let (instant, step) = nextStep(), instant <= end {
            now = max(now, instant)
            switch step {
            case .arrival: arrive(transit.removeFirst().waiting, &reports)
            case .storageExpiry: expire(&stored, &reports)
            case .callExpiry: expire(&storedCall, &reports)
            case .drop:
                if let held { report(held.waiting, .heldOverBudget, &reports) }
                held = nil
            case .launch:
                if let held { launch(held.waiting, &reports) }
                held = nil
            }
        }
    }

    private func expire(_ slot: inout WaitingPush?, _ reports: inout [PushReport]) {
        if let waiting = slot { report(waiting, .expired, &reports) }
        slot = nil
    }

    /// When every gate is open for the held push, if nothing changes; `nil` for never.
    private func opening() -> Instant? {
        guard meetsConditions, launchesInBackground else { return nil }
        var opens = max(now, spacingOpens, hour.opens, herdOpens)
        opens = max(opens, bucket.opens(costPermille: costPermille))
        let isSpent = runtimeLeft <= 0 || (!isOnWiFi && cellularLeft <= 0)
        if isSpent {
            guard isRenewable else { return nil }
            opens = max(opens, nextReset)
        }
        return isUnused(at: opens) ? nil : opens
    }

    /// Whether the next reset leaves anything to spend.
    private var isRenewable: Bool {
        parameters.budget.runtimeSeconds > 0 && (isOnWiFi || parameters.budget.cellularBytes > 0)
    }

    /// The gates that only an event can open.
    var meetsConditions: Bool {
        guard isOnline, wasUnlockedSinceBoot, allowsRefresh, !isBatteryLow else { return false }
        if isInLowPowerMode, parameters.gates.lowPowerMode == .blocks { return false }
        return isOnWiFi || !isInLowDataMode || !parameters.gates.lowDataModeBlocks
    }

    var isBatteryLow: Bool {
        !isCharging && batteryPermille < parameters.gates.minimumBatteryPermille
    }

    /// Whether the app was not opened for too long.
    func isUnused(at instant: Instant) -> Bool {
        guard let days = parameters.gates.unusedDays else { return false }
        return instant - lastOpened > days * 86_400_000
    }

    /// The weight of a millisecond of waiting, in permille: less on the charger.
    var costPermille: Int64 {
        let factor = isCharging ? max(1, Int64(parameters.rate.chargingFactor * 1000)) : 1000
        let isSlowed = isInLowPowerMode && parameters.gates.lowPowerMode == .quadruplesSpacing
        return max(1, (isSlowed ? factor * 4 : factor) * spacingPermille / 1000)
    }

    private var spacingOpens: Instant {
        guard let lastLaunch else { return .min }
        let spacing = parameters.rate.minimumSpacingSeconds * spacingMultiplier
        return lastLaunch + spacing * costPermille
    }

    private var herdOpens: Instant {
        guard let herdBegan else { return .min }
        let seconds =
            isLocked ? parameters.gates.herdBlockSeconds : parameters.gates.herdBlockInUseSeconds
        return herdBegan + seconds * 1000
    }

    /// Launches the app, and takes what it costs out of the budgets.
    private mutating func launch(_ waiting: WaitingPush, _ reports: inout [PushReport]) {
        renewBudgets()
        let runtime = drawRuntime()
        let isTerminated = !app.completesHandler
        runtimeLeft -= runtime
        if !isOnWiFi { cellularLeft -= app.bytesPerLaunch }
        bucket.count(until: now, costPermille: costPermille)
        bucket.pay()
        hour.add(now)
        lastLaunch = now
        spacingMultiplier = isTerminated ? parameters.rate.penaltyFactor : 1
        reportLaunch(waiting.released(at: now), runtime, isTerminated, &reports)
    }

    /// The system launches another app: it counts in the device's hour, and takes its part of a
    /// budget that all apps share.
    mutating func launchOtherApp() {
        renewBudgets()
        hour.add(now)
        runtimeLeft -= parameters.budget.otherAppSeconds * 1000
    }

    /// The limits are off under a debugger (facts §6.1).
    mutating func launchUnderDebugger(_ waiting: WaitingPush, _ reports: inout [PushReport]) {
        reportLaunch(waiting, drawRuntime(), false, &reports)
    }

    /// PushKit launches the app past every budget.
    mutating func launchForCall(_ waiting: WaitingPush, _ reports: inout [PushReport]) {
        if isInForeground {
            report(waiting, .deliveredInForeground(heldMilliseconds: waiting.heldBefore), &reports)
        } else {
            reportLaunch(waiting, drawRuntime(), false, &reports)
        }
    }

    private func reportLaunch(
        _ waiting: WaitingPush, _ runtime: Int64, _ isTerminated: Bool,
        _ reports: inout [PushReport]
    ) {
        let launch = PushFate.Launch(
            heldMilliseconds: waiting.heldBefore, runtimeMilliseconds: runtime,
            wasTerminated: isTerminated)
        report(waiting, .launched(launch), &reports)
    }

    /// Until the handler completes, or the system's patience ends.
    private mutating func drawRuntime() -> Int64 {
        let longest = parameters.budget.maximumRunSeconds * 1000
        guard app.completesHandler else { return longest }
        return min(longest, generator.exponential(mean: app.meanRuntimeMilliseconds))
    }

    /// The daily reset, made up for when it is looked at.
    private mutating func renewBudgets() {
        guard now >= nextReset else { return }
        runtimeLeft = parameters.budget.runtimeSeconds * 1000
        cellularLeft = parameters.budget.cellularBytes
        nextReset = parameters.budget.reset(after: now)
    }
}

extension ModelParameters.Budget {
    /// The first reset after an instant, in milliseconds since the epoch.
    func reset(after now: Int64) -> Int64 {
        let period = max(1, resetPeriodSeconds * 1000)
        let sincePhase = now - resetPhaseSeconds * 1000
        let (quotient, remainder) = sincePhase.quotientAndRemainder(dividingBy: period)
        return ((remainder < 0 ? quotient - 1 : quotient) + 1) * period + resetPhaseSeconds * 1000
    }
}
