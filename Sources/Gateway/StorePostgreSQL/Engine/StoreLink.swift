// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import Synchronization
import WakeModel

/// A writer: the row of a writing connection, and the numbers reserved for it.
struct WriterIdentity: Hashable, Sendable {
    /// How many writers a store has at most: the numbers of a millisecond are shared among them.
    static let slotCount: Int64 = 64

    let id: Int64
    /// The name of its gateway.
    let gateway: String
    let numbers: NumberSeries
}

/// The connections of one gateway to the database, and what is known by all of them.
final class StoreLink: Sendable {
    /// What is known of a writer's connection.
    struct Writer: Sendable {
        let identity: WriterIdentity
        /// The last of its transactions that was committed.
        var sequence: Int64 = 0
        /// The last number that it gave.
        var lastNumber: Int64
    }

    struct State {
        var writers: [Session.ID: Writer] = [:]
        var queues = QueueCache()
        var hash: TokenHash?
        var clockOffset = ClockOffset()
        /// What was said of the server last.
        var remarks: Set<DatabaseRemark> = []
        var isClosing = false
    }

    let settings: PostgreSQLWakeStore.Settings
    let notice: @Sendable (String) -> Void
    /// The name of this gateway in the rows of its writers: another one for each opening.
    let gateway: String
    let fresh = FreshLeases()
    let survey = StoreSurvey()
    let callersReads = CallersWeight(ofReads: true)
    let callersWrites = CallersWeight(ofReads: false)
    let sweep = Mutex(DeviceSweep())
    let partitions = Mutex(PartitionWatch())
    private let connection: ConnectionSettings
    let pool: PostgreSQLPool
    let state = Mutex(State())
    private let damage: DamageListener

    init(
        url: String, settings: PostgreSQLWakeStore.Settings,
        notice: @escaping @Sendable (String) -> Void
    ) throws(StoreFailure) {
        self.settings = settings
        self.notice = notice
        var generator = SystemRandomNumberGenerator()
        let name = String(generator.next() as UInt64, radix: 16)
        gateway = name
        damage = DamageListener()
        do throws(ConnectionSettings.Failure) {
            connection = try ConnectionSettings(uri: url, passwordFile: settings.passwordFile)
        } catch {
            throw StoreFailure(kind: .unavailable, message: error.description)
        }
        for warning in connection.warnings { notice(warning) }
        let hook = Establisher()
        do throws(Unavailable) {
            pool = try PostgreSQLPool(
                connection, writers: settings.writerCount, readers: settings.readerCount
            ) { session in await hook.establish(session) }
        } catch {
            throw StoreFailure(error)
        }
        hook.setOwner(self)
    }

    /// Gives each new connection that writes its writer, once the tables have been looked at.
    private final class Establisher: Sendable {
        /// The link, which owns the pool and with it this object.
        private struct Owner { weak var link: StoreLink? }

        private enum State {
            /// A quick server greets before the link is made.
            case unknown(waiting: [CheckedContinuation<Void, Never>])
            case known(Owner)
        }

        private let state = Mutex(State.unknown(waiting: []))

        init() {}

        func setOwner(_ link: StoreLink) {
            let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                guard case .unknown(let waiting) = state else { return [] }
                state = .known(Owner(link: link))
                return waiting
            }
            for continuation in waiting { continuation.resume() }
        }

        func establish(_ session: Session) async -> Result<Void, Unavailable> {
            guard session.id.role == .writer else { return .success(()) }
            guard let link = await owner() else {
                return .failure(.disconnected("the store is closed"))
            }
            return await link.register(session)
        }

