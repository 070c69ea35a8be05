// SPDX-License-Identifier: Apache-2.0

internal import CLibpq
internal import Glibc

/// One connection and the run on it, in libpq's pipeline mode without blocking. Confined to its
/// loop's thread.
///
/// A run is sent as one pipeline: `BEGIN`, each query (behind its `PREPARE` at its first use),
/// `COMMIT` and a synchronization point. The server aborts all that follows an error, `COMMIT` too,
/// and leaves the transaction open and failed; `ROLLBACK` is then sent in a pipeline of its own.
final class Link {
    /// The state of an established connection.
    enum Phase {
        /// No connection is to be opened before this time.
        case resting(until: Int64)
        case opening
        /// Only the pool's establisher uses it.
        case greeting
        case ready
    }

    /// What was sent, in its order: an answer is about the first of these.
    private enum Step {
        case begin
        case prepare(Statement, query: Int)
        case query(Int)
        case commit
        case rollback
        case synchronize
    }

    /// From so many bytes on, `COMMIT` is kept back until all before it is written, so that a
    /// connection that breaks meanwhile leaves no doubt. Fewer are written in one go anyway.
    private static let byteCountWithoutDoubt = 32_768

    let index: Int
    let role: Session.Role
    let number: Int
    var phase = Phase.resting(until: .min)
    var failures = 0
    /// How many connections were opened before the present one.
    var generation: UInt64 = 0
    private var opened: OpenedConnection?
    var connection: OpaquePointer? { opened?.pointer }
    private(set) var run: PipelineRun?

    private var steps: [Step] = []
    private var nextStep = 0
    private var results: [QueryResult] = []
    private var refusal: ServerRefusal?
    private var mustRepeat = false
    private var isCommitKeptBack = false
    /// Whether the server may have got what makes the run's changes last.
    private var isCommitSent = false
    private var isCommitted = false
    private(set) var wantsToWrite = false

    /// The statements that the server has prepared on this connection.
    private var prepared: Set<String> = []
    /// How often statements had to be planned anew.
    private var renewals = 0
    /// Whether statements are prepared. Not behind a pooler that forgets them.
    private var preparesStatements = true

    init(index: Int, role: Session.Role, number: Int) {
        self.index = index
        self.role = role
        self.number = number
    }

    var sessionID: Session.ID { Session.ID(role: role, number: number, generation: generation) }

    /// Takes an established connection over.
    func take(_ opened: OpenedConnection) {
        self.opened = opened
        prepared = []
        renewals = 0
        preparesStatements = true
        phase = .greeting
    }

    /// Closes the connection. Returns the unfinished run, with its outcome.
    func close(_ message: String) -> (PipelineRun, PipelineOutcome)? {
        opened?.close()
        opened = nil
        wantsToWrite = false
        guard let run = run.take() else { return nil }
        defer { forgetRun() }
        if let refusal { return (run, .refused(refusal)) }
        if isCommitted { return (run, .done(results)) }
        return (run, .lost(message: message, mayBeCommitted: isCommitSent))
    }

    private func forgetRun() {
        run = nil
        steps = []
        nextStep = 0
        results = []
        refusal = nil
        mustRepeat = false
        isCommitKeptBack = false
        isCommitSent = false
        isCommitted = false
    }

    // MARK: Sending

    /// Why a connection is of no more use.
    struct Broken: Error {
        let message: String
    }

    /// Sends a run's queries. No other run is under way.
    func begin(_ run: PipelineRun) throws(Broken) {
        forgetRun()
        self.run = run
        switch run.transaction {
        case .none, .within, .closing: break
        case .write, .opening:
            try send("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", as: .begin)
        case .snapshot:
            try send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", as: .begin)
        }
        var byteCount = 0
        var preparing: Set<String> = []
        for (index, query) in run.queries.enumerated() {
            let statement = query.statement.renewed(renewals)
            if preparesStatements, !prepared.contains(statement.name),
                preparing.insert(statement.name).inserted
            {
                try prepare(statement, query: index)
            }
            try send(query, statement)
            steps.append(.query(index))
            byteCount += query.bytes.count + query.ends.count * 8
        }
        isCommitKeptBack = byteCount >= Self.byteCountWithoutDoubt
        if !isCommitKeptBack { try sendCommit() }
        try flush()
    }

