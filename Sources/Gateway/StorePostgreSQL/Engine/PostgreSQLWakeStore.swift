// SPDX-License-Identifier: Apache-2.0

public import Gateway
import Synchronization
import WakeModel

/// The shared store: a PostgreSQL database on which any number of gateways work.
///
/// Gateways are equal and keep nothing that another one needs. A command that writes has a writer's
/// connection to itself: it loads its rows without a lock, decides in memory, and writes in one
/// transaction whose statements name the versions of the rows on which was decided. The first of
/// them is the fence (``WritePlan``), by which it is known later whether a transaction of which no
/// answer came was committed.
public final class PostgreSQLWakeStore: WakeStore {
    /// How the store is used.
    public struct Settings: Sendable {
        /// A file with the database's password and nothing else.
        public var passwordFile: String?
        /// Whether a database may be used that may lose what it has acknowledged, see
        /// ``DatabaseRemark/Weight/losesCommits``.
        public var acceptsLoss = false
        /// How many commands of this gateway write at the same time.
        public var writerCount = 2
        /// How many reads run concurrently, all but one of them callers' at most.
        public var readerCount = 4
        /// After how long without a heartbeat another gateway's writers are replaced, in
        /// seconds.
        public var takeoverSeconds = 30.0
        /// The interval of a gateway's heartbeats, and of its checks for others without one, in
        /// seconds.
        public var heartbeatSeconds = 5.0
        /// How long a transaction of the database may be open before it is reported, in seconds.
        public var longTransactionSeconds = 60
        /// This machine's wall clock, in milliseconds since the epoch; a test gives a wrong one.
        package var machineClock: @Sendable () -> Int64 = {
            SystemGatewayClock().now().millisecondsSinceEpoch
        }

        /// Creates settings.
        public init() {}
    }

    let link: StoreLink
    private let upkeep: StoreUpkeep