        /// The link, once there is one; `nil` when it is gone.
        private func owner() async -> StoreLink? {
            await withCheckedContinuation { continuation in
                let isKnown = state.withLock { state in
                    guard case .unknown(let waiting) = state else { return true }
                    state = .unknown(waiting: waiting + [continuation])
                    return false
                }
                if isKnown { continuation.resume() }
            }
            return state.withLock { state in
                guard case .known(let owner) = state else { return nil }
                return owner.link
            }
        }
    }

    // MARK: Begin and end

    /// Looks at the tables, and reads what is needed before anything else.
    func begin() async throws(StoreFailure) {
        pool.giveBack(try await take(.reader, within: Self.openingLimit))
        // Before the tables are read: a role without access to them gets an error that names them.
        try await checkServer()
        let version = try await StoreMigration.version { query throws(StoreFailure) in
            try await run([query], transaction: .none)[0]
        }
        try StoreMigration.check(version)
        try await withReader { session throws(StoreFailure) in _ = try await hash(on: session) }
        _ = try await queueTable()
        pool.giveBack(try await take(.writer, within: Self.openingLimit))
        // So that others see it, and it has the database's time, before the first command.
        try await beat()
    }

    /// Refuses a server on which the store's promises would not hold.
    private func checkServer() async throws(StoreFailure) {
        let remarks = try await serverRemarks()
        for remark in remarks {
            let text = "\(remark.problem) \(remark.cure)"
            switch remark.weight {
            case .warning: notice(text)
            case .losesCommits where settings.acceptsLoss:
                notice("\(remark.problem) store-accepts-loss accepts that.")
            case .losesCommits:
                throw StoreFailure(
                    kind: .unavailable, message: "\(text) \(DatabaseRemark.acceptance)")
            case .refused: throw StoreFailure(kind: .unavailable, message: text)
            }
        }
        state.withLock { $0.remarks = Set(remarks) }
    }

    private func serverRemarks() async throws(StoreFailure) -> [DatabaseRemark] {
        let start = settings.machineClock()
        let result = try await run([Query(ServerFacts.statement)], transaction: .none)[0]
        return try ServerFacts(
            result, hostCount: connection.hostCount, between: start, and: settings.machineClock()
        ).remarks
    }

    /// Looks at the server again, which may have been set up otherwise, or be another one, since
    /// the store was opened, and says what is new. A gateway that runs goes on: to stop all of them
    /// because a standby is gone would make a failure of what was a loss of safety.
    func checkServerAgain() async throws(StoreFailure) {
        let remarks = Set(try await serverRemarks())
        let known = state.withLock { state in
            defer { state.remarks = remarks }
            return state.remarks
        }
        for remark in remarks.subtracting(known).sorted(by: { $0.problem < $1.problem }) {
            notice("\(remark.problem) \(remark.cure)")
        }
        for remark in known.subtracting(remarks).sorted(by: { $0.problem < $1.problem }) {
            notice("This is so no longer: \(remark.problem)")
        }
    }

    /// How long the first connections may take.
    private static let openingLimit = Duration.seconds(20)

    /// Ends the writers, and puts the leases that are awaited where everybody finds them.
    func release() async {
        state.withLock { $0.isClosing = true }
        _ = try? await run(
            [
                Query(StoreUpkeep.endMine, .text(gateway)),
                Query(StoreUpkeep.endPresence, .text(gateway)),
            ], transaction: .write)
        _ = try? await recoverLeases()
    }

    func shutDown() async {
        state.withLock { $0.isClosing = true }
        await pool.shutDown(within: .seconds(5))
    }

    // MARK: Sessions

    func withReader<Answer: Sendable>(
        for rank: Session.Rank = .gateway,
        _ body: (Session) async throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        let session = try await take(.reader, for: rank)
        defer { pool.giveBack(session) }
        return try await body(session)
    }

    /// Runs queries on a reader's connection.
    func run(
        _ queries: [Query], transaction: Session.Transaction, for rank: Session.Rank = .gateway
    ) async throws(StoreFailure) -> [QueryResult] {
        try await withReader(for: rank) { session throws(StoreFailure) in
            try await session.run(queries, transaction: transaction).results()
        }
    }

    /// Gives `body` a writer. Once more with another one when the connection is lost and it is
    /// certain that nothing was written.
    func withWriter<Answer: Sendable>(
        _ verb: String, for rank: Session.Rank = .gateway,
        _ body: (StoreWriter) async throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        for _ in 0..<Self.lostWriterLimit {
            let session = try await take(.writer, for: rank)
            defer { pool.giveBack(session) }
            let writer = StoreWriter(link: self, session: session, verb: verb)
            do throws(StoreFailure) {
                return try await body(writer)
            } catch {
                guard writer.isLost else { throw error }
            }
        }
        throw StoreFailure(
            kind: .unavailable, message: "Connections to the database end again and again.")
    }

    /// How many connections a command may lose before it fails.
    private static let lostWriterLimit = 3

    private func take(
        _ role: Session.Role, for rank: Session.Rank = .gateway,
        within limit: Duration = PostgreSQLPool.waitLimit
    ) async throws(StoreFailure) -> Session {
        switch await pool.take(role, for: rank, within: limit) {
        case .success(let session): return session
        case .failure(let failure): throw StoreFailure(failure)
        }
    }

    // MARK: Loading

    func queueTable(
        for rank: Session.Rank = .gateway
    ) async throws(StoreFailure) -> QueueTable {
        if let table = state.withLock({ $0.queues.isRead ? $0.queues.table : nil }) {
            return table
        }
        while true {
            let mark = state.withLock { $0.queues.mark }
            let result = try await run(
                [QueueCache.query(after: mark)], transaction: .none, for: rank)[0]
            if let table = takeQueues(result, after: mark) { return table }
        }
    }

    /// Takes over the queues that were read; `nil` when what was known is not so, and is forgotten.
    private func takeQueues(_ result: QueryResult, after mark: QueueCache.Mark) -> QueueTable? {
        let columns = StoredColumns(result: result, queues: QueueTable(), note: note)
        let (table, isForgotten) = state.withLock { state in
            (state.queues.take(columns, after: mark), state.queues.mark.life != mark.life)
        }
        if table != nil || isForgotten { return table }
        forget()
        notice(
            "The database has other queues than it had, as after a restore from a back-up. What "
                + "this gateway knew of them is read anew.")
        return nil
    }

    /// Forgets what is only true of the database as it was: it may be another one by now.
    func forget() {
        state.withLock { state in
            state.queues.forget()
            state.hash = nil
        }
    }

    private func hash(on session: Session) async throws(StoreFailure) -> TokenHash {
        if let hash = state.withLock({ $0.hash }) { return hash }
        let result = try await session.run([Query(Self.tokenKeys)]).results()[0]
        guard result.rowCount == 2, let key0 = result.int64(0, 0), let key1 = result.int64(1, 0)
        else {
            throw StoreFailure(
                kind: .corrupt, message: "The store's keys of device numbers are missing.")
        }
        let hash = TokenHash(key0, key1)
        state.withLock { $0.hash = hash }
        return hash
    }

    private static let tokenKeys = Statement(
        "SELECT value FROM rouse.property WHERE name LIKE 'token key _' ORDER BY name")

    /// Loads rows as they are at one moment.
    func load(
        _ reads: ReadSet, on session: Session, for verb: String
    ) async throws(StoreFailure) -> LoadedRows {
        let hash = try await hash(on: session)
        var rows = LoadedRows()
        var names = DeviceSearch(reads, hash)
        var plan = LoadPlan()
        plan.add(reads, fresh: fresh)
        repeat {
            let found = Mutex<[Int64: StoredColumns.FoundDevice]>([:])
            plan.addDevices(names.wanted) { device in
                found.withLock { $0[device.number] = device }
            }
            let mark = state.withLock { $0.queues.mark }
            let start = ContinuousClock.now
            let results = try await session.run(
                [QueueCache.query(after: mark)] + plan.queries, transaction: .snapshot
            ).results()
            survey.note(verb, since: start)
            guard let queues = takeQueues(results[0], after: mark) else {
                return try await load(reads, on: session, for: verb)
            }
            rows.queues = queues
            plan.read(results.dropFirst(), queues, into: &rows, noting: note)
            names.take(found.withLock { $0 }, &rows)
            plan = LoadPlan()
        } while !names.wanted.isEmpty
        return rows
    }

    // MARK: Notes

    func listen(_ tell: @escaping @Sendable (DamagedRow) -> Void) { damage.listen(tell) }

    func note(_ row: DamagedRow) { damage.note(row) }

    var clockOffset: Int64? { state.withLock { $0.clockOffset.milliseconds } }

    /// Takes note of the database's time, which a fence has returned between two local instants.
    func note(databaseTime: Int64?, between start: Int64, and end: Int64) {
        guard let databaseTime else { return }
        state.withLock {
            $0.clockOffset.note(databaseTime: databaseTime, between: start, and: end)
        }
    }
}

