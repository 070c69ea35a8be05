// SPDX-License-Identifier: Apache-2.0

// The device's scheduler: steps 6, 7 and 9 of facts §6.3.
extension ModelledDevice {
    /// A step that occurs without an event of the caller.
    enum Step {
        case arrival
        case storageExpiry
        case callExpiry
        case drop
        case launch
    }

    /// The next step and its time; simultaneous steps are in the order of the cases.
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

    /// Performs the steps up to and including `end`.
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

    /// The time at which all gates are open for the held push, if nothing changes; `nil` for never.
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

    /// Whether a reset makes a launch possible.
    private var isRenewable: Bool {
        parameters.budget.runtimeSeconds > 0 && (isOnWiFi || parameters.budget.cellularBytes > 0)
    }

    /// Whether the gates are open that only an event can open.
    var meetsConditions: Bool {
        guard isOnline, wasUnlockedSinceBoot, allowsRefresh, !isBatteryLow else { return false }
        if isInLowPowerMode, parameters.gates.lowPowerMode == .blocks { return false }
        return isOnWiFi || !isInLowDataMode || !parameters.gates.lowDataModeBlocks
    }

    var isBatteryLow: Bool {
        !isCharging && batteryPermille < parameters.gates.minimumBatteryPermille
    }

    /// Whether the app has not been opened for too long.
    func isUnused(at instant: Instant) -> Bool {
        guard let days = parameters.gates.unusedDays else { return false }
        return instant - lastOpened > days * 86_400_000
    }

    /// The present factor of spacing and refill time, in thousandths: lower on the charger, and
    /// higher where Low Power Mode quadruples spacing.
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

    /// Launches the app, and debits the budgets.
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

    /// Launches another app: it counts in the hourly limit of the device, and uses its part of a
    /// run time that all apps share.
    mutating func launchOtherApp() {
        renewBudgets()
        hour.add(now)
        runtimeLeft -= parameters.budget.otherAppSeconds * 1000
    }

    /// Launches the app under a debugger, which disables the limits (facts §6.1).
    mutating func launchUnderDebugger(_ waiting: WaitingPush, _ reports: inout [PushReport]) {
        reportLaunch(waiting, drawRuntime(), false, &reports)
    }

    /// Launches the app for a call, regardless of budgets.
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

    /// Draws a run time: until the handler completes, or until the maximum.
    private mutating func drawRuntime() -> Int64 {
        let longest = parameters.budget.maximumRunSeconds * 1000
        guard app.completesHandler else { return longest }
        return min(longest, generator.exponential(mean: app.meanRuntimeMilliseconds))
    }

    /// Performs the daily resets that are due.
    private mutating func renewBudgets() {
        guard now >= nextReset else { return }
        runtimeLeft = parameters.budget.runtimeSeconds * 1000
        cellularLeft = parameters.budget.cellularBytes
        nextReset = parameters.budget.reset(after: now)
    }
}

extension ModelParameters.Budget {
    /// The first reset after a time, in milliseconds since the epoch.
    func reset(after now: Int64) -> Int64 {
        let period = max(1, resetPeriodSeconds * 1000)
        let sincePhase = now - resetPhaseSeconds * 1000
        let (quotient, remainder) = sincePhase.quotientAndRemainder(dividingBy: period)
        return ((remainder < 0 ? quotient - 1 : quotient) + 1) * period + resetPhaseSeconds * 1000
    }
}
