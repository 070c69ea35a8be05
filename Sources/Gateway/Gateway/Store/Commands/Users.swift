// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Finds the devices of requests for users. Returns an answer for each, in order. A repeated
/// request is for the devices of the first one, regardless of later registrations.
public struct ResolveUsers: StoreCommand {
    /// The users.
    public let targets: [UserTarget]
    /// The present instant.
    public let now: WallInstant

    /// Creates the command.
    public init(_ targets: [UserTarget], at now: WallInstant) {
        self.targets = targets
        self.now = now
    }

    /// A read for a caller.
    public var profile: CommandProfile {
        .callersRead(weight: targets.count, isShown: true)
    }

    /// The users' devices and the keys of the requests.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        for target in targets {
            for queue in target.queues {
                guard let row = queues[queue] else { continue }
                reads.users.insert(ReadSet.UserName(user: target.user, queue: row.number))
            }
            if let key = target.idempotency { reads.keys.append(key.key) }
        }
        return reads
    }

    /// The devices of each. Those that cannot be read are left out.
    public func decide(on set: WorkingSet) throws(RowFault) -> [UserResolution] {
        var answers: [UserResolution] = []
        answers.reserveCapacity(targets.count)
        for target in targets {
            let answer = try set.part { () throws(RowFault) in try resolve(target, on: set) }
            if let answer { answers.append(answer) }
        }
        return answers
    }

    private func resolve(
        _ target: UserTarget, on set: WorkingSet
    ) throws(RowFault) -> UserResolution {
        var tokens: [DeviceToken] = []
        for queue in target.queues {
            guard let number = set.knownQueue(queue)?.number else { continue }
            let found = try set.devices(of: target.user, queue: number).map(\.token)
            tokens += found.filter { !tokens.contains($0) }
        }
        guard let key = target.idempotency else {
            return .devices(
                tokens.map { UserResolution.Place(deviceToken: $0, idempotency: nil) })
        }
        if let first = try set.known(key.key, at: now) {
            guard let count = key.deviceCount(ofKnown: first.request) else {
                return .idempotencyConflict
            }
            var earlier: [DeviceToken?] = []
            for place in 0..<count {
                earlier.append(try token(at: place, of: key, count, on: set))
            }
            // Where a wake was not accepted then, or is no longer stored, a present device is used.
            // Without one the place stays empty, and the others keep theirs, because the wakes of
            // the first request are recognised by their places.
            var others = tokens.filter { !earlier.contains($0) }[...]
            return .devices(
                earlier.enumerated().compactMap { place, token in
                    (token ?? others.popFirst()).map {
                        UserResolution.Place(
                            deviceToken: $0, idempotency: key.ofDevice(place, count: count))
                    }
                })
        }
        let count = tokens.count
        return .devices(
            tokens.enumerated().map { place, token in
                UserResolution.Place(
                    deviceToken: token, idempotency: key.ofDevice(place, count: count))
            })
    }

    /// The device of the wake that a key belongs to; `nil` if that is not known.
    private func token(
        at place: Int, of key: IdempotencyKey, _ count: Int, on set: WorkingSet
    ) throws(RowFault) -> DeviceToken? {
        guard let known = try set.known(key.ofDevice(place, count: count).key, at: now),
            let wake = try set.readableWake(known.wake)
        else { return nil }
        return try set.readable { () throws(RowFault) in try set.token(ofDevice: wake.device) }
    }
}

extension UserTarget {
    /// The queues of its registrations: an app has one device token for background pushes and
    /// alerts.
    fileprivate var queues: [WakeQueueKey] {
        switch queue.kind {
        case .background: [queue, WakeQueueKey(app: queue.app, kind: .alert)]
        case .alert: [queue, WakeQueueKey(app: queue.app, kind: .background)]
        case .voip, .liveactivity, .location, .complication, .fileprovider, .mdm, .widgets,
            .controls, .pushtotalk:
            [queue]
        }
    }
}

