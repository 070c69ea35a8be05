// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// One app on one device with one token, and the APNs service before it, as modelled in facts §6.3.
///
/// A value without a clock: the caller passes events with their times, in order, and reads the
/// outcomes of pushes. ``nextChange`` is the time of the next step without an event, so that the
/// caller need not poll.
///
/// ```swift
/// var device = ModelledDevice(seed: 1, at: start)
/// var reports: [PushReport] = []
/// device.take(ArrivingPush(number: 1), at: start, into: &reports)
/// device.advance(to: start.advanced(bySeconds: 60), into: &reports)
/// ```
///
/// Arrivals precede launches at the same time. A time before that of the previous call counts as
/// the latter.
public struct ModelledDevice: Sendable {
    /// The parameters of the model.
    public let parameters: ModelParameters
    /// The properties of the app.
    public let app: AppBehaviour

    /// A time in milliseconds since the epoch; a bare integer, because the inner loop uses it.
    typealias Instant = Int64

    var generator: SeededGenerator
    let latency: LogNormalTable
    var now: Instant

    // Conditions, as `DeviceEvent` sets them.
    var isOnline = true
    var isCharging = false
    var batteryPermille = 800
    var isInLowPowerMode = false
    var isInLowDataMode = false
    var isOnWiFi = true
    var leftWiFiAt: Instant = 0
    var isLocked = false
    var lockedAt: Instant = 0
    var wasUnlockedSinceBoot = true
    var allowsRefresh = true
    var allowsNotifications = true
    var hasToken = true
    var hasDebugger = false
    var launchesInBackground = true
    var spacingPermille: Int64 = 1000
    var isInForeground = false
    var isForceQuit = false
    var lastOpened: Instant
    var herdBegan: Instant?

    // The state of the budgets.
    var lastLaunch: Instant?
    var spacingMultiplier: Int64 = 1
    var bucket: LaunchBucket
    var hour: LaunchHour
    var runtimeLeft: Int64
    var cellularLeft: Int64
    var nextReset: Instant

    // The pushes by their place.
    var stored: WaitingPush?
    var storedCall: WaitingPush?
    var transit: [TransitPush] = []
    var lastArrival: Instant
    var held: HeldPush?

    /// Creates a device in the initial state of the vectors of facts §12: online on Wi-Fi,
    /// unlocked, 80 % battery, off the charger, the app suspended, every budget full.
    public init(
        _ parameters: ModelParameters = ModelParameters(), app: AppBehaviour = AppBehaviour(),
        seed: UInt64, at start: WallInstant
    ) {
        self.parameters = parameters
        self.app = app
        generator = SeededGenerator(seed: seed)
        latency = LogNormalTable(
            median: Double(parameters.service.latencyMedianMilliseconds),
            percentile95: Double(parameters.service.latencyPercentile95Milliseconds))
        now = start.millisecondsSinceEpoch
        lastOpened = now
        lastArrival = now
        bucket = LaunchBucket(parameters.rate, at: now)
        hour = LaunchHour(capacity: parameters.rate.deviceLaunchesPerHour)
        runtimeLeft = parameters.budget.runtimeSeconds * 1000
        cellularLeft = parameters.budget.cellularBytes
        nextReset = parameters.budget.reset(after: now)
    }

    /// Passes a push that APNs accepted for the device. Appends the outcomes that are decided until
    /// then to `reports`; the outcome of this push may be decided later.
    public mutating func take(
        _ push: ArrivingPush, at instant: WallInstant, into reports: inout [PushReport]
    ) {
        enter(instant, &reports)
        accept(push, &reports)
        settle(through: now, &reports)
    }

    /// Applies an event. Appends the outcomes that are decided until then to `reports`.
    public mutating func apply(
        _ event: DeviceEvent, at instant: WallInstant, into reports: inout [PushReport]
    ) {
        enter(instant, &reports)
        change(event, &reports)
        settle(through: now, &reports)
    }

    /// Advances the time up to and including `instant`. Appends the outcomes that are decided.
    public mutating func advance(to instant: WallInstant, into reports: inout [PushReport]) {
        settle(through: instant.millisecondsSinceEpoch, &reports)
        now = max(now, instant.millisecondsSinceEpoch)
    }

    /// The time of the next step if there is no other event; `nil` if there is none.
    public var nextChange: WallInstant? {
        nextStep().map { WallInstant(millisecondsSinceEpoch: $0.at) }
    }

    /// Whether a background push that arrives now would launch the app, apart from earlier
    /// launches, the herd and exhausted budgets.
    ///
    /// This is the meaning of "able" in a simulation's report: the conditions that no sender
    /// influences are met.
    public var isAble: Bool {
        // A push that APNs stores does not reach the app, even in the foreground or under a
        // debugger.
        isEnabled && isOnline && !isForceQuit && app.hasRemoteNotificationMode && !reservesPower
            && (hasDebugger || isInForeground || (meetsConditions && !isUnused(at: now)))
    }

    /// The numbers of pushes without an outcome: stored, in transit, or held.
    public var undecided: [Int] {
        [stored?.push.number, storedCall?.push.number].compactMap { $0 }
            + transit.map(\.waiting.push.number) + (held.map { [$0.waiting.push.number] } ?? [])
    }

    /// Performs the steps before `instant` and sets the time. Steps at `instant` follow the
    /// caller's event.
    private mutating func enter(_ instant: WallInstant, _ reports: inout [PushReport]) {
        let target = instant.millisecondsSinceEpoch
        if target > now {
            settle(through: target - 1, &reports)
            now = target
        }
    }
}

/// A push that APNs accepted, with the time for which it was held so far.
struct WaitingPush: Hashable, Sendable {
    var push: ArrivingPush
    /// The time at which APNs accepted it.
    let acceptedAt: ModelledDevice.Instant
    /// The start of the present storage or hold.
    var since: ModelledDevice.Instant
    /// The time of earlier storage or holds, in milliseconds.
    var heldBefore: Int64 = 0
}

/// A push in transit from APNs to the device.
struct TransitPush: Hashable, Sendable {
    var waiting: WaitingPush
    var arrival: ModelledDevice.Instant
}

/// The push in the single slot of the device.
struct HeldPush: Hashable, Sendable {
    var waiting: WaitingPush
    /// The time at which the device discards it.
    var dropsAt: ModelledDevice.Instant
}