/// The devices of one load, as they are looked for by the hash of their tokens.
private struct DeviceSearch {
    /// Numbers to look for, and whether with the payload of the wake that waits.
    private(set) var wanted: [Int64: Bool] = [:]
    /// Devices whose place is not known yet, by where they are looked for.
    private var open: [ReadSet.DeviceName: (number: Int64, hasPayload: Bool)] = [:]
    /// The places that devices have which are not there yet.
    private var given: Set<Int64> = []

    init(_ reads: ReadSet, _ hash: TokenHash) {
        for number in reads.deviceNumbers { wanted[number] = false }
        for (name, parts) in reads.devices {
            let number = hash.number(of: name.token, queue: name.queue)
            let hasPayload = parts.contains(.payload) || open[name]?.hasPayload ?? false
            open[name] = (number, hasPayload)
            wanted[number] = wanted[number] ?? false || hasPayload
        }
    }

    /// Takes over what was found. A device that occupies another one's place moves that one's
    /// search to the next place.
    mutating func take(_ found: [Int64: StoredColumns.FoundDevice], _ rows: inout LoadedRows) {
        wanted = [:]
        for (name, search) in open {
            let device = found[search.number]
            if let device, device.queue != name.queue || device.token != name.token.bytes {
                open[name] = (search.number + 1, search.hasPayload)
                wanted[search.number + 1] = search.hasPayload
                continue
            }
            open[name] = nil
            if device == nil, !given.insert(search.number).inserted {
                // Another new device of the same command has the same place. It stays that one's;
                // this one is refused for once.
                let damage = DamagedRow(
                    table: .device, key: "\(name.token)",
                    problem: "its place is being taken, try again")
                rows.deviceNumbers[name] = .max
                rows.devices[.max] = .damaged(StoreFailure(damage), rest: nil)
                continue
            }
            rows.deviceNumbers[name] = search.number
        }
    }
}