    private func sendCommit() throws(Broken) {
        isCommitKeptBack = false
        let transaction = run?.transaction ?? .none
        isCommitSent = !transaction.staysOpen
        if transaction.commits { try send("COMMIT", as: .commit) }
        try synchronize()
    }

    private func synchronize() throws(Broken) {
        try check(PQpipelineSync(connection))
        steps.append(.synchronize)
    }

    private func send(_ command: String, as step: Step) throws(Broken) {
        try check(PQsendQueryParams(connection, command, 0, nil, nil, nil, nil, 1))
        steps.append(step)
    }

    private func prepare(_ statement: Statement, query: Int) throws(Broken) {
        let types = statement.parameterTypes.map(\.rawValue)
        try check(
            PQsendPrepare(
                connection, statement.name, statement.sql, Int32(types.count), types))
        steps.append(.prepare(statement, query: query))
    }

    private func send(_ query: Query, _ statement: Statement) throws(Broken) {
        var lengths: [Int32] = []
        var values: [UnsafePointer<CChar>?] = []
        let formats = [Int32](repeating: 1, count: query.ends.count)
        let types = statement.parameterTypes.map(\.rawValue)
        // An empty value needs an address too: without one it would be NULL.
        let bytes = query.bytes.isEmpty ? [0] : query.bytes
        // SAFETY: each value is a part of `bytes`, which lives until the closure returns; libpq
        // copies it before.
        let code = bytes.withUnsafeBytes { buffer in
            var start = 0
            for end in query.ends {
                guard end >= 0, let base = buffer.baseAddress else {
                    lengths.append(0)
                    values.append(nil)
                    continue
                }
                lengths.append(Int32(truncatingIfNeeded: end - start))
                values.append((base + start).assumingMemoryBound(to: CChar.self))
                start = end
            }
            let count = Int32(values.count)
            return preparesStatements
                ? PQsendQueryPrepared(
                    connection, statement.name, count, values, lengths, formats, 1)
                : PQsendQueryParams(
                    connection, statement.sql, count, types, values, lengths, formats, 1)
        }
        try check(code)
    }

    private func check(_ code: Int32) throws(Broken) {
        if code != 1 { throw broken() }
    }

    private func broken() -> Broken {
        guard let connection else { return Broken(message: "the connection is closed") }
        return Broken(message: ConnectionOpening.words(of: connection))
    }

    /// Writes as much as the socket takes.
    func flush() throws(Broken) {
        switch PQflush(connection) {
        case 0:
            wantsToWrite = false
            if isCommitKeptBack {
                // libpq drops what it cannot write any more, and says that all is written.
                if isSocketBroken {
                    throw Broken(message: "the connection broke while queries were sent")
                }
                try sendCommit()
                try flush()
            }
        case 1: wantsToWrite = true
        default: throw broken()
        }
    }

    private var isSocketBroken: Bool {
        var descriptor = pollfd(fd: PQsocket(connection), events: 0, revents: 0)
        return poll(&descriptor, 1, 0) != 0
    }

    // MARK: Receiving

    /// Reads the available input. Returns the finished run, with its outcome.
    func receive() throws(Broken) -> (PipelineRun, PipelineOutcome)? {
        guard PQconsumeInput(connection) == 1 else {
            // What came before the end may be an answer.
            if let over = try readResults() { return over }
            throw broken()
        }
        if wantsToWrite { try flush() }
        return try readResults()
    }

    private func readResults() throws(Broken) -> (PipelineRun, PipelineOutcome)? {
        guard run != nil else {
            // Notices and changed parameters.
            if PQisBusy(connection) == 0, PQstatus(connection) != CONNECTION_OK { throw broken() }
            return nil
        }
        var emptyCount = 0
        while nextStep < steps.count, PQisBusy(connection) == 0 {
            guard let result = PQgetResult(connection) else {
                if PQstatus(connection) != CONNECTION_OK { throw broken() }
                // An empty result separates the answers to two queries.
                emptyCount += 1
                if emptyCount > 1 { return nil }
                continue
            }
            emptyCount = 0
            if let over = try take(result) { return over }
        }
        return nil
    }

