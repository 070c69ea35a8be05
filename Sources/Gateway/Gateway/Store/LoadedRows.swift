// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The rows that an engine has loaded for a decision: which exist, which do not, and which cannot
/// be read.
///
/// A row that is found comes with its version, which changes with each write to it. An engine whose
/// rows cannot change between loading and writing uses version 0 for all.
public struct LoadedRows: Sendable {
    /// The state of a device's row.
    public enum DeviceFact: Sendable {
        /// It is there.
        case found(DeviceRow, version: Int64)
        /// It is absent; a new one gets the number of this entry.
        case absent
        /// It cannot be read; its readable columns with an empty ledger, if its token is known.
        case damaged(StoreFailure, rest: DeviceRow?)
    }

    /// The state of a wake's row.
    public enum WakeFact: Sendable {
        /// It exists, with an empty payload if that was not requested.
        case found(WakeRow, hasPayload: Bool, version: Int64)
        /// It is not.
        case absent
        /// It cannot be read.
        case damaged(StoreFailure, hasEnded: Bool)
    }

    /// The state of a webhook's row.
    public enum WebhookFact: Sendable {
        /// It exists, with its latest lease.
        case found(WebhookRow)
        /// It is not.
        case absent
        /// It cannot be read.
        case damaged(fence: Int64)
    }

    /// The due wakes of a queue.
    public struct DueWakes: Sendable {
        /// The instant of the query.
        public let now: WallInstant
        /// The limit of the query.
        public let limit: Int
        /// Their numbers, the longest due first.
        public let numbers: [Int64]

        /// Creates a result.
        public init(now: WallInstant, limit: Int, numbers: [Int64]) {
            self.now = now
            self.limit = limit
            self.numbers = numbers
        }
    }

    /// All queues.
    public var queues = QueueTable()
    /// The numbers of devices, including those that do not exist yet.
    public var deviceNumbers: [ReadSet.DeviceName: Int64] = [:]
    /// Devices by their numbers.
    public var devices: [Int64: DeviceFact] = [:]
    /// The numbers of the devices of users, the smallest first; they are loaded too.
    public var users: [ReadSet.UserName: [Int64]] = [:]
    /// Wakes by their numbers.
    public var wakes: [Int64: WakeFact] = [:]
    /// The entries of idempotency keys; `nil` for none.
    public var keys: [[UInt8]: KnownKey?] = [:]
    /// The attempts of wakes, the oldest first.
    public var attempts: [Int64: [AttemptRecord]] = [:]
    /// Entries of the feedback feed; `nil` for one that is not there.
    public var feedback: [Int64: FeedbackRow?] = [:]
    /// The numbers of the wakes in the feed of outcomes, by their cursors.
    public var outcomes: [Int64: Int64] = [:]
    /// Webhooks by their numbers.
    public var webhooks: [Int64: WebhookFact] = [:]
    /// Counters.
    public var counters: [StoreCounter: Int] = [:]
    /// When the next pending wake of a queue is due; `nil` when none is pending.
    public var nextDue: [Int64: WallInstant?] = [:]
    /// How many wakes of a queue are pending, up to ``ReadSet/waitingCount``.
    public var waiting: [Int64: Int] = [:]
    /// Due wakes by queue.
    public var due: [Int64: DueWakes] = [:]
    /// The results of searches: the numbers of rows, which are loaded too.
    public var scans: [ReadSet.Scan: [Int64]] = [:]
    /// The count of wakes in each state.
    public var states: [WakeState: Int]?
    /// The last number that was assigned to a wake, an entry of the feed or a webhook.
    public var lastNumber: Int64 = 0
    /// The series of the numbers of new wakes.
    public var numbers = NumberSeries.all

    /// Creates an empty set.
    public init() {}

    /// Reserves capacity for the devices and wakes that are read by name, so that no table of large
    /// rows is moved while it is filled.
    package mutating func reserve(for reads: ReadSet) {
        if !reads.devices.isEmpty {
            deviceNumbers.reserveCapacity(deviceNumbers.count + reads.devices.count)
            devices.reserveCapacity(devices.count + reads.devices.count)
        }
        if !reads.wakes.isEmpty { wakes.reserveCapacity(wakes.count + reads.wakes.count) }
    }
}

/// All queues of a store: they are few, and loaded for every decision.
public struct QueueTable: Sendable {
    private var rows: [Int64: WakeQueueRow] = [:]
    private var numbers: [WakeQueueKey: Int64] = [:]
    private var lastNumber: Int64 = 0

    /// Creates an empty table.
    public init() {}

    /// The queue with this number; `nil` when it is not there, or cannot be read.
    public subscript(number: Int64) -> WakeQueueRow? { rows[number] }

    /// The queue's row, if it was ever used.
    public subscript(key: WakeQueueKey) -> WakeQueueRow? { numbers[key].flatMap { rows[$0] } }

    /// All queues that can be read, in the order of their numbers.
    public var all: [WakeQueueRow] { rows.values.sorted { $0.number < $1.number } }

    /// The number of the next queue that is made.
    public var nextNumber: Int64 { lastNumber + 1 }

    /// Adds a queue, or replaces its row.
    public mutating func insert(_ row: WakeQueueRow) {
        rows[row.number] = row
        numbers[row.queue] = row.number
        reserve(row.number)
    }

    /// Records a row that cannot be read: its number is not assigned again.
    public mutating func reserve(_ number: Int64) { lastNumber = max(lastNumber, number) }
}

/// The entry of an idempotency key.
public struct KnownKey: Hashable, Sendable {
    /// A digest of the request's body.
    public let request: [UInt8]
    /// The number of the wake.
    public let wake: Int64
    /// The answer; `nil` if an earlier version of the store did not store it, or it cannot be read.
    public let answer: AdmittedWake?
    /// When the key expires.
    public let expiresAt: WallInstant

    /// Creates a known key.
    public init(request: [UInt8], wake: Int64, answer: AdmittedWake?, expiresAt: WallInstant) {
        self.request = request
        self.wake = wake
        self.answer = answer
        self.expiresAt = expiresAt
    }
}
