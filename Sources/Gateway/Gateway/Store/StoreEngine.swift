// SPDX-License-Identifier: Apache-2.0

/// A store that loads rows, and writes changes if the rows have not changed since: enough to carry
/// out ``StoreCommand``s on it.
///
/// Rows may change between loading and writing, by other gateways too. So each row is loaded with
/// its version, and a write names the versions that it was decided on.
public protocol StoreEngine: Sendable {
    /// All queues. May be cached.
    func queueTable() async throws(StoreFailure) -> QueueTable

    /// Loads rows as of one moment. With `locks`, which follows a conflict, an engine may lock them
    /// until the next write.
    func load(_ reads: ReadSet, locks: Bool) async throws(StoreFailure) -> LoadedRows

    /// Writes all changes in one transaction, or none.
    func write(_ changes: Changes) async throws(StoreFailure) -> WriteOutcome

    /// Determines whether a write with an unknown outcome was done. Returns when it is known, and
    /// throws only if it can never be known.
    func resolve(_ write: UnknownWrite) async throws(StoreFailure) -> Bool

    /// Records a row that was found to be damaged because it contradicts other rows.
    func note(_ row: DamagedRow)
}

/// The result of a write.
public enum WriteOutcome: Hashable, Sendable {
    /// It is done, and durable.
    case done
    /// Nothing is written, because a row, a key or a number has changed since the decision.
    case conflict
    /// It may be done or not, as when the connection breaks while it is committed.
    case unknown(UnknownWrite)
}

/// The name of a write of which it is not known whether it was done.
public struct UnknownWrite: Hashable, Sendable {
    /// The writer.
    public let writer: Int64
    /// The write among those of the writer.
    public let sequence: Int64

    /// Creates a name.
    public init(writer: Int64, sequence: Int64) {
        self.writer = writer
        self.sequence = sequence
    }
}

extension StoreEngine {
    /// Carries out a command: loads, decides and writes, and repeats that after each conflict.
    /// Returns only when it is known whether the write was done.
    package func carryOut<Command: StoreCommand>(
        _ command: Command
    ) async throws(StoreFailure) -> Command.Answer {
        var reads = command.reads(of: try await queueTable())
        var conflicts = 0
        for _ in 0..<maximumRoundCount where conflicts < maximumConflictCount {
            let rows = try await load(reads, locks: conflicts > 0)
            switch command.decide(over: rows, noting: note) {
            case .needs(let more): reads.formUnion(more)
            case .failed(let failure): throw failure
            case .made(let answer, let changes):
                if changes.isEmpty { return answer }
                switch try await write(changes) {
                case .done: return answer
                case .conflict: break
                case .unknown(let write): if try await resolve(write) { return answer }
                }
                conflicts += 1
            }
        }
        throw StoreFailure(
            kind: .overloaded,
            message: "Others changed the same rows again and again; nothing was changed.")
    }
}

/// The number of conflicts after which a command fails.
private let maximumConflictCount = 100
/// The most rounds of one command until all rows that it needs are loaded: more than a page of a
/// list takes.
let maximumRoundCount = 1_000
