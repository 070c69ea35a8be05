// SPDX-License-Identifier: Apache-2.0

import WakeModel

// The behaviour of APNs: steps 1 to 4 of facts §6.3.
extension ModelledDevice {
    /// Whether the app counts as push-enabled (facts §6.1, R-UNS).
    var isEnabled: Bool {
        hasToken && (allowsNotifications || (app.hasRemoteNotificationMode && allowsRefresh))
    }

    /// Whether the device asks APNs to store pushes that are not urgent.
    var reservesPower: Bool {
        isAsleep || isBatteryLow
            || (isInLowPowerMode && parameters.gates.lowPowerMode == .blocks)
    }

    private var isAsleep: Bool {
        isLocked && !isCharging && parameters.service.needsAwakeDevice
    }

    /// Accepts a push, or reports why it is discarded.
    mutating func accept(_ push: ArrivingPush, _ reports: inout [PushReport]) {
        let waiting = WaitingPush(push: push, acceptedAt: now, since: now)
        if push.content == .background, push.priority == .immediate,
            parameters.service.rejectsImmediateBackground
        {
            report(waiting, .rejected, &reports)
        } else if !isEnabled {
            report(waiting, .discardedDisabled, &reports)
        } else if generator.chance(parameters.service.lossProbability) {
            report(waiting, .lost, &reports)
        } else if !isOnline || isReserved(for: push) {
            store(waiting, &reports)
        } else {
            send(waiting)
            if push.priority == .immediate { flushStored(&reports) }
        }
    }

    /// Whether APNs stores this push to save power. Calls are never stored for that.
    private mutating func isReserved(for push: ArrivingPush) -> Bool {
        guard push.content != .voip, reservesPower else { return false }
        if push.priority != .immediate { return true }
        return isInLowPowerMode
            && generator.chance(parameters.service.lowPowerModeBlocksProbability)
    }

    /// Stores a push in its slot, where it may meet another one.
    private mutating func store(_ waiting: WaitingPush, _ reports: inout [PushReport]) {
        guard let end = storageEnd(waiting), end > now else {
            report(waiting, .expired, &reports)
            return
        }
        let isCall = waiting.push.content == .voip
        guard let old = isCall ? storedCall : stored else {
            keep(waiting)
            return
        }
        if generator.chance(parameters.service.overwriteLatestProbability) {
            report(old, .coalescedAtAPNs(by: waiting.push.number), &reports)
            keep(waiting)
        } else {
            report(waiting, .coalescedAtAPNs(by: old.push.number), &reports)
        }
    }

    private mutating func keep(_ waiting: WaitingPush) {
        var waiting = waiting
        waiting.since = now
        if waiting.push.content == .voip { storedCall = waiting } else { stored = waiting }
    }

    /// The end of the storage of a push; `nil` if APNs does not store it. The expiration does not
    /// extend it beyond 30 days, nor does storing it again (facts §6.1).
    func storageEnd(_ waiting: WaitingPush) -> Instant? {
        let longest = waiting.acceptedAt + parameters.service.defaultStorageSeconds * 1000
        return switch waiting.push.expiration {
        case .immediately: nil
        case .at(let instant): min(instant.millisecondsSinceEpoch, longest)
        case nil: longest
        }
    }

    /// Sends a stored push, because the device is connected again or saves no power any more.
    mutating func flushStored(_ reports: inout [PushReport]) {
        guard isOnline, let waiting = stored else { return }
        stored = nil
        release(waiting, &reports)
    }

    /// Sends a stored call, because the device is connected again.
    mutating func flushStoredCall(_ reports: inout [PushReport]) {
        guard isOnline, let call = storedCall else { return }
        storedCall = nil
        release(call, &reports)
    }

    /// Sends a push that was stored, if the app is still push-enabled.
    private mutating func release(_ waiting: WaitingPush, _ reports: inout [PushReport]) {
        if isEnabled {
            send(waiting.released(at: now))
        } else {
            report(waiting, .discardedDisabled, &reports)
        }
    }

    /// Sends a push to the device. Pushes keep their order, except for those that are overtaken.
    private mutating func send(_ waiting: WaitingPush) {
        var arrival = now + latency.sample(using: &generator)
        if generator.chance(parameters.service.reorderProbability) {
            arrival += generator.integer(in: 1000...10_000)
        } else {
            arrival = max(arrival, lastArrival)
            lastArrival = arrival
        }
        let place = transit.firstIndex { $0.arrival > arrival } ?? transit.count
        transit.insert(TransitPush(waiting: waiting, arrival: arrival), at: place)
    }

    func report(_ waiting: WaitingPush, _ fate: PushFate, _ reports: inout [PushReport]) {
        reports.append(
            PushReport(
                number: waiting.push.number, at: WallInstant(millisecondsSinceEpoch: now),
                fate: fate))
    }

    /// Handles the arrival of a push: step 5.
    mutating func arrive(_ waiting: WaitingPush, _ reports: inout [PushReport]) {
        guard isOnline else {
            store(waiting, &reports)
            return
        }
        switch waiting.push.content {
        case .voip:
            launchForCall(waiting, &reports)
        case .alert:
            report(waiting, .wrongType, &reports)
        case .background, .mixed:
            arriveInBackground(waiting, &reports)
        }
    }

    private mutating func arriveInBackground(
        _ waiting: WaitingPush, _ reports: inout [PushReport]
    ) {
        if !app.hasRemoteNotificationMode {
            report(waiting, .neverLaunched, &reports)
        } else if isInForeground {
            report(waiting, .deliveredInForeground(heldMilliseconds: waiting.heldBefore), &reports)
        } else if isForceQuit {
            report(waiting, .discardedForceQuit, &reports)
        } else if hasDebugger {
            launchUnderDebugger(waiting, &reports)
        } else {
            if let old = held?.waiting {
                report(old, .coalescedOnDevice(by: waiting.push.number), &reports)
            }
            var waiting = waiting
            waiting.since = now
            held = HeldPush(
                waiting: waiting, dropsAt: now + parameters.gates.maximumHoldSeconds * 1000)
        }
    }
}

extension WaitingPush {
    /// The push as it leaves its slot.
    func released(at now: ModelledDevice.Instant) -> WaitingPush {
        var released = self
        released.heldBefore += now - since
        return released
    }
}
