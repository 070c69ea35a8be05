// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The changes of a decision: rows by key, each with the version that it was decided on.
///
/// An engine writes all of it in one transaction, or nothing. When a version has changed, or a key
/// or a number is used already, it writes nothing and reports a conflict: then rows are loaded
/// again and decided on again.
public struct Changes: Sendable {
    /// A change of one device.
    public struct DeviceChange: Sendable {
        /// The kind of change to the row.
        public enum Kind: Hashable, Sendable {
            /// It gets its first row.
            case made
            /// Its row is written again.
            case changed
            /// It is removed, unless something refers to it: then its row is written again.
            case forgotten
        }

        /// The row.
        public var row: DeviceRow
        /// The kind of change.
        public var kind: Kind
        /// The version on which it was decided.
        public let version: Int64
    }

    /// New columns of a wake's row.
    public struct WakeChange: Sendable {
        /// The row.
        public internal(set) var row: WakeRow
        /// Which of its columns are written.
        public internal(set) var columns: WakeColumns
        /// Whether the row has its payload.
        var hasPayload: Bool
        /// The version on which it was decided.
        public let version: Int64
    }

    /// A change of one column of a queue's row.
    public enum QueueChange: Hashable, Sendable {
        /// From now on missing receipts count.
        case confirmsLaunches
        /// It is paused, or not.
        case pause(QueuePause?)
        /// The time at which webhooks reported it as held; `nil` when they did not.
        case toldHeld(WallInstant?)
    }

    /// An attempt that is added to a wake's history.
    public struct NewAttempt: Sendable {
        /// The wake's number.
        public let wake: Int64
        /// The fencing token of the attempt's lease.
        public let fence: Int64
        /// The attempt.
        public let record: AttemptRecord
    }

    /// An idempotency key that is reserved. If it exists already, that is a conflict, unless it has
    /// expired.
    public struct NewKey: Sendable {
        /// The key.
        public let key: IdempotencyKey
        /// The answer to its request.
        public let answer: AdmittedWake
        /// The expiration of the key that it replaces; `nil` for a new one.
        public let replacedEnd: WallInstant?
        /// Whether it replaces an expired one.
        public var replaces: Bool { replacedEnd != nil }
    }

    /// A webhook that is added. One about an entry of the feedback feed names the entry by its
    /// place among ``Changes/feedback``: its number is given by the write.
    public struct NewWebhook: Sendable {
        /// What it is about.
        public let subject: WebhookSubject
        /// Its endpoint.
        public let endpoint: WebhookEndpointID
        /// The time of the event.
        public let at: WallInstant
    }

    /// A change of a webhook under a lease.
    public struct WebhookChange: Sendable {
        /// The kinds of change.
        public enum Kind: Hashable, Sendable {
            /// It gets another lease, which ends at this instant; it was tried once more.
            case leased(until: WallInstant)
            /// It is due again at this instant.
            case due(WallInstant)
            /// It is removed.
            case removed
        }

        /// The number of the webhook.
        public let number: Int64
        /// The fencing token on which it was decided.
        public let fence: Int64
        /// The kind of change.
        public let kind: Kind
    }

    /// Queues that are used for the first time.
    public internal(set) var newQueues: [WakeQueueRow] = []
    /// Changes of queues, by their numbers.
    public internal(set) var queues: [(number: Int64, change: QueueChange)] = []
    /// Devices by their numbers.
    public internal(set) var devices: [Int64: DeviceChange] = [:]
    /// New wakes, in the order of their numbers.
    public internal(set) var newWakes: [WakeRow] = []
    /// Wakes whose rows change.
    public internal(set) var wakes: [WakeChange] = []
    /// The numbers of wakes that cannot be read and end as damaged.
    public internal(set) var damagedWakes: [Int64] = []
    /// New attempts.
    public internal(set) var attempts: [NewAttempt] = []
    /// Idempotency keys.
    public internal(set) var keys: [NewKey] = []
    /// New entries of the feedback feed; their numbers are given by the write.
    public internal(set) var feedback: [FeedbackRow] = []
    /// The numbers of the wakes that end, in their order: the next entries of the feed of outcomes,
    /// whose cursors are given by the write.
    public internal(set) var outcomes: [Int64] = []
    /// The time at which the last of them ends.
    public internal(set) var outcomesAt = WallInstant(millisecondsSinceEpoch: 0)
    /// New webhooks; their numbers are given by the write.
    public internal(set) var newWebhooks: [NewWebhook] = []
    /// Webhooks whose rows change.
    public internal(set) var webhooks: [WebhookChange] = []
    /// The increments of counters.
    public internal(set) var counters: [StoreCounter: Int] = [:]
    /// The last number that was assigned to a wake.
    public internal(set) var lastNumber: Int64 = 0

