// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization
import WakeModel

/// A writer's connection, in the hands of one command.
final class StoreWriter: StoreEngine {
    let link: StoreLink
    let session: Session
    /// The name of the command.
    private let verb: String
    private let lost = Atomic(false)
    private let hasTurns = Atomic(false)

    init(link: StoreLink, session: Session, verb: String) {
        self.link = link
        self.session = session
        self.verb = verb
    }

    /// Whether the connection has ended and nothing that was asked for is written: the command can
    /// be carried out by another writer.
    var isLost: Bool { lost.load(ordering: .acquiring) }

    func queueTable() async throws(StoreFailure) -> QueueTable { try await link.queueTable() }

    func note(_ row: DamagedRow) { link.note(row) }

    // MARK: Loading

    /// Loads rows. Loads of due rows take turns with the other writers, so that no two decide on
    /// the same rows; so do loads after a conflict.
    func load(_ reads: ReadSet, locks: Bool) async throws(StoreFailure) -> LoadedRows {
        guard let writer = link.writer(of: session) else { throw lose("it has no writer") }
        try await takeTurns(Self.turns(of: reads, afterConflict: locks), of: writer.identity)
        do throws(StoreFailure) {
            var rows = try await link.load(reads, on: session, for: verb)
            rows.numbers = writer.identity.numbers
            rows.lastNumber = writer.lastNumber
            return rows
        } catch {
            if error.isConnectionLoss { lost.store(true, ordering: .releasing) }
            throw error
        }
    }

    private func lose(_ why: String) -> StoreFailure {
        lost.store(true, ordering: .releasing)
        return .connectionLost(why)
    }

    private static func turns(of reads: ReadSet, afterConflict: Bool) -> Set<String> {
        var turns: Set<String> = afterConflict ? ["conflict"] : []
        for scan in reads.due { for share in scan.shares { turns.insert("due \(share.queue)") } }
        for scan in reads.scans {
            switch scan {
            case .overdue: turns.insert("overdue")
            case .lapsed: turns.insert("lapsed")
            case .dueWebhooks(let endpoint, _, _): turns.insert("webhooks \(endpoint.rawValue)")
            case .wakes, .feedback, .outcomes, .lastOutcome: break
            }
        }
        return turns
    }

    /// Waits until these turns are this writer's. A turn is not a lock: it is short, and holding it
    /// longer causes a conflict at worst.
    private func takeTurns(
        _ names: Set<String>, of writer: WriterIdentity
    ) async throws(StoreFailure) {
        guard !names.isEmpty else { return }
        hasTurns.store(true, ordering: .releasing)
        var open = names
        for _ in 0..<Self.turnLimit where !open.isEmpty {
            let query = Query(Self.turn, .texts(open.sorted()), .int8(writer.id))
            switch await session.run([query], transaction: .write) {
            case .done(let results):
                for row in 0..<results[0].rowCount {
                    if let name = results[0].string(row, 0) { open.remove(name) }
                }
            case .refused(let refusal): throw StoreFailure(refusal)
            case .lost(let message, _): throw lose(message)
            }
            // A cancelled task retries without a pause.
            if !open.isEmpty { try? await Task.sleep(for: .milliseconds(4)) }
        }
    }

    /// How often a turn is asked for; then its holder is passed over, who may be stopped.
    private static let turnLimit = 50

    /// One that ends later than in a second was taken while the database's clock was ahead.
    private static let turn = Statement(
        """
        INSERT INTO rouse.turn (name, writer, until)
        SELECT name, $2, clock_timestamp() + interval '200 ms' FROM unnest($1) AS asked (name)
        ON CONFLICT (name) DO UPDATE SET writer = excluded.writer, until = excluded.until
            WHERE turn.writer = excluded.writer OR turn.until NOT BETWEEN clock_timestamp()
                AND clock_timestamp() + interval '1 s'
        RETURNING name
        """, .textArray, .int8)

    /// Ends this writer's turns with the transaction.
    private static let endTurns = Statement(
        "UPDATE rouse.turn SET until = '-infinity' WHERE writer = $1 AND until > '-infinity'",
        .int8)

    // MARK: Writing

    func write(_ changes: Changes) async throws(StoreFailure) -> WriteOutcome {
        guard var writer = link.writer(of: session) else { throw lose("it has no writer") }
        // Not above this write's own leases: its gateway may never come to another one.
        let floor =
            link.fresh.floor(ofSlot: writer.identity.numbers.slot) ?? writer.lastNumber + 1
        writer.lastNumber = max(writer.lastNumber, changes.lastNumber)
        var plan = WritePlan(
            changes, by: writer.identity, sequence: writer.sequence + 1,
            floor: floor, lastNumber: &writer.lastNumber)
        if hasTurns.load(ordering: .acquiring) {
            plan.append(Query(Self.endTurns, .int8(writer.identity.id)))
        }
        // Whatever the result of the write: numbers that were assigned are not reused.
        link.keep(writer, of: session)
        let (outcome, _) = try await write(plan, of: writer)
        if outcome == .done {
            link.fresh.note(changes, slot: writer.identity.numbers.slot)
            link.survey.note(changes)
        }
        return outcome
    }

