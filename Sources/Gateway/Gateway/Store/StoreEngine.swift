// SPDX-License-Identifier: Apache-2.0

/// What a store over shared rows has to be able to do, so that ``StoreCommand``s can be carried
/// out over it: load rows, and write changes if the rows are still what they were.
///
/// Rows may change between loading and writing, by other gateways too. So each row is loaded with
/// its version, and a write names the versions that it was decided on.
public protocol StoreEngine: Sendable {
    /// The queues, as they are known.
    func queueTable() async throws(StoreFailure) -> QueueTable

    /// Loads rows, as they are at one moment. With `locks`, which follows a conflict, an engine may
    /// keep others from changing them until the next write.
    func load(_ reads: ReadSet, locks: Bool) async throws(StoreFailure) -> LoadedRows

    /// Writes all changes in one transaction, or none.
    func write(_ changes: Changes) async throws(StoreFailure) -> WriteOutcome

    /// Whether a write of which that was not known was done. Returns when it is known, and throws
    /// only what says that it never will be.
    func resolve(_ write: UnknownWrite) async throws(StoreFailure) -> Bool

    /// Takes note of a row that was found damaged by what others say of it.
    func note(_ row: DamagedRow)
}

/// The result of a write.
public enum WriteOutcome: Hashable, Sendable {
    /// It is done, and durable.
    case done
    /// Nothing is written: a row, a key or a number is not what it was when it was decided.
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
    /// Carries out a command: loads, decides and writes, anew after each conflict. No answer is
    /// given before it is known whether the write was done.
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

/// After so many conflicts a command is given up.
private let maximumConflictCount = 100
/// How often one command is decided on at most, until all that it needs is loaded and written: more
/// than a page of a list takes.
let maximumRoundCount = 1_000