    /// Opens the store at a URI of libpq, whose tables are there: ``migrate(url:settings:)`` makes
    /// them. `notice` is given what an operator should read, on any thread, and must not wait.
    ///
    /// Throws a ``Gateway/StoreFailure``: `corrupt` when the tables are of an older or a newer
    /// version, or when there are none, `unavailable` when the database cannot be reached, or is
    /// set up so that it would not keep what it acknowledges (``DatabaseRemark``).
    public static func open(
        url: String, settings: Settings = Settings(),
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(StoreFailure) -> PostgreSQLWakeStore {
        let link = try StoreLink(url: url, settings: settings, notice: notice)
        do throws(StoreFailure) {
            try await link.begin()
        } catch {
            await link.shutDown()
            throw error
        }
        return PostgreSQLWakeStore(link)
    }

    private init(_ link: StoreLink) {
        self.link = link
        upkeep = StoreUpkeep(link)
    }

    /// How much the database's clock is ahead of this machine's, in milliseconds, as the last
    /// transaction measured it; `nil` before the first.
    ///
    /// Gateways that share a store must agree on the time; so a gateway adds this to its own.
    public var clockOffsetMilliseconds: Int64? { link.clockOffset }

    /// Releases what others can take over immediately, and closes the connections. The store must
    /// not be used afterwards.
    public func close() async {
        await upkeep.stop()
        await link.release()
        await link.shutDown()
    }

    /// Ends as a gateway ends that is killed: nothing is given back. For tests.
    package func abandon() async {
        await upkeep.stop()
        await link.shutDown()
    }

    /// Reports rows that cannot be read; see ``Gateway/WakeStore/whenDamaged(_:)``.
    public func whenDamaged(_ tell: @escaping @Sendable (DamagedRow) -> Void) {
        link.listen(tell)
    }

    /// Carries out a command; see ``Gateway/WakeStore/perform(_:)``.
    public func perform<Command: StoreCommand>(
        _ command: Command
    ) async throws(StoreFailure) -> Command.Answer {
        let verb = Self.verb(of: Command.self)
        let profile = command.profile
        let reader = StoreReader(link: link, verb: verb, rank: profile.rank)
        if profile.access == .read {
            return try await link.callersReads.bounded(profile) { () async throws(StoreFailure) in
                try await reader.carryOut(command)
            }
        }
        return try await link.callersWrites.bounded(profile) { () async throws(StoreFailure) in
            // A look needs no writer.
            if Command.isMostlyIdle, let answer = try await reader.idleAnswer(to: command) {
                return answer
            }
            return try await link.withWriter(verb, for: profile.rank) {
                writer throws(StoreFailure) in
                try await writer.carryOut(command)
            }
        }
    }

    /// A command's name as metrics spell it, such as `admit-wakes`.
    private static func verb(of command: any StoreCommand.Type) -> String {
        String(describing: command).reduce(into: "") { name, letter in
            if letter.isUppercase, !name.isEmpty { name += "-" }
            name += letter.lowercased()
        }
    }

    /// The store's status; see ``Gateway/WakeStore/sharedStatus``. Updated with each heartbeat.
    public var sharedStatus: SharedStoreStatus? { link.survey.status }

    /// Takes a duty, or keeps it; see ``Gateway/WakeStore/take(_:seconds:)``.
    public func take(_ duty: StoreDuty, seconds: Int) async throws(StoreFailure) -> Bool {
        try await link.withWriter("take-duty") { writer throws(StoreFailure) in
            try await writer.take(duty, seconds: seconds)
        }
    }

    /// Gives a duty back; see ``Gateway/WakeStore/giveBack(_:)``.
    public func giveBack(_ duty: StoreDuty) async throws(StoreFailure) {
        try await link.withWriter("give-back-duty") { writer throws(StoreFailure) in
            try await writer.giveBack(duty)
        }
    }

    /// Removes what has had its time; see ``Gateway/WakeStore/prune(_:)``. One gateway at a time
    /// does; the others find nothing to remove.
    public func prune(_ order: PruneOrder) async throws(StoreFailure) -> Pruned {
        try await link.withWriter("prune") { writer throws(StoreFailure) in
            try await writer.prune(order)
        }
    }
}

extension CommandProfile {
    /// Its rank among those who wait for a connection.
    var rank: Session.Rank {
        if isUrgent { return .urgent }
        return switch origin {
        case .gateway: .gateway
        case .caller: .caller
        }
    }
}

/// The store for commands that only read.
struct StoreReader: StoreEngine {
    let link: StoreLink
    let verb: String
    let rank: Session.Rank

    func queueTable() async throws(StoreFailure) -> QueueTable {
        try await link.queueTable(for: rank)
    }

    func load(_ reads: ReadSet, locks: Bool) async throws(StoreFailure) -> LoadedRows {
        try await link.withReader(for: rank) { session throws(StoreFailure) in
            try await link.load(reads, on: session, for: verb)
        }
    }

    func write(_ changes: Changes) async throws(StoreFailure) -> WriteOutcome {
        throw StoreFailure(kind: .unavailable, message: "A command that reads wants to write.")
    }

    func resolve(_ write: UnknownWrite) async throws(StoreFailure) -> Bool { false }

    func note(_ row: DamagedRow) { link.note(row) }

    /// The answer to a command for which nothing is to be decided, as far as reading shows.
    func idleAnswer<Command: StoreCommand>(
        to command: Command
    ) async throws(StoreFailure) -> Command.Answer? {
        var reads = ReadSet()
        // Another gateway may have made a queue, which is not known here before the first load.
        var rows = try await load(reads, locks: false)
        while true {
            switch command.decideIdle(over: rows, noting: note) {
            case .made(let answer, _): return answer
            case .failed(let failure): throw failure
            case .needs(let more):
                reads.formUnion(more)
                rows = try await load(reads, locks: false)
            }
        }
    }
}
