// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The status of a store that gateways share, as this gateway last saw it.
public struct SharedStoreStatus: Hashable, Sendable {
    /// A gateway that works on the store, or did in the last hour.
    public struct Member: Hashable, Sendable {
        /// Its name, another one after each start.
        public let name: String
        /// Whether it is the one that made the survey.
        public let isThis: Bool
        /// Since when it works on the store.
        public let beganAt: WallInstant
        /// The time since its last heartbeat, in milliseconds.
        public let silentMilliseconds: Int64
        /// How many writers it has.
        public let writerCount: Int
        /// How many leases on wakes it held at its last heartbeat.
        public let leaseCount: Int
        /// Whether its heartbeats are recent enough for it to keep its writers.
        public let isAlive: Bool

        /// Creates a member.
        public init(
            name: String, isThis: Bool, beganAt: WallInstant, silentMilliseconds: Int64,
            writerCount: Int, leaseCount: Int, isAlive: Bool
        ) {
            self.name = name
            self.isThis = isThis
            self.beganAt = beganAt
            self.silentMilliseconds = silentMilliseconds
            self.writerCount = writerCount
            self.leaseCount = leaseCount
            self.isAlive = isAlive
        }
    }

    /// What one command has cost in the database since this gateway was started.
    public struct Verb: Hashable, Sendable {
        /// Its round trips: loads and writes.
        public var tripCount = 0
        /// How often others had changed its rows, so that it was decided anew.
        public var conflictCount = 0
        /// How long the database, and the way to it, took for the round trips, in microseconds.
        public var microseconds: Int64 = 0

        /// Nothing yet.
        public init() {}
    }

    /// A transaction of the database that has been open for long, whosever it is: it keeps old
    /// versions of rows from being removed, so that everything becomes slower by and by.
    public struct OpenTransaction: Hashable, Sendable {
        /// How to end it, as SQL.
        public let ending: String
        /// Whose it is: role, program and state, as far as this role may read them.
        public let owner: String
        /// How long it has been open, in seconds.
        public let seconds: Int64

        /// Creates a description.
        public init(ending: String, owner: String, seconds: Int64) {
            self.ending = ending
            self.owner = owner
            self.seconds = seconds
        }

        /// What is wrong, and what to do, in two sentences.
        public var explanation: String {
            "A transaction of \(owner) has been open for \(seconds) s and keeps the database from "
                + "removing old versions of rows. End it: \(ending)"
        }
    }

    /// The time of the survey.
    public let at: WallInstant
    /// The server's version, such as 150018 for 15.18.
    public let serverVersion: Int64
    /// The gateways, the surveying one first.
    public let members: [Member]
    /// Transactions that have been open for long, the oldest first.
    public let openTransactions: [OpenTransaction]
    /// By how many bytes of log the standby that is farthest behind lags; `nil` without a standby,
    /// or where the role may not read it.
    public let standbyLagBytes: Int64?
    /// How much the database's clock is ahead of this machine's, in milliseconds.
    public let clockOffsetMilliseconds: Int64
    /// What commands have cost, by their names.
    public let verbs: [String: Verb]
    /// How many conflicts of versions this gateway met per second since the previous survey.
    public let conflictsPerSecond: Double

    /// Creates a status.
    public init(
        at: WallInstant, serverVersion: Int64, members: [Member],
        openTransactions: [OpenTransaction], standbyLagBytes: Int64?,
        clockOffsetMilliseconds: Int64, verbs: [String: Verb], conflictsPerSecond: Double
    ) {
        self.at = at
        self.serverVersion = serverVersion
        self.members = members
        self.openTransactions = openTransactions
        self.standbyLagBytes = standbyLagBytes
        self.clockOffsetMilliseconds = clockOffsetMilliseconds
        self.verbs = verbs
        self.conflictsPerSecond = conflictsPerSecond
    }
}
