// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The rows that a decision needs, by key.
public struct ReadSet: Sendable {
    /// A device in one queue.
    public struct DeviceName: Hashable, Sendable {
        /// Its token.
        public let token: DeviceToken
        /// The queue's number.
        public let queue: Int64

        /// Creates a name.
        public init(token: DeviceToken, queue: Int64) {
            self.token = token
            self.queue = queue
        }
    }

    /// A user in one queue.
    public struct UserName: Hashable, Sendable {
        /// The id.
        public let user: UserID
        /// The queue's number.
        public let queue: Int64

        /// Creates a name.
        public init(user: UserID, queue: Int64) {
            self.user = user
            self.queue = queue
        }
    }

    /// The rows and columns that are loaded with a row.
    public struct Parts: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Of a wake: its payload. Of a device: that of the wake that waits for it.
        public static let payload = Parts(rawValue: 1 << 0)
        /// Of a wake: its device, and the wake that waits for that.
        public static let device = Parts(rawValue: 1 << 1)

        /// Creates parts from their bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    /// The most devices of a user in a queue that are loaded: gateways that register at the same
    /// time may give one a few more than ``UserID/maximumDeviceCount``.
    public static let userDeviceCount = 2 * UserID.maximumDeviceCount

    /// The most waiting wakes of a queue that are counted.
    public static let waitingCount = 100_000

    /// Due wakes of a few queues.
    public struct DueScan: Hashable, Sendable {
        /// The queues' numbers, in the order in which they are served, each with the most wakes.
        public let shares: [Share]
        /// Wakes due at or before this instant.
        public let now: WallInstant
        /// The most wakes in all.
        public let limit: Int

        /// The share of one queue.
        public struct Share: Hashable, Sendable {
            /// The queue's number.
            public let queue: Int64
            /// The most wakes of it.
            public let limit: Int
        }
    }

    /// A search for wakes or webhooks by other columns than their numbers.
    public enum Scan: Hashable, Sendable {
        /// Pending wakes whose deadline has come, the earliest first, with their devices.
        case overdue(at: WallInstant, limit: Int)
        /// Claimed wakes whose lease has ended, the earliest first, with their devices.
        case lapsed(at: WallInstant, limit: Int)
        /// Wakes before a number, the newest first.
        case wakes(before: Int64, limit: Int)
        /// Entries of the feedback feed behind a cursor that can be read: all, or those of a queue.
        case feedback(after: Int64, limit: Int, queue: Int64?)
        /// Entries of the feed of outcomes behind a cursor, with their wakes and the devices of
        /// those; the result is their cursors.
        case outcomes(after: Int64, limit: Int)
        /// The cursor of the last entry of the feed of outcomes; nothing while none is kept.
        case lastOutcome
        /// Webhooks of an endpoint that are due, the longest due first.
        case dueWebhooks(WebhookEndpointID, at: WallInstant, limit: Int)
    }

    /// Devices, each with the wake that waits for it.
    public var devices: [(name: DeviceName, parts: Parts)] = []
    /// Devices by their numbers, each with the wake that waits for it.
    public var deviceNumbers: Set<Int64> = []
    /// Users whose devices in a queue are needed.
    public var users: Set<UserName> = []
    /// Wakes.
    public var wakes: [Int64: Parts] = [:]
    /// Wakes with so many before each of them in their device's chain.
    public var chains: [Int64: Int] = [:]
    /// Idempotency keys.
    public var keys: [[UInt8]] = []
    /// Wakes whose attempts are needed.
    public var attempts: Set<Int64> = []
    /// Entries of the feedback feed.
    public var feedback: Set<Int64> = []
    /// Webhooks.
    public var webhooks: Set<Int64> = []
    /// Counters.
    public var counters: Set<StoreCounter> = []
    /// Queues whose next due instant is needed.
    public var nextDue: Set<Int64> = []
    /// Queues whose pending wakes are to be counted, up to ``waitingCount``.
    public var waiting: Set<Int64> = []
    /// Due wakes, with their payloads and devices.
    public var due: [DueScan] = []
    /// Searches.
    public var scans: Set<Scan> = []
    /// Whether the wakes of each state are to be counted.
    public var countsStates = false

    /// Creates an empty set.
    public init() {}

    /// Whether nothing is needed.
    public var isEmpty: Bool {
        devices.isEmpty && deviceNumbers.isEmpty && users.isEmpty && wakes.isEmpty && chains.isEmpty
            && keys.isEmpty
            && attempts.isEmpty && feedback.isEmpty && webhooks.isEmpty && counters.isEmpty
            && nextDue.isEmpty && waiting.isEmpty && due.isEmpty && scans.isEmpty && !countsStates
    }

    /// Adds another set.
    package mutating func formUnion(_ other: ReadSet) {
        devices += other.devices
        deviceNumbers.formUnion(other.deviceNumbers)
        users.formUnion(other.users)
        for (number, parts) in other.wakes { add(wake: number, parts) }
        chains.merge(other.chains) { max($0, $1) }
        keys += other.keys
        attempts.formUnion(other.attempts)
        feedback.formUnion(other.feedback)
        webhooks.formUnion(other.webhooks)
        counters.formUnion(other.counters)
        nextDue.formUnion(other.nextDue)
        waiting.formUnion(other.waiting)
        due += other.due
        scans.formUnion(other.scans)
        countsStates = countsStates || other.countsStates
    }

    /// Adds a wake.
    mutating func add(wake number: Int64, _ parts: Parts = []) {
        wakes[number, default: []].formUnion(parts)
    }

    /// Adds the counters by which the rules limit an endpoint's webhooks.
    mutating func addBacklogs(of rules: StoreRules) {
        for subscription in rules.webhooks { counters.insert(.webhooks(subscription.endpoint)) }
    }
}