/// The devices of a user in some queues.
public struct ListUserDevices: StoreCommand {
    /// The user.
    public let user: UserID
    /// The queues.
    public let queues: [WakeQueueKey]

    /// Creates the command.
    public init(of user: UserID, in queues: [WakeQueueKey]) {
        self.user = user
        self.queues = queues
    }

    /// A read for a caller.
    public var profile: CommandProfile {
        .callersRead(weight: UserID.maximumDeviceCount, isShown: true)
    }

    /// The user's devices.
    public func reads(of table: QueueTable) -> ReadSet {
        ReadSet(user, in: queues.compactMap { table[$0] })
    }

    /// The registrations.
    public func decide(on set: WorkingSet) throws(RowFault) -> [UserDevice] {
        var found: [UserDevice] = []
        for queue in queues {
            guard let number = set.knownQueue(queue)?.number else { continue }
            for device in try set.devices(of: user, queue: number) {
                found.append(
                    UserDevice(
                        queue: queue, deviceToken: device.token,
                        registeredAt: device.registeredAt))
            }
        }
        return found
    }
}

/// Removes registrations of a user. The devices stay, and so do their pending wakes.
public struct UnregisterUser: StoreCommand {
    /// The user.
    public let user: UserID
    /// The device; `nil` for all of the user's.
    public let token: DeviceToken?
    /// The queues.
    public let queues: [WakeQueueKey]
    /// The present instant.
    public let now: WallInstant

    /// Creates the command.
    public init(
        _ user: UserID, token: DeviceToken?, in queues: [WakeQueueKey], at now: WallInstant
    ) {
        self.user = user
        self.token = token
        self.queues = queues
        self.now = now
    }

    /// A write for a caller.
    public var profile: CommandProfile { .callersWrite(.readThenWrite) }

    /// The user's devices.
    public func reads(of table: QueueTable) -> ReadSet {
        ReadSet(user, in: queues.compactMap { table[$0] })
    }

    /// How many registrations were removed.
    public func decide(on set: WorkingSet) throws(RowFault) -> Int {
        var count = 0
        for queue in queues {
            guard let number = set.knownQueue(queue)?.number else { continue }
            for var device in try set.devices(of: user, queue: number)
            where token == nil || token == device.token {
                device.user = nil
                set.save(&device, at: now)
                count += 1
            }
        }
        return count
    }
}

extension ReadSet {
    /// The devices of a user in these queues.
    fileprivate init(_ user: UserID, in queues: [WakeQueueRow]) {
        self.init()
        users = Set(queues.map { UserName(user: user, queue: $0.number) })
    }
}

extension WorkingSet {
    /// The devices of a user in a queue that can be read, in the order of their numbers.
    func devices(of user: UserID, queue: Int64) throws(RowFault) -> [DeviceRow] {
        var devices: [DeviceRow] = []
        for number in try numbers(ofDevicesOf: user, queue: queue) {
            if let device = try readableDevice(number), device.user == user {
                devices.append(device)
            }
        }
        return devices
    }

    /// Records the device's user from a registration. A token that APNs reported as unregistered
    /// has no user.
    func register(
        _ device: inout DeviceRow, _ change: UserChange, at now: WallInstant
    ) throws(RowFault) {
        switch change {
        case .kept: return
        case .removed: device.user = nil
        case .user(let user):
            guard device.deadSince == nil, device.user != user else { return }
            let number = device.number
            let others = try devices(of: user, queue: device.queue).filter { $0.number != number }
            let surplus = others.count + 1 - UserID.maximumDeviceCount
            if surplus > 0 {
                let epoch = WallInstant(millisecondsSinceEpoch: 0)
                let oldest = others.sorted {
                    ($0.registeredAt ?? epoch, $0.number) < ($1.registeredAt ?? epoch, $1.number)
                }
                for var other in oldest.prefix(surplus) {
                    other.user = nil
                    save(&other, at: now)
                }
            }
            device.user = user
        }
    }
}
