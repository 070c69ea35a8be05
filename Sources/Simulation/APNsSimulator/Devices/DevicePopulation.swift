// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import HeapModule
import NIOCore
import Synchronization
import WakeModel

/// The modelled devices of one simulator, and their time.
///
/// Their time is the configuration's clock plus an offset that only grows. Every query or change
/// first runs what is due; between calls an alarm does. Only answers about all devices are linear
/// in their number.
final class DevicePopulation: Sendable {
    /// The most devices that are created for unregistered tokens. Pushes to further ones are
    /// accepted and not modelled.
    static let maximumUnregistered = 10_000
    /// How many deliveries wait for a reader of the stream; beyond, the oldest are forgotten.
    static let streamCapacity = 10_000

    private let now: @Sendable () -> WallInstant
    private let seed: UInt64
    /// The device model of tokens without their own.
    private let commonSetup: DeviceSetup?
    private let reporter: GatewayReporter?
    private let residents = Mutex(Residents())

    struct Residents {
        var devices: [DeviceToken: LivingDevice] = [:]
        var agenda = Heap<Appointment>()
        /// The times of the agenda for each device, the nearest last.
        var appointments: [DeviceToken: [WallInstant]] = [:]
        var registered: Set<DeviceToken> = []
        var clock = DeviceClock()
        var alarm: Alarm?
        var loop: (any EventLoop)?
        var readers: [Int: AsyncStream<ModelledPush>.Continuation] = [:]
        var lastReader = 0
        /// The simulator was shut down: no more reports are sent.
        var hasStopped = false
    }

    /// A time at which a device must be checked.
    struct Appointment: Comparable {
        let at: WallInstant
        let token: DeviceToken

        /// By time; at one time by token, so that a run can be repeated.
        static func < (left: Appointment, right: Appointment) -> Bool {
            left.at == right.at ? left.token.hex < right.token.hex : left.at < right.at
        }
    }

    /// The task that lets happen what is due next.
    struct Alarm {
        let at: WallInstant
        let task: Scheduled<Void>
    }

    init(_ configuration: APNsSimulator.Configuration, reporter: GatewayReporter?) {
        now = configuration.now
        seed = configuration.seed
        commonSetup = configuration.deviceModel
        self.reporter = reporter
    }

    /// Runs `body` on the devices at the current time, and reports what happened until its end.
    private func live<Value>(
        _ body: (inout Residents, WallInstant, inout [DeviceNews]) -> Value
    ) -> Value {
        // Under the lock to the end, so that reports keep the order of their events.
        residents.withLock { residents in
            var news: [DeviceNews] = []
            let now = residents.clock.deviceTime(at: now())
            residents.settle(before: now, into: &news)
            let value = body(&residents, now, &news)
            tell(news, residents)
            arm(&residents, now: now)
            return value
        }
    }

    private func tell(_ news: [DeviceNews], _ residents: Residents) {
        for item in news {
            reporter?.add(item, clock: residents.clock)
            guard case .reachedApp(let push) = item else { continue }
            for reader in residents.readers.values { reader.yield(push) }
        }
    }
}

/// Devices.
extension DevicePopulation {
    /// Puts a device behind a token. One that is there already with the same setup stays.
    func settleIn(_ token: DeviceToken, _ setup: DeviceSetup) {
        live { residents, now, _ in
            residents.registered.insert(token)
            if residents.devices[token]?.setup == setup { return }
            residents.devices[token] = makeDevice(token, setup, at: now)
            residents.appoint(token)
        }
    }

    /// Removes what a registration put behind a token.
    func moveOut(_ token: DeviceToken) {
        live { residents, _, _ in
            // Its remaining appointments find no device.
            residents.devices[token] = nil
            residents.registered.remove(token)
        }
    }

    /// A push was accepted. Its times are the senders'.
    func take(_ accepted: AcceptedPush) {
        live { residents, now, news in
            let token = accepted.token
            if residents.devices[token] == nil {
                guard let setup = commonSetup,
                    residents.devices.count - residents.registered.count
                        < Self.maximumUnregistered
                else { return }
                residents.devices[token] = makeDevice(token, setup, at: now)
            }
            residents.devices[token]?.take(
                accepted.push(at: now), priority: accepted.priority,
                expiration: residents.clock.deviceTime(of: accepted.expiration), into: &news)
            residents.appoint(token)
        }
    }

    /// Something happens to a device; false when there is none.
    func apply(_ event: DeviceEvent, to token: DeviceToken) -> Bool {
        live { residents, now, news in
            guard residents.devices[token] != nil else { return false }
            residents.devices[token]?.apply(event, at: now, into: &news)
            residents.appoint(token)
            return true
        }
    }

    /// Each device has its own chances, the same in each run.
    private func makeDevice(
        _ token: DeviceToken, _ setup: DeviceSetup, at now: WallInstant
    ) -> LivingDevice {
        var generator = SeededGenerator(seed: seed, stream: token.stream)
        return LivingDevice(token, setup, seed: generator.next(), at: now)
    }
}