    /// The index of a wake in ``wakes``.
    private var places: [Int64: Int] = [:]

    /// Whether nothing is changed.
    public var isEmpty: Bool {
        newQueues.isEmpty && queues.isEmpty && devices.isEmpty && newWakes.isEmpty && wakes.isEmpty
            && damagedWakes.isEmpty && attempts.isEmpty && keys.isEmpty && feedback.isEmpty
            && outcomes.isEmpty && newWebhooks.isEmpty && webhooks.isEmpty && counters.isEmpty
    }

    // MARK: Wakes

    /// Reserves capacity for changes of this number of wakes.
    mutating func reserve(wakeChanges count: Int) {
        wakes.reserveCapacity(count)
        places.reserveCapacity(count)
    }

    /// A wake as it is changed; `nil` when it is not.
    func wake(_ number: Int64) -> WakeChange? {
        if let place = places[number] { return wakes[place] }
        guard let place = newPlace(number) else { return nil }
        return WakeChange(row: newWakes[place], columns: [], hasPayload: true, version: 0)
    }

    /// Writes columns of a wake; `fact` is its row as it was loaded.
    mutating func update(
        _ wake: borrowing WakeRow, _ columns: WakeColumns, loaded fact: LoadedRows.WakeFact?
    ) {
        if let place = newPlace(wake.number) {
            newWakes[place].take(columns, from: wake)
        } else if let place = places[wake.number] {
            wakes[place].row.take(columns, from: wake)
            wakes[place].columns.formUnion(columns)
            if !columns.isDisjoint(with: [.content, .end]) { wakes[place].hasPayload = true }
        } else if case .found(var row, var hasPayload, let version) = fact {
            row.take(columns, from: wake)
            if !columns.isDisjoint(with: [.content, .end]) { hasPayload = true }
            places[wake.number] = wakes.count
            wakes.append(
                WakeChange(row: row, columns: columns, hasPayload: hasPayload, version: version))
        }
    }

    /// The index of a new wake: numbers are assigned in order.
    private func newPlace(_ number: Int64) -> Int? {
        guard let first = newWakes.first, number >= first.number else { return nil }
        var range = newWakes.indices
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            let found = newWakes[middle].number
            if found == number { return middle }
            range =
                found < number
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }
}

/// Which columns of a wake's row a change writes.
public struct WakeColumns: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8
    /// State, due time, deadline and delay reasons: it waits, or still waits.
    public static let schedule = WakeColumns(rawValue: 1 << 0)
    /// Payload, expiration, collapse id, urgency, coalescing and schedule: another wake merged into
    /// it.
    public static let content = WakeColumns(rawValue: 1 << 1)
    /// State, fence, times and debit: it was claimed.
    public static let claim = WakeColumns(rawValue: 1 << 2)
    /// State, fence, tries, schedule and the last reason: it is returned to the queue.
    public static let comeback = WakeColumns(rawValue: 1 << 3)
    /// State, end, its time and delay reasons; the payload is dropped.
    public static let end = WakeColumns(rawValue: 1 << 4)
    /// When it launched the app.
    public static let launch = WakeColumns(rawValue: 1 << 5)

    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
}

extension WakeRow {
    /// Copies these columns, and no others.
    mutating func take(_ columns: WakeColumns, from other: borrowing WakeRow) {
        if !columns.isDisjoint(with: [.schedule, .content, .comeback]) {
            state = other.state
            dueAt = other.dueAt
            notBefore = other.notBefore
            deadline = other.deadline
            holds = other.holds
        }
        if columns.contains(.content) {
            payload = other.payload
            parts = other.parts
            // One that had merged into another may be pending again.
            end = other.end
            endedAt = other.endedAt
            expiration = other.expiration
            collapseID = other.collapseID
            urgency = other.urgency
            coalescing = other.coalescing
        }
        if columns.contains(.claim) {
            state = other.state
            fence = other.fence
            claimedAt = other.claimedAt
            leaseUntil = other.leaseUntil
            debit = other.debit
        }
        if columns.contains(.comeback) {
            fence = other.fence
            tries = other.tries
            debit = other.debit
            previousReason = other.previousReason
        }
        if columns.contains(.end) {
            state = other.state
            fence = other.fence
            tries = other.tries
            end = other.end
            endedAt = other.endedAt
            holds = other.holds
            debit = nil
            payload = []
            parts = []
            successor = other.successor
        }
        if columns.contains(.launch) { launchedAt = other.launchedAt }
    }
}

extension WakeQueueRow {
    /// Makes a change.
    public mutating func apply(_ change: Changes.QueueChange) {
        switch change {
        case .confirmsLaunches: confirmsLaunches = true
        case .pause(let pause):
            pausedAt = pause?.at
            pauseReason = pause?.reason
        case .toldHeld(let instant): heldToldAt = instant
        }
    }
}