    /// Takes the answer to the next step.
    private func take(_ result: OpaquePointer) throws(Broken) -> (PipelineRun, PipelineOutcome)? {
        let step = steps[nextStep]
        let status = PQresultStatus(result)
        if case .query = step, status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK {
            results.append(QueryResult(result))
            nextStep += 1
            return nil
        }
        defer { PQclear(result) }
        nextStep += 1
        switch status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: try takeSuccess(step, result)
        case PGRES_FATAL_ERROR:
            // An implicit transaction's commit can fail; its Sync comes behind the error.
            if case .synchronize = step { nextStep -= 1 }
            try takeError(step, result)
        case PGRES_PIPELINE_ABORTED: break
        case PGRES_PIPELINE_SYNC: return try takeSynchronization()
        default: throw Broken(message: "the server answered with what no query asks for")
        }
        return nil
    }

    private func takeSuccess(_ step: Step, _ result: OpaquePointer) throws(Broken) {
        switch step {
        case .prepare(let statement, _): prepared.insert(statement.name)
        case .commit:
            // A failed transaction answers COMMIT with ROLLBACK.
            guard String(cString: PQcmdStatus(result)) == "COMMIT" else {
                throw Broken(message: "the server rolled back at COMMIT")
            }
            try checkReplication()
            isCommitted = true
        default: break
        }
    }

    /// Leaves a commit in doubt that did not wait for its standby: a failover may forget it.
    /// Resolving the doubt takes a commit too, which waits for the standby and for all commits
    /// before it.
    private func checkReplication() throws(Broken) {
        guard opened?.notices.hasGivenUpStandby == true else { return }
        throw Broken(message: "the server did not wait for its synchronous standby")
    }

    private func takeError(_ step: Step, _ result: OpaquePointer) throws(Broken) {
        func field(_ code: Character) -> String? {
            code.asciiValue.flatMap { PQresultErrorField(result, Int32($0)) }
                .map { String(cString: $0) }
        }
        let message = field("M") ?? ""
        // Without a code it is libpq that speaks, of a connection that broke.
        guard let state = field("C"), field("V") == "ERROR" else {
            throw Broken(
                message: message.isEmpty
                    ? broken().message : "\(message) (\(field("C") ?? "no code"))")
        }
        guard refusal == nil else { return }
        let queryIndex =
            switch step {
            case .prepare(_, let index): index
            case .query(let index): index
            case .begin: 0
            default: run?.queries.count ?? 0
            }
        refusal = ServerRefusal(
            queryIndex: queryIndex, state: SQLState(rawValue: state), message: message,
            constraint: field("n"))
        // The other parts of a transaction of several runs cannot be done again here.
        guard let run, run.repetitions < 2, !run.transaction.staysOpen,
            run.transaction != .closing
        else { return }
        switch SQLState(rawValue: state) {
        case .featureNotSupported where field("R") == "RevalidateCachedQuery":
            // "cached plan must not change result type": the tables are not what they were.
            renewals += 1
            mustRepeat = true
        case .unknownStatement, .duplicateStatement:
            // A pooler gave this client another one's connection to the server.
            preparesStatements = false
            mustRepeat = true
        default: break
        }
    }

    private func takeSynchronization() throws(Broken) -> (PipelineRun, PipelineOutcome)? {
        guard var run else { return nil }
        let status = PQtransactionStatus(connection)
        let isLeftOpen =
            run.transaction.staysOpen && refusal == nil && status == PQTRANS_INTRANS
        if status != PQTRANS_IDLE, !isLeftOpen {
            steps = []
            nextStep = 0
            try send("ROLLBACK", as: .rollback)
            try synchronize()
            try flush()
            return nil
        }
        if mustRepeat {
            run.repetitions += 1
            try begin(run)
            return nil
        }
        try checkReplication()
        defer { forgetRun() }
        if let refusal { return (run, .refused(refusal)) }
        return (run, .done(results))
    }
}
