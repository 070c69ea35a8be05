// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// One app on one device behind one token, and APNs before it, as facts §6.3 models them.
///
/// A value without a clock: the caller passes events with their times, in order, and reads the
/// outcomes of the pushes. Between two calls nothing happens; ``nextChange`` is the time of the
/// device's next own event, so that a caller need not poll.
///
/// ```swift
/// var device = ModelledDevice(seed: 1, at: start)
/// var reports: [PushReport] = []
/// device.take(ArrivingPush(number: 1), at: start, into: &reports)
/// device.advance(to: start.advanced(bySeconds: 60), into: &reports)
/// ```
///
/// At one instant arrivals come before launches. A time earlier than the last one counts as the
/// last one.
public struct ModelledDevice: Sendable {
    /// What the model goes by.
    public let parameters: ModelParameters
    /// What the app is like.
    public let app: AppBehaviour

    /// A point in time: milliseconds since the epoch, bare, for this is the inner loop.
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

    // What the budgets have left.
    var lastLaunch: Instant?
    var spacingMultiplier: Int64 = 1
    var bucket: LaunchBucket
    var hour: LaunchHour
    var runtimeLeft: Int64
    var cellularLeft: Int64
    var nextReset: Instant

    // Where pushes are.
    var stored: WaitingPush?
    var storedCall: WaitingPush?
    var transit: [TransitPush] = []
    var lastArrival: Instant
    var held: HeldPush?

    /// A device in the state that the vectors of facts §12 begin in: online on Wi-Fi, unlocked,
    /// 80 % battery, off the charger, the app suspended, every budget full.
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

    /// Passes a push that APNs accepted for the device. Its outcome, now or later, is appended to
    /// `reports`, with the outcomes of others until then.
    public mutating func take(
        _ push: ArrivingPush, at instant: WallInstant, into reports: inout [PushReport]
    ) {
        enter(instant, &reports)
        accept(push, &reports)
        settle(through: now, &reports)
    }

    /// Something happens to the device.
    public mutating func apply(
        _ event: DeviceEvent, at instant: WallInstant, into reports: inout [PushReport]
    ) {
        enter(instant, &reports)
        change(event, &reports)
        settle(through: now, &reports)
    }

    /// Time passes, up to and including `instant`.
    public mutating func advance(to instant: WallInstant, into reports: inout [PushReport]) {
        settle(through: instant.millisecondsSinceEpoch, &reports)
        now = max(now, instant.millisecondsSinceEpoch)
    }

    /// When the device will next do something by itself if nothing else happens; `nil` when it
    /// will not.
    public var nextChange: WallInstant? {
        nextStep().map { WallInstant(millisecondsSinceEpoch: $0.at) }
    }

    /// Whether a background push arriving now would launch the app, apart from earlier launches,
    /// the herd and spent budgets.
    ///
    /// This is what "able" means in a simulation's report: the conditions that no sender
    /// influences are fulfilled.
    public var isAble: Bool {
        // What APNs stores reaches no app, whether that is in front or under a debugger.
        isEnabled && isOnline && !isForceQuit && app.hasRemoteNotificationMode && !reservesPower
            && (hasDebugger || isInForeground || (meetsConditions && !isUnused(at: now)))
    }

    /// The numbers of the undecided pushes: stored, in transit, or held.
    public var undecided: [Int] {
        [stored?.push.number, storedCall?.push.number].compactMap { $0 }
            + transit.map(\.waiting.push.number) + (held.map { [$0.waiting.push.number] } ?? [])
    }

    /// Everything before `instant` happens, and the clock goes there: what happens at the instant
    /// itself waits for the caller's news.
    private mutating func enter(_ instant: WallInstant, _ reports: inout [PushReport]) {
        let target = instant.millisecondsSinceEpoch
        if target > now {
            settle(through: target - 1, &reports)
            now = target
        }
    }
}

/// A push that APNs has taken, with the time it spent being held so far.
struct WaitingPush: Hashable, Sendable {
    var push: ArrivingPush
    /// When APNs accepted it.
    let acceptedAt: ModelledDevice.Instant
    /// Since when it is stored or held.
    var since: ModelledDevice.Instant
    /// What it spent so before, in milliseconds.
    var heldBefore: Int64 = 0
}

/// A push between APNs and the device.
struct TransitPush: Hashable, Sendable {
    var waiting: WaitingPush
    var arrival: ModelledDevice.Instant
}

/// The push in the device's one slot.
struct HeldPush: Hashable, Sendable {
    var waiting: WaitingPush
    /// When the device gives it up.
    var dropsAt: ModelledDevice.Instant
}
