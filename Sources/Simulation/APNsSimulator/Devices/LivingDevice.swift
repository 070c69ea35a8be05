// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeModel

/// A modelled device, its current day, and the outcomes of its pushes.
///
/// Times are the devices' own. What is due at the very instant of a call waits for a later one, so
/// that a push which arrives at that instant comes first, as in the vectors of facts §12.
struct LivingDevice: Sendable {
    let token: DeviceToken
    let setup: DeviceSetup
    private var device: ModelledDevice
    private var days: DeviceDays?
    private var conditions = DeviceConditions()
    private var history = PushHistory()
    private var reports: [PushReport] = []
    /// The signals that the app reported last.
    private var toldSignals: DeviceSignals?

    /// Creates a device that runs from `start` on. `seed` is used if the setup has none.
    init(_ token: DeviceToken, _ setup: DeviceSetup, seed: UInt64, at start: WallInstant) {
        self.token = token
        self.setup = setup
        let seed = setup.seed ?? seed
        var begin = start
        if let profile = setup.profile {
            let generator = SeededGenerator(seed: seed, stream: Self.daysStream)
            let days = DeviceDays(profile, from: start, using: generator)
            begin = min(begin, days.next)
            self.days = days
        }
        device = ModelledDevice(setup.parameters, app: setup.app, seed: seed, at: begin)
        // Events before its first push are not reported.
        var news: [DeviceNews] = []
        settle(before: start, into: &news)
    }

    /// The stream of the seed that the days are drawn from; the model has another.
    private static let daysStream: UInt64 = 1

    /// Runs everything that is due before `now`.
    mutating func settle(before now: WallInstant, into news: inout [DeviceNews]) {
        while let moment = days?.take(before: now) {
            happen(moment.event, at: moment.at, into: &news)
        }
        device.advance(to: now.advanced(byMilliseconds: -1), into: &reports)
        drainReports(into: &news)
    }

    /// A push was accepted for it.
    mutating func take(
        _ push: ModelledPush, priority: Priority, expiration: Expiration?,
        into news: inout [DeviceNews]
    ) {
        settle(before: push.acceptedAt, into: &news)
        history.add(push)
        device.take(
            ArrivingPush(
                number: push.number, content: push.content, priority: priority,
                expiration: expiration),
            at: push.acceptedAt, into: &reports)
        drainReports(into: &news)
    }

    /// Something happens to it that no profile planned.
    mutating func apply(
        _ event: DeviceEvent, at now: WallInstant, into news: inout [DeviceNews]
    ) {
        settle(before: now, into: &news)
        happen(event, at: now, into: &news)
        drainReports(into: &news)
    }

    private mutating func happen(
        _ event: DeviceEvent, at instant: WallInstant, into news: inout [DeviceNews]
    ) {
        device.apply(event, at: instant, into: &reports)
        // Outcomes until now precede the app's report about now.
        drainReports(into: &news)
        conditions.note(event)
        if conditions.isInForeground {
            tellSignals(opened: event == .appOpened, at: instant, into: &news)
        }
    }

    private mutating func drainReports(into news: inout [DeviceNews]) {
        for report in reports {
            guard let push = history.decide(report), report.fate.reachedApp else { continue }
            news.append(.reachedApp(push))
            tellSignals(opened: false, at: report.at, into: &news)
        }
        reports.removeAll(keepingCapacity: true)
    }

    /// A running app reports what changed since its last report, and always that it was opened.
    private mutating func tellSignals(
        opened: Bool, at instant: WallInstant, into news: inout [DeviceNews]
    ) {
        let signals = DeviceSignals(conditions)
        guard opened || signals != toldSignals else { return }
        toldSignals = signals
        news.append(.signals(signals, of: token, at: instant, opened: opened))
    }
}

/// The app's reports.
extension LivingDevice {
    /// The time of its next event; `nil` without one.
    var nextChange: WallInstant? {
        guard let day = days?.next else { return device.nextChange }
        return device.nextChange.map { min($0, day) } ?? day
    }

    /// Its recorded pushes, oldest first.
    var pushes: [ModelledPush] { history.pushes }

    /// Its state at an instant that it has reached.
    func status(at instant: WallInstant) -> DeviceStatus {
        DeviceStatus(
            token: token, at: instant, profile: setup.profile?.name, conditions: conditions,
            isAble: device.isAble, pushes: history.count, reachedApp: history.reachedAppCount,
            undecided: device.undecided.sorted(), nextChange: nextChange)
    }
}

/// An event on a device that is reported to others.
enum DeviceNews: Hashable, Sendable {
    /// A push launched the app, or came to it while it ran.
    case reachedApp(ModelledPush)
    /// The app reported signals; `opened` when its user just brought it to the front.
    case signals(DeviceSignals, of: DeviceToken, at: WallInstant, opened: Bool)
}

/// What an app can report about its device while it runs.
struct DeviceSignals: Hashable, Sendable {
    let isInLowPowerMode: Bool
    let batteryPercent: Int
    let isCharging: Bool
    let allowsBackgroundRefresh: Bool

    init(_ conditions: DeviceConditions) {
        isInLowPowerMode = conditions.isInLowPowerMode
        batteryPercent = conditions.batteryPercent
        isCharging = conditions.isCharging
        allowsBackgroundRefresh = conditions.allowsBackgroundRefresh
    }
}
