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
        /// The time since which it uses the store.
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
        /// The number of conflicts, after which it was decided again.
        public var conflictCount = 0
        /// The time of the round trips in the database and the network, in microseconds.
        public var microseconds: Int64 = 0

        /// Nothing yet.
        public init() {}
    }

    /// A long-running transaction of the database, of any client: it prevents the removal of old
    /// versions of rows, so that all statements become slower.
    public struct OpenTransaction: Hashable, Sendable {
        /// The SQL that ends it.
        public let ending: String
        /// Its role, program and state, as far as this role may read them.
        public let owner: String
        /// Its age, in seconds.
        public let seconds: Int64

        /// Creates a description.
        public init(ending: String, owner: String, seconds: Int64) {
            self.ending = ending
            self.owner = owner
            self.seconds = seconds
        }

        /// The problem and the fix, in two sentences.
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
    /// The largest lag of a standby, in bytes of log; `nil` without a standby, or where the role
    /// may not read it.
    public let standbyLagBytes: Int64?
    /// The difference of the database's clock to this machine's, in milliseconds; positive when it
    /// is ahead.
    public let clockOffsetMilliseconds: Int64
    /// The costs of commands, by their names.
    public let verbs: [String: Verb]
    /// The conflicts of versions of this gateway per second since the previous survey.
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
