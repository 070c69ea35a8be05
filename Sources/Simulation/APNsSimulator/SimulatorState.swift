// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore
import Synchronization
import WakeModel

/// What all connections of one simulator share.
///
/// The rules change rarely and are read for every request, so each connection works on a copy and
/// compares a generation number to detect that the copy is stale.
final class SimulatorState: Sendable {
    let configuration: APNsSimulator.Configuration
    let logger: Logger
    let counters = AtomicCounters()
    let log: PushLog
    let devices: DevicePopulation
    let channels: ChannelRegistry
    let reporter: GatewayReporter?
    private let rules: Mutex<Rules>
    private let generation = Atomic(0)
    private let lastRequestNumber = Atomic(0)
    private let connections = Mutex<[Int: any Channel]>([:])
    private let countsByToken = Mutex<[String: Int]>([:])
    private let waiters = Mutex<[Waiter]>([])
    private let lastWaiter = Atomic(0)
    /// The smallest count that a caller waits for, so that a request need not take the lock.
    private let nearestWait = Atomic(Int.max)

    /// What decides about requests, with the generation it belongs to.
    struct Rules: Sendable {
        var judge: RequestJudge
        var faults: FaultSchedule
        /// Whether there may be a model behind a device token.
        var modelsDevices: Bool
        var generation = 0
    }

    private struct Waiter {
        let id: Int
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    init(
        configuration: APNsSimulator.Configuration,
        logger: Logger = Logger(label: "apns-simulator")
    ) throws(InvalidField) {
        self.configuration = configuration
        self.logger = logger
        var judge = RequestJudge()
        judge.environment = configuration.environment
        judge.refusesBackgroundPriority10 = configuration.refusesBackgroundPriority10
        judge.refusesUnknownDeviceTokens = configuration.unknownDeviceTokens == .refused
        judge.wedgesOnExpiredToken = configuration.wedgesOnExpiredToken
        judge.broadcastApps = configuration.broadcastApps
        if configuration.refusesDERSignatures { judge.refusedDeviations.insert(.derSignature) }
        if configuration.refusesTextualIssuedAt { judge.refusedDeviations.insert(.textualTime) }
        for key in configuration.providerKeys {
            let verifyingKey = try VerifyingKey(key)
            judge.keys[verifyingKey.identity] = verifyingKey
        }
        rules = Mutex(
            Rules(
                judge: judge, faults: FaultSchedule(seed: configuration.seed),
                modelsDevices: configuration.deviceModel != nil))
        let counters = counters
        reporter = configuration.receipts.map { GatewayReporter($0, counters: counters) }
        devices = DevicePopulation(configuration, reporter: reporter)
        channels = ChannelRegistry(limit: configuration.channelLimit, seed: configuration.seed)
        log = PushLog(capacity: configuration.log.capacity)
    }
}

/// Rules.
extension SimulatorState {
    var currentRules: Rules { rules.withLock { $0 } }

    /// Whether rules of this generation are still the current ones.
    func isCurrent(_ generation: Int) -> Bool {
        self.generation.load(ordering: .acquiring) == generation
    }

    func changeRules(_ change: (inout Rules) -> Void) {
        rules.withLock { rules in
            change(&rules)
            rules.generation += 1
            generation.store(rules.generation, ordering: .releasing)
        }
    }
}

/// Device tokens.
extension SimulatorState {
    /// Takes a registration, in place of an earlier one.
    func register(_ device: RegisteredDevice) {
        if let setup = device.model {
            devices.settleIn(device.token, setup)
        } else {
            devices.moveOut(device.token)
        }
        changeRules { rules in
            var judged = device
            // The judge reads the device for every push, and the model is large.
            judged.model = nil
            rules.judge.devices[device.token] = judged
            // Never reset: a device that is not modelled costs one lookup only.
            if device.model != nil { rules.modelsDevices = true }
        }
    }

    /// Removes a device token and its device model.
    func forget(_ token: DeviceToken) {
        changeRules { $0.judge.devices[token] = nil }
        devices.moveOut(token)
    }
}

/// Requests.
extension SimulatorState {
    func nextRequestNumber() -> Int {
        lastRequestNumber.add(1, ordering: .relaxed).newValue
    }

    /// Notes a request that arrived whole. `push` is only made if the log keeps it.
    func noteComplete(deviceToken: @autoclosure () -> String?, _ push: () -> ReceivedPush) {
        switch configuration.log {
        case .off: break
        case .countsOnly:
            if let token = deviceToken() {
                countsByToken.withLock { $0[token, default: 0] += 1 }
            }
        case .last: log.append(push())
        }
        let count = counters.completeRequests.add(1, ordering: .sequentiallyConsistent).newValue
        if count >= nearestWait.load(ordering: .sequentiallyConsistent) { wake(at: count) }
    }

    /// Whole requests per device token, counted with `.countsOnly`.
    var pushCounts: [String: Int] { countsByToken.withLock { $0 } }

    func forgetPushes() {
        log.removeAll()
        countsByToken.withLock { $0.removeAll() }
    }

    /// Returns when `count` whole requests have been seen since the start, or the task is
    /// cancelled.
    func waitForPushes(_ count: Int) async {
        let id = lastWaiter.add(1, ordering: .relaxed).newValue
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiters.withLock { waiters in
                    waiters.append(Waiter(id: id, count: count, continuation: continuation))
                    storeNearestWait(waiters)
                }
                // The count may have been reached before the wait was visible, and so may the
                // cancellation.
                wake(at: counters.completeRequests.load(ordering: .sequentiallyConsistent))
                if Task.isCancelled { wake { $0.id == id } }
            }
        } onCancel: {
            wake { $0.id == id }
        }
    }

    /// Ends every wait, for the shutdown.
    func wakeAll() { wake(at: .max) }

    private func wake(at count: Int) { wake { $0.count <= count } }

    private func wake(_ isReady: (Waiter) -> Bool) {
        let ready = waiters.withLock { waiters in
            let ready = waiters.filter(isReady)
            waiters.removeAll(where: isReady)
            storeNearestWait(waiters)
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    private func storeNearestWait(_ waiters: [Waiter]) {
        nearestWait.store(waiters.map(\.count).min() ?? .max, ordering: .sequentiallyConsistent)
    }
}

/// Connections.
extension SimulatorState {
    /// Registers a connection and gives it its number.
    func open(_ channel: any Channel) -> Int {
        let number = counters.connectionsOpened.add(1, ordering: .relaxed).newValue
        counters.connectionsOpen.add(1, ordering: .relaxed)
        connections.withLock { $0[number] = channel }
        return number
    }

    func closed(_ number: Int) {
        guard connections.withLock({ $0.removeValue(forKey: number) }) != nil else { return }
        counters.connectionsOpen.subtract(1, ordering: .relaxed)
    }

    func sendGoAway(reason: RejectionReason?) {
        let goAway = Fault.GoAway(reason: reason, lastStream: .highestSeen)
        for channel in openChannels { channel.pipeline.fireUserInboundEventTriggered(goAway) }
    }

    func closeAllConnections() {
        for channel in openChannels { channel.close(promise: nil) }
    }

    private var openChannels: [any Channel] { connections.withLock { Array($0.values) } }
}

extension APNsSimulator.LogDepth {
    fileprivate var capacity: Int {
        switch self {
        case .off, .countsOnly: 0
        case .last(let count): count
        }
    }
}