    /// Sends a transaction whose first query is the fence.
    func write(
        _ plan: WritePlan, of writer: StoreLink.Writer
    ) async throws(StoreFailure) -> (outcome: WriteOutcome, results: [QueryResult]) {
        var writer = writer
        let start = link.settings.machineClock()
        let began = ContinuousClock.now
        let outcome = await session.run(plan.queries, transaction: .write)
        var isConflict = false
        if case .refused(let refusal) = outcome { isConflict = refusal.isConflict }
        link.survey.note(verb, since: began, isConflict: isConflict)
        switch outcome {
        case .done(let results):
            let end = link.settings.machineClock()
            link.note(databaseTime: results.first?.int64(0, 1), between: start, and: end)
            writer.sequence += 1
            link.keep(writer, of: session)
            return (.done, results)
        case .refused(let refusal) where refusal.isFenced:
            // Another gateway considered this one dead, the tables were migrated, or the database
            // is another one. It continues as another writer, with nothing that was known before.
            link.notice(
                "A writer of this gateway was replaced, because it gave no sign of life or the "
                    + "database was migrated or restored.")
            link.forget()
            if case .failure(let failure) = await link.register(session) {
                throw StoreFailure(failure)
            }
            return (.conflict, [])
        case .refused(let refusal) where refusal.isConflict: return (.conflict, [])
        case .refused(let refusal): throw StoreFailure(refusal)
        case .lost(let message, let mayBeCommitted):
            guard mayBeCommitted else { throw lose(message) }
            return (
                .unknown(
                    UnknownWrite(writer: writer.identity.id, sequence: writer.sequence + 1)), []
            )
        }
    }

    func resolve(_ write: UnknownWrite) async throws(StoreFailure) -> Bool {
        try await link.resolve(write)
    }
}

extension StoreFailure {
    /// The connection ended before anything was written.
    static func connectionLost(_ why: String) -> StoreFailure {
        StoreFailure(
            kind: .unavailable, message: connectionLoss,
            cause: why.isEmpty ? nil : "It says: \(why)")
    }

    private static let connectionLoss = "The connection to the database was lost."

    /// Whether it is ``connectionLost(_:)``.
    var isConnectionLoss: Bool { kind == .unavailable && message == Self.connectionLoss }

    /// The failure for want of a connection.
    init(_ failure: Unavailable) {
        switch failure {
        case .overloaded:
            self.init(kind: .overloaded, message: "Too much waits for the database.")
        case .disconnected(let reason):
            self.init(
                kind: .unavailable, message: DatabaseTrouble(reason).sentence,
                cause: "It says: \(reason)")
        case .shutDown: self.init(kind: .unavailable, message: "The store is closed.")
        }
    }

    /// The failure of a statement.
    init(_ refusal: ServerRefusal) {
        let kind: Kind
        switch refusal.state {
        case .diskFull: kind = .full
        case .readOnlyTransaction: kind = .readOnly
        case .undefinedTable: kind = .corrupt
        default:
            // Class XX: internal errors, damaged data and indexes among them.
            kind = refusal.state.rawValue.hasPrefix("XX") ? .corrupt : .unavailable
        }
        self.init(kind: kind, message: Self.sentence(about: refusal))
    }

    private static func sentence(about refusal: ServerRefusal) -> String {
        let state = refusal.state.rawValue
        switch refusal.state {
        case .diskFull: return "The database has no room left on its disk (\(state))."
        case .configurationLimitExceeded:
            return "A limit in the database's configuration refused a statement, such as "
                + "temp_file_limit (\(state)). Raise it; the database's log names it."
        case .queryCanceled:
            return "The database cancelled a statement, because of statement_timeout or at "
                + "somebody's request (\(state)); its log says which. rouse store migrate gives "
                + "the role the timeout that it needs."
        case .readOnlyTransaction: return "The database can only be read (\(state))."
        default:
            // The server's words may hold a row's values, but for class 42: statements and
            // privileges.
            let about =
                state.hasPrefix("42")
                ? " (\(refusal.message))" : refusal.constraint.map { " (\($0))" } ?? ""
            return "The database refused a statement with \(state)\(about); its log says more."
        }
    }
}

extension ServerRefusal {
    /// Whether rows, keys or numbers are not what was decided on, or others were in the way.
    var isConflict: Bool {
        let states: [SQLState] = [
            SQLState(rawValue: StoreTables.conflictState), .uniqueViolation,
            .serializationFailure, .deadlock, .lockNotAvailable,
        ]
        return states.contains(state)
    }

    /// Whether the writer was replaced by another one.
    var isFenced: Bool { state.rawValue == StoreTables.fencedState }
}

extension PipelineOutcome {
    /// The results of queries that only read.
    func results() throws(StoreFailure) -> [QueryResult] {
        switch self {
        case .done(let results): return results
        case .refused(let refusal): throw StoreFailure(refusal)
        case .lost(let message, _): throw .connectionLost(message)
        }
    }
}
