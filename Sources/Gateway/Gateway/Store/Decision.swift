// SPDX-License-Identifier: Apache-2.0

/// The result of deciding on a command over loaded rows.
public enum Decision<Answer: Sendable>: Sendable {
    /// It is decided.
    case made(Answer, Changes)
    /// More rows are needed: they must be loaded with the others, and it must be decided again.
    case needs(ReadSet)
    /// It cannot be decided, and nothing must be written.
    case failed(StoreFailure)
}

extension StoreCommand {
    /// Decides over loaded rows. `note` is called for rows that are found damaged.
    public func decide(
        over rows: LoadedRows, noting note: (DamagedRow) -> Void
    ) -> Decision<Answer> {
        Self.decide(over: rows, under: rules, noting: note) { set throws(RowFault) in
            try decide(on: set)
        }
    }

    /// The answer if the rows show that there is nothing to decide; `nil` otherwise.
    public func decideIdle(
        over rows: LoadedRows, noting note: (DamagedRow) -> Void
    ) -> Decision<Answer?> {
        Self.decide(over: rows, under: rules, noting: note) { set throws(RowFault) in
            try idleAnswer(on: set)
        }
    }

    private static func decide<Value: Sendable>(
        over rows: LoadedRows, under rules: StoreRules, noting note: (DamagedRow) -> Void,
        _ body: (WorkingSet) throws(RowFault) -> Value
    ) -> Decision<Value> {
        let set = WorkingSet(rows, under: rules)
        do throws(RowFault) {
            let answer = try body(set)
            guard set.missing.isEmpty else { return .needs(set.missing) }
            for row in set.damaged { note(row) }
            return .made(answer, set.changes)
        } catch {
            switch error {
            case .notLoaded: return .needs(set.missing)
            case .damaged(let failure):
                guard set.missing.isEmpty else { return .needs(set.missing) }
                for row in set.damaged { note(row) }
                return .failed(failure)
            }
        }
    }

    /// Decides, loading what is needed until it can be decided: for engines whose rows do not
    /// change meanwhile.
    public func decide(
        from rows: LoadedRows, noting note: (DamagedRow) -> Void,
        load: (ReadSet, inout LoadedRows) throws(StoreFailure) -> Void
    ) throws(StoreFailure) -> (answer: Answer, changes: Changes) {
        var rows = rows
        try load(reads(of: rows.queues), &rows)
        for _ in 0..<maximumRoundCount {
            switch decide(over: rows, noting: note) {
            case .made(let answer, let changes): return (answer, changes)
            case .needs(let more): try load(more, &rows)
            case .failed(let failure): throw failure
            }
        }
        throw .undecided
    }

    /// The same for ``idleAnswer(on:)``.
    public func decideIdle(
        from rows: LoadedRows, noting note: (DamagedRow) -> Void,
        load: (ReadSet, inout LoadedRows) throws(StoreFailure) -> Void
    ) throws(StoreFailure) -> Answer? {
        var rows = rows
        for _ in 0..<maximumRoundCount {
            switch decideIdle(over: rows, noting: note) {
            case .made(let answer, _): return answer
            case .needs(let more): try load(more, &rows)
            case .failed(let failure): throw failure
            }
        }
        throw .undecided
    }
}

extension StoreFailure {
    /// A decision needed rows in too many rounds, which no command does.
    fileprivate static let undecided = StoreFailure(
        kind: .unavailable, message: "A command asked for too many rows, one after the other.")
}