/// Questions.
extension DevicePopulation {
    /// The outcomes of a device's pushes, oldest first.
    func pushes(of token: DeviceToken) -> [ModelledPush]? {
        live { residents, _, _ in residents.devices[token]?.pushes }
    }

    /// How a device is now.
    func status(of token: DeviceToken) -> DeviceStatus? {
        live { residents, now, _ in residents.devices[token]?.status(at: now) }
    }

    /// How all devices are now, in the order of their tokens.
    func statuses() -> [DeviceStatus] {
        live { residents, now, _ in
            residents.devices.values.sorted { $0.token.hex < $1.token.hex }
                .map { $0.status(at: now) }
        }
    }

    /// Every push that reaches an app from now on, until the simulator is shut down; none after.
    func deliveries() -> AsyncStream<ModelledPush> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ModelledPush.self, bufferingPolicy: .bufferingNewest(Self.streamCapacity))
        let reader: Int? = residents.withLock { residents in
            guard !residents.hasStopped else { return nil }
            residents.lastReader += 1
            residents.readers[residents.lastReader] = continuation
            return residents.lastReader
        }
        guard let reader else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.residents.withLock { _ = $0.readers.removeValue(forKey: reader) }
        }
        return stream
    }
}

/// Time.
extension DevicePopulation {
    /// The shortest time between two alarms, in milliseconds: a stopped clock must not keep a
    /// thread busy.
    private static let shortestPause: Int64 = 10
    /// The longest, in milliseconds: one hour, because the clock may be set.
    private static let longestPause: Int64 = 3_600_000

    /// The devices' time.
    var deviceTime: WallInstant { live { _, now, _ in now } }

    /// By how much the devices' time is ahead of the configuration's clock, in milliseconds.
    var offset: Int64 { residents.withLock { $0.clock.offset } }

    /// Moves the devices' time ahead, and lets happen what is due by then. Less than 0 counts as 0.
    func advance(byMilliseconds milliseconds: Int64) {
        residents.withLock { residents in
            residents.clock.advance(byMilliseconds: milliseconds, at: now())
            // It was set by the time until now, and would ring late by the whole step.
            residents.silence()
        }
        live { _, _, _ in }
    }

    /// Lets an event loop wake the devices from now on.
    func start(on loop: any EventLoop) { residents.withLock { $0.loop = loop } }

    /// Ends alarms and streams.
    func stop() {
        let readers = residents.withLock { residents in
            residents.silence()
            residents.loop = nil
            residents.hasStopped = true
            return Array(residents.readers.values)
        }
        // Their ends take the lock.
        for reader in readers { reader.finish() }
    }

    private func arm(_ residents: inout Residents, now: WallInstant) {
        guard let loop = residents.loop, let next = residents.agenda.min?.at else { return }
        if let alarm = residents.alarm {
            if alarm.at <= next { return }
            alarm.task.cancel()
        }
        // What is due at an instant happens once it is over.
        let pause = next.milliseconds(since: now).advanced(by: 1)
        let bounded = max(Self.shortestPause, min(pause, Self.longestPause))
        let task = loop.scheduleTask(in: .milliseconds(bounded)) { [weak self] in
            guard let self else { return }
            self.residents.withLock { $0.alarm = nil }
            self.live { _, _, _ in }
        }
        residents.alarm = Alarm(at: next, task: task)
    }
}

extension DevicePopulation.Residents {
    /// Takes the alarm back.
    fileprivate mutating func silence() {
        alarm?.task.cancel()
        alarm = nil
    }

    /// Lets everything happen on all devices that is due before `now`, in the order of time.
    fileprivate mutating func settle(before now: WallInstant, into news: inout [DeviceNews]) {
        while let appointment = agenda.min, appointment.at < now {
            agenda.removeMin()
            let token = appointment.token
            appointments[token]?.removeLast()
            devices[token]?.settle(
                before: appointment.at.advanced(byMilliseconds: 1), into: &news)
            appoint(token)
        }
    }

    /// Ensures that a device is checked at its next event.
    ///
    /// An appointment that comes earlier than that does no harm, so one is only added when all
    /// that the device has come later: those of one device never pile up.
    fileprivate mutating func appoint(_ token: DeviceToken) {
        guard let device = devices[token] else {
            if appointments[token]?.isEmpty == true { appointments[token] = nil }
            return
        }
        guard let next = device.nextChange else { return }
        if let nearest = appointments[token]?.last, nearest <= next { return }
        appointments[token, default: []].append(next)
        agenda.insert(DevicePopulation.Appointment(at: next, token: token))
    }
}

extension DeviceToken {
    /// A number for this token that is the same in every run (64-bit FNV-1a).
    fileprivate var stream: UInt64 { FNV1a.hash(hex.utf8) }
}
