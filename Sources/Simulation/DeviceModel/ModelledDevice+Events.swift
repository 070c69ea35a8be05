// SPDX-License-Identifier: Apache-2.0

// The effects of events: step 8 of facts §6.3, and the conditions.
extension ModelledDevice {
    /// Applies an event, and releases the pushes that it unblocks.
    mutating func change(_ event: DeviceEvent, _ reports: inout [PushReport]) {
        // The time until now counts under the former conditions.
        bucket.count(until: now, costPermille: costPermille)
        switch event {
        case .online(let isOn): isOnline = isOn
        case .charging(let isOn): isCharging = isOn
        case .battery(let permille): batteryPermille = permille
        case .lowPowerMode(let isOn): isInLowPowerMode = isOn
        case .lowDataMode(let isOn): isInLowDataMode = isOn
        case .wifi(let isOn): changeWiFi(isOn)
        case .locked(let isOn): changeLock(isOn)
        case .backgroundRefresh(let isOn): allowsRefresh = isOn
        case .notifications(let isOn): allowsNotifications = isOn
        case .token(let isOn): hasToken = isOn
        case .debugger(let isOn): hasDebugger = isOn
        case .appOpened: openApp(&reports)
        case .appLeft: isInForeground = false
        case .appForceQuit: forceQuit(&reports)
        case .reboot: reboot()
        case .otherAppLaunched: launchOtherApp()
        case .backgroundLaunches(let isOn): launchesInBackground = isOn
        case .launchSpacing(let permille): spacingPermille = permille
        case .otherAppNotified: notifyOtherApp(&reports)
        }
        if !reservesPower { flushStored(&reports) }
        flushStoredCall(&reports)
    }

    private mutating func changeWiFi(_ isOn: Bool) {
        guard isOn != isOnWiFi else { return }
        isOnWiFi = isOn
        if isOn { herd(since: leftWiFiAt) } else { leftWiFiAt = now }
    }

    private mutating func changeLock(_ isOn: Bool) {
        guard isOn != isLocked else { return }
        isLocked = isOn
        if isOn {
            lockedAt = now
            return
        }
        herd(since: lockedAt)
        if !wasUnlockedSinceBoot {
            wasUnlockedSinceBoot = true
            if parameters.gates.rebootClearsForceQuit { isForceQuit = false }
        }
    }

    /// The return after a long time starts a period without launches.
    private mutating func herd(since: Instant) {
        if now - since >= parameters.gates.herdAfterSeconds * 1000 { herdBegan = now }
    }

    private mutating func openApp(_ reports: inout [PushReport]) {
        isInForeground = true
        isForceQuit = false
        lastOpened = now
        guard let waiting = held?.waiting.released(at: now) else { return }
        held = nil
        report(waiting, .deliveredInForeground(heldMilliseconds: waiting.heldBefore), &reports)
    }

    private mutating func forceQuit(_ reports: inout [PushReport]) {
        isInForeground = false
        isForceQuit = true
        guard let waiting = held?.waiting else { return }
        held = nil
        report(waiting, .discardedForceQuit, &reports)
    }

    private mutating func reboot() {
        isInForeground = false
        wasUnlockedSinceBoot = false
        if !isLocked { lockedAt = now }
        isLocked = true
    }

    /// A push with priority 10 for another app also releases a stored push (facts §6.3, step 4).
    private mutating func notifyOtherApp(_ reports: inout [PushReport]) {
        guard isOnline else { return }
        if isInLowPowerMode, reservesPower,
            generator.chance(parameters.service.lowPowerModeBlocksProbability)
        {
            return
        }
        flushStored(&reports)
    }
}
